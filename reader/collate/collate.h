/* From slots into a batch. */
#ifndef COLLATE_H
#define COLLATE_H

#include "worker.h"

/* Assembles a planned batch whose blocks are all in (or bad, and to be left out). Without the reader's lock. */
apl_status collate_batch(struct worker *w, struct job *job, apl_error *err);

#endif

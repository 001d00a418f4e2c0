/* What the values of varying shape of a batch will take up in it, before it is collated. */
#ifndef NEED_H
#define NEED_H

#include "worker.h"

/* Reserves memory for them: of a reader whose batches are bounded, and of a batch whose blocks are in, by the thread that is about to
 * collate it, without the reader's lock. `regardless`: also if there is no room. Returns 0, or the number of bytes that do not fit. */
uint64_t need_reserve(const struct worker *w, const struct job *job, bool regardless);

#endif

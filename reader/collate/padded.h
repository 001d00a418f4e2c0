/* Values of varying shape, padded to one. */
#ifndef PADDED_H
#define PADDED_H

#include "worker.h"

/* The column of a padded field, its lengths and its mask. The error of a value that is too long names the record. */
apl_status padded_collate(struct worker *w, struct job *job, unsigned field, apl_error *err);

#endif

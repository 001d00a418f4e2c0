/* Rows of tokens, packed: see packing.h for how they are planned. */
#ifndef PACKED_H
#define PACKED_H

#include "worker.h"

/* Fills in rows, ids, copies and pieces of a batch, and which deliveries end in it; those of bad blocks are left out as padding. */
void packed_list(const struct worker *w, struct job *job);

/* The column of a packed field. */
apl_status packed_collate(struct worker *w, struct job *job, unsigned field, apl_error *err);

/* The arrays of segments and positions. */
apl_status packed_parts(const struct worker *w, struct job *job, apl_error *err);

#endif

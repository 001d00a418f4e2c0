/* Rows that are windows: see token_windows.h for how they take the place of records. */
#ifndef WINDOWED_H
#define WINDOWED_H

#include "worker.h"

/* Fills in the pieces of a batch, once its rows are listed. */
void windowed_list(const struct worker *w, struct job *job);

/* The column of a windowed field. */
apl_status windowed_collate(struct worker *w, struct job *job, unsigned field, apl_error *err);

#endif

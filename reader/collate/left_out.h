/* Rows of a batch whose images cannot be decoded, where such may be left out: ../undecodable.h counts them. */
#ifndef LEFT_OUT_H
#define LEFT_OUT_H

#include "job.h"
#include "spec.h"

/* May the row of a batch being collated, whose image has failed so, be left out? If so, it is, and all columns are to be made again.
 * Without the lock. */
bool left_out_drop(const struct spec *spec, struct job *job, uint32_t row, apl_status status);

#endif

/* What receipts are made of: a sum over what a batch delivers, in which order does not matter. */
#ifndef RECEIPT_H
#define RECEIPT_H

#include "job.h"
#include "spec.h"

/* Fills in the tally of a batch whose rows are listed. */
void receipt_take(const struct spec *spec, struct job *job);

#endif

/* Images that are as they were written and yet cannot be decoded. Where records may be left out, these are, by themselves. */
#ifndef UNDECODABLE_H
#define UNDECODABLE_H

#include "status.h"

#include <stdbool.h>
#include <stdint.h>

struct job;

/* With the reader's lock held. */
struct undecodable {
    uint8_t *known;   /* a bit for each record: it has been counted; NULL: none has */
    uint64_t records; /* of those that are known */
    uint64_t corrupt; /* records of corrupt blocks, up to the batch that was handed out last */
};

void undecodable_free(struct undecodable *u);

/* Counts the rows that a batch, which is about to be handed out, has left out so. Batches count in their order, and so the limit is
 * exceeded at the same place whoever collates. APL_E_CORRUPT: it is; then that is the batch's error from now on. */
apl_status undecodable_meet(const apl_reader *r, struct job *job, apl_error *err);

#endif

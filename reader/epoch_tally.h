/* The epoch that is being handed out: how far that has come, and what there is to show for it. With the reader's lock held. */
#ifndef EPOCH_TALLY_H
#define EPOCH_TALLY_H

#include "pool.h"

struct job;

struct epoch_tally {
    uint64_t epoch, position; /* over all ranks */
    uint64_t length;          /* deliveries of an epoch; where they are packed, tokens */
    uint64_t deliveries;      /* the most that an epoch may have */
    bool ended;               /* all of the epoch has been handed out */
    uint64_t first;           /* the position where handing out began, */
    struct tally tally;       /* and what was, since */
    uint8_t *delivered; /* a bit a delivery of this epoch: deliveries of the records before its own, + copy */
    uint8_t *resumed;   /* free order: the bits of a state that the epoch was resumed from; NULL: none */
    uint64_t resumed_epoch;
    uint64_t shared, repeated; /* this reader's share of what was handed out; bits that were set already */
};

/* Epochs of that many deliveries at most, of that length. */
apl_status tally_open(struct epoch_tally *t, uint64_t deliveries, uint64_t length, apl_error *err);
void tally_free(struct epoch_tally *t);

/* Free order: goes on after the deliveries of this epoch whose bits are set, which must be `position` of them. */
apl_status tally_resume(struct epoch_tally *t, const uint8_t *bits, size_t bytes, uint64_t epoch,
                        uint64_t position, apl_error *err);

/* Begins to hand out an epoch, from this position of it; tally_clear() forgets what was handed out of the one before. */
void tally_begin(const apl_reader *r, struct epoch_tally *t, uint64_t epoch, uint64_t position);
void tally_clear(struct epoch_tally *t);

/* A finished batch is handed out. */
void tally_add(const apl_reader *r, struct epoch_tally *t, const struct job *job);

/* What the receipt says. */
void tally_receipt(const struct epoch_tally *t, apl_receipt *receipt);

/* Was this epoch resumed in free order; and had it had the delivery of that number then? */
static inline bool tally_is_resumed(const struct epoch_tally *t, uint64_t epoch)
{
    return t->resumed && t->resumed_epoch == epoch;
}

static inline bool tally_had(const struct epoch_tally *t, uint64_t epoch, uint64_t number)
{
    return tally_is_resumed(t, epoch) && (t->resumed[number / 8] >> number % 8 & 1);
}

#endif

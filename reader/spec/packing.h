/* Packing: the values of an epoch's deliveries, laid end to end in their order, are a stream of tokens; batches are cut from that
 * in rows of one length. So positions of an epoch count tokens, and one delivery may be in several batches, and of several ranks. */
#ifndef PACKING_H
#define PACKING_H

#include "reader.h"

/* Checks that the fields that pack have the same lengths, which it reads, and fills r->options.pack. */
apl_status packing_open(apl_reader *r, const bool *packed, apl_error *err);
void packing_free(struct packing *pack);

/* Memory for the deliveries of a batch of all ranks. */
apl_status packing_plan_open(apl_reader *r, apl_error *err);
void packing_plan_free(struct packed_plan *p);

/* Starts at the beginning of an epoch. */
void packing_begin(apl_reader *r);

/* Draws the deliveries of the next n tokens, the planner's plan; false: out of memory. Without the lock. */
bool packing_draw(apl_reader *r, uint64_t n);

/* The shares of what was drawn, which begins at this position of the epoch, of the ranks whose batches are being planned; the rest is
 * passed. With the lock held. */
void packing_share(apl_reader *r, uint64_t position, uint64_t n);

/* All of it is passed. With the lock held. */
void packing_pass(apl_reader *r);

/* Tokens of a delivery. */
uint32_t packing_tokens(const apl_reader *r, uint32_t delivery);

/* Bytes that packing takes beyond the buffers of batches. */
uint64_t packing_bytes(const apl_reader *r);

#endif

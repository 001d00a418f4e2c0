/* Packing: the values of an epoch's deliveries, laid end to end in their order, are a stream of tokens; batches are cut from that
 * in rows of one length. So positions of an epoch count tokens, and one delivery may be in several batches, and of several ranks. Where stores
 * have weights, all epochs have as many tokens: what the deliveries of one have more is left out at its end. */
#ifndef PACKING_H
#define PACKING_H

#include "spec.h"

/* Checks that the fields that pack have the same lengths, and reads these. */
apl_status packing_open(struct spec *spec, const bool *packed, apl_error *err);

/* Fills in the rest of spec->options.pack, once it is known how often records come. */
apl_status packing_count(struct spec *spec, apl_error *err);
void packing_free(struct packing *pack);

/* Tokens of a delivery. */
uint32_t packing_tokens(const struct spec *spec, uint32_t delivery);

/* Bytes that packing takes beyond the buffers of batches. */
uint64_t packing_bytes(const struct spec *spec);

#endif

/* Saving where a reader stands, and going on there. */
#ifndef STATE_H
#define STATE_H

#include "reader.h"

/* Fills r->identity: digests of what is read and of what shapes the order, so that taking a state costs nothing. */
apl_status state_identify(apl_reader *r, apl_error *err);

/* Do these two numbers of a state say that it is of the order that `own` is of? APL_E_MISMATCH says what differs. */
apl_status identity_check(const struct identity *own, uint64_t low, uint64_t high, apl_error *err);

/* Is it that of a reader in sequence, of version 1? */
bool identity_is_first(const apl_reader *r, uint64_t low);

/* Where a reader begins: as the state says (checked against the reader's store and options), or at the first
 * epoch without a state. */
apl_status state_resume(apl_reader *r, const void *state, size_t size, uint64_t *epoch, uint64_t *position,
                        apl_error *err);

#endif

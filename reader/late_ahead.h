/* Asking for values that are read late before their turn, where stores are elsewhere. */
#ifndef LATE_AHEAD_H
#define LATE_AHEAD_H

#include "reader.h"

/* Has the values that a planned batch, whose blocks are there, needs from elsewhere fetched. With the reader's lock held. False: there is
 * no room for all; the rest are asked for while the batch is collated. */
bool late_ahead(const apl_reader *r, struct job *job);

/* The same for a batch that is being collated, from number `at` of its values on: see worker.ahead. Without the lock. */
void late_ask(const struct worker *w, struct job *job, uint32_t at);

#endif

/* Asking for values that are read late before their turn: at a URL by requests, in files here by telling the kernel. */
#ifndef LATE_AHEAD_H
#define LATE_AHEAD_H

#include "reader.h"

/* Has the values that a planned batch, whose blocks are there, needs from elsewhere fetched. With the reader's lock held. False: there is
 * no room for all; the rest are asked for while the batch is collated. */
bool late_ahead(const apl_reader *r, struct job *job);

/* For a batch that is being collated, from number `at` of its values on, which is read next: see worker.ahead. Without the lock. Of a reader with stores
 * elsewhere, those in files here have been passed over by then. */
void late_ask(const struct worker *w, struct job *job, uint32_t at);

#endif

/*
 * What holds a reader and what makes its batches need not be one process. A reader that is connected to a server has no threads, blocks
 * or plan: these calls, all with its lock held, bring its batches from there (see serve/). A reader that a server reads has
 * no caller waits in it: the server polls, and is notified when to poll again.
 */
#ifndef PROVIDER_H
#define PROVIDER_H

#include "apl.h"

#include <stdbool.h>

#define NO_RANK UINT32_MAX

struct batch_buffer;
struct client;

struct provider {
    apl_status (*next)(apl_reader *r, apl_batch **batch, apl_error *err);
    apl_status (*next_epoch)(apl_reader *r, apl_error *err);
    void (*wake)(apl_reader *r); /* ends the wait of a caller that waits for the server */
    void (*stats)(apl_reader *r, apl_stats *stats);
};

/* A reader with nothing in it but its locks, which is freed by destroy(); that calls reader_free(), which frees the rest. */
apl_status reader_new(void (*destroy)(apl_reader *r), apl_reader **reader, apl_error *err);
void reader_free(apl_reader *r);

/* Opens a reader for a server. allocators: one for each rank's batches. Whenever an eventfd is given, it is written to after
 * reader_ask() has found nothing and there may be something now, for all ranks that it has found nothing for and whose batches are
 * being made; not if that is an error. */
apl_status reader_open_served(apl_store *store, const apl_reader_options *options,
                              const apl_allocator *allocators, int notify, apl_reader **reader,
                              apl_error *err);

/* The next batch of a rank, as apl_reader_next_of() would give it, without waiting: APL_E_TIMEOUT, without a message, if it is
 * not ready. *end: the position after it. */
apl_status reader_ask(apl_reader *r, unsigned rank, struct batch_buffer **batch, uint64_t *end,
                      apl_error *err);

/* Tells the server, if it has asked in vain; with the reader's lock held. */
void reader_notify(apl_reader *r);

/* A rank has asked in vain for as long as it may, or so long as it may wait for another rank: APL_E_TIMEOUT, with a message that names
 * what it waits for. APL_OK: it may wait longer, which is never said where it must be reported in any case. *by: which other rank it waits
 * for; NO_RANK: for none. */
apl_status reader_late(apl_reader *r, unsigned rank, bool tell, unsigned *by, apl_error *err);

#endif

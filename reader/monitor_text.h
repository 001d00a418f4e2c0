/* A reader's figures as the JSON of its file, which docs/MONITORING.md describes. */
#ifndef MONITOR_TEXT_H
#define MONITOR_TEXT_H

#include "bytes.h"

#include "apl.h"

#define MONITOR_SECONDS 10u /* that rates are of */

/* What a reader has done, as it was written each second: the newest last. */
struct monitor_past {
    apl_stats stats[MONITOR_SECONDS + 1];
    unsigned count;
};

/* Adds what has been done by now. */
void monitor_past_add(struct monitor_past *past, const apl_stats *now);

/* Where the reader is in its epoch. */
struct monitor_place {
    uint64_t epoch, position, length, step, steps;
};

/* Adds to b: all that is there to tell. `name`: the store's, or the socket's where the batches come from a server. */
void monitor_text(struct buffer *b, const apl_reader *r, const char *name, const struct monitor_place *place,
                  const struct monitor_past *past);

#endif

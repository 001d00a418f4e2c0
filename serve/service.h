/* What a server reads: one reader, and for each rank the memory of its batches, and what a client has left behind. */
#ifndef SERVICE_H
#define SERVICE_H

#include "region.h"
#include "wire.h"

#include "apl.h"

struct batch_buffer;
struct outlet;

/* A batch that was sent to a client who ended before its caller got it, and the epoch's position before and after it. */
struct left_batch {
    struct batch_buffer *batch;
    uint64_t begin, end;
};

/* Of a rank. What is left has been taken in a row, and is lent again before anything else: never more than one client may have asked for. */
struct seat {
    struct outlet *outlet;
    struct region *region;
    struct left_batch left[WIRE_AHEAD];
    unsigned left_count;
    int client; /* the process that is connected as this rank; 0: none, -1: it is not known */
};

struct service {
    apl_reader *reader;
    unsigned count; /* of seats */
    struct seat *seats;
    apl_allocator *allocators;
};

/* Opens a reader that writes to `notify` (see provider.h). What the options point to must stay as long as it. */
apl_status service_open(apl_store *store, const apl_reader_options *options, int notify,
                        struct service *service, apl_error *err);
void service_close(struct service *service);

/* The seat of a rank. APL_E_INVALID: it is not served. */
apl_status service_seat(struct service *service, unsigned rank, struct seat **seat, apl_error *err);

/* Where the next batch that is lent to the rank begins. */
void seat_place(const struct seat *seat, uint64_t *epoch, uint64_t *position);

/* Takes the next batch, as reader_ask() does; what was left behind comes first. */
apl_status seat_take(struct service *service, struct seat *seat, struct batch_buffer **batch, uint64_t *begin,
                     uint64_t *end, apl_error *err);

/* Leaves the batch that was taken last, of those that are not left yet, to the next who takes one. */
void seat_leave(struct seat *seat, struct batch_buffer *batch, uint64_t begin, uint64_t end);

/* As reader_late(); where another rank is waited for, with the process that is it. */
apl_status seat_late(struct service *service, const struct seat *seat, bool tell, apl_error *err);

/* Begins the next epoch, in which nothing of before is lent. */
apl_status seat_begin_epoch(struct service *service, struct seat *seat, apl_error *err);

#endif

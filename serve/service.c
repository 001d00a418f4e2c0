/* What a server reads: see service.h. */
#include "service.h"

#include "provider.h"
#include "reader.h"

#include <stdlib.h>
#include <string.h>

/* Of each rank's batches: addresses, of which pages are taken as they are needed. */
#define REGION_BYTES ((uint64_t)16 << 30)

/* --------------------------------------------------------------------------------------------- opening */

static apl_status make_regions(struct service *v, apl_error *err)
{
    v->seats = calloc(v->count, sizeof *v->seats);
    v->allocators = calloc(v->count, sizeof *v->allocators);
    if (!v->seats || !v->allocators)
        return fail_nomem(err);
    for (unsigned i = 0; i < v->count; i++) {
        TRY(region_new(REGION_BYTES, &v->seats[i].region, err));
        v->allocators[i] = (apl_allocator){region_allocate, region_deallocate, v->seats[i].region};
    }
    return APL_OK;
}

apl_status service_open(apl_store *store, const apl_reader_options *options, int notify, struct service *v,
                        apl_error *err)
{
    *v = (struct service){.count = options->ranks.list ? options->ranks.count : 1};
    apl_status status = make_regions(v, err);
    if (status == APL_OK)
        status = reader_open_served(store, options, v->allocators, notify, &v->reader, err);
    if (status != APL_OK) {
        service_close(v);
        return status;
    }
    for (unsigned i = 0; i < v->count; i++)
        v->seats[i].outlet = &v->reader->outlets[i];
    return APL_OK;
}

static void drop_left(struct seat *seat)
{
    while (seat->left_count > 0)
        apl_batch_release(&seat->left[--seat->left_count].batch->batch);
}

void service_close(struct service *v)
{
    for (unsigned i = 0; v->seats && i < v->count; i++)
        drop_left(&v->seats[i]);
    apl_reader_close(v->reader);
    for (unsigned i = 0; v->seats && i < v->count; i++)
        region_drop(v->seats[i].region);
    free(v->seats);
    free(v->allocators);
    *v = (struct service){0};
}

/* ----------------------------------------------------------------------------------------------- seats */

apl_status service_seat(struct service *v, unsigned rank, struct seat **seat, apl_error *err)
{
    struct outlet *outlet;
    TRY(outlet_find(v->reader, rank, &outlet, err));
    *seat = &v->seats[outlet - v->reader->outlets];
    return APL_OK;
}

void seat_place(const struct seat *seat, uint64_t *epoch, uint64_t *position)
{
    *epoch = seat->outlet->tally.epoch;
    *position = seat->left_count ? seat->left[0].begin : seat->outlet->tally.position;
}

apl_status seat_take(struct service *v, struct seat *seat, struct batch_buffer **batch, uint64_t *begin,
                     uint64_t *end, apl_error *err)
{
    *begin = seat->outlet->tally.position;
    if (seat->left_count == 0)
        return reader_ask(v->reader, seat->outlet->rank, batch, end, err);
    *batch = seat->left[0].batch;
    *begin = seat->left[0].begin;
    *end = seat->left[0].end;
    memmove(seat->left, seat->left + 1, --seat->left_count * sizeof seat->left[0]);
    return APL_OK;
}

void seat_leave(struct seat *seat, struct batch_buffer *batch, uint64_t begin, uint64_t end)
{
    memmove(seat->left + 1, seat->left, seat->left_count++ * sizeof seat->left[0]);
    seat->left[0] = (struct left_batch){batch, begin, end};
}

/* Who it is that a rank waits for, after what is said of it already. */
static void add_process(struct service *v, unsigned rank, apl_error *err)
{
    apl_error said = *err;
    struct seat *other;
    if (service_seat(v, rank, &other, NULL) != APL_OK || other->client < 0)
        return;
    if (other->client)
        fail(err, said.status, "%s; it is process %d", said.message, other->client);
    else
        fail(err, said.status, "%s; no process is connected as it", said.message);
}

apl_status seat_late(struct service *v, const struct seat *seat, bool tell, apl_error *err)
{
    unsigned by = NO_RANK;
    apl_status status = reader_late(v->reader, seat->outlet->rank, tell, &by, err);
    if (status != APL_OK && by != NO_RANK)
        add_process(v, by, err);
    return status;
}

apl_status seat_begin_epoch(struct service *v, struct seat *seat, apl_error *err)
{
    drop_left(seat);
    return apl_reader_next_epoch_of(v->reader, seat->outlet->rank, err);
}

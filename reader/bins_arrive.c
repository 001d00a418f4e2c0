/* Bins that blocks are put into as they arrive, in free order: see bins.h. */
#include "bins_parts.h"
#include "trace.h"

#include <stdlib.h>
#include <string.h>

void bins_begin_arriving(struct bins *b)
{
    b->closed.count = b->lanes[0].at = 0;
    atomic_init(&b->oldest, 0);
    atomic_init(&b->standing, 0);
}

uint64_t bins_standing(const struct bins *b)
{
    return atomic_load_explicit(&b->standing, memory_order_acquire); /* with all that has been put before */
}

/* --------------------------------------------------------------------------------------------- putting */

/* Puts some into the bin of this turn. False: out of memory, or (*closed) it is closed already. */
static bool put_into(struct bins *b, uint64_t turn, const uint32_t *deliveries, uint32_t n, bool *closed)
{
    struct bin *bin = bins_at(b, &b->lanes[0], turn);
    struct gate *gate = gate_at(b, &b->lanes[0], turn);
    pthread_mutex_lock(&gate->lock);
    *closed = gate->turn != turn;
    bool ok = !*closed && bin_reserve(bin, n);
    if (ok)
        memcpy(bin->deliveries + bin->count, deliveries, n * sizeof *deliveries);
    bin->count += ok ? n : 0;
    pthread_mutex_unlock(&gate->lock);
    return ok;
}

/* The bin of a delivery was closed before it could be put: it goes to another, by a second hash. */
static bool put_late(struct bins *b, uint32_t delivery)
{
    for (uint64_t again = 0;; again++) {
        bool closed;
        uint64_t oldest = atomic_load_explicit(
            &b->oldest, memory_order_acquire); /* whose bin its lock shows as it is now */
        uint64_t hash = siphash(b->late, (uint64_t[]){delivery, again}, 2) >> 32;
        if (put_into(b, oldest + (hash * b->shape.bins >> 32), &delivery, 1, &closed))
            return true;
        if (!closed)
            return false;
    }
}

struct sorting {
    uint16_t *places;
    uint32_t *sorted, *starts;
};

/* Sorts the deliveries by bin, by counting: starts[i] is where bin i begins. */
static void sort_deliveries(const struct bins *b, struct sorting *s, const uint32_t *deliveries,
                            const uint32_t *numbers, uint32_t n)
{
    for (uint32_t i = 0, some; i < n; i += some) {
        for (some = 1; i + some < n && numbers[i + some] == numbers[i] + some; some++)
            ;
        places_hash(b->place, numbers[i], some, b->shape.bins, s->places + i);
    }
    for (uint32_t i = 0; i < n; i++)
        s->starts[s->places[i] + 2]++;
    for (uint32_t i = 2; i <= b->shape.bins; i++)
        s->starts[i + 1] += s->starts[i];
    for (uint32_t i = 0; i < n; i++)
        s->sorted[s->starts[s->places[i] + 1]++] = deliveries[i];
}

/* Puts what has been sorted, bin by bin. */
static bool put_sorted(struct bins *b, const struct sorting *s)
{
    uint64_t oldest = atomic_load_explicit(&b->oldest, memory_order_acquire);
    for (uint32_t i = 0; i < b->shape.bins; i++) {
        bool closed;
        uint32_t n = s->starts[i + 1] - s->starts[i];
        if (n == 0 || put_into(b, oldest + i, s->sorted + s->starts[i], n, &closed))
            continue;
        for (uint32_t k = s->starts[i]; closed && k < s->starts[i + 1]; k++)
            closed = put_late(b, s->sorted[k]);
        if (!closed)
            return false;
    }
    return true;
}

bool bins_put(struct bins *b, const uint32_t *deliveries, const uint32_t *numbers, uint32_t n)
{
    uint64_t begin = trace_is_on() ? now_ns() : 0;
    struct sorting s = {.places = malloc((n + 1) * sizeof *s.places),
                        .sorted = malloc((n + 1) * sizeof *s.sorted),
                        .starts = calloc(b->shape.bins + 2, sizeof *s.starts)};
    bool ok = s.places && s.sorted && s.starts;
    if (ok) {
        sort_deliveries(b, &s, deliveries, numbers, n);
        ok = put_sorted(b, &s);
    }
    if (ok) /* only now can they be taken: what is counted is there */
        atomic_fetch_add_explicit(&b->standing, n, memory_order_release);
    free(s.places);
    free(s.sorted);
    free(s.starts);
    if (begin)
        trace_span("fill", begin, now_ns(), "deliveries", n);
    return ok;
}

/* ---------------------------------------------------------------------------------------------- taking */

/* Closes the oldest bin, whose place is then that of one to come, and shuffles what was in it. */
static void close_oldest(struct bins *b)
{
    uint64_t begin = trace_is_on() ? now_ns() : 0,
             turn = atomic_load_explicit(&b->oldest, memory_order_relaxed); /* written here alone */
    struct bin *bin = bins_at(b, &b->lanes[0], turn), *closed = &b->closed;
    struct gate *gate = gate_at(b, &b->lanes[0], turn);
    uint32_t *deliveries = closed->deliveries, capacity = closed->capacity;
    pthread_mutex_lock(&gate->lock);
    closed->deliveries = bin->deliveries;
    closed->capacity = bin->capacity;
    closed->count = bin->count;
    bin->deliveries = deliveries;
    bin->capacity = capacity;
    bin->count = 0;
    gate->turn += b->shape.bins;
    pthread_mutex_unlock(&gate->lock);
    atomic_store_explicit(&b->oldest, turn + 1, memory_order_release);
    if (closed->count > 1)
        places_shuffle(places_key(b->shuffle, 0, turn), closed->deliveries, closed->count);
    b->lanes[0].at = 0;
    if (begin)
        trace_span("shuffle", begin, now_ns(), "bin", turn);
}

size_t bins_take_arrived(struct bins *b, uint32_t *deliveries, size_t n)
{
    uint64_t standing = bins_standing(b);
    size_t taken = 0;
    n = n < standing ? n : (size_t)standing;
    while (taken < n) {
        uint32_t *at = &b->lanes[0].at, some = b->closed.count - *at;
        if (some == 0) {
            close_oldest(b);
            continue;
        }
        some = some < n - taken ? some : (uint32_t)(n - taken);
        memcpy(deliveries + taken, b->closed.deliveries + *at, some * sizeof *deliveries);
        *at += some;
        taken += some;
    }
    atomic_fetch_sub_explicit(&b->standing, taken,
                              memory_order_relaxed); /* by whoever takes, who alone lowers it */
    b->position += taken;
    return taken;
}

/* Which readers are open: see handles.h. */
#include "handles.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

/* A handle's state: twice the number of those who hold the reader, and one if it is withdrawn. 0: the handle is free. One word,
 * so that nobody comes to hold what has been withdrawn. */
#define WITHDRAWN ((uint_fast32_t)1)
#define HELD      ((uint_fast32_t)2)

struct handle {
    atomic_uint_fast32_t state;
    _Atomic(apl_reader *) reader;
    void (*destroy)(apl_reader *reader);
};

#define CHUNK 64u

/* Chunks are added in front of each other and stay. */
struct chunk {
    _Atomic(struct chunk *) next;
    struct handle handles[CHUNK];
};

static struct chunk first;

/* ---------------------------------------------------------------------------------------------- adding */

static bool claim(struct handle *h, apl_reader *reader, void (*destroy)(apl_reader *reader))
{
    uint_fast32_t free = 0;
    /* acquire, with the release of free_handle(): what was there before is gone */
    if (!atomic_compare_exchange_strong_explicit(&h->state, &free, HELD, memory_order_acquire,
                                                 memory_order_relaxed))
        return false;
    h->destroy = destroy;
    /* release: who finds the reader sees `destroy` */
    atomic_store_explicit(&h->reader, reader, memory_order_release);
    return true;
}

static struct handle *claim_in(struct chunk *c, apl_reader *reader, void (*destroy)(apl_reader *reader))
{
    for (unsigned i = 0; i < CHUNK; i++)
        if (claim(&c->handles[i], reader, destroy))
            return &c->handles[i];
    return NULL;
}

struct handle *handles_add(apl_reader *reader, void (*destroy)(apl_reader *reader))
{
    struct handle *h;
    for (struct chunk *c = &first; c; c = atomic_load_explicit(&c->next, memory_order_acquire))
        if ((h = claim_in(c, reader, destroy)))
            return h;
    struct chunk *more = calloc(1, sizeof *more);
    if (!more)
        return NULL;
    h = claim_in(more, reader, destroy);
    struct chunk *second = atomic_load_explicit(&first.next, memory_order_acquire);
    do
        atomic_store_explicit(&more->next, second, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&first.next, &second, more, memory_order_acq_rel,
                                                  memory_order_acquire));
    return h;
}

/* --------------------------------------------------------------------------------------------- holding */

/* Holds whatever reader the handle is of, unless that is withdrawn or missing. */
static bool hold(struct handle *h)
{
    uint_fast32_t state = atomic_load_explicit(&h->state, memory_order_relaxed);
    do
        if (state < HELD || state & WITHDRAWN)
            return false;
    while (!atomic_compare_exchange_weak_explicit(&h->state, &state, state + HELD, memory_order_acquire,
                                                  memory_order_relaxed));
    return true;
}

static bool is_of(struct handle *h, const apl_reader *reader)
{
    return atomic_load_explicit(&h->reader, memory_order_acquire) == reader;
}

struct handle *handles_hold(const apl_reader *reader)
{
    if (!reader)
        return NULL;
    for (struct chunk *c = &first; c; c = atomic_load_explicit(&c->next, memory_order_acquire))
        for (struct handle *h = c->handles; h < c->handles + CHUNK; h++) {
            if (!is_of(h, reader) || !hold(h))
                continue;
            if (is_of(h, reader))
                return h;
            handles_drop(h); /* it had become another's in between */
        }
    return NULL;
}

void handles_hold_again(struct handle *h)
{
    /* relaxed: who calls holds it, so that nothing can happen to it */
    atomic_fetch_add_explicit(&h->state, HELD, memory_order_relaxed);
}

/* ----------------------------------------------------------------------------------------- releasing */

static void free_handle(struct handle *h)
{
    apl_reader *reader = atomic_load_explicit(&h->reader, memory_order_relaxed);
    void (*destroy)(apl_reader *) = h->destroy;
    atomic_store_explicit(&h->reader, NULL, memory_order_relaxed);
    /* release: whoever claims the handle next writes it after this */
    atomic_store_explicit(&h->state, 0, memory_order_release);
    destroy(reader);
}

void handles_drop(struct handle *h)
{
    /* acq_rel: what others did with the reader must have happened before it is freed */
    uint_fast32_t before = atomic_fetch_sub_explicit(&h->state, HELD, memory_order_acq_rel);
    if (before < 2 * HELD)
        free_handle(h);
}

bool handles_withdraw(struct handle *h)
{
    return !(atomic_fetch_or_explicit(&h->state, WITHDRAWN, memory_order_acq_rel) & WITHDRAWN);
}

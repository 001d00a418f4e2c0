/* Where a reader stands, saved; and another that goes on there. */
#ifndef STATE_CASE_H
#define STATE_CASE_H

#include "reader_fixture.h"

#define TRAIN 67
#define BLOCK 8

static inline void state_set_up(void)
{
    fixture_make(TRAIN, 9, BLOCK);
}

struct state {
    uint8_t bytes[APL_STATE_BYTES + 64];
    size_t size;
    size_t at; /* ids that had been handed out since the first epoch began */
};

static inline void save(apl_reader *r, struct state *s, size_t at)
{
    apl_error err = {0};
    s->size = sizeof s->bytes;
    s->at = at;
    cr_assert_eq(apl_reader_state(r, s->bytes, &s->size, &err), APL_OK, "%s", err.message);
}

static inline apl_reader *resume(apl_reader_options o, const struct state *s)
{
    o.state = s->bytes;
    o.state_size = s->size;
    return fixture_reader(&o);
}

static inline apl_reader_options options(uint64_t window, unsigned reuse, apl_order order)
{
    apl_reader_options o = fixture_options();
    o.batch_size = 7;
    o.window = window;
    o.reuse = reuse;
    o.order = order;
    o.seed = 5;
    return o;
}

#endif

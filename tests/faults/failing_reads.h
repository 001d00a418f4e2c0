/* Reading while calls fail: what the suites of readers share. */
#ifndef FAILING_READS_H
#define FAILING_READS_H

#include "failing_case.h"

static apl_reader_options wanted;

static inline apl_status read_epoch(apl_reader *r, uint64_t most, apl_error *err)
{
    apl_batch *b = NULL;
    apl_status status = APL_OK;
    while (most-- > 0 && (status = apl_reader_next(r, &b, err)) == APL_OK)
        apl_batch_release(b);
    return status == APL_END ? APL_OK : status;
}

/* An epoch and a half, of which a receipt is given; then another reader goes on from there. */
static inline apl_status read_and_resume(apl_store *s, apl_error *err)
{
    uint8_t state[4096];
    size_t size = sizeof state;
    apl_receipt receipt;
    apl_reader *r = NULL;
    apl_reader_options o = wanted;
    apl_status status = apl_reader_open(s, &o, &r, err);
    if (status == APL_OK)
        status = read_epoch(r, UINT64_MAX, err);
    if (status == APL_OK)
        status = apl_reader_receipt(r, &receipt, sizeof receipt, err);
    if (status == APL_OK)
        status = apl_reader_next_epoch(r, err);
    if (status == APL_OK)
        status = read_epoch(r, 2, err);
    if (status == APL_OK)
        status = apl_reader_state(r, state, &size, err);
    apl_reader_close(r);
    r = NULL;
    o.state = state, o.state_size = size;
    if (status == APL_OK)
        status = apl_reader_open(s, &o, &r, err);
    if (status == APL_OK)
        status = read_epoch(r, UINT64_MAX, err);
    apl_reader_close(r);
    return status;
}

static inline apl_status read_all(apl_error *err)
{
    apl_store *s = NULL;
    apl_status status = open_store(&s, err);
    if (status == APL_OK)
        status = read_and_resume(s, err);
    apl_store_close(s);
    return status;
}

#endif

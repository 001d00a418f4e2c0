/* Showing a cursor blocks, and stitching what straddles them. */
#include "feed.h"

apl_status feed_keep(struct feed *f, apl_status status, const apl_error *why)
{
    if (status != APL_OK && status != APL_END && f->failure.status == APL_OK)
        f->failure = *why;
    return status;
}

apl_status feed_failure(const struct feed *f, apl_error *err)
{
    if (err && f->failure.status != APL_OK)
        *err = f->failure;
    return f->failure.status;
}

/* Fetches the next block into f->rest; false at the end or on a failure. */
static bool fetch_some(struct feed *f)
{
    if (!f->open || f->failure.status != APL_OK)
        return false;
    apl_error why;
    if (feed_keep(f, f->fetch(f->user, &f->rest, &f->rest_size, &why), &why) == APL_OK)
        return true;
    f->rest_size = 0;
    f->open = false;
    return false;
}

/* Shows the cursor other bytes, without a change of its place. */
static void show(struct cursor *c, const uint8_t *data, size_t size)
{
    c->base = cursor_offset(c);
    c->begin = data;
    c->at = data;
    c->end = data + size;
}

static bool stitch_reserve(struct feed *f, size_t need)
{
    if (need <= f->stitch_size)
        return true;
    apl_error why;
    size_t size = f->stitch_size ? f->stitch_size : 4096;
    while (size < need && size < FEED_TAKE_MAX)
        size *= 2;
    if (size < need) {
        feed_keep(f,
                  fail(&why, APL_E_INVALID, "%s: %zu bytes are too many to be read at once", f->name, need),
                  &why);
        return false;
    }
    uint8_t *stitch = malloc(size);
    if (!stitch) {
        feed_keep(f, fail_nomem(&why), &why);
        return false;
    }
    size_t left = cursor_left(&f->cursor);
    if (left > 0)
        memcpy(stitch, f->cursor.at, left);
    show(&f->cursor, stitch, left);
    free(f->stitch);
    f->stitch = stitch;
    f->stitch_size = size;
    return true;
}

/* Joins what the cursor has left with what follows, until there are `need` bytes. */
static bool stitch(struct feed *f, size_t need)
{
    struct cursor *c = &f->cursor;
    if (!stitch_reserve(f, need))
        return false;
    size_t have = cursor_left(c);
    if (have > 0)
        memmove(f->stitch, c->at, have); /* fetching the next block takes away this one */
    show(c, f->stitch, have);
    while (have < need && (f->rest_size > 0 || fetch_some(f))) {
        size_t n = need - have < f->rest_size ? need - have : f->rest_size;
        memcpy(f->stitch + have, f->rest, n);
        f->rest += n;
        f->rest_size -= n;
        have += n;
        c->end = f->stitch + have;
    }
    return have >= need;
}

/* What the cursor calls for more: the next block as it is where that will do, else a copy. */
static bool more(struct cursor *c, size_t need)
{
    struct feed *f = c->stream;
    if (cursor_left(c) > 0)
        return stitch(f, need);
    if (f->rest_size == 0 && !fetch_some(f))
        return false;
    if (f->rest_size < need)
        return stitch(f, need);
    show(c, f->rest, f->rest_size);
    f->rest_size = 0;
    return true;
}

void feed_begin(struct feed *f)
{
    f->rest_size = 0;
    f->cursor = cursor_over(NULL, 0);
    f->cursor.more = more;
    f->cursor.stream = f;
    f->open = true;
}

void feed_drain(struct feed *f)
{
    while (fetch_some(f))
        ;
    f->rest_size = 0;
    f->cursor = cursor_over(NULL, 0);
}

void feed_free(struct feed *f)
{
    free(f->stitch);
    f->stitch = NULL;
    f->stitch_size = 0;
}

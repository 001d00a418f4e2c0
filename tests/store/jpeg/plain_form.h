/* Indexed images taken apart, to say something else in one place of the two: what stands in front of what restores the file, and its
 * parts, which are coded again. */
#ifndef PLAIN_FORM_H
#define PLAIN_FORM_H

#include "transcode.h"

struct plain_form {
    struct buffer front, parts;
    uint64_t sum; /* of the file */
    unsigned pads;
};

static inline void plain_free(struct plain_form *p)
{
    buffer_free(&p->front);
    buffer_free(&p->parts);
}

/* false: the form is damaged. */
static inline bool plain_take(struct transcoder *t, const uint8_t *form, size_t size, struct plain_form *p)
{
    struct indexed x;
    struct restoring r;
    *p = (struct plain_form){.sum = 0};
    if (indexed_parse(form, size, &x, NULL) != APL_OK ||
        restoring_take(t, &x, restoring_most(APL_MAX_VALUE), &r, NULL) != APL_OK)
        return false;
    buffer_put(&p->front, form, (size_t)(x.restoring - form));
    buffer_put(&p->parts, t->parts.data, t->parts.size);
    p->sum = r.sum;
    p->pads = r.pads;
    return true;
}

/* To be freed by the caller. The front may have become longer or shorter. */
static inline struct buffer plain_put(struct transcoder *t, const struct plain_form *p)
{
    struct buffer out = {.failed = false};
    buffer_put(&out, p->front.data, p->front.size);
    store_le(out.data + 8, out.size, 4);
    t->parts.size = 0;
    buffer_put(&t->parts, p->parts.data, p->parts.size);
    out.failed |= restoring_put(t, p->sum, p->pads, p->front.data + INDEXED_HEAD,
                                (size_t)BLOCK_VALUES * p->front.data[12], &out, NULL) != APL_OK;
    return out;
}

/* Lies of the front: it is as long and can be parsed as before, but says another image. */
static inline void plain_other_entry(struct plain_form *p)
{
    p->front.data[INDEXED_HEAD + 9] ^= p->front.data[INDEXED_HEAD + 9] == 1 ? 2 : 1;
}

static inline void plain_other_last_entry(struct plain_form *p)
{
    uint8_t *last = p->front.data + INDEXED_HEAD + (size_t)BLOCK_VALUES * p->front.data[12] - 1;
    *last ^= *last == 1 ? 2 : 1;
}

static inline void plain_other_tables(struct plain_form *p)
{
    memset(p->front.data + INDEXED_HEAD, 1, (size_t)BLOCK_VALUES * p->front.data[12]);
}

/* The first table for all components. */
static inline void plain_one_table(struct plain_form *p)
{
    size_t more = (size_t)BLOCK_VALUES * (p->front.data[12] - 1u), at = INDEXED_HEAD + BLOCK_VALUES;
    memmove(p->front.data + at, p->front.data + at + more, p->front.size - at - more);
    p->front.size -= more;
    p->front.data[12] = 1;
}

/* Luma and chroma for red, green and blue, and the other way round. */
static inline void plain_other_colours(struct plain_form *p)
{
    p->front.data[2] = p->front.data[2] == IMAGE_YCC ? IMAGE_RGB : IMAGE_YCC;
}

/* 4:4:0 for 4:2:2: a square of 16 pixels has two segments of one MCU either way. */
static inline void plain_other_sampling(struct plain_form *p)
{
    p->front.data[1] = INDEXED_440;
}

static inline void plain_less_height(struct plain_form *p)
{
    p->front.data[6]--;
}

#endif

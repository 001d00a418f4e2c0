/* Lengths, records, CRCs: see tf_frame.h. */
#include "tf_frame.h"

#include "crc32c.h"

#include <inttypes.h>

#define TAKE_BYTES ((size_t)1 << 20)

/* CRCs are stored so that those of what holds CRCs itself are not always the same. */
static uint32_t masked_crc(const void *data, size_t size)
{
    uint32_t crc = crc32c(data, size);
    return (crc >> 15 | crc << 17) + UINT32_C(0xa282ead8);
}

bool tf_frame_is(const uint8_t *head, size_t size)
{
    return size >= 12 && masked_crc(head, 8) == load_le(head + 8, 4);
}

/* The record's bytes, put together where they are many. */
static const uint8_t *take_record(struct tf_frame *f, size_t size)
{
    if (size <= TAKE_BYTES) {
        const uint8_t *data = cursor_take(f->cursor, size);
        if (data && buffer_reserve(&f->bytes, size + 1))
            memcpy(f->bytes.data, data, size); /* the CRC behind it is taken next */
        return data ? f->bytes.data : NULL;
    }
    f->bytes.size = 0;
    while (f->bytes.size < size) {
        size_t n = size - f->bytes.size < TAKE_BYTES ? size - f->bytes.size : TAKE_BYTES;
        const uint8_t *data = cursor_take(f->cursor, n);
        if (!data)
            return NULL;
        buffer_put(&f->bytes, data, n);
    }
    return f->bytes.data;
}

apl_status tf_frame_next(struct tf_frame *f, const uint8_t **data, size_t *size, apl_error *err)
{
    if (cursor_at_end(f->cursor))
        return APL_END;
    uint8_t head[12];
    const uint8_t *at = cursor_take(f->cursor, sizeof head);
    if (!at)
        return fail(err, APL_E_INCOMPLETE, "ends early: it is truncated");
    memcpy(head, at, sizeof head);
    uint64_t length = load_le(head, 8);
    if (!tf_frame_is(head, sizeof head))
        return fail(err, APL_E_SOURCE, "the CRC of its length is wrong");
    if (length > TF_RECORD_MAX)
        return fail(err, APL_E_SOURCE, "has %" PRIu64 " bytes, more than 256 MiB", length);
    f->bytes.size = 0;
    *data = take_record(f, (size_t)length);
    if (f->bytes.failed)
        return fail_nomem(err);
    at = cursor_take(f->cursor, 4);
    if (!*data || !at)
        return fail(err, APL_E_INCOMPLETE, "ends early: it is truncated");
    f->record++;
    *size = (size_t)length;
    return masked_crc(*data, *size) == load_le(at, 4) ? APL_OK : fail(err, APL_E_CORRUPT, "its CRC is wrong");
}

/* Protobuf and framing: see tfrecord.h. Ints and floats are packed, as TensorFlow writes them. */
#include "tfrecord.h"

#include <stdlib.h>
#include <string.h>

#define TAG_MESSAGE(number) ((uint8_t)((number) << 3 | 2))

/* ------------------------------------------------------------------------------------------------------- CRC */

/* CRC-32C (Castagnoli), reflected, eight bytes at a time; of `crc` and what follows it. Start with all bits set. */
static uint32_t castagnoli(uint32_t crc, const uint8_t *at, size_t size)
{
    static uint32_t tables[8][256];
    for (uint32_t i = 0; !tables[7][255] && i < 256; i++) {
        tables[0][i] = i;
        for (int bit = 0; bit < 8; bit++)
            tables[0][i] = tables[0][i] >> 1 ^ (tables[0][i] & 1 ? UINT32_C(0x82f63b78) : 0);
    }
    for (unsigned t = 1; !tables[7][255] && t < 8; t++)
        for (unsigned i = 0; i < 256; i++)
            tables[t][i] = tables[t - 1][i] >> 8 ^ tables[0][tables[t - 1][i] & 0xff];
    for (; size >= 8; size -= 8, at += 8) {
        uint64_t v;
        memcpy(&v, at, 8);
        v ^= crc;
        crc = 0;
        for (unsigned i = 0; i < 8; i++)
            crc ^= tables[7 - i][v >> 8 * i & 0xff];
    }
    for (; size > 0; size--, at++)
        crc = crc >> 8 ^ tables[0][(crc ^ *at) & 0xff];
    return crc;
}

static void put_le(uint8_t *out, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        out[i] = (uint8_t)(v >> 8 * i);
}

static void put_masked(uint8_t out[4], uint32_t crc)
{
    crc = ~crc;
    put_le(out, (uint32_t)((crc >> 15 | crc << 17) + UINT32_C(0xa282ead8)), 4);
}

/* -------------------------------------------------------------------------------------------------- protobuf */

static size_t varint_size(uint64_t v)
{
    size_t size = 1;
    for (; v > 127; v >>= 7)
        size++;
    return size;
}

static size_t put_varint(uint8_t *out, uint64_t v)
{
    size_t size = 0;
    for (; v > 127; v >>= 7)
        out[size++] = (uint8_t)(v | 128);
    out[size++] = (uint8_t)v;
    return size;
}

/* The bytes of a message of that many with its tag and length. */
static size_t message_size(size_t size)
{
    return 1 + varint_size(size) + size;
}

static uint8_t *put_message(uint8_t *out, unsigned number, size_t size)
{
    *out++ = TAG_MESSAGE(number);
    return out + put_varint(out, size);
}

static uint64_t int_of(const struct value *v, size_t i)
{
    return dtype_is_unsigned(v->dtype) ? value_unsigned(v, i) : (uint64_t)value_signed(v, i);
}

static size_t elements_size(enum tfrecord_list list, const struct value *v)
{
    size_t size = 0;
    if (list != TFRECORD_INTS)
        return list == TFRECORD_BYTES ? v->bytes : 4 * v->elements;
    for (size_t i = 0; i < v->elements; i++)
        size += varint_size(int_of(v, i));
    return size;
}

static void put_elements(uint8_t *out, enum tfrecord_list list, const struct value *v)
{
    if (list == TFRECORD_BYTES && v->bytes)
        memcpy(out, v->data, v->bytes);
    for (size_t i = 0; i < v->elements && list == TFRECORD_FLOATS; i++)
        put_le(out + 4 * i, value_float_bits(v, i), 4);
    for (size_t i = 0; i < v->elements && list == TFRECORD_INTS; i++)
        out += put_varint(out, int_of(v, i));
}

static uint8_t *more_room(struct tfrecord *t, size_t size)
{
    if (t->room - t->size < size) {
        size_t room = 2 * t->room > t->size + size ? 2 * t->room : t->size + size;
        uint8_t *data = t->failed ? NULL : realloc(t->data, room);
        t->failed = !data;
        if (!data)
            return NULL;
        t->data = data;
        t->room = room;
    }
    t->size += size;
    return t->data + t->size - size;
}

enum tfrecord_list tfrecord_list_of(const apl_field *f)
{
    if (f->media || f->dtype == APL_UTF8 || f->dtype == APL_F64 || (f->dtype == APL_U8 && f->ndim > 0))
        return TFRECORD_BYTES;
    return f->dtype == APL_F16 || f->dtype == APL_BF16 || f->dtype == APL_F32 ? TFRECORD_FLOATS
                                                                              : TFRECORD_INTS;
}

bool tfrecord_fits(const struct value *v)
{
    for (size_t i = 0; v->dtype == APL_U64 && i < v->elements; i++)
        if (value_unsigned(v, i) > INT64_MAX)
            return false;
    return true;
}

/* An entry of the map: the name, and a feature of one list. Of bytes that has one element, of numbers all in one, or none. */
void tfrecord_add(struct tfrecord *t, const char *name, enum tfrecord_list list, const struct value *value)
{
    size_t length = strlen(name), elements = elements_size(list, value);
    size_t body = list == TFRECORD_BYTES || elements ? message_size(elements) : 0;
    size_t feature = message_size(body), entry = message_size(length) + message_size(feature);
    uint8_t *out = more_room(t, message_size(entry));
    if (!out)
        return;
    out = put_message(out, 1, entry);
    out = put_message(out, 1, length);
    memcpy(out, name, length);
    out = put_message(out + length, 2, feature);
    out = put_message(out, list, body);
    if (body)
        put_elements(put_message(out, 1, elements), list, value);
}

/* The features are the one message of the Example. */
size_t tfrecord_frame(const struct tfrecord *t, uint8_t head[TFRECORD_HEAD], uint8_t tail[4])
{
    size_t size = (size_t)(put_message(head + 12, 1, t->size) - head);
    put_le(head, size - 12 + t->size, 8);
    put_masked(head + 8, castagnoli(UINT32_MAX, head, 8));
    put_masked(tail, castagnoli(castagnoli(UINT32_MAX, head + 12, size - 12), t->data, t->size));
    return size;
}

/* The wire format of protobuf, as far as it is needed: see tf_example.h. */
#include "tf_example.h"

#include "utf8.h"

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

/* A field of a message. */
struct wire_field {
    uint64_t number;
    enum wire type;
    uint64_t value;      /* of a varint */
    const uint8_t *data; /* of the others */
    size_t size;
};

static apl_status malformed(apl_error *err)
{
    return fail(err, APL_E_SOURCE, "is not a tf.train.Example: its protobuf is malformed");
}

/* At most ten bytes; false: not a varint. */
static bool take_varint(struct cursor *c, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        const uint8_t *byte = cursor_take(c, 1);
        if (!byte || (shift == 63 && *byte > 1))
            return false;
        *value |= (uint64_t)(*byte & 0x7f) << shift;
        if (!(*byte & 0x80))
            return true;
    }
    return false;
}

static bool take_payload(struct cursor *c, struct wire_field *f)
{
    uint64_t size = f->type == WIRE_64 ? 8 : 4;
    if (f->type == WIRE_VARINT)
        return take_varint(c, &f->value);
    if (f->type == WIRE_BYTES && !take_varint(c, &size))
        return false;
    if (size > cursor_left(c))
        return false;
    f->size = (size_t)size;
    f->data = cursor_take(c, f->size);
    return f->data != NULL;
}

static bool take_wire_field(struct cursor *c, struct wire_field *f)
{
    uint64_t tag;
    *f = (struct wire_field){0};
    if (!take_varint(c, &tag) || tag >> 3 == 0 || tag >> 3 >= 1 << 29)
        return false;
    f->number = tag >> 3;
    f->type = (enum wire)(tag & 7);
    if (f->type != WIRE_VARINT && f->type != WIRE_64 && f->type != WIRE_BYTES && f->type != WIRE_32)
        return false;
    return take_payload(c, f);
}

/* ------------------------------------------------------------------------------------------------------- lists */

static bool count_packed(const struct wire_field *f, enum tf_kind kind, uint64_t *count)
{
    struct cursor c = cursor_over(f->data, f->size);
    uint64_t value;
    if (kind == TF_FLOATS) {
        *count += f->size / 4;
        return f->size % 4 == 0;
    }
    for (; cursor_left(&c) > 0; ++*count)
        if (!take_varint(&c, &value))
            return false;
    return true;
}

static bool count_values(struct tf_feature *t)
{
    struct cursor c = cursor_over(t->list, (size_t)(t->list_end - t->list));
    enum wire single = t->kind == TF_FLOATS ? WIRE_32 : WIRE_VARINT;
    while (cursor_left(&c) > 0) {
        struct wire_field f;
        if (!take_wire_field(&c, &f))
            return false;
        if (f.number != 1)
            continue;
        if (t->kind != TF_BYTES && f.type == single) {
            t->count++;
            continue;
        }
        if (f.type != WIRE_BYTES || (t->kind != TF_BYTES && !count_packed(&f, t->kind, &t->count)))
            return false;
        if (t->kind != TF_BYTES)
            continue;
        if (t->count++ == 0) {
            t->bytes = f.data;
            t->bytes_size = f.size;
        }
    }
    return true;
}

void tf_feature_values(const struct tf_feature *t, uint8_t *out)
{
    struct cursor c = cursor_over(t->list, (size_t)(t->list_end - t->list));
    struct wire_field f;
    uint64_t value;
    while (cursor_left(&c) > 0 && take_wire_field(&c, &f)) {
        if (f.number != 1)
            continue;
        if (f.type == WIRE_VARINT) {
            store_le(out, f.value, 8);
            out += 8;
        } else if (t->kind == TF_FLOATS) {
            memcpy(out, f.data, f.size);
            out += f.size;
        } else {
            struct cursor packed = cursor_over(f.data, f.size);
            for (; cursor_left(&packed) > 0 && take_varint(&packed, &value); out += 8)
                store_le(out, value, 8);
        }
    }
}

/* ---------------------------------------------------------------------------------------------------- messages */

static bool take_feature(const struct wire_field *message, struct tf_feature *t)
{
    struct cursor c = cursor_over(message->data, message->size);
    while (cursor_left(&c) > 0) {
        struct wire_field f;
        if (!take_wire_field(&c, &f))
            return false;
        if (f.number > 3)
            continue;
        if (f.type != WIRE_BYTES || t->kind != TF_NONE)
            return false;
        t->kind = (enum tf_kind)f.number;
        t->list = f.data;
        t->list_end = f.data + f.size;
    }
    return t->kind == TF_NONE || count_values(t);
}

static bool is_known(const struct tf_example *example, const struct tf_feature *t)
{
    for (unsigned i = 0; i < example->count; i++)
        if (example->features[i].name_size == t->name_size &&
            memcmp(example->features[i].name, t->name, t->name_size) == 0)
            return true;
    return false;
}

static apl_status take_map_entry(const struct wire_field *entry, struct tf_example *example, apl_error *err)
{
    struct cursor c = cursor_over(entry->data, entry->size);
    struct tf_feature t = {0};
    struct wire_field f, feature = {0};
    while (cursor_left(&c) > 0) {
        if (!take_wire_field(&c, &f) || (f.number <= 2 && f.type != WIRE_BYTES))
            return malformed(err);
        if (f.number == 1) {
            t.name = (const char *)f.data;
            t.name_size = f.size;
        } else if (f.number == 2)
            feature = f;
    }
    if (feature.data && !take_feature(&feature, &t))
        return malformed(err);
    if (t.name_size == 0 || t.name_size > APL_MAX_NAME || !utf8_valid(t.name, t.name_size) ||
        memchr(t.name, 0, t.name_size))
        return fail(err, APL_E_SOURCE, "has a feature whose name is not of 1 to %u bytes of UTF-8",
                    APL_MAX_NAME);
    if (is_known(example, &t))
        return fail(err, APL_E_SOURCE, "has two features of one name");
    if (example->count == TF_MAX_FEATURES)
        return fail(err, APL_E_SOURCE, "has more than %u features", TF_MAX_FEATURES);
    example->features[example->count++] = t;
    return APL_OK;
}

static apl_status take_features(const struct wire_field *features, struct tf_example *example, apl_error *err)
{
    struct cursor c = cursor_over(features->data, features->size);
    while (cursor_left(&c) > 0) {
        struct wire_field f;
        if (!take_wire_field(&c, &f) || (f.number == 1 && f.type != WIRE_BYTES))
            return malformed(err);
        if (f.number == 1)
            TRY(take_map_entry(&f, example, err));
    }
    return APL_OK;
}

/* Of a SequenceExample, field 1 is its context, which alone would be half of it. */
apl_status tf_example_parse(const uint8_t *data, size_t size, struct tf_example *example, apl_error *err)
{
    struct cursor c = cursor_over(data, size);
    example->count = 0;
    while (cursor_left(&c) > 0) {
        struct wire_field f;
        if (!take_wire_field(&c, &f) || (f.number == 1 && f.type != WIRE_BYTES))
            return malformed(err);
        if (f.number == 2 && f.size > 0)
            return fail(
                err, APL_E_UNSUPPORTED,
                "is a tf.train.SequenceExample, whose feature lists are not read: in Python, convert() "
                "takes its records as dicts of arrays");
        if (f.number == 1)
            TRY(take_features(&f, example, err));
    }
    return APL_OK;
}

const char *tf_kind_name(enum tf_kind kind)
{
    static const char *const names[] = {"nothing", "bytes", "floats", "ints"};
    return names[kind];
}

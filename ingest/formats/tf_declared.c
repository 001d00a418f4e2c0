/* From the lists of features to values of every type: see tf_declared.h. */
#define _GNU_SOURCE /* memmem */
#include "tf_declared.h"

#include "utf8.h"
#include "wds_number.h"

#include <inttypes.h>
#include <stdio.h>

#define MARK "\"apldata-tfrecord\"" /* of schema.json */

bool tf_declared_is(const void *text, size_t size)
{
    return memmem(text, size, MARK, sizeof MARK - 1) != NULL;
}

static bool is_kept_jpeg(const struct declared_field *f)
{
    return f->media && strcmp(f->media, "image/jpeg") == 0;
}

/* ------------------------------------------------------------------------------------------------------ fields */

/* The list that values of a field lie in; TF_NONE: none of that name, or it cannot have them. */
static enum tf_kind kind_of_list(const struct declared_field *f)
{
    bool real = f->dtype == APL_F16 || f->dtype == APL_BF16 || f->dtype == APL_F32;
    bool bytes = f->media || f->dtype == APL_UTF8 || f->dtype == APL_F64 || f->dtype == APL_U8;
    if (strcmp(f->ending, "bytes_list") == 0)
        return bytes ? TF_BYTES : TF_NONE;
    if (strcmp(f->ending, "float_list") == 0)
        return real ? TF_FLOATS : TF_NONE;
    bool whole = f->dtype <= APL_I64 || f->dtype == APL_BOOL;
    return strcmp(f->ending, "int64_list") == 0 && whole ? TF_INTS : TF_NONE;
}

apl_status tf_declared_read(struct tf_declared *t, const void *text, size_t size, apl_error *err)
{
    TRY(declared_read(text, size, "list", &t->schema, err));
    for (unsigned i = 0; i < t->schema.count; i++) {
        const struct declared_field *f = &t->schema.fields[i];
        struct tf_value *v = &t->values[i];
        v->kind = kind_of_list(f);
        if (v->kind == TF_NONE || strlen(f->name) > APL_MAX_NAME)
            return fail(err, APL_E_SOURCE, "field %u cannot be a %.16s of %s", i, f->ending,
                        apl_dtype_name(f->dtype));
        for (unsigned d = 0; d < f->ndim; d++)
            v->varying += f->shape[d] < 0;
        snprintf(v->shape_name, sizeof v->shape_name, "%s/shape", f->name);
    }
    return APL_OK;
}

apl_status tf_declared_add(const struct tf_declared *t, const struct format_host *host, apl_writer *writer,
                           apl_error *err)
{
    for (unsigned i = 0; i < t->schema.count; i++) {
        const struct declared_field *f = &t->schema.fields[i];
        TRY(apl_writer_add_field(writer, f->name, f->dtype, f->role, f->ndim, f->shape, err));
        if (f->media)
            TRY(apl_writer_set_media(writer, f->name, f->media, err));
        if (f->class_count)
            TRY(apl_writer_set_classes(writer, f->name, f->classes, f->class_count, err));
        if (is_kept_jpeg(f) && !host->options->keep_files)
            TRY(apl_writer_set_indexed(writer, f->name, err));
        TRY(declared_kind_set(f, writer, err));
    }
    return APL_OK;
}

void tf_declared_free(struct tf_declared *t)
{
    for (unsigned i = 0; i < APL_MAX_FIELDS; i++) {
        buffer_free(&t->values[i].data);
        image_free(&t->values[i].made);
    }
    declared_free(&t->schema);
}

/* ------------------------------------------------------------------------------------------------------ numbers */

static bool narrow_half(uint32_t bits, uint16_t *half)
{
    uint32_t exponent = bits >> 23 & 255, mantissa = bits & 0x7fffff, shift = 13, out;
    if (exponent >= 103 && exponent < 113) { /* below the least normal half, 2^-14 */
        mantissa |= 0x800000;
        shift += 113 - exponent;
        out = mantissa >> shift;
    } else if (exponent >= 113 && exponent < 143)
        out = (exponent - 112) << 10 | mantissa >> 13;
    else if (exponent == 255)
        out = 0x7c00 | mantissa >> 13;
    else if (exponent == 0 && mantissa == 0)
        out = 0;
    else
        return false;
    *half = (uint16_t)(bits >> 16 & 0x8000) | (uint16_t)out;
    return (mantissa & ((UINT32_C(1) << shift) - 1)) == 0;
}

/* The float as the type has it, exactly; false: it has none such. */
static bool narrow_float(apl_dtype dtype, uint32_t bits, uint16_t *out)
{
    *out = (uint16_t)(bits >> 16);
    return dtype == APL_BF16 ? (bits & 0xffff) == 0 : narrow_half(bits, out);
}

static apl_status narrow_floats(const struct declared_field *f, struct tf_value *v, apl_error *err)
{
    size_t count = v->data.size / 4;
    for (size_t i = 0; i < count && f->dtype != APL_F32; i++) {
        uint16_t narrow;
        if (!narrow_float(f->dtype, (uint32_t)load_le(v->data.data + 4 * i, 4), &narrow))
            return fail(err, APL_E_SOURCE, "float %zu is not one of %s", i, apl_dtype_name(f->dtype));
        store_le(v->data.data + 2 * i, narrow, 2); /* never beyond those that are still to come */
    }
    v->data.size = count * apl_dtype_size(f->dtype);
    return APL_OK;
}

static apl_status check_int(const struct declared_field *f, int64_t value, apl_error *err)
{
    bool negative = value < 0;
    uint64_t magnitude = negative ? 0 - (uint64_t)value : (uint64_t)value;
    if (f->class_count && (negative || magnitude >= f->class_count))
        return fail(err, APL_E_SOURCE, "the label %" PRId64 " is not of 0 to %zu", value, f->class_count - 1);
    if (f->dtype == APL_BOOL ? magnitude > 1 || negative : !wds_number_fits(f->dtype, negative, magnitude))
        return fail(err, APL_E_SOURCE, "%" PRId64 " is not a valid %s", value, apl_dtype_name(f->dtype));
    return APL_OK;
}

static apl_status narrow_ints(const struct declared_field *f, struct tf_value *v, apl_error *err)
{
    size_t count = v->data.size / 8, item = apl_dtype_size(f->dtype);
    for (size_t i = 0; i < count; i++) {
        uint64_t value = load_le(v->data.data + 8 * i, 8);
        TRY(check_int(f, (int64_t)value, err));
        store_le(v->data.data + item * i, value, (unsigned)item);
    }
    v->data.size = count * item;
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------------- shapes */

static const struct tf_feature *find_named(const struct tf_example *example, const char *name)
{
    size_t size = strlen(name);
    for (unsigned i = 0; i < example->count; i++) {
        const struct tf_feature *f = &example->features[i];
        if (f->name_size == size && memcmp(f->name, name, size) == 0)
            return f;
    }
    return NULL;
}

/* The elements of a shape, APL_MAX_VALUE + 1 if there are more than that. Dimensions that vary count once where `varying` is NULL. */
static uint64_t elements_of(const struct declared_field *f, const int64_t *varying)
{
    uint64_t product = 1;
    for (unsigned d = 0; d < f->ndim; d++) {
        int64_t length = f->shape[d] >= 0 ? f->shape[d] : varying ? varying[d] : 1;
        if (length <= 0)
            return 0;
        product = (uint64_t)length > APL_MAX_VALUE / product ? APL_MAX_VALUE + 1 : product * (uint64_t)length;
        if (product > APL_MAX_VALUE)
            break;
    }
    return product;
}

static apl_status read_tf_shape(const struct declared_field *f, struct tf_value *v,
                                const struct tf_example *example, apl_error *err)
{
    uint8_t bytes[8 * APL_MAX_DIMS];
    const struct tf_feature *shape = find_named(example, v->shape_name);
    if (!shape || shape->kind != TF_INTS || shape->count != f->ndim)
        return fail(err, APL_E_SOURCE, "there is no feature %s of %u ints", v->shape_name, f->ndim);
    tf_feature_values(shape, bytes);
    for (unsigned d = 0; d < f->ndim; d++) {
        v->shape[d] = (int64_t)load_le(bytes + (size_t)8 * d, 8);
        if (v->shape[d] < 0 || (f->shape[d] >= 0 && f->shape[d] != v->shape[d]))
            return fail(err, APL_E_SOURCE, "its dimension %u cannot be %" PRId64, d, v->shape[d]);
    }
    return APL_OK;
}

/* Finds the shape of that many elements. */
static apl_status find_shape(const struct declared_field *f, struct tf_value *v,
                             const struct tf_example *example, uint64_t count, apl_error *err)
{
    uint64_t rest = elements_of(f, NULL);
    for (unsigned d = 0; d < f->ndim; d++)
        v->shape[d] = f->shape[d] >= 0 ? f->shape[d] : rest ? (int64_t)(count / rest) : 0;
    if (v->varying > 1)
        TRY(read_tf_shape(f, v, example, err));
    if (elements_of(f, v->shape) != count)
        return fail(err, APL_E_SOURCE, "it has %" PRIu64 " elements, which is not what its shape says",
                    count);
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------------- values */

static apl_status take_tf_list(const struct declared_field *d, struct tf_value *v, const struct tf_feature *f,
                               apl_error *err)
{
    v->data.size = 0;
    if (!f || (f->kind != v->kind && f->kind != TF_NONE))
        return fail(err, APL_E_SOURCE, "it has no list of %s", tf_kind_name(v->kind));
    if (v->kind == TF_BYTES && f->count != 1)
        return fail(err, APL_E_SOURCE, "it has %" PRIu64 " strings of bytes, not one", f->count);
    uint64_t size = f->kind == TF_BYTES ? f->bytes_size : f->count * (v->kind == TF_INTS ? 8 : 4);
    uint64_t stored = f->kind == TF_BYTES ? size : f->count * apl_dtype_size(d->dtype);
    if (stored > APL_MAX_VALUE)
        return fail(err, APL_E_SOURCE, "it has more than the %u bytes of a value", APL_MAX_VALUE);
    if (!buffer_reserve(&v->data, (size_t)size + 1))
        return fail_nomem(err);
    if (f->kind == TF_BYTES && size)
        memcpy(v->data.data, f->bytes, (size_t)size);
    else if (f->kind != TF_NONE)
        tf_feature_values(f, v->data.data);
    v->data.size = f->kind == TF_NONE ? 0 : (size_t)size;
    return APL_OK;
}

static apl_status check_bytes(const struct declared_field *f, struct tf_value *v, bool unchecked,
                              struct image_maker *maker, apl_error *err)
{
    const struct image_plan plan = {.keep = true};
    if (v->data.size % apl_dtype_size(f->dtype) != 0)
        return fail(err, APL_E_SOURCE, "its %zu bytes are not a whole number of %s", v->data.size,
                    apl_dtype_name(f->dtype));
    if (f->dtype == APL_UTF8 && !utf8_valid(v->data.data, v->data.size))
        return fail(err, APL_E_SOURCE, "it is not UTF-8");
    v->made.warnings.count = 0;
    if (!is_kept_jpeg(f) || unchecked)
        return APL_OK;
    v->made.bytes.size = 0;
    buffer_put(&v->made.bytes, v->data.data, v->data.size);
    if (v->made.bytes.failed)
        return fail_nomem(err);
    TRY(image_make(maker, &plan, false, &v->made, err));
    v->data.size = 0;
    buffer_put(&v->data, v->made.bytes.data, v->made.bytes.size);
    return v->data.failed ? fail_nomem(err) : APL_OK;
}

static apl_status take_declared_value(struct tf_declared *t, unsigned i, const struct tf_example *example,
                                      bool unchecked, struct image_maker *maker, apl_error *err)
{
    const struct declared_field *f = &t->schema.fields[i];
    struct tf_value *v = &t->values[i];
    TRY(take_tf_list(f, v, find_named(example, f->name), err));
    if (v->kind == TF_BYTES)
        TRY(check_bytes(f, v, unchecked, maker, err));
    else
        TRY(v->kind == TF_INTS ? narrow_ints(f, v, err) : narrow_floats(f, v, err));
    return find_shape(f, v, example, v->data.size / apl_dtype_size(f->dtype), err);
}

apl_status tf_declared_take(struct tf_declared *t, const struct tf_example *example, bool unchecked,
                            struct image_maker *maker, apl_value *out, apl_error *err)
{
    apl_error why;
    for (unsigned i = 0; i < t->schema.count; i++) {
        apl_status status = take_declared_value(t, i, example, unchecked, maker, &why);
        if (status != APL_OK)
            return status == APL_E_NOMEM
                       ? fail_nomem(err)
                       : fail(err, status, "feature %s: %s", t->schema.fields[i].name, why.message);
        out[i] = (apl_value){t->values[i].data.data, t->values[i].varying ? t->values[i].shape : NULL};
    }
    return APL_OK;
}

/* Images, numbers, text, arrays and bytes: see wds_value.h. */
#include "wds_value.h"

#include "npy_header.h"
#include "utf8.h"
#include "wds_number.h"

#include <inttypes.h>

void wds_value_free(struct wds_value *v)
{
    image_free(&v->made);
    buffer_free(&v->numbers);
}

/* The sizes that the field has for all must be those of the value. */
static apl_status check_shape(const struct wds_field *f, const struct wds_value *v, apl_error *err)
{
    for (unsigned d = 0; d < f->ndim; d++)
        if (f->shape[d] >= 0 && f->shape[d] != v->shape[d])
            return fail(err, APL_E_SOURCE, "its dimension %u is %" PRId64 ", and %" PRId64 " is needed", d,
                        v->shape[d], f->shape[d]);
    return APL_OK;
}

static apl_status make_wds_image(const struct wds_field *f, const struct format_host *host,
                                 struct image_maker *maker, const struct masked_image *image,
                                 struct wds_value *v, apl_error *err)
{
    TRY(f->plan.mask ? mask_make(maker, &f->plan, image, &v->made, err)
                     : image_make(maker, &f->plan, host->unchecked, &v->made, err));
    v->data = image_value(&f->plan, &v->made);
    if (!f->plan.keep && f->ndim == 2 && v->made.shape[0] != 1)
        return fail(err, APL_E_SOURCE, "has %u channels, and 1 is needed", v->made.shape[0]);
    const uint32_t *sides = v->made.shape + (f->ndim == 2);
    for (unsigned d = 0; d < f->ndim; d++)
        v->shape[d] = f->plan.keep ? (int64_t)v->made.bytes.size : (int64_t)sides[d];
    return check_shape(f, v, err);
}

/* -------------------------------------------------------------------------------------------------------- numbers */

static apl_status make_number(const struct wds_field *f, struct wds_value *v, apl_error *err)
{
    char shown[48];
    bool negative;
    uint64_t magnitude;
    const struct buffer *text = &v->made.bytes;
    if (!wds_whole(text->data, text->size, &negative, &magnitude))
        return fail(err, APL_E_SOURCE, "holds '%s', which is not a whole number",
                    printable(shown, sizeof shown, (const char *)text->data, text->size));
    if (f->class_count && (negative || magnitude >= f->class_count))
        return fail(err, APL_E_SOURCE, "the label %s%" PRIu64 " is not of 0 to %zu", negative ? "-" : "",
                    magnitude, f->class_count - 1);
    /* A number that no i64 holds had no say in what the type is. */
    apl_dtype needed = wds_number_fits(APL_I64, negative, magnitude) ? f->dtype : APL_I64;
    if (!wds_number_fits(f->dtype, negative, magnitude))
        return fail(err, APL_E_SOURCE, "%s%" PRIu64 " is not a valid %s", negative ? "-" : "", magnitude,
                    apl_dtype_name(needed));
    v->numbers.size = 0;
    buffer_le(&v->numbers, negative ? 0 - magnitude : magnitude, (unsigned)apl_dtype_size(f->dtype));
    v->data = v->numbers.data;
    return v->numbers.failed ? fail_nomem(err) : APL_OK;
}

static apl_status make_text(struct wds_value *v, apl_error *err)
{
    const struct buffer *text = &v->made.bytes;
    if (!utf8_valid(text->data, text->size))
        return fail(err, APL_E_SOURCE, "is not UTF-8");
    v->data = text->data;
    v->shape[0] = (int64_t)text->size;
    return APL_OK;
}

/* --------------------------------------------------------------------------------------------------------- arrays */

static apl_status check_array(const struct wds_field *f, const struct npy_header *h, struct wds_value *v,
                              uint64_t *count, apl_error *err)
{
    apl_dtype dtype = h->fields[0].dtype;
    bool stands_for = f->dtype == APL_BF16 && dtype == APL_U16; /* as NumPy has no such type */
    if (h->structured || (dtype != f->dtype && !stands_for))
        return fail(err, APL_E_SOURCE, "is an array of %s, and %s is needed",
                    h->structured ? "structs" : apl_dtype_name(dtype), apl_dtype_name(f->dtype));
    if (h->ndim != f->ndim)
        return fail(err, APL_E_SOURCE, "has %u dimensions, and %u are needed", h->ndim, f->ndim);
    *count = 1;
    for (unsigned d = 0; d < h->ndim; d++) {
        if (h->shape[d] > 0 && *count > APL_MAX_VALUE / (uint64_t)h->shape[d])
            return fail(err, APL_E_SOURCE, "has more than the %u bytes of a value", APL_MAX_VALUE);
        *count *= (uint64_t)h->shape[d];
        v->shape[d] = h->shape[d];
    }
    return check_shape(f, v, err);
}

/* Where number k in C order lies in Fortran order. */
static uint64_t place_in_fortran(const struct npy_header *h, uint64_t k)
{
    uint64_t place = 0, at[NPY_MAX_DIMS], scale = 1;
    for (unsigned d = h->ndim; d-- > 0;) {
        at[d] = k % (uint64_t)h->shape[d];
        k /= (uint64_t)h->shape[d];
    }
    for (unsigned d = 0; d < h->ndim; d++) {
        place += at[d] * scale;
        scale *= (uint64_t)h->shape[d];
    }
    return place;
}

static void take_element(const struct npy_header *h, const uint8_t *from, uint8_t *to, size_t item)
{
    for (size_t b = 0; b < item; b++)
        to[b] = from[h->fields[0].swap ? item - 1 - b : b];
}

static apl_status make_array(const struct wds_field *f, struct wds_value *v, apl_error *err)
{
    struct npy_header h;
    struct cursor c = cursor_over(v->made.bytes.data, v->made.bytes.size);
    uint64_t count = 0;
    TRY(npy_header_read(&c, &h, err));
    TRY(check_array(f, &h, v, &count, err));
    size_t item = (size_t)h.item;
    if (cursor_left(&c) != count * item)
        return fail(err, APL_E_SOURCE, "has %zu bytes of elements, but its shape and type say %" PRIu64,
                    cursor_left(&c), count * item);
    v->data = c.at;
    if (!h.fields[0].swap && (!h.fortran || h.ndim < 2))
        return APL_OK;
    v->numbers.size = 0;
    if (!buffer_reserve(&v->numbers, (size_t)count * item + 1))
        return fail_nomem(err);
    for (uint64_t k = 0; k < count; k++)
        take_element(&h, c.at + (h.fortran ? place_in_fortran(&h, k) : k) * item, v->numbers.data + k * item,
                     item);
    v->data = v->numbers.data;
    return APL_OK;
}

apl_status wds_make(const struct wds_field *f, const struct format_host *host, struct image_maker *maker,
                    const struct masked_image *image, struct wds_value *v, apl_error *err)
{
    switch (f->kind) {
    case WDS_IMAGE:
        return make_wds_image(f, host, maker, image, v, err);
    case WDS_NUMBER:
        return make_number(f, v, err);
    case WDS_ARRAY:
        return make_array(f, v, err);
    case WDS_TEXT:
    case WDS_KEY:
        return make_text(v, err);
    default:
        v->data = v->made.bytes.data;
        v->shape[0] = (int64_t)v->made.bytes.size;
        return APL_OK;
    }
}

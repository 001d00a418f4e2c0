/* Are values what their fields are said to hold? See kind_values.h. */
#include "kind_values.h"

#include "image_sides.h"
#include "kind_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ----------------------------------------------------------------------------------------------- which tests */

/* The image that a field lies in: the one that it names, or the only one. */
static bool find_image(const struct schema *schema, unsigned f, unsigned *image)
{
    unsigned images = 0;
    if (schema->fields[f].kind->of[0]) {
        int named = schema_find(schema, schema->fields[f].kind->of);
        *image = (unsigned)named;
        return named >= 0;
    }
    for (unsigned i = 0; i < schema->count; i++)
        if (schema->fields[i].kind && schema->fields[i].kind->id == APL_KIND_IMAGE) {
            *image = i;
            images++;
        }
    return images == 1;
}

static void add_test(struct kind_values *k, enum value_test test, unsigned f)
{
    struct kind_test *t = &k->tests[k->count];
    *t = (struct kind_test){.test = test, .field = f};
    t->alone = !find_image(k->schema, f, &t->other);
    k->count += !t->alone || test != TEST_MASK || kind_parameter(k->schema->fields[f].kind, "ignore=");
}

void kind_values_begin(struct kind_values *k, const struct schema *schema)
{
    k->schema = schema;
    for (unsigned f = 0; f < schema->count; f++) {
        const apl_kind *kind = schema->fields[f].kind;
        int per = kind && kind->per[0] ? schema_find(schema, kind->per) : -1;
        if (per >= 0)
            k->tests[k->count++] = (struct kind_test){TEST_PER, f, (unsigned)per, false};
        if (kind && kind->id == APL_KIND_BOXES)
            add_test(k, TEST_BOXES, f);
        if (kind && kind->id == APL_KIND_KEYPOINTS)
            add_test(k, TEST_POINTS, f);
        if (kind && kind->id == APL_KIND_MASK)
            add_test(k, TEST_MASK, f);
    }
}

/* ---------------------------------------------------------------------------------------------------- values */

static const int64_t *shape_of(const apl_field *f, const apl_value *v)
{
    return v->shape ? v->shape : f->shape;
}

static uint64_t value_elements(const apl_field *f, const apl_value *v)
{
    uint64_t n = 1;
    for (unsigned d = 0; d < f->ndim; d++)
        n *= (uint64_t)shape_of(f, v)[d];
    return n;
}

/* Is it as large as it says? What is not, appending refuses. */
static bool is_sound(const apl_field *f, const apl_value *v)
{
    uint64_t n = 1;
    for (unsigned d = 0; d < f->ndim; d++) {
        int64_t length = shape_of(f, v)[d];
        if (length < 0 || length > APL_MAX_VALUE)
            return false;
        n *= (uint64_t)length;
        if (n > APL_MAX_VALUE)
            return false;
    }
    return n == 0 || v->data;
}

/* Height and width of an image or a mask, as far as they can be told. */
static bool sides_of(const apl_field *f, const apl_kind *kind, const apl_value *v, int64_t sides[2])
{
    const int64_t *shape = shape_of(f, v);
    unsigned last = kind->form == APL_FORM_HWC;
    if (f->media)
        return image_sides(v->data, (size_t)shape[0], sides);
    if (f->ndim < 2 + last)
        return false;
    sides[0] = shape[f->ndim - 2 - last];
    sides[1] = shape[f->ndim - 1 - last];
    return true;
}

static double half_of(uint16_t bits)
{
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double value = exponent == 31  ? (mantissa ? NAN : INFINITY)
                   : exponent == 0 ? ldexp(mantissa, -24)
                                   : ldexp(mantissa + 1024, exponent - 25);
    return bits >> 15 ? -value : value;
}

static double float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static double value_at(apl_dtype dtype, const uint8_t *at)
{
    size_t size = apl_dtype_size(dtype);
    uint64_t bits = load_le(at, (unsigned)size);
    double value;
    switch (dtype) {
    case APL_F16:
        return half_of((uint16_t)bits);
    case APL_BF16:
        return float_of((uint32_t)bits << 16);
    case APL_F32:
        return float_of((uint32_t)bits);
    case APL_F64:
        memcpy(&value, &bits, sizeof value);
        return value;
    case APL_I8:
    case APL_I16:
    case APL_I32:
    case APL_I64:
        return (double)((int64_t)(bits << (64 - 8 * size)) >> (64 - 8 * size));
    default:
        return (double)bits;
    }
}

static void numbers_of(const apl_field *f, const apl_value *v, uint64_t from, unsigned n, double *out)
{
    size_t size = apl_dtype_size(f->dtype);
    for (unsigned i = 0; i < n; i++)
        out[i] = value_at(f->dtype, (const uint8_t *)v->data + (from + i) * size);
}

/* ----------------------------------------------------------------------------------------------------- boxes */

static bool is_form_of_sides(apl_form form)
{
    return (form >= APL_FORM_XYXY_REL && form <= APL_FORM_YXYX_REL) || form >= APL_FORM_XY_REL;
}

/* Left, top, width and height of a box. */
static void box_extent(apl_form form, const double b[4], double of[4])
{
    switch (is_form_of_sides(form) ? form - APL_FORM_XYXY_REL + APL_FORM_XYXY : form) {
    case APL_FORM_XYWH:
        memcpy(of, b, 4 * sizeof *b);
        break;
    case APL_FORM_CXCYWH:
        memcpy(of, (const double[4]){b[0] - b[2] / 2, b[1] - b[3] / 2, b[2], b[3]}, 4 * sizeof *b);
        break;
    case APL_FORM_YXYX:
        memcpy(of, (const double[4]){b[1], b[0], b[3] - b[1], b[2] - b[0]}, 4 * sizeof *b);
        break;
    default:
        memcpy(of, (const double[4]){b[0], b[1], b[2] - b[0], b[3] - b[1]}, 4 * sizeof *b);
    }
}

/* "xyxy" of a kind "boxes,xyxy,of=image". */
static const char *form_text(const apl_kind *kind, char text[APL_KIND_BYTES])
{
    char *form = strchr(apl_kind_print(NULL, kind, text, APL_KIND_BYTES), ',');
    if (!form)
        return "";
    form[1 + strcspn(form + 1, ",")] = 0;
    return form + 1;
}

static apl_status refuse_box(const struct kind_values *k, unsigned f, const double b[4], apl_error *err)
{
    const apl_kind *kind = k->schema->fields[f].kind;
    const char *name = k->schema->fields[f].name;
    bool corners = kind->form == APL_FORM_XYXY || kind->form == APL_FORM_XYXY_REL ||
                   kind->form == APL_FORM_YXYX || kind->form == APL_FORM_YXYX_REL;
    char text[APL_KIND_BYTES], hint[APL_MAX_NAME + 80] = "";
    double of[4];
    box_extent(kind->form, b, of);
    const char *why = !isfinite(of[2] + of[3] + of[0] + of[1]) ? "is not of numbers alone"
                      : of[2] < 0 ? (corners ? "has right < left" : "has a width below 0")
                                  : (corners ? "has bottom < top" : "has a height below 0");
    if (kind->form == APL_FORM_XYXY && isfinite(of[2]) && b[2] >= 0 && b[3] >= 0)
        snprintf(hint, sizeof hint, " (if these are x, y, width, height: --field %s=boxes,xywh)", name);
    return fail(err, APL_E_INVALID, "%s: [%.7g, %.7g, %.7g, %.7g] %s in form %s%s", name, b[0], b[1], b[2],
                b[3], why, form_text(kind, text), hint);
}

static apl_status check_box_values(const struct kind_values *k, unsigned f, const apl_value *v,
                                   apl_error *err)
{
    const apl_field *field = &k->schema->fields[f];
    for (uint64_t i = 0, n = value_elements(field, v); i + 4 <= n; i += 4) {
        double b[4], of[4];
        numbers_of(field, v, i, 4, b);
        box_extent(k->schema->fields[f].kind->form, b, of);
        if (!(of[2] >= 0 && of[3] >= 0 && isfinite(of[2] + of[3] + of[0] + of[1])))
            return refuse_box(k, f, b, err);
    }
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------- numbers, sizes */

/* How many elements a value has: boxes of [4] are one, as is a text. */
static uint64_t count_of(const apl_field *f, const apl_kind *kind, const apl_value *v)
{
    bool one = f->ndim == 0 || f->media || (kind && kind->id == APL_KIND_BOXES && f->ndim == 1);
    return one ? 1 : (uint64_t)shape_of(f, v)[0];
}

static apl_status check_as_many(const struct kind_values *k, const struct kind_test *t,
                                const apl_value *values, apl_error *err)
{
    const struct schema *s = k->schema;
    uint64_t n = count_of(&s->fields[t->field], s->fields[t->field].kind, &values[t->field]);
    uint64_t of = count_of(&s->fields[t->other], s->fields[t->other].kind, &values[t->other]);
    if (n == of)
        return APL_OK;
    return fail(err, APL_E_INVALID, "%s: %s per '%s', which has %llu", s->fields[t->field].name,
                number_of(n, "element", "elements"), s->fields[t->other].name, (unsigned long long)of);
}

static apl_status check_mask_sides(const struct kind_values *k, const struct kind_test *t,
                                   const apl_value *values, apl_error *err)
{
    const struct schema *s = k->schema;
    int64_t mask[2], image[2];
    if (t->alone || !sides_of(&s->fields[t->field], s->fields[t->field].kind, &values[t->field], mask) ||
        !sides_of(&s->fields[t->other], s->fields[t->other].kind, &values[t->other], image) ||
        (mask[0] == image[0] && mask[1] == image[1]))
        return APL_OK;
    return fail(err, APL_E_INVALID,
                "%s: %lld x %lld pixels, and '%s' has %lld x %lld: a mask is as large as its image",
                s->fields[t->field].name, (long long)mask[1], (long long)mask[0], s->fields[t->other].name,
                (long long)image[1], (long long)image[0]);
}

apl_status kind_values_check(const struct kind_values *k, const apl_value *values, apl_error *err)
{
    for (unsigned i = 0; i < k->count; i++) {
        const struct kind_test *t = &k->tests[i];
        if (!is_sound(&k->schema->fields[t->field], &values[t->field]) ||
            !is_sound(&k->schema->fields[t->other], &values[t->other]))
            return APL_OK;
        if (t->test == TEST_PER)
            TRY(check_as_many(k, t, values, err));
        else if (t->test == TEST_BOXES)
            TRY(check_box_values(k, t->field, &values[t->field], err));
        else if (t->test == TEST_MASK)
            TRY(check_mask_sides(k, t, values, err));
    }
    return APL_OK;
}

/* --------------------------------------------------------------------------------------------------- counting */

/* Does what reaches from there to there lie within its image? Parts of the sides do so from 0 to 1. */
static bool reaches_within(const double of[4], const double sides[2])
{
    double slack = 1e-6; /* of numbers in single precision */
    return of[0] >= -slack && of[1] >= -slack && of[0] + of[2] <= sides[1] * (1 + slack) &&
           of[1] + of[3] <= sides[0] * (1 + slack);
}

static void count_boxes(apl_kind_counts *c, const apl_field *f, apl_form form, const apl_value *v,
                        const double *sides)
{
    for (uint64_t i = 0, n = value_elements(f, v); i + 4 <= n; i += 4) {
        double b[4], of[4];
        numbers_of(f, v, i, 4, b);
        box_extent(form, b, of);
        c->elements++;
        c->no_area += of[2] == 0 || of[3] == 0;
        c->outside += sides && !reaches_within(of, sides);
    }
}

static void count_points(apl_kind_counts *c, const apl_field *f, apl_form form, const apl_value *v,
                         const double *sides)
{
    unsigned numbers = (unsigned)(f->ndim ? f->shape[f->ndim - 1] : 0);
    bool marked = form == APL_FORM_XYV || form == APL_FORM_XYV_REL;
    for (uint64_t i = 0, n = numbers == 2 || numbers == 3 ? value_elements(f, v) : 0; i + numbers <= n;
         i += numbers) {
        double p[4] = {0};
        numbers_of(f, v, i, numbers, p);
        bool hidden = marked && p[2] == 0;
        p[2] = p[3] = 0;
        c->elements++;
        c->hidden += hidden;
        c->outside += !hidden && sides && !reaches_within(p, sides);
    }
}

static bool holds(const apl_field *f, const apl_value *v, int64_t value)
{
    uint64_t n = value_elements(f, v);
    if (f->media || n == 0)
        return false;
    if (f->dtype == APL_U8 || f->dtype == APL_BOOL)
        return value >= 0 && value <= UINT8_MAX && memchr(v->data, (int)value, (size_t)n);
    for (uint64_t i = 0; i < n; i++) {
        double number;
        numbers_of(f, v, i, 1, &number);
        if (number == (double)value)
            return true;
    }
    return false;
}

static void count_test(struct kind_values *k, const struct kind_test *t, const apl_value *values)
{
    const struct schema *s = k->schema;
    const apl_field *f = &s->fields[t->field];
    const apl_kind *kind = s->fields[t->field].kind;
    const apl_value *v = &values[t->field];
    apl_kind_counts *c = &k->counts[t->field];
    int64_t sides[2] = {1, 1};
    bool known =
        is_form_of_sides(kind->form) ||
        (!t->alone && sides_of(&s->fields[t->other], s->fields[t->other].kind, &values[t->other], sides));
    const double within[2] = {(double)sides[0], (double)sides[1]};
    const char *ignore = kind_parameter(kind, "ignore=");
    if (t->test == TEST_BOXES)
        count_boxes(c, f, kind->form, v, known ? within : NULL);
    else if (t->test == TEST_POINTS)
        count_points(c, f, kind->form, v, known ? within : NULL);
    else if (t->test == TEST_MASK && ignore)
        c->ignored += holds(f, v, strtoll(ignore, NULL, 10));
}

void kind_values_count(struct kind_values *k, const apl_value *values)
{
    for (unsigned i = 0; i < k->count; i++)
        if (k->tests[i].test != TEST_PER)
            count_test(k, &k->tests[i], values);
}

/* Sums of integers only: they are the same in whatever order they are taken. */
#include "statistics.h"

#include <math.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* At most so many at a time, so that sums of squares fit in 32 bits. */
#define CHUNK 4096u

#ifdef __SSE2__
/* The sums over n bytes, a multiple of 16. */
static void add_chunk(struct moments *moments, const uint8_t *data, size_t n)
{
    const __m128i zero = _mm_setzero_si128();
    __m128i sum = zero, squares = zero;
    uint64_t sums[2];
    uint32_t lanes[4];
    for (size_t i = 0; i < n; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(data + i));
        __m128i low = _mm_unpacklo_epi8(v, zero), high = _mm_unpackhi_epi8(v, zero);
        sum = _mm_add_epi64(sum, _mm_sad_epu8(v, zero));
        squares = _mm_add_epi32(squares, _mm_add_epi32(_mm_madd_epi16(low, low), _mm_madd_epi16(high, high)));
    }
    _mm_storeu_si128((__m128i *)(void *)sums, sum);
    _mm_storeu_si128((__m128i *)(void *)lanes, squares);
    moments->sum += sums[0] + sums[1];
    moments->squares += (uint64_t)lanes[0] + lanes[1] + lanes[2] + lanes[3];
}
#else
static void add_chunk(struct moments *moments, const uint8_t *data, size_t n)
{
    uint32_t sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t v = data[i];
        sum += v;
        squares += v * v;
    }
    moments->sum += sum;
    moments->squares += squares;
}
#endif

void moments_add(struct moments *moments, const uint8_t *data, size_t n)
{
    size_t whole = n - n % 16, i = 0;
    for (; i < whole; i += CHUNK)
        add_chunk(moments, data + i, whole - i < CHUNK ? whole - i : CHUNK);
    for (i = whole; i < n; i++) {
        moments->sum += data[i];
        moments->squares += (uint64_t)data[i] * data[i];
    }
    moments->count += n;
}

bool moments_combine(struct moments *into, const struct moments *from)
{
    struct moments sum;
    if (__builtin_add_overflow(into->count, from->count, &sum.count) ||
        __builtin_add_overflow(into->sum, from->sum, &sum.sum) ||
        __builtin_add_overflow(into->squares, from->squares, &sum.squares))
        return false;
    *into = sum;
    return true;
}

void moments_figures(const struct moments *moments, double *mean, double *std)
{
    /* long double: the square of the mean and the mean of the squares are close to each other */
    long double n = (long double)moments->count, average = (long double)moments->sum / n;
    long double variance = (long double)moments->squares / n - average * average;
    *mean = (double)average;
    *std = sqrt(variance > 0 ? (double)variance : 0);
}

static void add_moments(struct moments *moments, const apl_field *field, const struct raw_column *column,
                        uint32_t from, uint32_t to)
{
    unsigned channels = field_channels(field);
    for (uint32_t i = from; i < to; i++) {
        size_t bytes;
        const uint8_t *value = raw_column_value(column, field, i, &bytes);
        for (unsigned c = 0; c < channels; c++)
            moments_add(&moments[c], value + c * (bytes / channels), bytes / channels);
    }
}

static apl_status add_classes(uint64_t *counts, const apl_field *field, const struct raw_column *column,
                              uint32_t from, uint32_t to, apl_error *err)
{
    for (uint32_t i = from; i < to; i++) {
        size_t bytes;
        const uint8_t *value = raw_column_value(column, field, i, &bytes);
        uint64_t cls = load_le(value, (unsigned)bytes);
        if (cls >= field->class_count)
            return fail(err, APL_E_INVALID, "field %s: a record has class %llu of %llu", field->name,
                        (unsigned long long)cls, (unsigned long long)field->class_count);
        counts[cls]++;
    }
    return APL_OK;
}

/* Of JPEG files, decoding has taken them. */
static void add_colours(struct colour_sums *sums, const apl_field *field, const struct raw_column *column,
                        uint32_t from, uint32_t to)
{
    const struct colour_sums *taken = (const struct colour_sums *)(const void *)column->colours.data;
    for (uint32_t i = from; i < to; i++) {
        struct colour_sums of = {0};
        if (!field->media) {
            int64_t shape[APL_MAX_DIMS];
            size_t bytes;
            const uint8_t *value = raw_column_value(column, field, i, &bytes);
            raw_column_shape(column, field, i, shape);
            unsigned channels = shape[0] > 0 && shape[0] <= 4 ? (unsigned)shape[0] : 0;
            of = colours_of_planes(value, channels, channels ? bytes / channels : 0);
        } else if (i < column->colours.size / sizeof of)
            of = taken[i];
        colours_add(sums, &of);
    }
}

apl_status statistics_add(struct split *split, unsigned f, const apl_field *field,
                          const struct raw_column *column, uint32_t from, uint32_t to, apl_error *err)
{
    struct summary summary = split_summary(split, f);
    if (summary.moments)
        add_moments(summary.moments, field, column, from, to);
    if (summary.colours)
        add_colours(summary.colours, field, column, from, to);
    if (summary.classes)
        TRY(add_classes(summary.classes, field, column, from, to, err));
    return APL_OK;
}

void statistics_merge(struct split *into, const struct split *from, const struct schema *schema)
{
    for (const struct summary *more = from->summaries; more; more = more->next) {
        const apl_field *field = &schema->fields[more->field];
        struct summary sum = split_summary(into, more->field);
        for (uint64_t i = 0; sum.classes && i < field->class_count; i++)
            sum.classes[i] += more->classes[i];
        if (sum.colours)
            colours_add(sum.colours, more->colours);
        for (unsigned c = 0; sum.moments && c < field_channels(field); c++) {
            sum.moments[c].count += more->moments[c].count;
            sum.moments[c].sum += more->moments[c].sum;
            sum.moments[c].squares += more->moments[c].squares;
        }
    }
}

/* Which shards of a series are missing: see series.h. */
#include "series.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS 9 /* of a number, at most */

struct shard {
    const char *path;
    size_t stem; /* bytes of the path before the number */
    uint32_t number, total;
};

/* The number that `n` digits are; false: there are too few or too many. */
static bool read_digits(const char *digits, size_t n, uint32_t *number)
{
    *number = 0;
    for (size_t i = 0; i < n && n <= DIGITS; i++)
        *number = 10 * *number + (uint32_t)(digits[i] - '0');
    return n > 0 && n <= DIGITS;
}

/* The shard that a name says it is; false: it says nothing of the kind. */
static bool read_shard(const char *path, struct shard *s)
{
    static const char of[] = "-of-";
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (const char *at = strstr(name, of); at; at = strstr(at + 1, of)) {
        const char *first = at, *total = at + strlen(of);
        while (first > name && first[-1] >= '0' && first[-1] <= '9')
            first--;
        *s = (struct shard){.path = path, .stem = (size_t)(first - path)};
        if (read_digits(first, (size_t)(at - first), &s->number) &&
            read_digits(total, strspn(total, "0123456789"), &s->total) && s->number <= s->total)
            return true;
    }
    return false;
}

/* Those of one series are equal. */
static int by_series(const struct shard *a, const struct shard *b)
{
    size_t stem = a->stem < b->stem ? a->stem : b->stem;
    int order = memcmp(a->path, b->path, stem);
    if (order != 0 || a->stem != b->stem)
        return order != 0 ? order : a->stem < b->stem ? -1 : 1;
    return (a->total > b->total) - (a->total < b->total);
}

static int by_shard_number(const void *x, const void *y)
{
    const struct shard *a = x, *b = y;
    int order = by_series(a, b);
    return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}

/* One series, in ascending order. */
static apl_status check_one(const struct shard *shards, size_t count, apl_error *err)
{
    char shown[512];
    uint32_t total = shards[0].total, first = shards[count - 1].number == total, distinct = 0,
             missing = first;
    for (size_t i = 0; i < count; i++) {
        distinct += i == 0 || shards[i].number != shards[i - 1].number;
        missing += shards[i].number == missing;
    }
    if (distinct >= total)
        return APL_OK;
    return fail(err, APL_E_INCOMPLETE,
                "%s: of the %s that its name speaks of, %lu %s missing, number %lu first (--partial, or "
                "partial=True in Python, does without)",
                printable(shown, sizeof shown, shards[0].path, strlen(shards[0].path)),
                number_of(total, "shard", "shards"), (unsigned long)(total - distinct),
                total - distinct == 1 ? "is" : "are", (unsigned long)missing);
}

apl_status series_check(const char *const *paths, size_t count, apl_error *err)
{
    struct shard *shards = malloc((count + 1) * sizeof *shards);
    size_t n = 0;
    apl_status status = APL_OK;
    if (!shards)
        return fail_nomem(err);
    for (size_t i = 0; i < count; i++)
        n += read_shard(paths[i], &shards[n]);
    qsort(shards, n, sizeof *shards, by_shard_number);
    for (size_t i = 0, of_one; i < n && status == APL_OK; i += of_one) {
        of_one = 1;
        while (i + of_one < n && by_series(&shards[i], &shards[i + of_one]) == 0)
            of_one++;
        status = check_one(&shards[i], of_one, err);
    }
    free(shards);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------- gaps */

struct numbered {
    const char *path;
    size_t stem, width; /* bytes of the path before the number, and of that */
    uint32_t number;
};

/* The longest run of digits in the name is its number; of several as long, the last. */
static bool read_numbered(const char *path, struct numbered *n)
{
    struct shard shard;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    *n = (struct numbered){.path = path};
    for (const char *at = name; *at;) {
        size_t width = strspn(at, "0123456789");
        if (width > 0 && width >= n->width) {
            n->stem = (size_t)(at - path);
            n->width = width;
        }
        at += width ? width : 1;
    }
    return read_digits(path + n->stem, n->width, &n->number) && !read_shard(path, &shard);
}

/* Those of one series are equal. */
static int by_names(const struct numbered *a, const struct numbered *b)
{
    size_t stem = a->stem < b->stem ? a->stem : b->stem;
    int order = memcmp(a->path, b->path, stem);
    if (order != 0 || a->stem != b->stem)
        return order != 0 ? order : a->stem < b->stem ? -1 : 1;
    if (a->width != b->width)
        return a->width < b->width ? -1 : 1;
    return strcmp(a->path + a->stem + a->width, b->path + b->stem + b->width);
}

static int by_file_number(const void *x, const void *y)
{
    const struct numbered *a = x, *b = y;
    int order = by_names(a, b);
    return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}

/* One series, in ascending order: are there gaps? */
static bool find_gap(const struct numbered *files, size_t count, struct series_gap *gap)
{
    uint32_t first = files[0].number, last = files[count - 1].number, missing = 0;
    uint64_t distinct = 1;
    for (size_t i = 1; i < count; i++) {
        distinct += files[i].number != files[i - 1].number;
        if (!missing && files[i].number > files[i - 1].number + 1)
            missing = files[i - 1].number + 1;
    }
    if (!missing || files[0].path[files[0].stem] != '0')
        return false;
    uint64_t lacks = (uint64_t)last - first + 1 - distinct;
    gap->path = files[0].path;
    snprintf(gap->text, sizeof gap->text,
             "of the shards numbered %" PRIu32 " to %" PRIu32 ", %" PRIu64 " %s missing, number %" PRIu32
             " first",
             first, last, lacks, lacks == 1 ? "is" : "are", missing);
    return true;
}

apl_status series_find_gap(const char *const *paths, size_t count, struct series_gap *gap, bool *found,
                           apl_error *err)
{
    struct numbered *files = malloc((count + 1) * sizeof *files);
    size_t n = 0;
    *found = false;
    if (!files)
        return fail_nomem(err);
    for (size_t i = 0; i < count; i++)
        n += read_numbered(paths[i], &files[n]);
    qsort(files, n, sizeof *files, by_file_number);
    for (size_t i = 0, of_one; i < n && !*found; i += of_one) {
        of_one = 1;
        while (i + of_one < n && by_names(&files[i], &files[i + of_one]) == 0)
            of_one++;
        *found = find_gap(&files[i], of_one, gap);
    }
    free(files);
    return APL_OK;
}

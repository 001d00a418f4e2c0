/* Which shards of a series are missing: see series.h. */
#include "series.h"

#include <stdbool.h>
#include <stdint.h>
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

/* Ranks, as an option lists them: see rank_args.h. */
#include "rank_args.h"

#include "args.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define HIGHEST_RANK ((1u << 20) - 1)
#define MOST_DIGITS  64 /* of a range, with the dash */

__attribute__((format(printf, 2, 3))) static bool refuse(struct rank_args *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->wrong, sizeof r->wrong, format, args);
    va_end(args);
    return false;
}

static bool add_ranks(struct rank_args *r, uint64_t from, uint64_t to)
{
    for (uint64_t rank = from; rank <= to; rank++) {
        if (r->count == MOST_RANKS)
            return refuse(r, " takes at most %u ranks", MOST_RANKS);
        for (unsigned i = 0; i < r->count; i++)
            if (r->list[i] == rank)
                return refuse(r, ": rank %u is named twice", (unsigned)rank);
        r->list[r->count++] = (unsigned)rank;
        r->highest = rank > r->highest ? (unsigned)rank : r->highest;
    }
    return true;
}

/* A rank, or a range of ranks such as 0-7. */
static bool take_range(struct rank_args *r, const char *text, size_t length)
{
    char item[MOST_DIGITS];
    uint64_t from, to;
    bool fits = length < sizeof item;
    memcpy(item, text, fits ? length : 0);
    item[fits ? length : 0] = 0;
    char *dash = strchr(item, '-');
    if (dash)
        *dash++ = 0;
    if (!parse_number(item, 0, HIGHEST_RANK, &from) ||
        !parse_number(dash ? dash : item, from, HIGHEST_RANK, &to))
        return refuse(r, " takes ranks (0 to %u) and ranges of them, such as 0-7 or 0,2,4-6", HIGHEST_RANK);
    return add_ranks(r, from, to);
}

bool rank_args_take(struct rank_args *r, const char *value)
{
    bool ok = true;
    r->count = r->highest = 0;
    for (size_t length; ok; value += length + 1) {
        length = strcspn(value, ",");
        ok = take_range(r, value, length);
        if (!value[length])
            break;
    }
    return ok;
}

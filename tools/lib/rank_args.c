/* Ranks, as an option lists them: see rank_args.h. */
#include "rank_args.h"

#include "args.h"

#include <stdlib.h>
#include <string.h>

#define HIGHEST_RANK ((1u << 20) - 1)

static int add_ranks(struct rank_args *r, uint64_t from, uint64_t to)
{
    for (uint64_t rank = from; rank <= to; rank++) {
        if (r->count == MOST_RANKS)
            return misuse("--ranks takes at most %u ranks", MOST_RANKS);
        for (unsigned i = 0; i < r->count; i++)
            if (r->list[i] == rank)
                return misuse("--ranks: rank %u is named twice", (unsigned)rank);
        r->list[r->count++] = (unsigned)rank;
        r->highest = rank > r->highest ? (unsigned)rank : r->highest;
    }
    return 0;
}

/* A rank, or a range of ranks such as 0-7. */
static int take_range(struct rank_args *r, char *item)
{
    uint64_t from, to;
    char *dash = strchr(item, '-');
    if (dash)
        *dash++ = 0;
    if (!parse_number(item, 0, HIGHEST_RANK, &from) ||
        !parse_number(dash ? dash : item, from, HIGHEST_RANK, &to))
        return misuse("--ranks takes ranks (0 to %u) and ranges of them, such as 0-7 or 0,2,4-6",
                      HIGHEST_RANK);
    return add_ranks(r, from, to);
}

int rank_args_take(struct rank_args *r, const char *value)
{
    char *text = strdup(value);
    int status = text ? 0 : failed("out of memory");
    r->count = r->highest = 0;
    for (char *at = text, *comma; at && !status; at = comma) {
        comma = strchr(at, ',');
        if (comma)
            *comma++ = 0;
        status = take_range(r, at);
    }
    free(text);
    return status;
}

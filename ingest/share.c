/* Which records are a part's own: see share.h. */
#include "share.h"

#include <stdlib.h>
#include <string.h>

void share_free(struct share *s)
{
    free(s->splits);
    s->splits = NULL;
    s->count = 0;
}

static struct share_split *split_called(const struct share *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->splits[i].name, name) == 0)
            return &s->splits[i];
    return NULL;
}

/* How many records the parts before `part` have, without overflow. */
static uint64_t before(uint64_t total, uint64_t part, uint64_t parts)
{
    return total / parts * part + total % parts * part / parts;
}

apl_status share_count(struct share *s, const char *split, uint32_t number, uint64_t records, apl_error *err)
{
    struct share_split *is = split_called(s, split);
    if (s->parts == 0)
        return APL_OK;
    if (strlen(split) > APL_MAX_NAME)
        return fail(err, APL_E_SOURCE, "a split has a name of more than %d bytes", APL_MAX_NAME);
    if (!is) {
        struct share_split *splits = realloc(s->splits, (s->count + 1) * sizeof *splits);
        if (!splits)
            return fail_nomem(err);
        s->splits = splits;
        is = &splits[s->count++];
        *is = (struct share_split){.number = number};
        memcpy(is->name, split, strlen(split) + 1);
    }
    is->total += records;
    is->first = before(is->total, s->part - 1, s->parts);
    is->count = before(is->total, s->part, s->parts) - is->first;
    return APL_OK;
}

void share_range(const struct share *s, const char *split, uint64_t *first, uint64_t *count)
{
    const struct share_split *is = s->parts ? split_called(s, split) : NULL;
    *first = is ? is->first : 0;
    *count = is ? is->count : s->parts ? 0 : UINT64_MAX;
}

bool share_peek(const struct share *s, const char *split, uint64_t records)
{
    const struct share_split *is = s->parts ? split_called(s, split) : NULL;
    if (!is)
        return s->parts == 0;
    return is->count > 0 && is->seen < is->first + is->count && is->seen + records > is->first;
}

bool share_pass(struct share *s, const char *split, uint64_t records)
{
    bool own = share_peek(s, split, records);
    struct share_split *is = s->parts ? split_called(s, split) : NULL;
    if (is)
        is->seen += records;
    return own;
}

bool share_ended(const struct share *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->splits[i].seen < s->splits[i].first + s->splits[i].count)
            return false;
    return s->parts > 0;
}

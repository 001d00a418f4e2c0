/* Shares of an epoch's tokens: see token_shares.h. */
#include "token_shares.h"

#include <stdlib.h>

struct token_shares {
    const uint32_t *lengths;
    uint64_t tokens;          /* of an epoch */
    uint32_t parts, makes_up; /* the part of the largest share, which is drawn last, as what lacks */
    uint64_t more;            /* that it may have to make up, at most */
    uint32_t *list;           /* scratch: the records of a part */
    struct token_part {
        uint64_t share, own; /* tokens of an epoch, and of all of its values */
        uint32_t first, count;
    } part[];
};

/* --------------------------------------------------------------------------------------------- drawing */

/* Records of a part in random order, once more, until `left` tokens are there, of less than all. The one that goes beyond that comes with the
 * chance that makes them the mean, or always. Returns their tokens. */
static uint64_t draw_rest(struct token_shares *s, const struct token_part *p, uint64_t wanted, bool always,
                          struct random_stream *stream, uint32_t *counts)
{
    uint64_t left = wanted;
    for (uint32_t i = 0; left && i < p->count; i++)
        s->list[i] = p->first + i;
    for (uint32_t i = 0; left; i++) {
        uint32_t k = i + random_below(stream, p->count - i), record = s->list[k], length = s->lengths[record];
        s->list[k] = s->list[i];
        if (length > left && !always && random_below(stream, length) >= left)
            break;
        counts[record]++;
        if (length > left)
            return wanted - left + length;
        left -= length;
    }
    return wanted - left;
}

/* Returns the tokens of the records. */
static uint64_t draw_part(struct token_shares *s, uint32_t part, uint64_t wanted,
                          struct random_stream *stream, uint32_t *counts)
{
    const struct token_part *p = &s->part[part];
    uint64_t each = wanted / p->own;
    for (uint32_t k = 0; k < p->count; k++)
        counts[p->first + k] = (uint32_t)each;
    return each * p->own + draw_rest(s, p, wanted % p->own, part == s->makes_up, stream, counts);
}

void token_shares_draw(struct token_shares *s, struct random_stream *stream, uint32_t *counts)
{
    uint64_t drawn = 0;
    for (uint32_t i = 0; i < s->parts; i++)
        if (i != s->makes_up)
            drawn += draw_part(s, i, s->part[i].share, stream, counts);
    draw_part(s, s->makes_up, drawn < s->tokens ? s->tokens - drawn : 0, stream, counts);
}

/* ---------------------------------------------------------------------------------------------- making */

/* The records of each part, which follow each other, and their tokens. */
static void find_parts(struct token_shares *s, const struct subset *subset)
{
    for (uint32_t b = 0; b < subset->blocks; b++) {
        const struct subset_block *block = &subset->block[b];
        struct token_part *p = &s->part[block->part];
        p->first = p->count ? p->first : (uint32_t)block->before;
        p->count += block->count;
        for (uint32_t i = 0; i < block->count; i++)
            p->own += s->lengths[block->before + i];
    }
}

static uint32_t most_records(const struct token_shares *s)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < s->parts; i++)
        most = s->part[i].count > most ? s->part[i].count : most;
    return most;
}

static uint32_t longest(const struct token_shares *s, const struct token_part *p)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < p->count; i++)
        most = s->lengths[p->first + i] > most ? s->lengths[p->first + i] : most;
    return most;
}

/* Divides the epoch among the parts, each of which has its share to within one token. */
static void divide_tokens(struct token_shares *s, const double *weight)
{
    double all = 0, sum = 0;
    uint64_t before = 0;
    for (uint32_t i = 0; i < s->parts; i++)
        all += weight[i];
    for (uint32_t i = 0; i < s->parts; i++) {
        sum += weight[i];
        uint64_t end = i + 1 == s->parts ? s->tokens : (uint64_t)((double)s->tokens * (sum / all));
        s->part[i].share = end - before;
        before = end;
        s->makes_up = s->part[i].share > s->part[s->makes_up].share ? i : s->makes_up;
    }
    for (uint32_t i = 0; i < s->parts; i++)
        s->more += i == s->makes_up ? 0 : longest(s, &s->part[i]);
}

/* Weights as those of tokens, and how many tokens an epoch has. Sums and quotients of doubles, which are alike on every machine. */
static apl_status take_weights(struct token_shares *s, const struct token_rule *rule,
                               const struct subset *subset, double *weight, apl_error *err)
{
    double most = 0, tokens = 0, records = 0;
    for (uint32_t i = 0; i < s->parts; i++)
        most = rule->weights[i] > most ? rule->weights[i] : most;
    for (uint32_t i = 0; i < s->parts; i++) {
        const struct token_part *p = &s->part[i];
        if (p->own == 0)
            return fail(err, APL_E_INVALID,
                        "%s: has a weight in the mix, but all of its values that are to be packed are empty",
                        subset->part[i].store->name);
        double mean = (double)p->own / p->count, w = rule->weights[i] / most;
        weight[i] = rule->by_tokens ? w : w * mean;
        tokens += weight[i];
        records += weight[i] / mean;
    }
    double all = (double)rule->records * (tokens / records);
    s->tokens = all >= 1 ? (uint64_t)all : 1;
    return APL_OK;
}

static apl_status take_rule(struct token_shares *s, const struct token_rule *rule,
                            const struct subset *subset, apl_error *err)
{
    find_parts(s, subset);
    s->list = malloc(most_records(s) * sizeof *s->list);
    double *weight = malloc(s->parts * sizeof *weight);
    apl_status status = s->list && weight ? take_weights(s, rule, subset, weight, err) : fail_nomem(err);
    if (status == APL_OK)
        divide_tokens(s, weight);
    free(weight);
    return status;
}

apl_status token_shares_new(const struct token_rule *rule, const struct subset *subset,
                            struct token_shares **shares, apl_error *err)
{
    struct token_shares *s = calloc(1, sizeof *s + subset->parts * sizeof s->part[0]);
    if (!s)
        return fail_nomem(err);
    s->lengths = rule->lengths;
    s->parts = subset->parts;
    apl_status status = take_rule(s, rule, subset, err);
    if (status == APL_OK)
        *shares = s;
    else
        token_shares_free(s);
    return status;
}

void token_shares_free(struct token_shares *s)
{
    if (s)
        free(s->list);
    free(s);
}

/* ---------------------------------------------------------------------------------------------- asking */

uint64_t token_shares_tokens(const struct token_shares *s)
{
    return s->tokens;
}

/* How often a record of a part comes, at most. */
static uint64_t most_times(const struct token_shares *s, uint32_t part)
{
    const struct token_part *p = &s->part[part];
    uint64_t wanted = p->share + (part == s->makes_up ? s->more : 0);
    return (wanted + p->own - 1) / p->own;
}

uint64_t token_shares_most(const struct token_shares *s)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < s->parts; i++)
        most += s->part[i].count * most_times(s, i);
    return most;
}

uint64_t token_shares_limit(const struct token_shares *s)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < s->parts; i++)
        most = most_times(s, i) > most ? most_times(s, i) : most;
    return most;
}

struct hash128 token_shares_digest(const struct token_shares *s)
{
    return hash_xxh3_128(s->part, s->parts * sizeof s->part[0]);
}

uint64_t token_shares_bytes(const struct token_shares *s)
{
    return sizeof *s + s->parts * sizeof s->part[0] + most_records(s) * sizeof *s->list;
}

/* Drawing the sample of an epoch: see sampler.h. */
#include "sampler.h"

#include "token_shares.h"
#include "weights.h"

#include <stdlib.h>

struct sampler {
    struct sample_rule rule;
    uint32_t n, items; /* records; weights: as many as groups, or as records */
    uint64_t positive; /* records with a weight */
    uint32_t limit;
    uint64_t bytes;
    uint64_t *weights, total;  /* of each item, and their sum; NULL: records by themselves, all alike */
    uint32_t *group, *size;    /* of each record; records of each group */
    struct weight_table table; /* of weighted draws */
    uint32_t *list;  /* groups, replacement: the records, group by group; alone, none: what the table is of */
    uint32_t *start; /* where a group's begin in that */
    /* groups, no replacement: */
    uint32_t *quota; /* of each group, rounded down; */
    uint8_t *up;     /* 1: rounded up, 2: one of the `ties`, of which `ties_up` are */
    uint32_t ties, ties_up;
    struct share {
        uint32_t each, left,
            more; /* deliveries of each record; records to come; those of them that come once more */
    } * share;    /* scratch, of each group */
    uint32_t *cumulative[2];
    uint64_t epoch[2];
    bool drawn[2];
};

/* ------------------------------------------------------------------------------------------------- laws */

static void draw_from_groups(const struct sampler *s, struct random_stream *stream, uint32_t *counts)
{
    for (uint64_t k = 0; k < s->rule.records; k++) {
        uint32_t g = weight_table_draw(&s->table, stream);
        counts[s->list[s->start[g] + random_below(stream, s->size[g])]]++;
    }
}

static void draw_alone(const struct sampler *s, struct random_stream *stream, uint32_t *counts)
{
    for (uint64_t k = 0; k < s->rule.records; k++)
        counts[s->weights ? weight_table_draw(&s->table, stream) : random_below(stream, s->n)]++;
}

/* One of `left`, of which `wanted` are to be chosen (Fan, Muller and Rezucha, 1962): is it chosen? */
static bool chosen_of(struct random_stream *stream, uint32_t *left, uint32_t *wanted)
{
    bool chosen = *wanted > 0 && random_below(stream, *left) < *wanted;
    --*left;
    *wanted -= chosen;
    return chosen;
}

static void share_among_groups(const struct sampler *s, struct random_stream *stream, uint32_t *counts)
{
    uint32_t ties = s->ties, ties_up = s->ties_up;
    for (uint32_t g = 0; g < s->items; g++) {
        bool up = s->up[g] == 2 ? chosen_of(stream, &ties, &ties_up) : s->up[g];
        uint32_t n = s->size[g], all = s->quota[g] + up;
        s->share[g] = n ? (struct share){all / n, n, all % n} : (struct share){0};
    }
    for (uint32_t i = 0; i < s->n; i++) {
        struct share *share = &s->share[s->group[i]];
        counts[i] = share->each + chosen_of(stream, &share->left, &share->more);
    }
}

static void choose_alike(const struct sampler *s, struct random_stream *stream, uint32_t *counts)
{
    uint32_t left = s->n, wanted = (uint32_t)s->rule.records;
    for (uint32_t i = 0; i < s->n; i++)
        counts[i] = chosen_of(stream, &left, &wanted);
}

/* Lists the items that have a weight and have not been drawn. Returns how many. */
static uint32_t list_left(const struct sampler *s, const uint32_t *counts)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->weights[i] && !counts[i])
            s->list[n++] = i;
    return n;
}

/* Draws with replacement, where what has been drawn before does not count: the next that does is one of those
 * left, in proportion to its weight. When half of the weight is gone, a new table is made of what is left;
 * so a draw takes two attempts on average at most, and there are at most SUM_BITS tables. */
static void draw_one_by_one(struct sampler *s, struct random_stream *stream, uint32_t *counts)
{
    weight_table_make(&s->table, s->weights, s->list, list_left(s, counts));
    uint64_t gone = 0;
    for (uint64_t k = 0; k < s->rule.records;) {
        uint32_t i = s->list[weight_table_draw(&s->table, stream)];
        if (counts[i])
            continue;
        counts[i] = 1;
        k++;
        gone += s->weights[i];
        if (gone > s->table.total / 2 && k < s->rule.records) {
            weight_table_make(&s->table, s->weights, s->list, list_left(s, counts));
            gone = 0;
        }
    }
}

static void draw_counts(struct sampler *s, struct random_stream *stream, uint32_t *counts)
{
    memset(counts, 0, ((size_t)s->n + 1) * sizeof *counts);
    if (s->rule.shares)
        token_shares_draw(s->rule.shares, stream, counts);
    else if (s->group && s->rule.replacement)
        draw_from_groups(s, stream, counts);
    else if (s->group)
        share_among_groups(s, stream, counts);
    else if (s->rule.replacement)
        draw_alone(s, stream, counts);
    else if (s->weights)
        draw_one_by_one(s, stream, counts);
    else
        choose_alike(s, stream, counts);
}

static struct random_key attempt_key(const struct sampler *s, uint64_t epoch, uint64_t attempt)
{
    struct random_key key = random_epoch_key(s->rule.seed, epoch, RANDOM_SAMPLE);
    if (attempt == 0)
        return key;
    uint64_t low[2] = {attempt, 0}, high[2] = {attempt, 1};
    return (struct random_key){siphash(key, low, 2), siphash(key, high, 2)};
}

/* Turns counts into sums of those before; false: one is too large. */
static bool sum_up(const struct sampler *s, uint32_t *counts)
{
    uint32_t before = 0;
    bool fits = true;
    for (uint32_t i = 0; i <= s->n; i++) {
        uint32_t count = counts[i];
        fits &= count <= s->limit;
        counts[i] = before;
        before += count;
    }
    return fits;
}

void sampler_draw(struct sampler *s, uint64_t epoch)
{
    unsigned parity = epoch & 1;
    struct random_stream stream;
    if (s->drawn[parity] && s->epoch[parity] == epoch)
        return;
    for (uint64_t attempt = 0;; attempt++) {
        random_stream_init(&stream, attempt_key(s, epoch, attempt));
        draw_counts(s, &stream, s->cumulative[parity]);
        if (sum_up(s, s->cumulative[parity]))
            break;
    }
    s->epoch[parity] = epoch;
    s->drawn[parity] = true;
}

const uint32_t *sampler_cumulative(const struct sampler *s, uint64_t epoch)
{
    return s->cumulative[epoch & 1];
}

/* ---------------------------------------------------------------------------------------------- making */

/* Sets the weight of each item, and the sum of them. Groups without records have none. */
static void set_weights(struct sampler *s)
{
    if (s->rule.weights)
        weights_scale(s->rule.weights, s->items, s->weights);
    for (uint32_t i = 0; i < s->items; i++) {
        s->weights[i] = s->rule.weights ? s->weights[i] : s->size[i] > 0;
        s->total += s->weights[i];
    }
}

/* Quotas of groups, and which of them are rounded up. */
static apl_status set_quotas(struct sampler *s, apl_error *err)
{
    struct weight_parts parts = {.quota = s->quota, .up = s->up};
    TRY(weights_divide(s->rule.records, s->weights, s->total, s->items, &parts, err));
    s->ties = parts.ties;
    s->ties_up = parts.ties_up;
    return APL_OK;
}

/* Lists the records group by group. */
static void list_groups(struct sampler *s)
{
    for (uint32_t g = 0, at = 0; g < s->items; g++) {
        s->start[g] = at;
        at += s->size[g];
    }
    for (uint32_t i = 0; i < s->n; i++)
        s->list[s->start[s->group[i]]++] = i;
    for (uint32_t g = 0; g < s->items; g++)
        s->start[g] -= s->size[g];
}

/* The square root of m, rounded up. */
static uint64_t root(uint64_t m)
{
    uint64_t r = 0;
    for (uint64_t bit = (uint64_t)1 << 31; bit; bit /= 2)
        if ((r + bit) * (r + bit) < m)
            r += bit;
    return m ? r + 1 : 0;
}

/* The most that the law expects of a record of an item, rounded up; without replacement, the most that can
 * be. */
static uint64_t expected_of(const struct sampler *s, uint64_t weight, uint32_t size)
{
    uint64_t rest, all = weights_part(s->rule.records, weight, s->total, &rest) + (rest > 0);
    return (all + size - 1) / size;
}

static uint64_t most_expected(const struct sampler *s)
{
    uint64_t most = 0;
    if (s->rule.shares)
        return token_shares_limit(s->rule.shares);
    if (!s->group && !s->rule.replacement)
        return 1;
    if (!s->weights)
        return s->n ? (s->rule.records + s->n - 1) / s->n : 0;
    for (uint32_t i = 0; i < s->items; i++) {
        uint64_t x = s->weights[i];
        x = s->group && x ? expected_of(s, x, s->size[i]) : x;
        most = x > most ? x : most;
    }
    return s->group ? most : expected_of(s, most, 1);
}

static uint32_t find_limit(const struct sampler *s)
{
    uint64_t most = most_expected(s);
    if (s->rule.limit)
        return s->rule.limit;
    if (s->rule.replacement)
        most += 10 * root(most) + 40;
    return (uint32_t)(most < s->rule.records ? most : s->rule.records);
}

/* Memory that is counted; at least one byte, so that NULL means out of memory. */
static void *take_array(struct sampler *s, uint64_t n, size_t size)
{
    s->bytes += n * size;
    return calloc((size_t)n + !n, size);
}

static bool allocate_sampler(struct sampler *s)
{
    bool grouped = s->rule.group, replacement = s->rule.replacement, weighted = grouped || s->rule.weights;
    bool tabled = weighted && (replacement || !grouped), listed = weighted && grouped == replacement;
    bool ok = (s->cumulative[0] = take_array(s, (uint64_t)s->n + 1, sizeof(uint32_t))) &&
              (s->cumulative[1] = take_array(s, (uint64_t)s->n + 1, sizeof(uint32_t)));
    if (ok && weighted)
        ok = (s->weights = take_array(s, s->items, sizeof *s->weights));
    if (ok && grouped)
        ok = (s->group = take_array(s, s->n, sizeof *s->group)) &&
             (s->size = take_array(s, s->items, sizeof *s->size));
    if (ok && tabled)
        ok = (s->table.ends = take_array(s, s->items, sizeof *s->table.ends)) &&
             (s->table.guide = take_array(s, weight_table_buckets(s->items), sizeof *s->table.guide));
    if (ok && listed)
        ok = (s->list = take_array(s, s->n, sizeof *s->list)) &&
             (s->start = take_array(s, s->items, sizeof *s->start));
    if (ok && grouped && !replacement)
        ok = (s->quota = take_array(s, s->items, sizeof *s->quota)) && (s->up = take_array(s, s->items, 1)) &&
             (s->share = take_array(s, s->items, sizeof *s->share));
    return ok;
}

/* Can the rule be followed? */
static apl_status check_law(const struct sampler *s, apl_error *err)
{
    for (uint32_t g = 0; s->group && g < s->items; g++)
        if (s->weights[g] && !s->size[g])
            return fail(err, APL_E_INVALID, "sampling: weights[%u] is not 0, but there is no record to draw",
                        g);
    uint64_t most = s->n;
    for (uint32_t i = 0; !s->group && s->weights && i < s->n; i++)
        most -= s->weights[i] == 0;
    if (!s->group && !s->rule.shares && !s->rule.replacement && s->rule.records > most)
        return fail(err, APL_E_INVALID, "sampling: %s an epoch without replacement, of %llu that %s a weight",
                    number_of(s->rule.records, "record", "records"), (unsigned long long)most,
                    most == 1 ? "has" : "have");
    return APL_OK;
}

static apl_status prepare_law(struct sampler *s, apl_error *err)
{
    if (!allocate_sampler(s))
        return fail_nomem(err);
    for (uint32_t i = 0; s->group && i < s->n; i++)
        s->size[s->group[i] = s->rule.group[i]]++;
    if (s->weights)
        set_weights(s);
    TRY(check_law(s, err));
    if (s->group && s->rule.replacement)
        list_groups(s);
    if (s->weights && s->rule.replacement)
        weight_table_make(&s->table, s->weights, NULL, s->items);
    if (s->quota)
        TRY(set_quotas(s, err));
    s->limit = find_limit(s);
    return APL_OK;
}

apl_status sampler_new(const struct sample_rule *rule, const struct subset *subset, struct sampler **sampler,
                       apl_error *err)
{
    struct sampler *s = calloc(1, sizeof *s);
    if (!s)
        return fail_nomem(err);
    s->bytes = sizeof *s;
    s->rule = *rule;
    s->n = (uint32_t)subset->records;
    if (rule->shares)
        s->rule.records = token_shares_most(rule->shares);
    s->items = rule->group ? rule->groups : s->n;
    apl_status status = prepare_law(s, err);
    s->rule.group = NULL; /* the caller's */
    s->rule.weights = NULL;
    if (status != APL_OK) {
        s->rule.shares = NULL; /* still the caller's */
        sampler_free(s);
        return status;
    }
    *sampler = s;
    return APL_OK;
}

void sampler_free(struct sampler *s)
{
    if (!s)
        return;
    void *all[] = {s->cumulative[0], s->cumulative[1], s->weights,    s->group, s->size, s->list,
                   s->start,         s->table.guide,   s->table.ends, s->quota, s->up,   s->share};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    token_shares_free(s->rule.shares);
    free(s);
}

/* ---------------------------------------------------------------------------------------------- asking */

uint32_t sampler_radix(const struct subset *subset)
{
    uint64_t most = UINT32_MAX / ((uint64_t)subset->blocks * subset->stride);
    return most < UINT16_MAX ? (uint32_t)most : UINT16_MAX;
}

uint32_t sampler_limit(const struct sampler *s)
{
    return s->limit;
}

uint64_t sampler_records(const struct sampler *s)
{
    return s->rule.records;
}

struct hash128 sampler_digest(const struct sampler *s)
{
    struct hash128 weights = {0}, groups = {0};
    if (s->weights)
        weights = hash_xxh3_128(s->weights, s->items * sizeof *s->weights);
    if (s->group)
        groups = hash_xxh3_128(s->group, s->n * sizeof *s->group);
    if (s->rule.shares)
        groups = token_shares_digest(s->rule.shares);
    uint64_t parts[] = {s->rule.records, s->rule.replacement, weights.low,
                        weights.high,    groups.low,          groups.high};
    return hash_xxh3_128(parts, sizeof parts);
}

uint64_t sampler_bytes(const struct sampler *s)
{
    return s->bytes + (s->rule.shares ? token_shares_bytes(s->rule.shares) : 0);
}

/* Shares of an epoch's tokens: what holds of every draw, and on average. */
#include "order_case.h"
#include "token_shares.h"

#include <math.h>

#define PARTS   3u
#define RECORDS 330u
#define EPOCHS  4000u

static const uint32_t sizes[PARTS] = {30, 100, 200};
static uint32_t lengths[RECORDS], longest[PARTS];
static struct subset subset;
static struct subset_part parts[PARTS];
static struct subset_block blocks[PARTS];

/* Few long values, many short ones, and some of those that are empty. */
static uint32_t length_of(uint32_t part, uint32_t i)
{
    return part == 0 ? 300 + i * 37 % 200 : part == 1 ? 1 + i * 7 % 40 : i % 5 ? 1 + i % 3 : 0;
}

static void set_up(void)
{
    uint32_t before = 0;
    for (uint32_t p = 0; p < PARTS; p++) {
        blocks[p] =
            (struct subset_block){.records = sizes[p], .count = sizes[p], .part = p, .before = before};
        longest[p] = 0;
        for (uint32_t i = 0; i < sizes[p]; i++) {
            lengths[before + i] = length_of(p, i);
            longest[p] = lengths[before + i] > longest[p] ? lengths[before + i] : longest[p];
        }
        before += sizes[p];
    }
    subset = (struct subset){
        .records = RECORDS, .blocks = PARTS, .stride = 200, .block = blocks, .parts = PARTS, .part = parts};
}

TestSuite(token_shares, .init = set_up);

static struct token_shares *new_shares(const double *weights, bool by_tokens, uint64_t records)
{
    struct token_rule rule = {lengths, weights, by_tokens, records};
    struct token_shares *s = NULL;
    apl_error err;
    cr_assert_eq(token_shares_new(&rule, &subset, &s, &err), APL_OK, "%s", err.message);
    return s;
}

static void draw(struct token_shares *s, uint64_t epoch, uint32_t *counts)
{
    struct random_stream stream;
    memset(counts, 0, RECORDS * sizeof *counts);
    random_stream_init(&stream, random_epoch_key(7, epoch, RANDOM_SAMPLE));
    token_shares_draw(s, &stream, counts);
}

/* What a draw has of a part: records, and tokens. */
struct had {
    uint64_t records, tokens;
    uint32_t least, most;
};

static struct had had_of(const uint32_t *counts, uint32_t part)
{
    struct had h = {.least = UINT32_MAX};
    for (uint32_t i = (uint32_t)blocks[part].before; i < blocks[part].before + sizes[part]; i++) {
        h.records += counts[i];
        h.tokens += (uint64_t)counts[i] * lengths[i];
        h.least = counts[i] < h.least ? counts[i] : h.least;
        h.most = counts[i] > h.most ? counts[i] : h.most;
    }
    return h;
}

static double tokens_in(uint32_t part)
{
    double n = 0;
    for (uint32_t i = 0; i < sizes[part]; i++)
        n += length_of(part, i);
    return n;
}

/* --------------------------------------------------------------------------------------------- each draw */

static void check_draw(struct token_shares *s, const double *share, uint64_t epoch)
{
    uint32_t counts[RECORDS];
    uint64_t all = 0, beyond = 0;
    draw(s, epoch, counts);
    for (uint32_t p = 0; p < PARTS; p++) {
        struct had h = had_of(counts, p);
        double wanted = share[p] * (double)token_shares_tokens(s);
        bool largest = true; /* or another, where rounding decides */
        for (uint32_t q = 0; q < PARTS; q++)
            largest = largest && share[q] <= share[p] * (1 + 1e-9);
        uint32_t most = largest ? longest[0] + longest[1] + longest[2] : longest[p];
        cr_assert_lt(fabs((double)h.tokens - wanted), most + 1.0, "part %u: %llu, not %f", p,
                     (unsigned long long)h.tokens, wanted);
        cr_assert_leq(h.most, h.least + 1, "no record comes twice more than another of its part");
        cr_assert_leq(h.most, token_shares_limit(s));
        all += h.records;
        beyond += h.tokens;
    }
    cr_assert_geq(beyond, token_shares_tokens(s));
    cr_assert_leq(all, token_shares_most(s));
}

/* By tokens, weights are the shares; by records, they are those of records with the mean length of their part. */
Test(token_shares, every_epoch_has_its_tokens)
{
    static const double weights[][PARTS] = {{1, 1, 1}, {0.001, 5, 2}, {7, 1e-4, 1e-3}, {3e300, 1e300, 2e300}};
    for (unsigned i = 0; i < 16; i++) {
        const double *w = weights[i / 4];
        bool by_tokens = i & 1;
        uint64_t records = i & 2 ? 1000 : 17;
        double share[PARTS], sum = 0, rate = 0;
        for (uint32_t p = 0; p < PARTS; p++) {
            double mean = tokens_in(p) / sizes[p], most = i / 4 == 3 ? 1e300 : 1;
            share[p] = w[p] / most * (by_tokens ? 1 : mean);
            sum += share[p];
            rate += share[p] / mean;
        }
        for (uint32_t p = 0; p < PARTS; p++)
            share[p] /= sum;
        struct token_shares *s = new_shares(w, by_tokens, records);
        cr_assert_float_eq((double)token_shares_tokens(s), (double)records * sum / rate, 1);
        for (uint64_t epoch = 0; epoch < 200; epoch++)
            check_draw(s, share, epoch);
        token_shares_free(s);
    }
}

Test(token_shares, draws_are_the_same_everywhere)
{
    static const double weights[] = {1, 2, 4};
    uint32_t first[RECORDS], again[RECORDS];
    struct token_shares *s = new_shares(weights, true, RECORDS), *t = new_shares(weights, true, RECORDS);
    draw(s, 3, first);
    draw(t, 9, again);
    cr_assert(memcmp(first, again, sizeof first) != 0);
    draw(t, 3, again);
    cr_assert(memcmp(first, again, sizeof first) == 0, "a draw hangs on what was drawn before");
    cr_assert_eq(hash_xxh3_64(first, sizeof first), 0x4eacad76e3f99a20, "0x%016llx",
                 (unsigned long long)hash_xxh3_64(first, sizeof first));
    cr_assert_eq(token_shares_digest(s).low, token_shares_digest(t).low);
    token_shares_free(t);
    t = new_shares(weights, false, RECORDS);
    cr_assert_neq(token_shares_digest(s).low, token_shares_digest(t).low);
    cr_assert_geq(token_shares_bytes(s), sizes[2] * sizeof(uint32_t));
    token_shares_free(s);
    token_shares_free(t);
}

/* ------------------------------------------------------------------------------------------- on average */

struct sums {
    double tokens[PARTS], squares[PARTS];
    uint32_t records[RECORDS];
};

static void sum_up(struct token_shares *s, struct sums *sums)
{
    uint32_t counts[RECORDS];
    memset(sums, 0, sizeof *sums);
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
        draw(s, epoch, counts);
        for (uint32_t p = 0; p < PARTS; p++) {
            double n = (double)had_of(counts, p).tokens;
            sums->tokens[p] += n;
            sums->squares[p] += n * n;
        }
        for (uint32_t i = 0; i < RECORDS; i++)
            sums->records[i] += counts[i];
    }
}

/* A share that is less than a value comes as that value, as seldom as makes the share. The largest one makes up for what others have. */
Test(token_shares, the_mean_is_the_share)
{
    static const double weights[] = {0.002, 0.1, 0.898};
    struct token_shares *s = new_shares(weights, true, 10000);
    struct sums sums;
    sum_up(s, &sums);
    for (uint32_t p = 0; p < 2; p++) {
        double mean = sums.tokens[p] / EPOCHS, variance = sums.squares[p] / EPOCHS - mean * mean;
        double wanted = weights[p] * (double)token_shares_tokens(s);
        cr_assert_lt(fabs(mean - wanted), NORMAL * sqrt(variance / EPOCHS) + 1, "part %u: %f, not %f", p,
                     mean, wanted);
    }
    double all = (double)token_shares_tokens(s), largest = sums.tokens[2] / EPOCHS;
    cr_assert(largest >= weights[2] * all && largest < weights[2] * all + longest[0]);
    token_shares_free(s);
}

/* Half of a part's tokens: each of its records comes in half of the epochs. */
Test(token_shares, records_of_a_part_are_alike)
{
    static const double weights[] = {0.05, 0.5, 0.45};
    struct token_shares *s = new_shares(weights, true, 600);
    struct sums sums;
    sum_up(s, &sums);
    for (uint32_t p = 1; p < PARTS; p++) {
        double mean = 0, whole, part, x = 0;
        for (uint32_t i = 0; i < sizes[p]; i++)
            mean += (double)sums.records[blocks[p].before + i] / sizes[p] / EPOCHS;
        part = modf(mean, &whole);
        for (uint32_t i = 0; i < sizes[p]; i++) {
            double off = sums.records[blocks[p].before + i] - mean * EPOCHS;
            x += off * off / (EPOCHS * part * (1 - part));
        }
        cr_assert(x < sizes[p] + NORMAL * sqrt(2.0 * sizes[p]) + 1, "part %u: mean %f, chi square %f", p,
                  mean, x);
    }
    token_shares_free(s);
}

/* ----------------------------------------------------------------------------------------------- refusals */

Test(token_shares, a_part_of_empty_values_is_refused)
{
    static const double weights[] = {1, 1, 1};
    apl_store store = {.name = "empty.db"};
    struct token_rule rule = {lengths, weights, true, 5};
    struct token_shares *s = NULL;
    apl_error err;
    parts[1].store = &store;
    for (uint32_t i = 0; i < sizes[1]; i++)
        lengths[blocks[1].before + i] = 0;
    cr_assert_eq(token_shares_new(&rule, &subset, &s, &err), APL_E_INVALID);
    cr_assert_str_eq(err.message,
                     "empty.db: has a weight in the mix, but all of its values that are to be packed "
                     "are empty");
    cr_assert_null(s);
}

/*
 * The sample of an epoch: how often each record of a subset is delivered in it, drawn for each epoch
 * from seed and epoch alone. No threads, no I/O, and whole numbers only: it is the same on every machine.
 *
 * Records may be in groups (classes, or the stores of a mix) that have weights, or be by themselves:
 *
 *   groups, replacement     each draw picks a group in proportion to its weight, then any of its records
 *   groups, no replacement  a group comes in proportion to its weight, rounded by largest remainders (of
 *                           equal ones, a uniform subset is rounded up); its records equally often, but for a
 *                           uniform subset of them that comes once more
 *   alone, replacement      each draw picks a record in proportion to its weight
 *   alone, no replacement   each next record in proportion to its weight among those that are left
 *
 * Or parts have shares of an epoch's tokens: see token_shares.h.
 *
 * Weights are taken as whole numbers: scaled by a power of two so that their sum is nearly 2^60 to 2^61, and
 * rounded. docs/THEORY.md has the proofs.
 */
#ifndef SAMPLER_H
#define SAMPLER_H

#include "hash.h"
#include "subset.h"

struct token_shares;

struct sample_rule {
    uint64_t seed;
    uint64_t records;      /* deliveries of an epoch, 1 ... SAMPLER_MOST_RECORDS */
    const uint32_t *group; /* of each record, in the order of subset_block.first; NULL: each is by itself */
    uint32_t groups;
    const double *weights; /* of each group, or record: finite, not negative, not all 0; NULL: all alike */
    bool replacement;
    struct token_shares
        *shares;    /* instead of all that, but the seed; the sample takes them over; NULL: none */
    uint32_t limit; /* for tests: what sampler_limit() is to be; 0: as it says */
};
#define SAMPLER_MOST_RECORDS (UINT32_MAX - 1)

struct sampler;

/* Copies what the rule points at; the subset must outlive the sample. APL_E_INVALID where the rule asks for
 * what cannot be: a group with a weight and without records, or more records than there are to draw without
 * replacement. */
apl_status sampler_new(const struct sample_rule *rule, const struct subset *subset, struct sampler **sampler,
                       apl_error *err);
void sampler_free(struct sampler *sampler);

/* How many copies of a record a delivery can tell, where it is reference x that + copy. */
uint32_t sampler_radix(const struct subset *subset);

/* The most that a record comes. Where draws are independent, 10 sqrt(m) + 40 above the largest expectation m:
 * a sample that exceeds it, less than one in 10^17, is drawn again. With more than sampler_radix(), it cannot
 * be read. */
uint32_t sampler_limit(const struct sampler *sampler);

/* Deliveries of an epoch; where parts have shares of tokens, the most that one may have. */
uint64_t sampler_records(const struct sampler *sampler);

/* Draws the sample of an epoch, unless that has been drawn last among those of the epoch's parity: those of
 * two epochs in a row are held. By one thread at a time; others may meanwhile ask for that of the epoch
 * before. */
void sampler_draw(struct sampler *sampler, uint64_t epoch);

/* Of an epoch that was drawn: deliveries of the records before each record, in the order of
 * subset_block.first, and of all at the end. */
const uint32_t *sampler_cumulative(const struct sampler *sampler, uint64_t epoch);

/* What shapes the samples, but for the seed. */
struct hash128 sampler_digest(const struct sampler *sampler);

/* Bytes that it takes up. */
uint64_t sampler_bytes(const struct sampler *sampler);

/* ------------------------------------------------------------------------------ with or without a sample */

/* Deliveries of the records before record `i` of an epoch; cumulative: as sampler_cumulative() has it, NULL: each comes
 * `reuse` times. */
static inline uint64_t deliveries_before(const uint32_t *cumulative, uint64_t i, unsigned reuse)
{
    return cumulative ? cumulative[i] : i * reuse;
}

static inline uint32_t deliveries_of_record(const uint32_t *cumulative, uint64_t i, unsigned reuse)
{
    return cumulative ? cumulative[i + 1] - cumulative[i] : reuse;
}

static inline uint32_t deliveries_of_block(const uint32_t *cumulative, const struct subset_block *block,
                                           unsigned reuse)
{
    return cumulative ? cumulative[block->before + block->count] - cumulative[block->before]
                      : block->count * reuse;
}

#endif

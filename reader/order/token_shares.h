/*
 * The sample of an epoch of which tokens are counted, not records: each part of the subset (each store of a mix) has a share of the epoch's
 * tokens, which are as many in every epoch. Drawn from seed and epoch alone, as the sampler's other laws are.
 *
 * A part's share of s tokens, where its values have t: each record comes floor(s / t) times; and the first of a random order of them once
 * more, until s mod t tokens are there. The one that goes beyond that comes with the chance that makes s tokens the mean. The part of the
 * largest share is drawn last, as what lacks of the epoch's tokens; the one that goes beyond these always comes. What there is more at
 * the end of an epoch is for the planner to leave out.
 */
#ifndef TOKEN_SHARES_H
#define TOKEN_SHARES_H

#include "hash.h"
#include "random.h"
#include "subset.h"

struct token_shares;

struct token_rule {
    const uint32_t
        *lengths; /* of each record's value, in the order of subset_block.before; to outlive the shares */
    const double *weights; /* of each part: finite and above 0 */
    bool by_tokens;        /* weights are of tokens, not of records */
    uint64_t records;      /* that an epoch has on average */
};

/* APL_E_INVALID for a part whose values are all empty. */
apl_status token_shares_new(const struct token_rule *rule, const struct subset *subset,
                            struct token_shares **shares, apl_error *err);
void token_shares_free(struct token_shares *shares);

/* How often each record comes, into counts[records]. */
void token_shares_draw(struct token_shares *shares, struct random_stream *stream, uint32_t *counts);

/* Tokens of an epoch; what all of an epoch's deliveries have is that or more. */
uint64_t token_shares_tokens(const struct token_shares *shares);

/* The most deliveries that an epoch may have, and the most of one record. */
uint64_t token_shares_most(const struct token_shares *shares);
uint64_t token_shares_limit(const struct token_shares *shares);

/* What shapes the samples, but for seed and lengths; and bytes that this takes up. */
struct hash128 token_shares_digest(const struct token_shares *shares);
uint64_t token_shares_bytes(const struct token_shares *shares);

#endif

/* What a caller asks to be sampled, checked, and made into the sample of a reader. */
#ifndef SAMPLING_H
#define SAMPLING_H

#include "sampler.h"
#include "token_shares.h"

/* Checks that weights are finite, not negative and not all 0. `what` names them in the message. */
apl_status sampling_check_weights(const char *what, const double *weights, size_t count, apl_error *err);

/* Reads the classes that are asked for, if any, and makes the sample, which sampler_free() frees. The subset
 * must outlive it. With `part_weights`, the groups are the parts of the subset, and these are their weights.
 */
apl_status sampling_open(const struct subset *subset, const apl_sampling *asked, const double *part_weights,
                         uint64_t seed, struct sampler **sampler, apl_error *err);

/* The same of records whose values are packed: parts have shares of an epoch's tokens. `asked` says how many records an epoch has on
 * average, and nothing else. Returns the tokens of an epoch. */
apl_status sampling_open_shares(const struct subset *subset, const apl_sampling *asked,
                                const struct token_rule *rule, uint64_t seed, struct sampler **sampler,
                                uint64_t *tokens, apl_error *err);

#endif

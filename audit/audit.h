/*
 * Is what training sees the data's own distribution? Statistical tests of the orders that a reader gives, for any source
 * of orders: a real reader, or a control that is known to be wrong.
 *
 * The null hypothesis of all tests together: the orders of an epoch are independent, uniform permutations of the split.
 */
#ifndef AUDIT_H
#define AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where orders come from. Fills order[0 ... n-1]: which of the split's records (0 ... n-1, by id) comes at each position of that
 * epoch; UINT32_MAX for a position that was not delivered or an unknown record. False: it failed, and has said why. */
struct order_source {
    bool (*order)(void *user, uint64_t seed, uint64_t epoch, uint32_t *order);
    void *user;
};

/* What is audited. */
struct audit_sample {
    uint32_t n;            /* records of the split, at least AUDIT_LEAST */
    const uint32_t *block; /* of each record: the block that it is stored in, 0 ... blocks-1 */
    uint32_t blocks;
    const uint32_t *cls; /* of each record: its class, 0 ... classes-1; NULL: no classes */
    uint32_t classes;
    uint32_t batch; /* records in a batch */
    uint64_t seed, first_epoch, epochs;
    double level; /* the chance of a false alarm, of all tests together */
};

#define AUDIT_LEAST 100

/* One epoch, and what is compared with it. */
struct audit_epoch {
    uint64_t index;            /* 0 ... epochs-1 */
    const uint32_t *order;     /* the record at each position */
    const uint32_t *place;     /* the position of each record */
    const uint32_t *previous;  /* places in the epoch before; NULL in the first */
    const uint32_t *neighbour; /* places in the same epoch of the next seed; NULL: not looked at */
    const uint32_t *diagonal;  /* places in the epoch before of the next seed; NULL: not looked at */
    const uint32_t
        *first; /* this is a distant order: places in the first epoch audited; NULL: it is one of those */
};

/* What a test has found. */
struct finding {
    const char *name;
    const char *hypothesis; /* what holds if the order is right */
    const char *statistic;  /* how it is judged */
    double value;           /* of the statistic */
    double df;              /* degrees of freedom of a chi-square statistic; 0: not chi-square */
    double p;               /* the probability of so extreme a value if the hypothesis is true */
    double effect;          /* the smallest departure that would be found with probability 0.9, */
    const char *unit;       /* and what it is measured in */
    char detail[160];       /* what was seen, in words; "" */
    bool rejected;
    bool certain;   /* it leaves nothing to chance: p is 0 or 1 */
    bool any_order; /* it holds whatever the order is meant to be */
};

#define AUDIT_LEVEL 0.01 /* the chance of a false alarm, unless another is asked for */

/* Holm's procedure: the smallest p-value is compared with level / count, the next with level / (count - 1), until one stands.
 * Marks what is rejected and returns how many; the chance that any of these is a false alarm is at most the level. What leaves
 * nothing to chance is rejected if its p is 0, and takes no share of the level. Sorts `findings` by p. */
unsigned audit_judge(struct finding **findings, unsigned count, double level);

/* A two-sided p-value of a count, from P(X <= count) and P(X >= count). The chance of the count itself is divided
 * between the two sides by a number that seed, first epoch and the test's name give, so that the p-value is exactly
 * uniform if the hypothesis is true, however few values the count can have. */
/* The same, with that number as `share`. */
double audit_two_sided(double lower, double upper, double share);
double audit_count_p(const struct audit_sample *sample, const char *test, double lower, double upper);

/* A whole number with commas, in `text`. */
const char *audit_count_text(char text[32], double n);

/* A test: takes the epochs one by one, then reports. `finish` frees `state`; `level` is what this test alone may spend. */
struct audit_test {
    const char *name;
    void *(*begin)(const struct audit_sample *sample);
    void (*add)(void *state, const struct audit_sample *sample, const struct audit_epoch *epoch);
    void (*finish)(void *state, const struct audit_sample *sample, double level, struct finding *finding);
    bool needs_classes;
};

extern const struct audit_test audit_once, audit_blocks, audit_neighbours, audit_remainders,
    audit_near_orders, audit_far_orders, audit_serial, audit_epochs, audit_all_epochs, audit_places,
    audit_seeds, audit_distant, audit_inversions, audit_ascents, audit_fixed_points, audit_cycles, audit_ends,
    audit_classes;

#define AUDIT_MOST 36

/* Where blocks came, as multiples of what is expected: 1 everywhere but for chance. */
struct audit_map {
    unsigned rows, columns;
    double *share; /* rows x columns: source blocks by positions; freed by audit_report_free() */
};

/* How many records of one class full batches have, over all classes as large as the largest. */
struct audit_batches {
    uint32_t drawn, marked; /* records in a batch, and of such a class in the split */
    uint64_t looked_at;     /* batches x such classes */
    uint64_t *count;        /* 0 ... drawn; NULL: there are no classes; freed by audit_report_free() */
};

#define AUDIT_LAGS 64

struct audit_report {
    struct finding findings[AUDIT_MOST];
    unsigned count;
    unsigned rejected; /* see audit_judge() */
    struct audit_map map;
    struct audit_batches batches;
    double lags[AUDIT_LAGS]; /* serial correlations, */
    double lag_deviation;    /* and the standard deviation that each has by chance */
};

/* Data for the charts of three tests, before these finish. */
void audit_lags(const void *serial, const struct audit_sample *sample, double *lags, double *deviation);
void audit_blocks_map(const void *blocks, const struct audit_sample *sample, struct audit_map *map);
void audit_class_counts(void *classes, struct audit_batches *batches);

/* Runs all tests that the sample allows. False: memory ran out, or the source failed. */
bool audit_run(const struct audit_sample *sample, const struct order_source *source,
               struct audit_report *report);
void audit_report_free(struct audit_report *report);

#endif

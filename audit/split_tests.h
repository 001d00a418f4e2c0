/*
 * Is a store divided as it should be? Tests of splits: of what was divided, which records are on which side.
 *
 * What is divided are not records but groups of records with equal inputs (or what the split has in their
 * place). The null hypothesis: each group is in the part with the chance `ratio`, independently of all else; in
 * a stratified split, of each class a uniformly random subset is, as large as its rule says; in a skewed one, a
 * uniformly random subset of some size.
 */
#ifndef SPLIT_TESTS_H
#define SPLIT_TESTS_H

#include "audit.h"

/* The records that were divided, by id. */
struct split_sample {
    uint32_t n;
    const uint8_t *part;   /* of each record: 1 in the part, 0 in the rest */
    const uint32_t *group; /* of each record: the first record, 0 ... n-1, of its group */
    const uint32_t *cls;   /* of each record: its class, 0 ... classes-1; NULL: none */
    uint32_t classes;
    double ratio;
    bool stratified; /* by `cls` */
    bool skewed; /* each class has a share of its own, which says nothing of how much the part should have */
    unsigned parts; /* of which it is one; 0: the two sides are all there is */
    /* What puts records in a group: equal inputs, or else the values of this field, and then a group is of the class that most
     * of its records have; "" if each record is a group by itself. */
    const char *grouped;
    uint64_t key; /* of the numbers that randomise p-values: a function of the split's seed and part */
};

#define SPLIT_TESTS 6

struct split_report {
    struct finding findings[SPLIT_TESTS];
    unsigned count;
};

/* Groups of records that have to be on one side. */
struct split_group {
    uint32_t first, size; /* its first record; how many it has */
    uint32_t cls;         /* the lowest of its records, or the one that most have: see split_sample.grouped */
    uint32_t size_class;  /* of a stratified split: floor(log2(size)); else 0 */
    bool part, torn;      /* the side of its first record; it is on both */
};

/* The groups of a sample in strata: each is divided by itself, so that given how many of its groups are in the
 * part, each choice of that many is equally likely. Within a stratum they come as they do in the store. */
struct division {
    const struct split_sample *sample;
    struct split_group *groups;
    uint32_t count, parts;   /* groups in all, and in the part */
    uint32_t *begin, strata; /* stratum s is groups[begin[s] ... begin[s+1]-1] */
    double level;            /* what each test may spend */
    struct split_report *report;
};

/* The next finding of the division's report. */
struct finding *split_finding(struct division *d, const char *name);

/* What needs the distributions of Boost.Math, and so is not in every build. */
struct split_statistics {
    bool (*chances)(
        struct division *d); /* adds the findings that chance has a part in; false: out of memory */
    void (*interval)(double k, double n, double alpha, double *low,
                     double *high); /* of Clopper and Pearson */
};
extern const struct split_statistics split_statistics;

/* Runs all tests that the sample allows, each of which may spend `level`; judges none but those that leave
 * nothing to chance. `statistics` NULL: those alone. False: out of memory. */
bool split_test(const struct split_sample *sample, double level, const struct split_statistics *statistics,
                struct split_report *report);

#endif

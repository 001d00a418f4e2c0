/*
 * Is a store divided as it should be? Tests of splits: of what was divided, which records are on which side.
 *
 * What is divided are not records but groups of records with equal inputs (or what the split has in their place). The null hypothesis: each group is in the part with
 * the chance `ratio`, independently of all else; in a stratified split, of each class a uniformly random subset is, as large
 * as its rule says; in a skewed one, a uniformly random subset of some size.
 */
#ifndef SPLIT_TESTS_H
#define SPLIT_TESTS_H

#include "audit.h"

/* The records that were divided, by id. */
struct split_sample {
    uint32_t n;
    const uint8_t *part;   /* of each record: 1 in the part, 0 in the rest */
    const uint32_t *group; /* of each record: the first record, 0 ... n-1, of its group */
    const uint32_t *cls;   /* of each record: its class, 0 ... classes-1; NULL: there are none */
    uint32_t classes;
    double ratio;
    bool stratified; /* by `cls` */
    bool skewed; /* each class has a share of its own, which says nothing of how much the part should have */
    unsigned parts; /* of which it is one; 0: the two sides are all there is */
    /* What puts records in a group: equal inputs, or else the values of this field, and then a group is of the class that most
     * of its records have; "" if each record is a group by itself. */
    const char *grouped;
};

#define SPLIT_TESTS 6

struct split_report {
    struct finding findings[SPLIT_TESTS];
    unsigned count;
};

/* Runs all tests that the sample allows, each of which may spend `level`; judges none but those that leave nothing to chance.
 * False: memory ran out. */
bool split_test(const struct split_sample *sample, double level, struct split_report *report);

#endif

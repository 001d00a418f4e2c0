/*
 * Are values what their fields are said to hold? Refused is what no reading explains: boxes whose right side is left of the left one, NaN
 * in boxes, another number of elements than those that they are of, a mask of another size than its image. What is common in good
 * data is counted: boxes and points beyond their image, boxes of no area, points that are not visible, pixels that are to be ignored.
 */
#ifndef KIND_VALUES_H
#define KIND_VALUES_H

#include "apl.h"
#include "schema.h"

enum value_test { TEST_PER, TEST_BOXES, TEST_POINTS, TEST_MASK };

/* A test of the values of a field, for which another one's are needed: those that it is of, or those of the image that it lies in. */
struct kind_test {
    enum value_test test;
    unsigned field, other;
    bool alone; /* there is no other */
};

struct kind_values {
    const struct schema *schema;
    struct kind_test tests[2 * APL_MAX_FIELDS];
    unsigned count;
    apl_kind_counts counts[APL_MAX_FIELDS];
};

/* Once the schema is complete, which stays where it is: what is to be tested. */
void kind_values_begin(struct kind_values *k, const struct schema *schema);

/* Tests a record; APL_E_INVALID says which field, which value and why. */
apl_status kind_values_check(const struct kind_values *k, const apl_value *values, apl_error *err);

/* Counts one that has passed. */
void kind_values_count(struct kind_values *k, const apl_value *values);

#endif

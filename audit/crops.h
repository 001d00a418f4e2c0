/*
 * Are crops and flips drawn as they should be? Tests of where they fell, for any source of them: a real reader, or a control that is
 * known to be wrong.
 *
 * The null hypothesis of all tests together: each quantity (how far down and across a crop lies, and whether it is flipped) is
 * uniform over its values, independent of the others, of other records, epochs, seeds and copies, and of what a record is.
 */
#ifndef CROPS_H
#define CROPS_H

#include "audit.h"

#include <math.h>

#define CROP_QUANTITIES 8

/* What is drawn. */
struct crop_law {
    unsigned count;                     /* of quantities */
    uint32_t values[CROP_QUANTITIES];   /* how many each can have, at least 2: 0 ... values-1 */
    const char *names[CROP_QUANTITIES]; /* "down", ... */
};

/* An epoch's deliveries, in their order; room for as many as there are positions in it. A record that comes again is a copy. */
struct crop_epoch {
    uint32_t *record; /* of the split */
    uint32_t *value[CROP_QUANTITIES];
    uint32_t count;
};

/* Fills in an epoch, as that seed crops it: its order may be that of any seed, but always the same. False: it failed, and has said
 * why. */
struct crop_source {
    bool (*take)(void *user, uint64_t seed, uint64_t epoch, struct crop_epoch *crops);
    void *user;
    const uint64_t *ids; /* of each record of the split; NULL: 0, 1, 2 ... */
};

/* The standard score of a value: mean 0 and variance 1, if it is uniform. */
static inline double crop_score(const struct crop_law *law, unsigned quantity, uint32_t value)
{
    double k = law->values[quantity];
    return (value - (k - 1) / 2) / sqrt((k * k - 1) / 12);
}

/* Appends what it finds to the report, whose tests are then judged together, at the sample's level. `length`: positions in an epoch.
 * False: memory ran out, or the source failed. */
bool crops_audit(const struct audit_sample *sample, uint32_t length, const struct crop_law *law,
                 const struct crop_source *source, struct audit_report *report);

#endif

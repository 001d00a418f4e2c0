/*
 * Is what a sampled epoch delivers what its law says? Tests of the deliveries of epochs, for any source of
 * them: a real reader, or a control that is known to be wrong.
 *
 * The null hypothesis of all tests together: the samples of epochs are independent, each as the law has it,
 * and the order of its deliveries is uniform.
 */
#ifndef SAMPLING_AUDIT_H
#define SAMPLING_AUDIT_H

#include "audit.h"

/* What an epoch delivers. Each record is in a group: a class, or one group has them all. */
struct sampling_law {
    const uint32_t *group; /* of each record of the audit_sample, 0 ... groups-1; none is empty */
    uint32_t groups;
    const double *weights; /* of each group; of those without, no record comes */
    bool replacement;      /* each delivery is of a group by its weight, then of any of its records */
    uint32_t records;      /* deliveries in an epoch */
    bool ordered;          /* their order is meant to be uniform: it is tested too */
};

/* Runs all tests; the source's orders have law->records places, in which a record may come again. sample->cls
 * is not looked at. False: memory ran out, or the source failed. */
bool sampling_audit(const struct audit_sample *sample, const struct sampling_law *law,
                    const struct order_source *source, struct audit_report *report);

/* Samples that are known to be wrong: user of their orders is a struct sampling_case. */
struct sampling_case {
    const struct audit_sample *sample;
    const struct sampling_law *law;
    const uint32_t *list;  /* the records, group by group, */
    const uint32_t *start; /* and where each begins: groups + 1 */
};

struct sampling_control {
    const char *name, *what;
    bool with, without; /* it is wrong where draws are made with replacement, or without it; */
    bool chance;        /* and only where more than the order is left to chance */
    bool (*order)(void *user, uint64_t seed, uint64_t epoch, uint32_t *order);
};

extern const struct sampling_control sampling_controls[];
extern const unsigned sampling_control_count;

/* Right ones, of both laws: must pass. */
extern const struct sampling_control sampling_right;

/* Runs a control as sampling_audit() does, if it applies: it is wrong by that law, or right. */
bool sampling_try(const struct audit_sample *sample, const struct sampling_law *law,
                  const struct sampling_control *control, bool *applies, struct audit_report *report);

#endif

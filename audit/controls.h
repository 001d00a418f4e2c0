/* Orders that are known to be wrong, as others make them: a battery that lets one pass proves nothing. */
#ifndef CONTROLS_H
#define CONTROLS_H

#include "audit.h"

struct control {
    const char *name;
    const char *what; /* how the order comes about, and why that is wrong */
    bool (*order)(void *user, uint64_t seed, uint64_t epoch, uint32_t *order); /* user: the sample */
    /* Why it is a right order of this sample, and so cannot be rejected; NULL: it is wrong of all. */
    const char *(*right_of)(const struct audit_sample *sample);
};

extern const struct control audit_controls[];
extern const unsigned audit_control_count;

/* A right one, by Fisher and Yates' algorithm: must pass. */
extern const struct control audit_right;

#endif

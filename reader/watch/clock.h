/* Time, and what a thread or a batch has of it. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

/* Monotonic time in nanoseconds. */
uint64_t now_ns(void);

/* Parts of what a thread does now, in nanoseconds. */
struct spent {
    uint64_t reading, images, callback;
};

/* Of a batch that is handed out: when it was planned, when a thread took it up, when it was finished. */
struct milestones {
    uint64_t planned, begun, done;
};

#endif

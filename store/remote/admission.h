/*
 * Whose turn it is to send a request: each waits until its server's window has room (in_flight.h), and the machine has a slot for it
 * (node_slots.h), in the order in which they came. A process that has no request in flight may always send one: none can be kept out for good by
 * others. All threads of a process share this; a child after fork() begins with nothing in flight, and knows what its parent had learned.
 */
#ifndef ADMISSION_H
#define ADMISSION_H

#include "in_flight.h"

#include <stdatomic.h>
#include <stdbool.h>

#define REQUESTS_OF_NODE \
    256u /* in flight to a server, unless a caller or APL_REMOTE_REQUESTS says otherwise; at most NODE_SLOTS */
#define REQUESTS_OF_PROCESS 128u

/* The time, in milliseconds of a clock that nobody sets. */
uint64_t monotonic_ms(void);

/* The number of the server that a URL names: its scheme, host and port. Few have one number, and then share a window. */
unsigned admission_server(const char *url);

/* At most so many requests from now on, of all processes of the machine; 0: as it is. What is said last counts. */
void admission_limit(unsigned server, unsigned most);

/* The limit, and how many this process may have in flight at the moment. */
unsigned admission_most(unsigned server);
unsigned admission_window(unsigned server);

/* The largest window of any server: more threads would only wait. */
unsigned admission_widest(void);

/* Eight times the mean of the latest times to the first byte, in milliseconds; it changes with every answer. */
const atomic_uint_fast64_t *admission_patience(unsigned server);

struct admitted {
    unsigned server;
    int slot;
    uint64_t number;
};

enum admission { ADMITTED, ADMISSION_CANCELLED, ADMISSION_LATE };

/* Waits for a turn, until `*deadline`. As long as the server answers others, that is put off: it becomes later by as long as others were answered
 * meanwhile. cancel: NULL, or set when nobody waits any longer. */
enum admission admission_wait(unsigned server, const atomic_bool *cancel, uint64_t *deadline,
                              struct admitted *turn);

/* The request has come to an end: see flight_end(). */
void admission_end(const struct admitted *turn, enum outcome outcome, double first_ms);

#endif

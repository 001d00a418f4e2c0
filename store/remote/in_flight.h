/*
 * How many requests may be in flight to one server. Their number is a window, as that of TCP is: it doubles with each round of answers until
 * there is a sign of congestion, grows by one a round after that, and is halved at each further sign. Signs are requests that fail as an
 * overloaded server or link makes them fail, and answers that take much longer to begin than they did: there is a queue then, and more requests
 * would only make it longer. Only requests that were sent after the window was halved can halve it again. Nothing here waits, locks, or
 * asks for the time: see admission.h.
 */
#ifndef IN_FLIGHT_H
#define IN_FLIGHT_H

#include <stdint.h>

#define FLIGHT_BEGINS 8u /* requests in flight before anything is known of a server */

enum outcome {
    OUTCOME_ANSWERED,
    OUTCOME_CONGESTED, /* time-out, reset, 429, 503 */
    OUTCOME_OTHER      /* cancelled, or an answer that says nothing of congestion */
};

struct in_flight {
    uint64_t sent, recovered; /* requests so far; how many of them had been when the window was halved */
    unsigned now, most;
    double window, threshold; /* threshold: where doubling ends */
    double mean_ms;           /* of the latest times to the first byte; 0: none yet */
    double base_ms;           /* of a round without a queue, as far as is known; 0: no round yet */
    double trend_ms;          /* of the latest, too, but of none more than can be due to a queue */
    double round_ms;          /* the sum, over the round so far */
    unsigned round_answers;
};

void flight_init(struct in_flight *flight, unsigned most);

/* At most so many from now on; at least 1. */
void flight_limit(struct in_flight *flight, unsigned most);

/* The window, in whole requests. */
unsigned flight_window(const struct in_flight *flight);

/* A request is sent, and gets a number. */
uint64_t flight_send(struct in_flight *flight);

/* It has come to an end. first_ms: after which time its first byte came, or the request was given up without one; 0: not known. */
void flight_end(struct in_flight *flight, uint64_t number, enum outcome outcome, double first_ms);

/* How long a request should wait for its first byte: eight times the mean of the latest, or `least` if that is more. So a queue makes
 * requests slow, and does not make them fail. */
uint64_t flight_patience_ms(const struct in_flight *flight, uint64_t least);

#endif

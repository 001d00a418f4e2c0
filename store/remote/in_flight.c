/* How many requests may be in flight to one server: see in_flight.h. */
#include "in_flight.h"

#include <math.h>
#include <stdbool.h>

#define SLOWS_DOWN  3.0 /* times the base: a queue begins, and doubling ends */
#define SLOWER      4.0 /* times the base: a queue. Half the window still leaves one, so the link stays busy */
#define STRAGGLER   8.0  /* times the base: a single answer does not count for more, whatever held it up */
#define JITTER_MS   10.0 /* more than the base is no queue */
#define FIRST_ROUND 4u   /* answers: those of opening a store, which come one after another */
#define ROUND_LEAST 8u   /* of other rounds: fewer say little */
#define BASE_DRIFT  1.03 /* a round: another way to the server may be longer */
#define QUEUE_FLOOR 2.0  /* a queue alone does not bring the window below it */
#define PATIENCE    8.0
#define MEAN_OF     8.0

void flight_init(struct in_flight *f, unsigned most)
{
    *f = (struct in_flight){.window = FLIGHT_BEGINS};
    flight_limit(f, most);
    f->threshold = f->most;
}

void flight_limit(struct in_flight *f, unsigned most)
{
    bool doubling = f->threshold >= f->most;
    f->most = most ? most : 1;
    f->window = fmin(f->window, f->most);
    f->threshold = doubling ? f->most : fmin(f->threshold, f->most);
}

unsigned flight_window(const struct in_flight *f)
{
    return (unsigned)f->window;
}

uint64_t flight_send(struct in_flight *f)
{
    f->now++;
    return f->sent++;
}

static void begin_round(struct in_flight *f)
{
    f->round_ms = 0;
    f->round_answers = 0;
}

static void halve_window(struct in_flight *f, double floor)
{
    f->window = f->threshold = fmax(f->window / 2, fmin(floor, f->most));
    f->recovered = f->sent;
    begin_round(f);
}

static double moved_mean(double mean, double ms)
{
    return mean > 0 ? mean + (ms - mean) / MEAN_OF : ms;
}

static bool is_times_base(const struct in_flight *f, double ms, double times)
{
    return f->base_ms > 0 && ms > times * f->base_ms + JITTER_MS;
}

/* One more answer of the round, at the end of which it is compared with the best. */
static void note_answer(struct in_flight *f, double ms)
{
    ms = f->base_ms > 0 ? fmin(ms, STRAGGLER * f->base_ms + JITTER_MS) : ms;
    f->trend_ms = moved_mean(f->trend_ms, ms);
    if (is_times_base(f, f->trend_ms, SLOWS_DOWN))
        f->threshold = fmin(f->threshold, f->window);
    f->round_ms += ms;
    if (++f->round_answers < (f->base_ms > 0 ? fmax(ROUND_LEAST, f->window) : FIRST_ROUND))
        return;
    double mean = f->round_ms / f->round_answers;
    bool queues = is_times_base(f, mean, SLOWER);
    f->base_ms = f->base_ms > 0 ? fmin(mean, f->base_ms * BASE_DRIFT) : mean;
    begin_round(f);
    if (queues)
        halve_window(f, QUEUE_FLOOR);
}

void flight_end(struct in_flight *f, uint64_t number, enum outcome outcome, double first_ms)
{
    bool full = f->now >= flight_window(f), news = number >= f->recovered;
    f->now--;
    if (first_ms > 0 && outcome != OUTCOME_OTHER)
        f->mean_ms = moved_mean(f->mean_ms, first_ms);
    if (outcome == OUTCOME_CONGESTED && news)
        halve_window(f, 1);
    if (outcome != OUTCOME_ANSWERED)
        return;
    if (full) /* else more would not have been sent */
        f->window = fmin(f->window + (f->window < f->threshold ? 1 : 1 / f->window), f->most);
    if (news && first_ms > 0)
        note_answer(f, first_ms);
}

uint64_t flight_patience_ms(const struct in_flight *f, uint64_t least)
{
    uint64_t patience = (uint64_t)(PATIENCE * f->mean_ms);
    return patience > least ? patience : least;
}

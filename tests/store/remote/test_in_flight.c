/* The window of requests in flight, against servers and links that are modelled: time is a number. */
#include "in_flight.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdlib.h>

#define MOST_CLIENTS  64u
#define MOST_REQUESTS 128u /* in flight, of a client */
#define LEAST_MS      10000u

/* Takes requests in the order in which they come, each for `each_ms`; and an answer takes `delay_ms` on its way, or up to `jitter_ms` more. */
struct model {
    double each_ms, delay_ms, jitter_ms;
    unsigned accepts;    /* requests at a time: more are refused at once; 0: any number */
    double slow_ms;      /* from this time on, `each_ms` is ... */
    double slow_each_ms; /* ... this; 0: never */
};

struct pending {
    uint64_t number;
    double sent, first, ends; /* first: when its first byte comes */
    bool in_use, refused;
};

struct client {
    struct in_flight flight;
    struct pending pending[MOST_REQUESTS];
    unsigned left, opening; /* opening: requests that are sent one after another, before all others */
};

static struct client clients[MOST_CLIENTS];
static struct tally {
    double ms;
    unsigned requests, retries, longest; /* longest: in flight at once, of all */
} tally;
static double server_free;
static unsigned at_server;
static uint32_t draws;

static double any_part(void)
{
    draws = draws * 1664525u + 1013904223u;
    return (draws >> 8) / 16777216.0;
}

static void send_one(const struct model *m, struct client *c, double now)
{
    struct pending *p = c->pending;
    while (p->in_use)
        p++;
    double each = m->slow_each_ms > 0 && now >= m->slow_ms ? m->slow_each_ms : m->each_ms;
    *p = (struct pending){.number = flight_send(&c->flight), .sent = now, .in_use = true};
    p->refused = m->accepts && at_server >= m->accepts;
    double comes = now + m->delay_ms + m->jitter_ms * any_part();
    double begins = comes > server_free || m->jitter_ms > 0 ? comes : server_free;
    p->first = p->refused ? now + 1 : begins;
    p->ends = p->refused ? now + 1 : begins + each;
    server_free = p->refused ? server_free : p->ends; /* also for who gives up */
    c->left--;
    at_server++;
    tally.requests++;
    tally.longest = at_server > tally.longest ? at_server : tally.longest;
}

/* When the client has had enough of waiting for it, by what is known now; or when it ends. */
static double end_of(const struct client *c, const struct pending *p)
{
    double patience = p->sent + (double)flight_patience_ms(&c->flight, LEAST_MS);
    return p->first > patience ? patience : p->ends;
}

static void end_one(struct client *c, struct pending *p, double now)
{
    bool late = now < p->first, again = p->refused || late;
    flight_end(&c->flight, p->number, again ? OUTCOME_CONGESTED : OUTCOME_ANSWERED,
               (late ? now : p->first) - p->sent);
    p->in_use = false;
    at_server--;
    c->left += again;
    c->opening -= c->opening > 0 && !again;
    tally.retries += again;
}

/* The request that ends first. */
static struct pending *find_next(unsigned count, struct client **of)
{
    struct pending *next = NULL;
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < MOST_REQUESTS; k++) {
            struct pending *p = &clients[i].pending[k];
            if (p->in_use && (!next || end_of(&clients[i], p) < end_of(*of, next))) {
                next = p;
                *of = &clients[i];
            }
        }
    return next;
}

static bool has_turn(const struct client *c)
{
    return c->left && c->flight.now < (c->opening ? 1 : flight_window(&c->flight));
}

static void run_model(const struct model *m, unsigned count, unsigned requests)
{
    struct client *of = NULL;
    struct pending *next;
    tally = (struct tally){0};
    server_free = at_server = draws = 0;
    for (unsigned i = 0; i < count; i++) {
        clients[i] = (struct client){.left = requests, .opening = 4};
        flight_init(&clients[i].flight, MOST_REQUESTS);
    }
    do {
        for (unsigned i = 0; i < count; i++)
            while (has_turn(&clients[i]))
                send_one(m, &clients[i], tally.ms);
        if ((next = find_next(count, &of))) {
            double now = end_of(of, next);
            tally.ms = now > tally.ms ? now : tally.ms; /* patience may have become less */
            end_one(of, next, tally.ms);
        }
    } while (next);
}

static void show(const char *what)
{
    cr_log_info("%s: %.1f s, %u requests, %u retries, %u in flight at once\n", what, tally.ms / 1000,
                tally.requests, tally.retries, tally.longest);
}

/* A server that takes its time makes an epoch slow, and fails no request. */
Test(in_flight, slow_servers_are_not_stormed)
{
    static const struct {
        const char *what;
        unsigned clients, requests;
        double each_ms;
    } rows[] = {{"8 clients, 20 a second", 8, 82, 50},
                {"1 client, 2 a second", 1, 82, 500},
                {"8 clients, 2 a second", 8, 82, 500},
                {"64 clients, 20 a second", 64, 20, 50}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double least = rows[i].clients * rows[i].requests * rows[i].each_ms;
        run_model(&(struct model){.each_ms = rows[i].each_ms, .delay_ms = 1}, rows[i].clients,
                  rows[i].requests);
        show(rows[i].what);
        cr_expect_leq(tally.ms, 1.3 * least, "%s: %.0f ms", rows[i].what, tally.ms);
        cr_expect_leq(tally.retries * 50, tally.requests, "%s: %u retries", rows[i].what, tally.retries);
    }
}

/* As many as keep the link busy, and no long queue. */
Test(in_flight, a_link_is_kept_busy)
{
    run_model(&(struct model){.each_ms = 1.6, .delay_ms = 20}, 1, 1000);
    show("200 KB over 1 Gbit/s, 20 ms away");
    cr_expect_leq(tally.ms, (1000 * 1.6 + 20) / 0.9, "%.0f ms", tally.ms);
    cr_expect_eq(tally.retries, 0);
    cr_expect_leq(tally.longest, 100);
}

/* Answers that are slow by chance are no queue. */
Test(in_flight, latencies_that_vary_are_no_congestion)
{
    run_model(&(struct model){.delay_ms = 10, .jitter_ms = 190}, 1, 10000);
    show("10 to 200 ms, any number at once");
    cr_expect_eq(tally.longest, MOST_REQUESTS);
    cr_expect_leq(tally.ms, 1.2 * 10000 * 105 / MOST_REQUESTS, "%.0f ms", tally.ms);
}

Test(in_flight, refused_requests_halve_it)
{
    run_model(&(struct model){.each_ms = 5, .delay_ms = 100, .accepts = 16}, 4, 500);
    show("16 at a time, more are refused");
    cr_expect_leq(tally.retries * 5, tally.requests, "%u of %u", tally.retries, tally.requests);
}

Test(in_flight, a_server_that_becomes_slow)
{
    run_model(&(struct model){.each_ms = 1, .delay_ms = 50, .slow_ms = 1000, .slow_each_ms = 300}, 1, 1500);
    show("1,000 a second, then 3");
    cr_expect_leq(tally.retries * 20, tally.requests, "%u of %u", tally.retries, tally.requests);
}

/* One sign of congestion reaches all that were sent before it was seen: it counts once. */
Test(in_flight, halved_once_for_what_was_in_flight)
{
    struct in_flight f;
    flight_init(&f, 64);
    f.window = 32;
    for (uint64_t i = 0; i < 32; i++)
        cr_assert_eq(flight_send(&f), i);
    for (uint64_t i = 0; i < 32; i++)
        flight_end(&f, i, OUTCOME_CONGESTED, 0);
    cr_expect_eq(flight_window(&f), 16);
    flight_end(&f, flight_send(&f), OUTCOME_CONGESTED, 0);
    cr_expect_eq(flight_window(&f), 8);
    for (int i = 0; i < 10; i++)
        flight_end(&f, flight_send(&f), OUTCOME_CONGESTED, 0);
    cr_expect_eq(flight_window(&f), 1);
    cr_expect_eq(f.now, 0);
}

/* Who asks for little learns nothing of how much more would do. */
Test(in_flight, grows_only_where_it_is_used_up)
{
    struct in_flight f;
    flight_init(&f, 64);
    for (int i = 0; i < 100; i++)
        flight_end(&f, flight_send(&f), OUTCOME_ANSWERED, 5);
    cr_expect_eq(flight_window(&f), FLIGHT_BEGINS);
    flight_limit(&f, 2);
    cr_expect_eq(flight_window(&f), 2);
    flight_limit(&f, 0);
    cr_expect_eq(flight_window(&f), 1);
}

Test(in_flight, patience_follows_latency)
{
    struct in_flight f;
    flight_init(&f, 64);
    cr_expect_eq(flight_patience_ms(&f, 10000), 10000);
    flight_end(&f, flight_send(&f), OUTCOME_ANSWERED, 4000);
    cr_expect_eq(flight_patience_ms(&f, 10000), 32000);
    flight_end(&f, flight_send(&f), OUTCOME_OTHER, 90000);
    cr_expect_eq(flight_patience_ms(&f, 10000), 32000);
    for (int i = 0; i < 50; i++)
        flight_end(&f, flight_send(&f), OUTCOME_ANSWERED, 1);
    cr_expect_eq(flight_patience_ms(&f, 10000), 10000);
    flight_end(&f, flight_send(&f), OUTCOME_CONGESTED, 20000); /* given up: the next may wait longer */
    cr_expect_gt(flight_patience_ms(&f, 10000), 10000);
}

/* Whose turn it is to send a request: see admission.h. */
#include "admission.h"

#include "hash.h"
#include "node_slots.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#define LOOK_MS \
    50u /* how often those who wait look whether they are still wanted, and another process has let go */

struct waiter {
    struct waiter *behind;
};

static struct server {
    bool met;
    struct in_flight flight;
    unsigned most; /* of the node */
    uint64_t answered_ms;
    struct waiter *first;
    atomic_uint_fast64_t patience_ms;
} servers[NODE_SERVERS];

static pthread_once_t admission_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t admission_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t admission_moved;
static atomic_uint widest = FLIGHT_BEGINS;

uint64_t monotonic_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---------------------------------------------------------------------------------------------- fork() */

static void init_moved(void)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&admission_moved, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static void lock_admission(void)
{
    pthread_mutex_lock(&admission_lock);
}

static void unlock_admission(void)
{
    pthread_mutex_unlock(&admission_lock);
}

/* What is in flight is the parent's, and so are those who wait. */
static void forget_admitted(void)
{
    init_moved();
    node_slots_forked();
    for (unsigned i = 0; i < NODE_SERVERS; i++) {
        servers[i].flight.now = 0;
        servers[i].first = NULL;
    }
    unlock_admission();
}

static void begin_admission(void)
{
    init_moved();
    for (unsigned i = 0; i < NODE_SERVERS; i++) {
        flight_init(&servers[i].flight, REQUESTS_OF_PROCESS);
        servers[i].most = REQUESTS_OF_NODE;
    }
    pthread_atfork(lock_admission, unlock_admission, forget_admitted);
}

static struct server *enter_server(unsigned number)
{
    pthread_once(&admission_once, begin_admission);
    lock_admission();
    servers[number].met = true;
    return &servers[number];
}

/* ------------------------------------------------------------------------------------------- servers */

unsigned admission_server(const char *url)
{
    const char *host = strstr(url, "://");
    size_t n = host ? (size_t)(host + 3 - url) + strcspn(host + 3, "/?#") : strlen(url);
    return (unsigned)(hash_xxh3_64(url, n) % NODE_SERVERS);
}

/* The window has changed. Relaxed: who sees it late starts a thread late. */
static void publish_window(struct server *s)
{
    unsigned most = 0;
    for (unsigned i = 0; i < NODE_SERVERS; i++)
        if (servers[i].met && flight_window(&servers[i].flight) > most)
            most = flight_window(&servers[i].flight);
    atomic_store_explicit(&widest, most, memory_order_relaxed);
    atomic_store_explicit(&s->patience_ms, flight_patience_ms(&s->flight, 0), memory_order_relaxed);
}

void admission_limit(unsigned server, unsigned most)
{
    struct server *s = enter_server(server);
    if (most) {
        s->most = most < NODE_SLOTS ? most : NODE_SLOTS;
        flight_limit(&s->flight, s->most < REQUESTS_OF_PROCESS ? s->most : REQUESTS_OF_PROCESS);
        publish_window(s);
    }
    unlock_admission();
}

unsigned admission_most(unsigned server)
{
    unsigned most = enter_server(server)->most;
    unlock_admission();
    return most;
}

unsigned admission_window(unsigned server)
{
    unsigned window = flight_window(&enter_server(server)->flight);
    unlock_admission();
    return window;
}

unsigned admission_widest(void)
{
    return atomic_load_explicit(&widest, memory_order_relaxed);
}

const atomic_uint_fast64_t *admission_patience(unsigned server)
{
    return &servers[server].patience_ms;
}

/* ------------------------------------------------------------------------------------------- waiting */

static void join_queue(struct server *s, struct waiter *w)
{
    struct waiter **at = &s->first;
    while (*at)
        at = &(*at)->behind;
    *at = w;
}

static void leave_queue(struct server *s, const struct waiter *w)
{
    struct waiter **at = &s->first;
    while (*at != w)
        at = &(*at)->behind;
    *at = w->behind;
    pthread_cond_broadcast(&admission_moved); /* another one is first */
}

static bool may_send(struct server *s, const struct waiter *w, struct admitted *turn)
{
    if (s->first != w || s->flight.now >= flight_window(&s->flight))
        return false;
    turn->slot = node_slot_take(turn->server, s->most);
    return turn->slot != SLOTS_TAKEN || s->flight.now == 0;
}

static void nap_in_queue(void)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&admission_moved, &admission_lock, &until);
}

/* When who has waited since `began` has waited for too long. */
static uint64_t put_off(const struct server *s, uint64_t deadline, uint64_t began)
{
    return deadline + (s->answered_ms > began ? s->answered_ms - began : 0);
}

enum admission admission_wait(unsigned server, const atomic_bool *cancel, uint64_t *deadline,
                              struct admitted *turn)
{
    struct waiter me = {NULL};
    enum admission result = ADMITTED;
    struct server *s = enter_server(server);
    uint64_t began = monotonic_ms();
    *turn = (struct admitted){.server = server};
    join_queue(s, &me);
    while (result == ADMITTED && !may_send(s, &me, turn)) {
        nap_in_queue();
        /* relaxed: it only has to be seen some time */
        if (cancel && atomic_load_explicit(cancel, memory_order_relaxed))
            result = ADMISSION_CANCELLED;
        else if (monotonic_ms() >= put_off(s, *deadline, began))
            result = ADMISSION_LATE;
    }
    *deadline = put_off(s, *deadline, began);
    if (result == ADMITTED)
        turn->number = flight_send(&s->flight);
    leave_queue(s, &me);
    unlock_admission();
    return result;
}

void admission_end(const struct admitted *turn, enum outcome outcome, double first_ms)
{
    struct server *s = enter_server(turn->server);
    node_slot_give(turn->server, turn->slot);
    flight_end(&s->flight, turn->number, outcome, first_ms);
    if (outcome == OUTCOME_ANSWERED)
        s->answered_ms = monotonic_ms();
    publish_window(s);
    pthread_cond_broadcast(&admission_moved);
    unlock_admission();
}

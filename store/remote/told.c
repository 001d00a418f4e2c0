/* Who hears of requests that are being repeated: see told.h. */
#include "told.h"

#include "apl.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#define LINE_BYTES 1024u
#define REST_S \
    60u /* a server that is away is away for all of its files, and for all threads that read them */

typedef void (*retry_teller)(void *user, const char *line);
static _Atomic(retry_teller) teller;
static _Atomic(void *) teller_user;
static atomic_uint_fast64_t rests_until;

void apl_on_retry(void (*tell)(void *user, const char *line), void *user)
{
    atomic_store_explicit(&teller, NULL, memory_order_relaxed);
    atomic_store_explicit(&teller_user, user, memory_order_relaxed);
    atomic_store_explicit(&rests_until, 0, memory_order_relaxed);
    /* release: who sees it sees its user */
    atomic_store_explicit(&teller, tell, memory_order_release);
}

/* One of the threads that meet the same trouble speaks for all. */
static bool is_my_turn(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t now = (uint64_t)t.tv_sec + 1; /* a clock that has just begun is not 0 */
    uint64_t rest = atomic_load_explicit(&rests_until, memory_order_relaxed);
    return now >= rest && atomic_compare_exchange_strong_explicit(&rests_until, &rest, now + REST_S,
                                                                  memory_order_relaxed, memory_order_relaxed);
}

void tell_retry(const char *shown_url, const char *seen, uint64_t milliseconds_left)
{
    char line[LINE_BYTES], safe[LINE_BYTES];
    retry_teller tell = atomic_load_explicit(&teller, memory_order_acquire);
    if (!tell || !is_my_turn())
        return;
    int n = snprintf(line, sizeof line, "%s: %s; trying again for up to %llu s", shown_url, seen,
                     (unsigned long long)(milliseconds_left + 999) / 1000);
    apl_printable(safe, sizeof safe, line, n < (int)sizeof line ? (size_t)n : sizeof line - 1);
    tell(atomic_load_explicit(&teller_user, memory_order_relaxed), safe);
}

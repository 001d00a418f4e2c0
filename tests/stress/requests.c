/*
 * Turns to send requests (store/remote/admission.h): threads take and give them back, are cancelled, and ask for what may be in flight, while the
 * limit changes and the process forks, whose children take turns of their own. A plain main, to be run under the thread sanitizer too.
 */
#include "admission.h"
#include "check.h"
#include "counts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 12u
#define SERVERS 3u

static unsigned servers[SERVERS];
static atomic_bool cancels[THREADS], stop;
static atomic_uint turns;

static void take_turns(unsigned number, unsigned count)
{
    struct admitted turn;
    for (unsigned i = 0; i < count; i++) {
        uint64_t deadline = monotonic_ms() + 60000;
        unsigned server = servers[(number + i) % SERVERS];
        atomic_store(&cancels[number], i % 7 == 6);
        enum admission admission = admission_wait(server, &cancels[number], &deadline, &turn);
        CHECK(admission != ADMISSION_LATE);
        if (admission == ADMITTED)
            admission_end(&turn, i % 11 == 10 ? OUTCOME_CONGESTED : OUTCOME_ANSWERED, 1 + i % 50);
        CHECK(admission_widest() >= 1 && admission_window(server) <= REQUESTS_OF_PROCESS);
        (void)atomic_load_explicit(admission_patience(server), memory_order_relaxed);
        atomic_fetch_add(&turns, 1);
    }
}

static void *work(void *number)
{
    unsigned count = times(400, 20000);
    take_turns((unsigned)(uintptr_t)number, count);
    return NULL;
}

static void *change_limits(void *unused)
{
    for (unsigned i = 1; !atomic_load(&stop); i++) {
        admission_limit(servers[i % SERVERS], 1 + i % 9);
        sched_yield();
    }
    return unused;
}

static void fork_one(void)
{
    int how;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        take_turns(0, 5);
        _exit(0);
    }
    CHECK(waitpid(child, &how, 0) == child && how == 0);
}

int main(void)
{
    pthread_t threads[THREADS], changer;
    char place[] = "/tmp/apl-requests-XXXXXX", file[64];
    CHECK(mkdtemp(place));
    setenv("XDG_RUNTIME_DIR", place, 1);
    for (unsigned i = 0; i < SERVERS; i++)
        servers[i] = admission_server((const char *[]){"https://a/", "https://b/", "https://c/"}[i]);
    CHECK(pthread_create(&changer, NULL, change_limits, NULL) == 0);
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (unsigned i = 0; i < times(20, 400); i++)
        fork_one();
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    atomic_store(&stop, true);
    CHECK(pthread_join(changer, NULL) == 0);
    snprintf(file, sizeof file, "%s/apldata-requests", place);
    CHECK(unlink(file) == 0 && rmdir(place) == 0);
    printf("%u turns\n", atomic_load(&turns));
    return 0;
}

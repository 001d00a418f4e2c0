/* Turns to send requests: of the threads of a process, and of the processes of a machine. */
#include "admission.h"
#include "node_slots.h"
#include "shell.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NEVER (UINT64_MAX / 2)

static unsigned server;
static char place[] = "/tmp/apl-slots-XXXXXX";

static void begin(void)
{
    cr_assert_not_null(mkdtemp(place));
    setenv("XDG_RUNTIME_DIR", place, 1);
    server = admission_server("https://host/x");
}

static void end(void)
{
    shell("rm -rf %s", place);
}

TestSuite(admission, .init = begin, .fini = end);

static enum admission wait_turn(struct admitted *turn, uint64_t ms)
{
    uint64_t deadline = monotonic_ms() + ms;
    return admission_wait(server, NULL, &deadline, turn);
}

static void nap(unsigned ms)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)ms * 1000000}, NULL);
}

Test(admission, servers)
{
    cr_expect_eq(server, admission_server("https://host/y/z?q"));
    cr_expect_eq(server, admission_server("https://host?q"));
    cr_expect_neq(server, admission_server("https://host:8080/x"));
    cr_expect_neq(server, admission_server("http://host/x"));
}

static atomic_uint in_flight, most_in_flight, done;

static void *send_some(void *unused)
{
    struct admitted turn;
    for (int i = 0; i < 50; i++) {
        cr_assert_eq(wait_turn(&turn, NEVER), ADMITTED);
        unsigned now = atomic_fetch_add(&in_flight, 1) + 1, most = atomic_load(&most_in_flight);
        while (now > most && !atomic_compare_exchange_weak(&most_in_flight, &most, now))
            ;
        sched_yield();
        atomic_fetch_sub(&in_flight, 1);
        admission_end(&turn, OUTCOME_ANSWERED, 1);
        atomic_fetch_add(&done, 1);
    }
    return unused;
}

Test(admission, no_more_than_the_limit)
{
    pthread_t threads[16];
    admission_limit(server, 3);
    for (size_t i = 0; i < 16; i++)
        pthread_create(&threads[i], NULL, send_some, NULL);
    for (size_t i = 0; i < 16; i++)
        pthread_join(threads[i], NULL);
    cr_expect_eq(atomic_load(&done), 16 * 50);
    cr_expect_leq(atomic_load(&most_in_flight), 3);
    cr_expect_eq(admission_most(server), 3);
    cr_expect_leq(admission_widest(), 3);
}

static void *cancel_soon(void *cancel)
{
    nap(20);
    atomic_store((atomic_bool *)cancel, true);
    return NULL;
}

Test(admission, those_who_wait_may_be_cancelled)
{
    struct admitted turn, none;
    pthread_t thread;
    atomic_bool cancel = false;
    uint64_t deadline = NEVER;
    admission_limit(server, 1);
    cr_assert_eq(wait_turn(&turn, NEVER), ADMITTED);
    pthread_create(&thread, NULL, cancel_soon, &cancel);
    cr_expect_eq(admission_wait(server, &cancel, &deadline, &none), ADMISSION_CANCELLED);
    pthread_join(thread, NULL);
    admission_end(&turn, OUTCOME_ANSWERED, 1);
    cr_assert_eq(wait_turn(&turn, NEVER), ADMITTED);
    admission_end(&turn, OUTCOME_OTHER, 0);
}

/* A server that answers nobody is given up; one that answers others is only slow. */
Test(admission, deadlines_are_put_off_by_answers)
{
    struct admitted held, turn;
    admission_limit(server, 2);
    cr_assert_eq(wait_turn(&held, NEVER), ADMITTED);
    cr_assert_eq(wait_turn(&turn, NEVER), ADMITTED);
    cr_expect_eq(wait_turn(&turn, 60), ADMISSION_LATE);
    uint64_t deadline = monotonic_ms() + 60000, before = deadline;
    nap(20);
    admission_end(&held, OUTCOME_ANSWERED, 1);
    cr_assert_eq(admission_wait(server, NULL, &deadline, &turn), ADMITTED);
    cr_expect_eq(deadline, before, "it did not wait");
    admission_end(&turn, OUTCOME_ANSWERED, 1);
}

static pid_t child_with(unsigned slots, int ready, int go)
{
    pid_t child = fork();
    if (child)
        return child;
    struct admitted turn;
    char byte = 0;
    for (unsigned i = 0; i < slots; i++)
        if (wait_turn(&turn, NEVER) != ADMITTED)
            _exit(1);
    if (write(ready, &byte, 1) != 1)
        _exit(2);
    (void)!read(go, &byte, 1); /* until the parent closes it, or kills this one */
    _exit(0);
}

/* What others have in flight counts; but one request of a process is always let through, and nothing outlives its process. */
Test(admission, processes_share_the_limit)
{
    struct admitted first, second;
    int ready[2], go[2];
    char byte, path[64];
    struct stat st;
    cr_assert(pipe(ready) == 0 && pipe(go) == 0);
    admission_limit(server, 2);
    pid_t child = child_with(2, ready[1], go[0]);
    cr_assert_eq(read(ready[0], &byte, 1), 1);
    cr_assert_eq(wait_turn(&first, NEVER), ADMITTED);
    cr_expect_eq(wait_turn(&second, 120), ADMISSION_LATE);
    snprintf(path, sizeof path, "%s/apldata-requests", place);
    cr_expect(stat(path, &st) == 0 && st.st_size == 0 && (st.st_mode & 0777) == 0600);
    kill(child, SIGKILL);
    cr_assert_eq(waitpid(child, NULL, 0), child);
    cr_assert_eq(wait_turn(&second, NEVER), ADMITTED);
    admission_end(&second, OUTCOME_ANSWERED, 1);
    admission_end(&first, OUTCOME_ANSWERED, 1);
}

/* A child has nothing in flight, whatever its parent has. */
Test(admission, children_begin_with_none)
{
    struct admitted turn;
    int how;
    admission_limit(server, 1);
    cr_assert_eq(wait_turn(&turn, NEVER), ADMITTED);
    pid_t child = fork();
    if (child == 0)
        _exit(wait_turn(&turn, NEVER) != ADMITTED || admission_most(server) != 1);
    cr_assert_eq(waitpid(child, &how, 0), child);
    cr_expect_eq(how, 0);
    cr_expect_eq(wait_turn(&turn, 60), ADMISSION_LATE);
}

/* Whatever else has that name is left alone, and each process is on its own then. */
Test(admission, what_is_no_file_of_ours)
{
    shell("ln -s /etc/passwd %s/apldata-requests", place);
    cr_expect_eq(node_slot_take(server, 1), SLOTS_UNKNOWN);
    node_slot_give(server, SLOTS_UNKNOWN);
}

Test(admission, without_a_directory)
{
    setenv("XDG_RUNTIME_DIR", "relative", 1);
    cr_expect_eq(node_slot_take(server, 1), SLOTS_UNKNOWN);
    cr_expect_eq(node_slot_take(server, 1), SLOTS_UNKNOWN);
}

/* Whoever dies or stops at either end of a socket harms nobody else. */
#define _GNU_SOURCE /* usleep */
#include "serve_fixture.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

TestSuite(serve_faults, .init = serve_set_up, .fini = fixture_free, .timeout = 60);

Test(serve_faults, batches_cannot_be_written)
{
    struct serving s;
    apl_reader_options o = options_of(1);
    serving_open(&s, &o, 1, 0);
    apl_reader *r = client(0, NULL, 0);
    apl_batch *b = fixture_next(r);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        *(volatile uint8_t *)apl_batch_column(b, FIELD_IMAGE)->data = 1;
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    cr_assert(!(WIFEXITED(status) && WEXITSTATUS(status) == 0));
    void *page = (void *)((uintptr_t)apl_batch_column(b, FIELD_IMAGE)->data & ~(uintptr_t)4095);
    cr_assert_eq(mprotect(page, 4096, PROT_READ | PROT_WRITE), -1);
    apl_reader_close(r);
    check_values(b);
    apl_batch_release(b);
    serving_close(&s);
}

/* The rank's next client reads on, and the server writes to the memory of the first. */
static void check_held_after_close(int writable)
{
    struct serving s;
    apl_reader_options o = options_of(1);
    apl_connect_options how = APL_CONNECT_OPTIONS_INIT;
    apl_batch *held[2];
    how.writable = writable;
    o.batch_size = 5;
    serving_open(&s, &o, 1, 0);
    apl_reader *r = connect_as(0, how);
    for (int i = 0; i < 2; i++)
        held[i] = fixture_next(r);
    uint8_t *byte = (uint8_t *)(uintptr_t)apl_batch_column(held[0], FIELD_IMAGE)->data;
    if (writable)
        *byte ^= 1;
    apl_reader_close(r);
    apl_reader *next = client(0, NULL, 0);
    for (apl_batch *b; (b = fixture_next(next)); apl_batch_release(b))
        check_values(b);
    if (writable)
        *byte ^= 1;
    for (int i = 0; i < 2; i++) {
        check_values(held[i]);
        apl_batch_release(held[i]);
    }
    apl_reader_close(next);
    serving_close(&s);
}

Test(serve_faults, batches_outlive_their_reader)
{
    check_held_after_close(0);
    check_held_after_close(1);
}

/* What a client writes is its own, and gone when the memory is lent again. */
Test(serve_faults, batches_may_be_written_by_who_asks_for_that)
{
    struct serving s;
    apl_reader *other;
    apl_reader_options o = options_of(1);
    apl_connect_options writable = APL_CONNECT_OPTIONS_INIT;
    writable.writable = 1;
    o.batch_size = 5;
    serving_open(&s, &o, 1, 0);
    apl_reader *r = connect_as(0, writable);
    for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b)) {
        const apl_column *c = apl_batch_column(b, FIELD_IMAGE);
        check_values(b);
        memset((void *)(uintptr_t)c->data, 0xff, c->bytes);
    }
    apl_reader_close(r);
    other = client(0, NULL, 0);
    for (apl_batch *b; (b = fixture_next(other)); apl_batch_release(b))
        check_values(b);
    apl_reader_close(other);
    serving_close(&s);
}

/* ------------------------------------------------------------------------------------------ death and sleep */

/* A server of two ranks in a process of its own, so that this one, which has no threads, can fork again. */
static pid_t fork_server_of(apl_reader_options o)
{
    pid_t pid = fork();
    if (pid == 0) {
        apl_server *server;
        apl_store *store;
        o.ranks.list = ranks;
        o.ranks.count = o.ranks.world = 2;
        if (apl_store_open(fx.db, NULL, &store, NULL) != APL_OK ||
            apl_server_open(store, &o, place, NULL, &server, NULL) != APL_OK)
            _exit(1);
        _exit(apl_server_run(server, NULL) != APL_OK);
    }
    return pid;
}

static pid_t fork_server(void)
{
    apl_reader_options o = options_of(1);
    o.batch_size = 5;
    o.faults.timeout_ms = 300;
    return fork_server_of(o);
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

Test(serve_faults, a_killed_server_is_an_error_and_another_takes_its_place)
{
    apl_error err;
    apl_batch *b, *held;
    uint8_t state[APL_STATE_BYTES];
    size_t size = sizeof state;
    apl_status status;
    pid_t server = fork_server();
    apl_reader *r = client(0, NULL, 0);
    held = fixture_next(r);
    cr_assert_eq(apl_reader_state(r, state, &size, NULL), APL_OK);
    end(server);
    while ((status = apl_reader_next(r, &b, &err)) == APL_OK)
        apl_batch_release(b);
    cr_assert_eq(status, APL_E_IO, "%s", err.message);
    cr_assert(strstr(err.message, "the server has ended"), "%s", err.message);
    cr_assert_eq(apl_reader_next(r, &b, &err), APL_E_IO);
    cr_assert_eq(apl_reader_next_epoch(r, &err), APL_E_IO);
    check_values(held);
    apl_batch_release(held);
    apl_reader_close(r);
    cr_assert_eq(access(place, F_OK), 0, "it had no time to remove it");
    server = fork_server();
    r = client(0, state, 0);
    apl_reader_options o = options_of(1);
    o.batch_size = 5;
    o.ranks.world = 2;
    o.state = state;
    o.state_size = size;
    apl_reader *own = fixture_reader(&o);
    for (unsigned k = 0; k < 3; k++)
        same_next(own, r);
    apl_reader_close(own);
    apl_reader_close(r);
    end(server);
}

/* As one does that is being killed: it still listens, and takes nobody. */
static void *accept_and_end(void *arg)
{
    int fd = accept(*(const int *)arg, NULL, NULL);
    close(fd);
    return NULL;
}

Test(serve_faults, a_server_that_ends_before_it_answers_is_one_that_is_not_there)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    memcpy(address.sun_path, place, strlen(place) + 1);
    cr_assert_eq(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    cr_assert_eq(listen(fd, 1), 0);
    pthread_t thread;
    apl_reader *r = NULL;
    cr_assert_eq(pthread_create(&thread, NULL, accept_and_end, &fd), 0);
    cr_assert_eq(apl_reader_connect(place, 0, NULL, &r, NULL), APL_E_NOTFOUND);
    cr_assert_null(r);
    pthread_join(thread, NULL);
    close(fd);
}

Test(serve_faults, a_killed_client_gives_its_batches_back)
{
    apl_reader_options o = options_of(0);
    o.batch_size = 2;
    o.faults.timeout_ms = 10000;
    pid_t server = fork_server_of(o);
    for (unsigned k = 0; k < 6; k++) {
        int pipes[2];
        char byte;
        cr_assert_eq(pipe(pipes), 0);
        pid_t child = fork();
        if (child == 0) {
            apl_reader *r = client_goes_on(1);
            for (unsigned i = 0; i < 5; i++)
                fixture_next(r);
            (void)!write(pipes[1], "x", 1);
            pause();
        }
        apl_reader *other = client_goes_on(0);
        for (unsigned i = 0; i < 5; i++)
            apl_batch_release(fixture_next(other));
        cr_assert_eq(read(pipes[0], &byte, 1), 1);
        end(child);
        apl_reader_close(other);
        close(pipes[0]);
        close(pipes[1]);
    }
    end(server);
}

/* It has asked for several batches ahead, and may be killed with any number of them on their way. */
Test(serve_faults, what_a_killed_client_had_not_got_comes_to_the_next)
{
    struct serving s;
    apl_reader_options o = options_of(0);
    o.batch_size = 2;
    serving_open(&s, &o, 1, 0);
    apl_reader *own = fixture_reader(&o);
    for (unsigned k = 0; k < 8; k++) {
        int pipes[2];
        char byte;
        cr_assert_eq(pipe(pipes), 0);
        pid_t child = fork();
        if (child == 0) {
            apl_reader *r = client_goes_on(0);
            for (unsigned i = 0; i < k; i++)
                apl_batch_release(fixture_next(r));
            (void)!write(pipes[1], "x", 1);
            pause();
        }
        cr_assert_eq(read(pipes[0], &byte, 1), 1);
        end(child);
        for (unsigned i = 0; i < k; i++)
            apl_batch_release(fixture_next(own));
        apl_reader *r = client_goes_on(0);
        apl_batch *a = fixture_next(own), *b = fixture_next(r);
        check_same_batch(a, b);
        apl_batch_release(a);
        apl_batch_release(b);
        apl_reader_close(r);
        close(pipes[0]);
        close(pipes[1]);
    }
    apl_reader_close(own);
    serving_close(&s);
}

Test(serve_faults, a_stopped_client_is_named_and_then_goes_on)
{
    apl_error err;
    apl_batch *b;
    apl_status status;
    int pipes[2];
    char byte;
    pid_t server = fork_server();
    cr_assert_eq(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        apl_reader *r = client(1, NULL, 0);
        (void)!write(pipes[1], "x", 1);
        for (;;)
            if (apl_reader_next(r, &b, &err) == APL_OK)
                apl_batch_release(b);
            else
                usleep(1000);
    }
    cr_assert_eq(read(pipes[0], &byte, 1), 1);
    kill(child, SIGSTOP);
    apl_reader *r = client(0, NULL, 0);
    while ((status = apl_reader_next(r, &b, &err)) == APL_OK)
        apl_batch_release(b);
    if (status == APL_E_TIMEOUT) { /* it may have taken all before it was stopped */
        cr_assert(strstr(err.message, "rank 1 has not"), "%s", err.message);
        kill(child, SIGCONT);
        while ((status = apl_reader_next(r, &b, &err)) == APL_OK || status == APL_E_TIMEOUT)
            if (status == APL_OK)
                apl_batch_release(b);
    }
    cr_assert_eq(status, APL_END, "%s", err.message);
    apl_reader_close(r);
    end(child);
    end(server);
}

Test(serve_faults, a_stopped_server_is_a_timeout_and_then_goes_on)
{
    apl_error err;
    apl_batch *b;
    apl_status status;
    pid_t server = fork_server();
    apl_reader *r = client(0, NULL, 100), *other = client(1, NULL, 5000);
    kill(server, SIGSTOP);
    while ((status = apl_reader_next(r, &b, &err)) == APL_OK)
        apl_batch_release(b);
    cr_assert_eq(status, APL_E_TIMEOUT, "%s", err.message);
    cr_assert(strstr(err.message, "has not answered in time"), "%s", err.message);
    cr_assert_eq(err.sys_errno, ETIMEDOUT);
    kill(server, SIGCONT);
    for (unsigned tries = 0; tries < 100 && (status = apl_reader_next(r, &b, &err)) == APL_E_TIMEOUT; tries++)
        continue;
    cr_assert_eq(status, APL_OK, "%s", err.message);
    apl_batch_release(b);
    apl_reader_close(r);
    apl_reader_close(other);
    end(server);
}

/* What a stopped client is, too. */
Test(serve_faults, a_client_that_takes_nothing_is_named_to_the_others)
{
    apl_error err;
    apl_batch *b;
    apl_status status;
    pid_t server = fork_server();
    apl_reader *r = client(0, NULL, 0), *lazy = client(1, NULL, 0);
    while ((status = apl_reader_next(r, &b, &err)) == APL_OK)
        apl_batch_release(b);
    cr_assert_eq(status, APL_E_TIMEOUT, "%s", err.message);
    cr_assert(strstr(err.message, "rank 1 has not taken"), "%s", err.message);
    for (unsigned k = 0; k < 3; k++)
        apl_batch_release(fixture_next(lazy));
    apl_batch_release(fixture_next(r));
    apl_reader_close(r);
    apl_reader_close(lazy);
    end(server);
}

/* Calls until one ends with a message that has that in it: the server may be too busy to answer in time once or twice. */
static void check_reason(apl_reader *r, const char *what)
{
    apl_error err = {0};
    apl_status status = APL_OK;
    apl_batch *b;
    for (unsigned k = 0; k < 200 && !(status == APL_E_TIMEOUT && strstr(err.message, what)); k++)
        if ((status = apl_reader_next(r, &b, &err)) == APL_OK)
            apl_batch_release(b);
    cr_assert_eq(status, APL_E_TIMEOUT, "%s", err.message);
    cr_assert(strstr(err.message, what), "%s", err.message);
    cr_assert(strstr(err.message, place), "%s", err.message);
    cr_assert_eq(err.sys_errno, ETIMEDOUT, "the server has not given up");
}

Test(serve_faults, a_client_that_times_out_is_told_who_holds_it_up)
{
    apl_reader_options o = options_of(1);
    char what[160];
    o.batch_size = 5;
    pid_t server = fork_server_of(o);
    apl_reader *r = client(0, NULL, 50), *lazy = client(1, NULL, 0);
    snprintf(what, sizeof what, " s; it is process %d", (int)getpid());
    check_reason(r, "rank 1 has not taken the ");
    check_reason(r, what);
    apl_reader_close(lazy);
    check_reason(r, " s; no process is connected as it");
    lazy = client_goes_on(1);
    for (unsigned k = 0; k < 3; k++)
        apl_batch_release(fixture_next(lazy));
    apl_reader_close(r);
    r = client_goes_on(0);
    apl_batch_release(fixture_next(r));
    apl_reader_close(r);
    apl_reader_close(lazy);
    end(server);
}

Test(serve_faults, a_caller_who_waits_is_woken_by_close)
{
    pid_t server = fork_server();
    apl_reader *r = client(0, NULL, 0);
    kill(server, SIGSTOP);
    apl_reader_cancel(r);
    apl_batch *b;
    cr_assert_eq(apl_reader_next(r, &b, NULL), APL_E_CANCELLED);
    apl_reader_close(r);
    end(server);
}

/* ------------------------------------------------------------------------------------------------- forks */

/* In a child: is the parent's server left alone? */
static int use_parents(apl_server *server)
{
    apl_error err = {0};
    apl_status status = apl_server_run(server, &err);
    apl_server_stop(server);
    apl_server_close(server);
    return status == APL_E_FORKED && strstr(err.message, "belongs to the parent") ? 0 : 1;
}

Test(serve_faults, a_child_of_fork_cannot_harm_its_parents_server)
{
    struct serving s;
    int status;
    apl_reader_options o = options_of(1);
    o.batch_size = 5;
    serving_open(&s, &o, 1, 0);
    apl_reader *r = client(0, NULL, 0), *own = fixture_reader(&o);
    same_next(own, r);
    pid_t child = fork();
    if (child == 0)
        _exit(use_parents(s.server));
    waitpid(child, &status, 0);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", (unsigned)status);
    cr_assert_eq(access(place, F_OK), 0, "its socket is there");
    while (same_next(own, r))
        continue;
    apl_reader_close(own);
    apl_reader_close(r);
    r = client(0, NULL, 0);
    apl_reader_close(r);
    serving_close(&s);
}

/* --------------------------------------------------------------------------------------------- stale sockets */

static int bind_at(int kind)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, kind, 0);
    snprintf(a.sun_path, sizeof a.sun_path, "%.100s", place);
    cr_assert_eq(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

static apl_status try_to_serve(apl_error *err)
{
    apl_server *server = NULL;
    apl_reader_options o = options_of(1);
    apl_status status = apl_server_open(fx.store, &o, place, NULL, &server, err);
    apl_server_close(server);
    return status;
}

Test(serve_faults, only_a_socket_that_nobody_listens_to_is_replaced)
{
    apl_error err;
    char lock[160];
    snprintf(lock, sizeof lock, "%s.lock", place);
    int fd = bind_at(SOCK_SEQPACKET); /* of a server that has lost its lock */
    cr_assert_eq(listen(fd, 4), 0);
    cr_assert_eq(try_to_serve(&err), APL_E_BUSY, "%s", err.message);
    cr_assert_eq(access(place, F_OK), 0);
    cr_assert_eq(access(lock, F_OK), -1, "what it tried to take is given back");
    close(fd); /* it is killed */
    cr_assert_eq(try_to_serve(&err), APL_OK, "%s", err.message);
    cr_assert_eq(access(place, F_OK), -1);
    fd = bind_at(SOCK_STREAM);
    cr_assert_eq(listen(fd, 4), 0);
    cr_assert_eq(try_to_serve(&err), APL_E_EXISTS, "%s", err.message);
    cr_assert_eq(access(place, F_OK), 0);
    close(fd);
    unlink(place);
    cr_assert_eq(symlink("/nowhere", place), 0);
    cr_assert_eq(try_to_serve(&err), APL_E_EXISTS, "%s", err.message);
    cr_assert_eq(unlink(place), 0);
}

/* Whoever replaces the socket of a server that lives has one of his own, which the server leaves alone. */
Test(serve_faults, a_server_removes_its_own_socket_only)
{
    struct serving s;
    apl_reader_options o = options_of(1);
    serving_open(&s, &o, 1, 0);
    unlink(place);
    int fd = bind_at(SOCK_STREAM);
    apl_server_stop(s.server);
    pthread_join(s.thread, NULL);
    apl_server_close(s.server);
    cr_assert_eq(access(place, F_OK), 0);
    close(fd);
    unlink(place);
}

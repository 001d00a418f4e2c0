/* A server knows whose process has died, whatever the kernel has to tell it. */
#define _GNU_SOURCE /* syscall */
#include "peer.h"
#include "serve_fixture.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

TestSuite(serve_peer, .init = serve_set_up, .fini = fixture_free, .timeout = 60);

/* As kernels before 5.3, and sandboxes that do not know the call. */
static void forget_pidfd_open(void)
{
#ifdef SYS_pidfd_open
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
    cr_assert(syscall(SYS_pidfd_open, getpid(), 0) < 0 && errno == ENOSYS);
#endif
}

/* Its children hold the socket as it did. */
static void see_killed_client_off(void)
{
    struct serving s;
    int pipes[2];
    pid_t orphan;
    apl_reader_options o = options_of(0);
    serving_open(&s, &o, 1, 0);
    cr_assert_eq(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        apl_reader *r = client(0, NULL, 0);
        fixture_next(r);
        pid_t sleeper = fork();
        if (sleeper == 0) {
            pause();
            _exit(0);
        }
        (void)!write(pipes[1], &sleeper, sizeof sleeper);
        pause();
    }
    cr_assert_eq(read(pipes[0], &orphan, sizeof orphan), sizeof orphan);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    apl_reader *r = client_goes_on(0);
    apl_batch_release(fixture_next(r));
    kill(orphan, SIGKILL);
    apl_reader_close(r);
    serving_close(&s);
}

Test(serve_peer, a_killed_client_is_gone_though_its_child_lives)
{
    see_killed_client_off();
}

Test(serve_peer, so_it_is_where_no_descriptor_tells_of_its_end)
{
    forget_pidfd_open();
    see_killed_client_off();
}

/* ----------------------------------------------------------------------------------------- looking at processes */

static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    return a;
}

/* A process that has connected, and then does what is said. */
static struct peer peer_that(void (*does)(void), pid_t *pid)
{
    struct sockaddr_un a = address_of(place);
    int listening = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    cr_assert_eq(bind(listening, (struct sockaddr *)&a, sizeof a), 0);
    cr_assert_eq(listen(listening, 1), 0);
    *pid = fork();
    if (*pid == 0) {
        int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        if (connect(fd, (struct sockaddr *)&a, sizeof a) == 0)
            does();
        _exit(0);
    }
    int fd = accept(listening, NULL, NULL);
    cr_assert(fd >= 0);
    struct peer peer = peer_open(fd);
    cr_assert_eq(peer.process, *pid);
    close(fd);
    close(listening);
    unlink(place);
    return peer;
}

static void wait_for_ever(void)
{
    for (;;)
        pause();
}

static void *other_thread(void *unused)
{
    (void)unused;
    wait_for_ever();
    return NULL;
}

static void leave_to_another_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, other_thread, NULL);
    pthread_exit(NULL);
}

/* The letter for the state of a process. */
static char state_of(pid_t pid)
{
    char path[40], line[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    cr_assert(file && fgets(line, sizeof line, file));
    fclose(file);
    return strrchr(line, ')')[2];
}

static void await_state(pid_t pid, char state)
{
    while (state_of(pid) != state)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* With spaces and parentheses in its name, which nothing keeps from them. */
static void see_end_of(void (*does)(void), char meanwhile)
{
    pid_t pid;
    prctl(PR_SET_NAME, "a) Z 1 (b", 0, 0, 0);
    struct peer peer = peer_that(does, &pid);
    cr_assert(!peer.told && peer_polled(&peer) == -1);
    await_state(pid, meanwhile);
    cr_assert(!peer_has_died(&peer));
    kill(pid, SIGKILL);
    siginfo_t info;
    cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0); /* it stays a zombie */
    cr_assert(peer_has_died(&peer));
    waitpid(pid, NULL, 0);
    cr_assert(peer_has_died(&peer));
    peer_close(&peer);
}

Test(serve_peer, a_process_is_seen_to_die)
{
    forget_pidfd_open();
    see_end_of(wait_for_ever, 'S');
}

Test(serve_peer, a_process_lives_as_long_as_any_of_its_threads)
{
    forget_pidfd_open();
    see_end_of(leave_to_another_thread, 'Z');
}

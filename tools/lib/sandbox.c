/* A seccomp filter, and a limit: see sandbox.h. */
#define _GNU_SOURCE
#include "sandbox.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

/* Sanitizers need calls, and memory, that the commands do not. */
#if defined(__has_feature)
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || HAS_FEATURE(address_sanitizer) || \
    HAS_FEATURE(thread_sanitizer)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#define MEMORY        ((rlim_t)2 << 30)
#define THREAD_MEMORY ((rlim_t)48 << 20) /* its stack, and what the allocator keeps for it */

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#endif

#if defined(MACHINE) && !SANITIZED

/* What the commands and the C library under them use. Machines differ in which of them they have. */
static const int allowed[] = {
    SYS_futex,
    SYS_read,
    SYS_pread64,
    SYS_write,
    SYS_pwrite64,
    SYS_readv,
    SYS_writev,
    SYS_preadv,
    SYS_pwritev,
    SYS_lseek,
    SYS_munmap,
    SYS_madvise,
    SYS_mremap,
    SYS_brk,
    SYS_mincore,
    /* files */
    SYS_openat,
    SYS_close,
    SYS_dup,
    SYS_dup3,
    SYS_fcntl,
    SYS_flock,
    SYS_fstat,
    SYS_newfstatat,
    SYS_statx,
    SYS_fstatfs,
    SYS_statfs,
    SYS_faccessat,
    SYS_getdents64,
    SYS_readlinkat,
    SYS_getcwd,
    SYS_fsync,
    SYS_fdatasync,
    SYS_sync_file_range,
    SYS_ftruncate,
    SYS_fallocate,
    SYS_fadvise64,
    SYS_renameat,
    SYS_renameat2,
    SYS_unlinkat,
    SYS_linkat,
    SYS_mkdirat,
    SYS_fchmod,
    SYS_fchmodat,
    SYS_umask,
    SYS_utimensat,
    /* time, signals, this process */
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_setitimer,
    SYS_times,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_tgkill,
    SYS_restart_syscall,
    SYS_getpid,
    SYS_getpgid,
    SYS_gettid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getrusage,
    SYS_prlimit64,
    SYS_uname,
    SYS_sysinfo,
    SYS_getrandom,
    SYS_ppoll,
    SYS_pselect6,
    SYS_exit,
    SYS_exit_group,
    /* threads */
    SYS_set_robust_list,
    SYS_get_robust_list,
    SYS_set_tid_address,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_membarrier,
#ifdef SYS_rseq
    SYS_rseq,
#endif
#ifdef SYS_faccessat2
    SYS_faccessat2,
#endif
#ifdef SYS_close_range
    SYS_close_range,
#endif
#if defined(__x86_64__)
    SYS_open,
    SYS_stat,
    SYS_lstat,
    SYS_access,
    SYS_readlink,
    SYS_rename,
    SYS_unlink,
    SYS_rmdir,
    SYS_mkdir,
    SYS_chmod,
    SYS_dup2,
    SYS_alarm,
    SYS_poll,
    SYS_select,
    SYS_time,
    SYS_getrlimit,
    SYS_arch_prctl,
#endif
};

/* What reading URLs needs besides: names are resolved, connections made, never taken. */
static const int network[] = {
    SYS_socket,     SYS_connect,    SYS_bind,        SYS_sendto,   SYS_recvfrom,    SYS_sendmsg,
    SYS_recvmsg,    SYS_sendmmsg,   SYS_getsockname, SYS_shutdown, SYS_getpeername, SYS_getsockopt,
    SYS_setsockopt, SYS_socketpair, SYS_eventfd2,    SYS_pipe2,
};

/* What serving needs: but for socket(), which makes those of this machine only. */
static const int local[] = {
    SYS_connect,    SYS_bind,       SYS_listen,   SYS_accept4,      SYS_sendmsg,
    SYS_recvmsg,    SYS_getsockopt, SYS_eventfd2, SYS_memfd_create,
#ifdef SYS_pidfd_open
    SYS_pidfd_open,
#endif
};

/* What answering over the network needs. */
static const int listening[] = {
    SYS_socket, SYS_bind,       SYS_listen,      SYS_accept4,  SYS_recvfrom,
    SYS_sendto, SYS_setsockopt, SYS_getsockname, SYS_shutdown,
};

#define COUNT      (sizeof allowed / sizeof *allowed)
#define LOCAL      (sizeof local / sizeof *local)
#define NETWORK    (sizeof network / sizeof *network)
#define LISTENING  (sizeof listening / sizeof *listening)
#define AT(member) ((uint32_t)offsetof(struct seccomp_data, member))
#define MOST       (2 * (COUNT + NETWORK + LOCAL + LISTENING) + 50)

struct program {
    struct sock_filter code[MOST];
    unsigned short size;
};

static void emit(struct program *p, uint16_t code, uint32_t k, uint8_t when, uint8_t otherwise)
{
    if (p->size < MOST)
        p->code[p->size] = (struct sock_filter){code, when, otherwise, k};
    p->size++;
}

static void load(struct program *p, uint32_t at)
{
    emit(p, BPF_LD | BPF_W | BPF_ABS, at, 0, 0);
}

static void give(struct program *p, uint32_t verdict)
{
    emit(p, BPF_RET | BPF_K, verdict, 0, 0);
}

static void allow(struct program *p, int number)
{
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1);
    give(p, SECCOMP_RET_ALLOW);
}

/* The call `number` is allowed if its argument (the low half) has some of these bits, or none of them. */
static void allow_bits(struct program *p, int number, unsigned argument, uint32_t bits, int some)
{
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 4);
    load(p, AT(args) + 8 * argument);
    emit(p, BPF_JMP | BPF_JSET | BPF_K, bits, some ? 0 : 1, some ? 1 : 0);
    give(p, SECCOMP_RET_ALLOW);
    give(p, SECCOMP_RET_ERRNO | EPERM);
}

/* Allows only those ioctls that query a terminal, or set how it reads `keys`, not those that write to its input. */
static void allow_terminal(struct program *p, bool keys)
{
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 7);
    load(p, AT(args) + 8);
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, keys ? TCSETS : TCGETS, 3, 0);
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, TCGETS, 2, 0);
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, TIOCGPGRP, 1, 0); /* whose turn it is to draw */
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, TIOCGWINSZ, 0, 1);
    give(p, SECCOMP_RET_ALLOW);
    give(p, SECCOMP_RET_ERRNO | ENOTTY);
}

static void allow_local_sockets(struct program *p)
{
    for (size_t i = 0; i < LOCAL; i++)
        allow(p, local[i]);
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 4);
    load(p, AT(args));
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 1);
    give(p, SECCOMP_RET_ALLOW);
    give(p, SECCOMP_RET_ERRNO | EACCES);
}

static void write_program(struct program *p, uint32_t machine, unsigned needs)
{
    load(p, AT(arch));
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, machine, 1, 0);
    give(p, SECCOMP_RET_KILL_PROCESS);
    load(p, AT(nr));
    for (size_t i = 0; i < COUNT; i++)
        allow(p, allowed[i]);
    for (size_t i = 0; needs & SANDBOX_URLS && i < NETWORK; i++)
        allow(p, network[i]);
    if (needs & SANDBOX_SERVE)
        allow_local_sockets(p);
    for (size_t i = 0; needs & SANDBOX_LISTEN && i < LISTENING; i++)
        allow(p, listening[i]);
    allow_terminal(p, needs & SANDBOX_KEYS);
    /* Threads, not processes. clone3(), whose flags a filter cannot see, fails with ENOSYS; libraries then use clone(). */
    allow_bits(p, SYS_clone, 0, CLONE_THREAD, 1);
    allow_bits(p, SYS_mmap, 2, PROT_EXEC, 0);
    allow_bits(p, SYS_mprotect, 2, PROT_EXEC, 0);
    give(p, SECCOMP_RET_ERRNO | ENOSYS);
}

#endif

/* The library loads libcurl when it needs it; here that must be before code can no longer be loaded. */
static void load_curl(void)
{
    if (!dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL))
        (void)dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
}

void sandbox_enter(unsigned needs)
{
    if (needs & SANDBOX_URLS)
        load_curl();
#if defined(MACHINE) && !SANITIZED
    struct program p = {.size = 0};
    const char *said = getenv("APL_SANDBOX");
    if (said && strcmp(said, "off") == 0)
        return;
    write_program(&p, MACHINE, needs);
    struct sock_fprog filter = {p.size, p.code};
    if (p.size <= MOST && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
#endif
}

void sandbox_limit_memory(unsigned threads)
{
#if !SANITIZED
    struct rlimit limit;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    rlim_t most = MEMORY + THREAD_MEMORY * (threads ? threads : cores > 0 ? (rlim_t)cores : 1);
    if (getrlimit(RLIMIT_DATA, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > most)) {
        limit.rlim_cur = most;
        setrlimit(RLIMIT_DATA, &limit); /* if it cannot be set, only the limit is lost */
    }
#else
    (void)threads;
#endif
}

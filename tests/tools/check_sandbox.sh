#!/bin/sh
# The commands give up what they do not need: programs, the network, other processes, executable memory, endless memory.
. tests/lib.sh
BUILD=${BUILD:-build}
scratch

cat >"$scratch/try.c" <<'END'
#define _GNU_SOURCE
#include "sandbox.h"
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

static void *run(void *argument)
{
    return argument;
}

static int is(const char *what, int right)
{
    if (!right)
        printf("%s: %s\n", what, strerror(errno));
    return !right;
}

int main(int argc, char **argv)
{
    char letter = 'x', *none[] = {NULL};
    int pipes[2];
    struct sockaddr_in at = {.sin_family = AF_INET};
    if (pipe(pipes) != 0)
        return 1;
    pthread_t thread;
    struct rlimit limit;
    sandbox_limit_memory(1);
    int serves = argc > 1 && strcmp(argv[1], "serve") == 0, listens = argc > 1 && strcmp(argv[1], "listen") == 0;
    int keys = argc > 1 && strcmp(argv[1], "keys") == 0, internet;
    struct termios mode;
    memset(&mode, 0, sizeof mode);
    sandbox_enter(serves ? SANDBOX_SERVE : listens ? SANDBOX_LISTEN : keys ? SANDBOX_KEYS : 0);
    if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 0) /* inside, the call is not there */
        return 77;
    int wrong = is("a program was started", execve("/bin/true", none, none) < 0);
    internet = socket(AF_INET, SOCK_STREAM, 0);
    wrong += is("a socket was made", (internet >= 0) == listens);
    wrong += is("a connection", connect(internet, (struct sockaddr *)&at, sizeof at) < 0 && errno == (serves ? EBADF : ENOSYS));
    wrong += is("listening", (listen(internet, 1) == 0) == listens);
    /* of no terminal: refused by the filter as ENOTTY too, but for what it does not see */
    wrong += is("how keys are read", ioctl(pipes[0], TCSETS, &mode) < 0 && errno == ENOTTY);
    wrong += is("how keys are read, at once", (ioctl(-1, TCSETS, &mode) < 0 && errno == EBADF) == keys);
    wrong += is("whose turn it is", ioctl(-1, TIOCGPGRP, &letter) < 0 && errno == EBADF && getpgid(0) > 0);
    wrong += is("a socket of this machine", (socket(AF_UNIX, SOCK_SEQPACKET, 0) >= 0) == (serves || listens));
    wrong += is("another process was made", fork() < 0);
    wrong += is("executable memory", mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    wrong += is("a terminal's input was written", ioctl(0, TIOCSTI, &letter) < 0);
    wrong += is("privileges", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) < 0); /* nor can they be asked for */
    wrong += is("a thread", pthread_create(&thread, NULL, run, NULL) == 0 && pthread_join(thread, NULL) == 0);
    wrong += is("the limit", getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur < (rlim_t)3 << 30);
    wrong += is("too much memory", malloc((size_t)3 << 30) == NULL);
    wrong += is("memory", malloc((size_t)1 << 30) != NULL);
    return wrong;
}
END
${CC:-cc} -std=c11 -D_POSIX_C_SOURCE=200809L -pthread -Itools/lib "$scratch/try.c" tools/lib/sandbox.c -o "$scratch/try" || exit 1

"$scratch/try" >"$scratch/said" 2>&1
case $? in
77) skip "sandbox: what is given up" "the kernel offers no filters here" ;;
0) echo "ok sandbox: what is given up" ;;
*) echo "FAIL sandbox: what is given up" && sed 's/^/    /' "$scratch/said" ;;
esac
if "$scratch/try" >/dev/null 2>&1; then
    check "sandbox: what a server keeps" "$scratch/try" serve
    check "sandbox: what a listener keeps" "$scratch/try" listen
    check "sandbox: what reading keys keeps" "$scratch/try" keys
fi
check "sandbox: can be left out for debuggers" sh -c "APL_SANDBOX=off '$scratch/try'; test \$? = 77"

# Both commands are inside while they work: one waits for its input, the other for somebody to read.
inside() # PID
{
    for _ in $(seq 100); do
        grep -q '^Seccomp:.2' "/proc/$1/status" && grep -q '^NoNewPrivs:.1' "/proc/$1/status" && return 0
        sleep 0.2
    done
    return 1
}

if grep -q '^Seccomp:' /proc/self/status && "$scratch/try" >/dev/null 2>&1; then
    mkfifo "$scratch/in" "$scratch/out"
    "$BUILD/aplingest" -q - "$scratch/db" <"$scratch/in" 2>/dev/null &
    ingest=$!
    exec 3>"$scratch/in"
    check "sandbox: aplingest is inside" inside "$ingest"
    exec 3>&-
    wait "$ingest"
    "$BUILD/apldata" stream --epochs 1000 tests/golden/plain >"$scratch/out" 2>/dev/null &
    stream=$!
    exec 3<"$scratch/out"
    check "sandbox: apldata is inside" inside "$stream"
    exec 3<&-
    wait "$stream"
fi

# Within it, what is done is drawn at a terminal: half of an archive comes half a second after the rest.
cat >"$scratch/drawn.py" <<'END'
import os
import pty
import sys
import time

archive, *command = sys.argv[1:]
half, (taken, given) = os.path.getsize(archive) // 2, os.pipe()
pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.dup2(taken, 0)
    os.close(given)
    os.execv(command[0], command)
os.close(taken)
with open(archive, "rb") as source, open(given, "wb", buffering=0) as to:
    for part in (source.read(half), source.read()):
        to.write(part)
        time.sleep(0.5)
drawn = b""
try:
    while more := os.read(terminal, 65536):
        drawn += more
except OSError:
    pass
assert os.waitpid(pid, 0)[1] == 0 and b"\rreading " in drawn and b"records" in drawn and b"\033[K" in drawn, drawn
END
if have python3; then
    "$BUILD/mkshapes" --rows 400 "$scratch/shapes.tar" || exit 1
    check "sandbox: progress is drawn" python3 "$scratch/drawn.py" "$scratch/shapes.tar" "$BUILD/aplingest" --partial - "$scratch/drawn"
fi
exit 0

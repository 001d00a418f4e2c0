#!/bin/sh
# apldata serve: clients of another program get what `apldata stream` writes for their ranks; and how it ends.
. tests/lib.sh
BUILD=${BUILD:-build}
scratch

# take SOCKET RANK EPOCHS: takes a rank's batches, and writes their ids and their first column
cat >"$scratch/take.c" <<'END'
#include <apl.h>
#include <stdio.h>
#include <stdlib.h>

static int put(const apl_batch *batch)
{
    const apl_column *c = apl_batch_column(batch, 0);
    fwrite(apl_batch_ids(batch), sizeof(uint64_t), apl_batch_rows(batch), stdout);
    return fwrite(c->data, 1, c->bytes, stdout) == c->bytes;
}

int main(int argc, char **argv)
{
    apl_connect_options options = APL_CONNECT_OPTIONS_INIT;
    apl_reader *reader = NULL;
    apl_batch *batch;
    apl_error err = {.message = "usage: take SOCKET RANK EPOCHS"};
    apl_status status = APL_E_INVALID;
    options.wait_ms = 10000;
    if (argc == 4)
        status = apl_reader_connect(argv[1], (unsigned)atoi(argv[2]), &options, &reader, &err);
    for (int epoch = 0; argc == 4 && epoch < atoi(argv[3]) && (status == APL_OK || status == APL_END); epoch++) {
        if (epoch && (status = apl_reader_next_epoch(reader, &err)) != APL_OK)
            break;
        while ((status = apl_reader_next(reader, &batch, &err)) == APL_OK && put(batch))
            apl_batch_release(batch);
    }
    if (status != APL_END)
        fprintf(stderr, "%s\n", err.message);
    apl_reader_close(reader);
    return status != APL_END;
}
END
libs=$(pkg-config --libs libzstd lmdb libcrypto libjpeg 2>/dev/null)
# shellcheck disable=SC2086
${CC:-cc} -std=c11 -pthread -Iinclude "$scratch/take.c" "$BUILD/libapldata.a" $libs -lm -ldl -o "$scratch/take" || exit 1

store=tests/golden/plain socket=$scratch/socket
options='--batch-size 7 --seed 3 --window 40'

start() # OPTION...: a server, which has begun to listen
{
    rm -f "$scratch/said" # that of the last one says that it has begun
    # shellcheck disable=SC2086
    "$BUILD/apldata" serve $store --socket "$socket" $options "$@" >"$scratch/said" 2>&1 &
    server=$!
    tries=0
    until grep -qs '^serving' "$scratch/said"; do
        tries=$((tries + 1))
        [ $tries -lt 100 ] && kill -0 $server 2>/dev/null || { cat "$scratch/said"; return 1; }
        sleep 0.05
    done
}

gone() # nothing is left of it
{
    [ ! -e "$socket" ] && [ ! -e "$socket.lock" ]
}

stops() # SIGNAL: which is how a server ends, and no failure
{
    start --ranks 0-1 || return 1
    kill -"$1" $server
    wait $server && gone
}

# Those of rank $1, as the first column of all epochs.
streamed()
{
    field=$("$BUILD/apldata" info --json $store |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["fields"][0]["name"])')
    # shellcheck disable=SC2086
    "$BUILD/apldata" stream $store --ids --rank "$1" --world 2 --epochs 2 $options --fields "$field"
}

clients() # two of them get what streams of two processes are, and the server ends after their epochs
{
    start --ranks 0-1 --epochs 2 || return 1
    "$scratch/take" "$socket" 0 2 >"$scratch/taken.0" &
    first=$!
    "$scratch/take" "$socket" 1 2 >"$scratch/taken.1" || return 1
    wait $first && wait $server && gone || return 1
    for rank in 0 1; do
        streamed $rank >"$scratch/streamed" || return 1
        [ -s "$scratch/streamed" ] && cmp "$scratch/streamed" "$scratch/taken.$rank" || return 1
    done
}

idle()
{
    start --ranks 0 --idle 1 || return 1
    wait $server && gone
}

second() # server at the same socket
{
    start --ranks 0 || return 1
    "$BUILD/apldata" serve $store --socket "$socket" --ranks 0 >"$scratch/second" 2>&1
    [ $? = 1 ] && grep -q 'another server listens here' "$scratch/second" && [ -S "$socket" ] &&
        kill $server && wait $server
}

stale() # a socket that a killed server has left
{
    start --ranks 0 || return 1
    kill -KILL $server
    wait $server
    [ -S "$socket" ] && start --ranks 0 && kill $server && wait $server && gone
}

not_a_socket() # stays
{
    echo precious >"$socket"
    "$BUILD/apldata" serve $store --socket "$socket" --ranks 0 >"$scratch/said" 2>&1
    [ $? = 1 ] && grep -q 'exists, and is not a socket' "$scratch/said" && grep -q precious "$socket" &&
        rm "$socket"
}


# The kernel says so of the process; where it offers no sandbox, of no command.
inside()
{
    start --ranks 0 || return 1
    grep -q '^Seccomp:.2' "/proc/$server/status"
    filtered=$?
    kill $server && wait $server && [ $filtered = 0 ]
}

check "serve: clients get the batches of their ranks" clients
check "serve: SIGTERM ends it" stops TERM
check "serve: SIGHUP ends it" stops HUP
check "serve: it ends when nobody has come for so long" idle
check "serve: a second server is refused" second
check "serve: a stale socket is replaced" stale
check "serve: what is not a socket stays" not_a_socket
if grep -q '^Seccomp:' /proc/self/status 2>/dev/null && [ "${APL_SANDBOX:-}" != off ]; then
    check "serve: it serves inside the sandbox" inside
fi
exit 0

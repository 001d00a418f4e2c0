/* apldata serve: batches for the training processes of this machine. */
#include "args.h"
#include "cache_args.h"
#include "cmd.h"
#include "command_line.h"
#include "expect_args.h"
#include "reader_args.h"
#include "report.h"
#include "sampling_args.h"
#include "source_args.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

struct serve {
    const char *path, *socket;
    bool quiet;
    apl_serve_options how;
    struct reader_args args;
    apl_store *store;
};

/* ---------------------------------------------------------------------------------------------- stopping */

static apl_server *serving;

static void on_signal(int number)
{
    (void)number;
    apl_server_stop(serving);
}

/* Being stopped is how a server ends: it is no failure. */
static void stop_on_signals(apl_server *server)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction old, action = {.sa_handler = on_signal};
    serving = server;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

/* ---------------------------------------------------------------------------------------------- serving */

static int run_server(const struct serve *s, const struct rank_args *ranks, apl_server *server)
{
    apl_error err;
    stop_on_signals(server);
    if (!s->quiet) {
        printf("serving %u rank%s at %s\n", ranks->count, ranks->count == 1 ? "" : "s", shown(s->socket));
        fflush(stdout);
    }
    int status = apl_server_run(server, &err) == APL_OK ? 0 : failed("%s", err.message);
    apl_server_close(server);
    return status;
}

static int serve_choice(struct serve *s, struct reader_choice *choice)
{
    apl_server *server;
    apl_error err;
    choice->options.ranks.list = choice->ranks.list;
    choice->options.ranks.count = choice->ranks.count;
    if (!reader_args_given(&s->args, "world"))
        choice->options.ranks.world = choice->ranks.highest + 1;
    s->how.epochs = (unsigned)choice->epochs;
    if (apl_server_open(s->store, &choice->options, s->socket, &s->how, &server, &err) != APL_OK)
        return failed("%s", err.message);
    return run_server(s, &choice->ranks, server);
}

static int serve(struct serve *s)
{
    struct reader_choice choice;
    struct source_args sources = {.mix = NULL};
    apl_error err;
    int status;
    if (expect_open(s->path, &s->store, &err) != APL_OK)
        return failed("%s", err.message);
    reader_args_choose(&s->args, 0, &choice);
    if (sampling_args(s->store, &choice, &err) != APL_OK ||
        source_args_open(&sources, &s->args, s->store, choice.options.split, &err) != APL_OK) {
        status = failed("%s", err.message);
    } else {
        source_args_set(&sources, &choice.options);
        status = serve_choice(s, &choice);
    }
    sampling_args_free(&choice);
    source_args_close(&sources);
    apl_store_close(s->store);
    return status;
}

/* ---------------------------------------------------------------------------------------------- options */

static int take_idle(void *user, const char *value)
{
    struct serve *s = user;
    uint64_t seconds;
    if (!parse_number(value, 1, UINT_MAX / 1000, &seconds))
        return misuse("--idle takes a whole number of seconds, from 1 to %u, not '%s'", UINT_MAX / 1000,
                      shown(value));
    s->how.idle_ms = (unsigned)seconds * 1000;
    return 0;
}

static const struct option_row rows[] = {
    {0, "socket", "PATH", "listen on this socket, to which processes of this user connect", OPTION_TEXT,
     offsetof(struct serve, socket), NULL},
    READER_ROW,
    {0, "idle", "S", "exit once no client has been connected for S seconds", OPTION_CALL, 0, take_idle},
    CACHE_ROWS,
    EXPECT_ROW,
    QUIET_ROW(struct serve, quiet),
    HELP_ROW,
};

static const struct command_line line = {
    .head = "Usage: apldata serve DB --socket PATH --ranks LIST [OPTION]...\n"
            "Read the store DB once for several training processes of this machine, and lend\n"
            "them the batches in shared memory.\n"
            "\n",
    .tail = "\n"
            "It serves until SIGINT or SIGTERM, then removes the socket.\n",
    .column = 28,
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .reader = FOR_SERVE,
    .reader_args = offsetof(struct serve, args),
};

static int check(struct serve *s)
{
    if (!s->socket)
        return misuse("which socket? give --socket PATH");
    return reader_args_given(&s->args, "ranks") ? 0 : misuse("which ranks? give --ranks LIST, such as 0-7");
}

int cmd_serve(int argc, char **argv)
{
    static struct serve s = {.args = {.who = FOR_SERVE}, .how = APL_SERVE_OPTIONS_INIT};
    int status = options_read(&line, &s, argc, argv);
    if (!status)
        status = take_operands(argc - optind, argv + optind, (const char *const[]){"DB", NULL});
    if (!status)
        status = check(&s);
    if (!status) {
        s.path = argv[optind];
        status = serve(&s);
    }
    reader_args_free(&s.args);
    return options_status(status);
}

/* apldata: inspects, checks, divides, exports and reads stores. */
#include "args.h"
#include "cmd.h"
#include "command_line.h"
#include "completion.h"
#include "image.h"
#include "interrupt.h"
#include "json.h"
#include "report.h"
#include "sandbox.h"
#include "spelling.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apl.h"

static const struct {
    const char *name, *what;
    int (*run)(int argc, char **argv); /* NULL: not in this build */
    unsigned needs;                    /* of what the sandbox takes away: see sandbox.h */
} commands[] = {
    {"info", "describe it: fields, splits, classes, sizes", cmd_info, 0},
    {"verify", "decode and check every byte of it", cmd_verify, 0},
    {"get", "print records, or write a value to a file", cmd_get, 0},
    {"show", "show records in the terminal, images drawn", cmd_show, 0},
    {"view", "make a page to look at its records", cmd_view, 0},
    {"export", "write it as files that other tools read", cmd_export, 0},
    {"extract", "make a store of some of its records", cmd_extract, 0},
    {"merge", "make a store of all records of several", cmd_merge, 0},
    {"join", "make a set: several stores, opened as one", cmd_join, 0},
    {"set-kind", "say what its fields are: images, masks, boxes, ...", cmd_set_kind, 0},
    {"split", "divide the records of a split, in two or into many parts", cmd_split, 0},
    {"check", "find records, inputs, groups and similar images that splits share", cmd_check, 0},
    {"bench", "measure how fast training can read it", cmd_bench, 0},
    {"stream", "write shuffled batches to standard output", cmd_stream, 0},
    {"serve", "serve batches to the training processes of this machine", cmd_serve, SANDBOX_SERVE},
    {"stage", "copy what training will read from a URL to this machine's disk", cmd_stage, 0},
    {"top", "show what the readers of running processes do", cmd_top, SANDBOX_KEYS},
#ifdef HAVE_AUDIT
    {"audit", "test whether training sees the data's own distribution", cmd_audit, 0},
#else
    {"audit", "test whether training sees the data's own distribution", NULL, 0},
#endif
};
#define COMMANDS (sizeof commands / sizeof *commands)

/* The head of --help, with a line for each command. */
static void write_head(char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size,
                                   "Usage: apldata COMMAND [OPTION]... DB [...]\n"
                                   "Work with the store in the directory DB.\n\nCommands:\n");
    for (size_t i = 0; i < COMMANDS && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "  %-8s %s\n%s", commands[i].name,
                                 commands[i].what, i + 1 == COMMANDS ? "\n" : "");
}

static int print_version(void *job, const char *value)
{
    (void)job, (void)value;
    printf("apldata %s (libapldata %s, jansson %s, libpng %s)\n", APL_VERSION_STRING, apl_version(),
           jansson_version_str(), image_libpng_version());
    return OPTIONS_DONE;
}

/* Only who names a URL may use the network, and only who is asked to listen may do that. */
static unsigned asked_for(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[0], "top") == 0; i++)
        if (strncmp(argv[i], "--l", 3) == 0) /* --listen, also if it is abbreviated */
            return SANDBOX_LISTEN;
    for (int i = 1; i < argc; i++)
        if (strstr(argv[i], "://"))
            return SANDBOX_URLS;
    return 0;
}

static const char *command_word(const void *unused, size_t i)
{
    (void)unused;
    return i < COMMANDS ? commands[i].name : NULL;
}

static int refuse_command(const char *name)
{
    const char *near = nearest_spelling(name, command_word, NULL);
    return near ? misuse("no such command: '%s': did you mean '%s'?", shown(name), near)
                : misuse("no such command: '%s'", shown(name));
}

static int run_command(int argc, char **argv)
{
    size_t i = 0;
    while (i < COMMANDS && strcmp(argv[0], commands[i].name) != 0)
        i++;
    if (i == COMMANDS)
        return refuse_command(argv[0]);
    if (!commands[i].run)
        return failed(
            "this build has no %s: it needs a C++ compiler and Boost.Math (Debian: libboost-math-dev)",
            commands[i].name);
    command_name = commands[i].name;
    sandbox_enter(asked_for(argc, argv) | commands[i].needs);
    optind = 0; /* start over, with the command's own options */
    return commands[i].run(argc, argv);
}

static bool completed(size_t i, struct completed_command *command)
{
    if (i < COMMANDS)
        *command = (struct completed_command){commands[i].name, commands[i].what, commands[i].run};
    return i < COMMANDS;
}

static int print_completion(void *job, const char *shell)
{
    (void)job;
    int status = completion_print(shell, completed);
    return status ? status : OPTIONS_DONE;
}

static const struct option_row rows[] = {
    {'h', "help", NULL, "print this help; for a command: apldata COMMAND --help", OPTION_HELP, 0, NULL},
    COMPLETION_ROW(print_completion),
    {0, "version", NULL, "print the version", OPTION_CALL, 0, print_version},
};

/* help [COMMAND]: the same as [COMMAND] --help. */
static int run_help(const struct command_line *line, int argc, char **argv)
{
    char none, *help = "--help", *asked[] = {argc > 1 ? argv[1] : argv[0], help, NULL};
    if (argc > 2)
        return misuse("one operand too many: '%s'", shown(argv[2]));
    optind = 0;
    return argc > 1 ? run_command(2, asked) : options_status(options_read(line, &none, 2, asked));
}

static int run(int argc, char **argv)
{
    char head[2000], none;
    const struct command_line line = {
        .head = head, .column = 19, .rows = rows, .count = sizeof rows / sizeof *rows, .stops = true};
    write_head(head, sizeof head);
    opterr = 0;
    int status = options_read(&line, &none, argc, argv);
    if (!status && optind == argc)
        status = misuse("which command?");
    if (status)
        return options_status(status);
    if (strcmp(argv[optind], "help") == 0) /* apldata help [COMMAND] */
        return run_help(&line, argc - optind, argv + optind);
    return run_command(argc - optind, argv + optind);
}

/* Above the progress bar, if there is one. From any thread. */
static void tell_of_retry(void *unused, const char *line)
{
    (void)unused;
    fprintf(stderr, "%s%s: note: %s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "", program_name, line);
}

int main(int argc, char **argv)
{
    program_name = "apldata";
    interrupt_ignore_limits();
    apl_on_retry(tell_of_retry, NULL);
    int status = finish_output(run(argc, argv));
    if (status)
        interrupt_die();
    return status;
}

/*
 * The options of a command: one table, from which the command line is read and --help is printed.
 */
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

#include "reader_args.h"

#include <stddef.h>

/* What take() may return besides 0 and an exit status: the command is done. */
#define OPTIONS_DONE (-1)

enum option_kind {
    OPTION_CALL,    /* take() is called */
    OPTION_FLAG,    /* a bool becomes true */
    OPTION_SWITCH,  /* an int becomes 1 */
    OPTION_TEXT,    /* a const char * becomes the value, which must not be empty */
    OPTION_THREADS, /* an unsigned becomes the value, 1 to MAX_THREADS */
    OPTION_CHANCE,  /* a double becomes the value, above 0 and below 1 */
    OPTION_READER,  /* where the help has the reader's options IN_RUN: see reader_option.h */
    OPTION_HELP     /* prints the help */
};

struct option_row {
    char letter;       /* of the short form; or 0 */
    const char *name;  /* of the long form; in a second row of this name only the help counts */
    const char *value; /* its name in the help; optional if it is like "[=SEED]"; NULL: no value */
    const char *help;  /* what it does, in lines */
    enum option_kind kind;
    size_t at; /* in the job: what is set */
    int (*take)(void *job,
                const char *value); /* 0, OPTIONS_DONE or, after saying what is wrong, an exit status */
};

#define HELP_ROW                                                   \
    {                                                              \
        'h', "help", NULL, "print this help", OPTION_HELP, 0, NULL \
    }

/* Of a command that takes the reader's options: those that say what is run stand here in the help, all others below it. */
#define READER_ROW                                \
    {                                             \
        0, "", NULL, NULL, OPTION_READER, 0, NULL \
    }

/* Options that several commands share, in one wording. `type` is that of the job, `member` what is set in it; `work` is what the threads do,
 * --force replaces `what`, by a row of that kind: OPTION_FLAG or OPTION_SWITCH. */
#define THREADS_ROW(work, type, member)                                                       \
    {                                                                                         \
        'j', "threads", "N", "threads that " work " (default: one per core)", OPTION_THREADS, \
            offsetof(type, member), NULL                                                      \
    }
#define FORCE_ROW(what, kind, type, member)                                   \
    {                                                                         \
        0, "force", NULL, "replace " what, kind, offsetof(type, member), NULL \
    }
#define JSON_ROW(type, member)                                                              \
    {                                                                                       \
        0, "json", NULL, "print one JSON object", OPTION_FLAG, offsetof(type, member), NULL \
    }
#define NO_PROGRESS_ROW(type, member)                                                        \
    {                                                                                        \
        0, "no-progress", NULL, "no progress bar", OPTION_FLAG, offsetof(type, member), NULL \
    }
#define QUIET_ROW(type, member)                                                                   \
    {                                                                                             \
        'q', "quiet", NULL, "print nothing but errors", OPTION_FLAG, offsetof(type, member), NULL \
    }

struct command_line {
    const char *head, *tail; /* of --help: before and after the options */
    unsigned column;         /* where help begins */
    const struct option_row *rows;
    size_t count;
    unsigned reader;    /* FOR_BENCH or the like: the reader's options too, */
    size_t reader_args; /* which go to the struct reader_args there in the job */
    bool stops;         /* at the first operand: the rest is another command line */
};

/* Reads the options into the job; the operands are then argv[optind ...]. 0: go on. OPTIONS_DONE: the help or the like
 * has been printed. Else an exit status, after saying what is wrong. */
int options_read(const struct command_line *line, void *job, int argc, char **argv);

/* The exit status of a command that ends with `status`. */
int options_status(int status);

#endif

/* Scripts by which shells complete a command line, made of the tables of its options. */
#ifndef COMPLETION_H
#define COMPLETION_H

#include "command_line.h"

#define COMPLETION_ROW(take)                                                                             \
    {                                                                                                    \
        0, "completion", "SHELL", "print a script that completes command lines, for bash,\nzsh or fish", \
            OPTION_CALL, 0, take                                                                         \
    }

/* A command: its name ("": the program has none), what it does, and how it runs. */
struct completed_command {
    const char *name, *what;
    int (*run)(int argc, char **argv);
};

/* Prints the script for a shell: bash, zsh or fish. `command(i)` is the ith; false at the end. Returns an exit status. Not to be called while
 * other threads are at work. */
int completion_print(const char *shell, bool (*command)(size_t i, struct completed_command *command));

/* What options_read() does with a table while a script is made; NULL, as nearly always: reads options. */
extern void (*completion_table)(const struct command_line *line);

#endif

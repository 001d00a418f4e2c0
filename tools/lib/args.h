/* Arguments of a command line, and messages to the user. */
#ifndef ARGS_H
#define ARGS_H

#include "apl.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXIT_MISUSE 2
#define MAX_THREADS 1024 /* that an option may ask for */

/* For messages: "apldata", and the command that runs, such as "verify", or NULL. */
extern const char *program_name;
extern const char *command_name;

/* "PROGRAM: reason" and where to find help, on stderr; returns EXIT_MISUSE. */
int misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Demands exactly as many operands as there are `names`, none empty: "which DB?" if one is missing. */
int take_operands(int count, char **operands, const char *const *names);

/* The operands DB ID...: free(*ids), also after a failure. */
int take_ids(int count, char **operands, const char **db, uint64_t **ids, size_t *n);

/* "PROGRAM: message" on stderr; returns EXIT_FAILURE. */
int failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for a failed system call: appends the text of `sys_errno`. */
int failed_errno(int sys_errno, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The message of a call of the library; and where something exists already, that --force replaces it. */
int failed_unless_forced(const apl_error *err);

/* "PROGRAM: note: message" on stderr. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reports the misuse for which getopt_long(), run with opterr = 0 and an option string that begins with ':' (after a
 * '+'), returned `opt`; returns EXIT_MISUSE. */
int misused_option(char **argv, int opt);

/* A line of help, or more where the help has more: the label, and what it does from `column` on. */
void option_help_print(unsigned column, const char *label, const char *help);

/* A decimal number of digits alone within min ... max. */
bool parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* The same with a sign allowed. */
bool parse_integer(const char *text, int64_t min, int64_t max, int64_t *value);

/* A number of bytes within min ... max: digits, and K, M, G or T for powers of 1024. */
bool parse_size(const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* Flushes and closes stdout; a write error turns success into failure. */
int finish_output(int status);

#endif

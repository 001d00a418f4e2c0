/* Reading a command line by a table: see command_line.h. */
#include "command_line.h"

#include "args.h"
#include "completion.h"
#include "report.h"
#include "spelling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROWS 64 /* besides the reader's */

/* -------------------------------------------------------------------------------------------- the help */

static void print_row(const struct command_line *line, const struct option_row *row)
{
    const char *value = row->value;
    if (row->kind == OPTION_READER) {
        reader_options_print_run(line->reader, line->column);
        return;
    }
    char label[128];
    snprintf(label, sizeof label, "--%s%s%s", row->name, value && *value != '[' ? " " : "",
             value ? value : "");
    char letter[8] = "    ";
    if (row->letter)
        snprintf(letter, sizeof letter, "-%c, ", row->letter);
    char all[160];
    snprintf(all, sizeof all, "%s%s", letter, label);
    option_help_print(line->column, all, row->help);
}

static void print_help(const struct command_line *line)
{
    fputs(line->head, stdout);
    for (size_t i = 0; i < line->count; i++)
        print_row(line, &line->rows[i]);
    if (line->reader)
        reader_options_print_help(line->reader, line->column);
    if (line->tail)
        fputs(line->tail, stdout);
}

/* ----------------------------------------------------------------------------------------- what is read */

static bool is_repeated(const struct command_line *line, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (strcmp(line->rows[i].name, line->rows[row].name) == 0)
            return true;
    return false;
}

static int argument_of(const struct option_row *row)
{
    return !row->value ? no_argument : *row->value == '[' ? optional_argument : required_argument;
}

/* The table for getopt_long(), which returns the row's number, counted from 1, or that of a reader's option. */
static void prepare(const struct command_line *line, struct option *options, char *letters)
{
    if (line->stops)
        *letters++ = '+';
    *letters++ = ':';
    for (size_t i = 0; i < line->count && i < MOST_ROWS; i++) {
        const struct option_row *row = &line->rows[i];
        if (row->kind == OPTION_READER || is_repeated(line, i))
            continue;
        *options++ = (struct option){row->name, argument_of(row), NULL, (int)i + 1};
        if (row->letter)
            *letters++ = row->letter;
        if (row->letter && row->value)
            *letters++ = ':';
    }
    *letters = 0;
    *options = (struct option){0};
    if (line->reader)
        reader_options_getopt(line->reader, options);
}

static const struct option_row *row_of(const struct command_line *line, int opt)
{
    if (opt >= 1 && (size_t)opt <= line->count && opt < MOST_ROWS)
        return &line->rows[opt - 1];
    for (size_t i = 0; i < line->count; i++)
        if (line->rows[i].letter && line->rows[i].letter == opt)
            return &line->rows[i];
    return NULL;
}

static int take_threads(unsigned *threads, const char *value)
{
    uint64_t n;
    if (!parse_number(value, 1, MAX_THREADS, &n))
        return misuse("the number of threads must be 1 to %d, not '%s'", MAX_THREADS, shown(value));
    *threads = (unsigned)n;
    return 0;
}

static int take_chance(double *chance, const char *name, const char *value)
{
    char *end;
    *chance = strtod(value, &end);
    return *value && !*end && *chance > 0 && *chance < 1
               ? 0
               : misuse("--%s: a chance between 0 and 1 is needed, not '%s'", name, shown(value));
}

static int take(const struct command_line *line, const struct option_row *row, void *job)
{
    void *to = (char *)job + row->at;
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)to = true;
        return 0;
    case OPTION_SWITCH:
        *(int *)to = 1;
        return 0;
    case OPTION_TEXT:
        *(const char **)to = optarg;
        return *optarg ? 0 : misuse("%s is empty", row->value);
    case OPTION_THREADS:
        return take_threads(to, optarg);
    case OPTION_CHANCE:
        return take_chance(to, row->name, optarg);
    case OPTION_HELP:
        print_help(line);
        return OPTIONS_DONE;
    case OPTION_READER: /* handled by number */
    case OPTION_CALL:
        break;
    }
    return row->take(job, optarg);
}

/* Abbreviations are allowed, but not one that is the whole name of another command's option: `serve --rank 1` does not mean --ranks. */
static int check_name(const char *name, char **argv)
{
    const char *word = argv[optind - 1] == optarg ? argv[optind - 2] : argv[optind - 1];
    size_t n = strncmp(word, "--", 2) == 0 ? strcspn(word + 2, "=") : 0;
    if (n == 0 || n == strlen(name))
        return 0;
    for (size_t i = 0; i < reader_option_count; i++)
        if (strlen(reader_options[i].name) == n && strncmp(reader_options[i].name, word + 2, n) == 0)
            return misuse("no such option: '--%s': did you mean '--%s'?", reader_options[i].name, name);
    return 0;
}

/* Options of readers that are gone, and what says the same: until 0.2. */
static const struct {
    const char *name, *instead;
} gone[] = {
    {"mask", "--field NAME=mask"},
    {"boxes", "--field NAME=boxes,FORM"},
    {"box-format", "--field NAME=boxes,xywh"},
    {"box-field", "--field NAME=label,per=BOXES"},
    {"box-fields", "--field NAME=label,per=BOXES"},
};

static const char *option_name(const void *options, size_t i)
{
    return ((const struct option *)options)[i].name;
}

/* getopt_long() knows no such option, or it lacks its value, or has one too many. */
static int misused(const struct command_line *line, const struct option *options, char **argv, int opt)
{
    const char *word = argv[optind - 1];
    char name[64];
    if (opt == ':' || optopt || strncmp(word, "--", 2) != 0)
        return misused_option(argv, opt);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    for (size_t i = 0; line->reader && i < sizeof gone / sizeof *gone; i++)
        if (strcmp(gone[i].name, name) == 0)
            return misuse("--%s is gone: %s says what a field is", gone[i].name, gone[i].instead);
    const char *near = nearest_spelling(name, option_name, options);
    return near ? misuse("no such option: '--%s': did you mean '--%s'?", shown(name), near)
                : misused_option(argv, opt);
}

int options_read(const struct command_line *line, void *job, int argc, char **argv)
{
    struct option options[MOST_ROWS + READER_OPTIONS_MAX + 1];
    char letters[2 * MOST_ROWS + 3];
    int opt, at = -1, status = 0;
    if (completion_table) {
        completion_table(line);
        return OPTIONS_DONE;
    }
    prepare(line, options, letters);
    for (; !status && (opt = getopt_long(argc, argv, letters, options, &at)) != -1; at = -1) {
        const struct option_row *row = row_of(line, opt);
        if (at >= 0)
            status = check_name(options[at].name, argv);
        if (status)
            break;
        if (opt >= READER_OPTION_OPT)
            status = reader_args_take((struct reader_args *)((char *)job + line->reader_args), opt, optarg);
        else
            status = row ? take(line, row, job) : misused(line, options, argv, opt);
    }
    return status;
}

int options_status(int status)
{
    return status == OPTIONS_DONE ? EXIT_SUCCESS : status;
}

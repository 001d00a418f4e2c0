/*
 * The options of a reader on a command line. The value of most may be a list, as in "--threads none,1,2": then
 * there are as many choices as the lists' items can be combined, and each is to be tried.
 */
#ifndef READER_ARGS_H
#define READER_ARGS_H

#include "apl.h"
#include "json.h"

#include <getopt.h>
#include <stdbool.h>

/* Who takes an option. */
#define FOR_BENCH  1u
#define FOR_STREAM 2u
#define FOR_AUDIT  4u

/* What one run is to do. */
struct reader_choice {
    apl_reader_options options;
    apl_transform transform;
    uint64_t epochs;
    double seconds, demand; /* 0: not asked for */
    unsigned callers;
    struct {
        const char *balance, *weights;
        int replacement;
        uint64_t records; /* 0: as many as there are */
        char *text;       /* made of these by sampling_args() */
        double *class_weights;
    } sampled;
    apl_sampling sampling;
};

#define READER_ARGS_MAX 48
#define READER_ARGS_OPT 0x100 /* what getopt_long() returns: this plus the option's number */

/* As they were given. */
struct reader_args {
    unsigned who;
    struct {
        char *text; /* NULL: not given; else cut at commas into */
        char **items;
        size_t count;
    } given[READER_ARGS_MAX];
};

/* What --help calls the value of an option, and what it says of it. */
void reader_args_help(unsigned who, const char *name, const char **value, const char **help);

/* Prints the help of the options that `who` takes, in sections; their descriptions begin at `column`. */
void reader_args_print_help(unsigned who, unsigned column);

/* Appends the options that `who` takes, and the end of the list, to out[READER_ARGS_MAX + ...]. */
void reader_args_getopt(unsigned who, struct option *out);

/* Takes the option that getopt_long() returned; 0, or what misuse() returned. */
int reader_args_take(struct reader_args *args, int opt, const char *value);

/* Was the option of that name given? */
bool reader_args_given(const struct reader_args *args, const char *name);

/* The values of an option that may be given again and again. */
char *const *reader_args_items(const struct reader_args *args, const char *name, size_t *count);

/* How many choices there are, and choice number `choice`. It points into `args`. What it samples is left to
 * sampling_args(), and what it reads besides to source_args_open(). */
size_t reader_args_choices(const struct reader_args *args);
void reader_args_choose(const struct reader_args *args, size_t choice, struct reader_choice *out);

/* What sets choice `i` apart, such as "--threads 2 --batch-size 512"; "" where there is but one. */
const char *reader_args_label(const struct reader_args *args, size_t i);

/* All options of choice `i` that were given, by name. */
json_t *reader_args_json(const struct reader_args *args, size_t i);

void reader_args_free(struct reader_args *args);

#endif

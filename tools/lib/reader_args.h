/*
 * The options of a reader as they were given. The value of most may be a list, as in "--threads none,1,2": each
 * combination of the lists' items is then a choice to try.
 */
#ifndef READER_ARGS_H
#define READER_ARGS_H

#include "json.h"
#include "reader_option.h"

/* As they were given. */
struct reader_args {
    unsigned who;
    struct {
        char *text; /* NULL: not given; else cut at commas into */
        char **items;
        size_t count;
    } given[READER_OPTIONS_MAX];
};

/* Takes the option that getopt_long() returned; 0, or what misuse() returned. */
int reader_args_take(struct reader_args *args, int opt, const char *value);

/* Was the option of that name given? */
bool reader_args_given(const struct reader_args *args, const char *name);

/* Was any option of that section given? */
bool reader_args_given_in(const struct reader_args *args, enum reader_section section);

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

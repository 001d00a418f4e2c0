/*
 * The options of a reader on a command line: one table, of which getopt_long() takes its list, --help its text and its order, and
 * a run its values.
 */
#ifndef READER_OPTION_H
#define READER_OPTION_H

#include "apl.h"
#include "rank_args.h"

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

/* Who takes an option. */
#define FOR_BENCH  1u
#define FOR_STREAM 2u
#define FOR_AUDIT  4u
#define FOR_SERVE  8u
#define FOR_STAGE  16u

/* What one run is to do. */
struct reader_choice {
    apl_reader_options options;
    apl_transform transform;
    uint64_t epochs;
    double seconds, demand; /* 0: not asked for */
    unsigned callers;
    struct rank_args ranks; /* count 0: not given */
    struct {
        const char *balance, *weights, *record_weights;
        int replacement;
        uint64_t records;      /* 0: as many as there are */
        char *text;            /* made of these by sampling_args() */
        double *class_weights; /* or those of records */
    } sampled;
    apl_sampling sampling;
};

/* Where --help has an option. */
enum reader_section {
    IN_RUN, /* among the command's own: see READER_ROW in command_line.h */
    IN_RECORDS,
    IN_ORDER,
    IN_SAMPLING,
    IN_MEMORY,
    IN_IMAGES /* the transform */
};

enum reader_kind {
    READER_FLAG,
    READER_NUMBER,  /* min ... max */
    READER_SIZE,    /* bytes, with K, M, G or T */
    READER_REAL,    /* above 0 */
    READER_TEXT,    /* not empty */
    READER_WORD,    /* one of `words` */
    READER_THREADS, /* a number, or "none" */
    READER_CROP,    /* HEIGHTxWIDTH */
    READER_RANGE,   /* MIN:MAX, or one number that is both */
    READER_RANKS,   /* as rank_args_take() reads them */
    READER_FIELDS,  /* names, put together from all items of the list */
    READER_KINDS,   /* NAME=KIND[,WORD]..., given again and again and put together */
    READER_REPEATED /* the option may be given again and again */
};

struct word {
    const char *name;
    unsigned value;
};

struct reader_option {
    const char *name;
    enum reader_section section;
    enum reader_kind kind;
    unsigned who;
    size_t offset,
        bytes; /* of what it sets in a choice; READER_FIELDS and READER_KINDS: where the texts go, and their number */
    uint64_t min, max;
    const struct word *words; /* the last one has no name */
    const char *value, *help; /* for --help; help NULL: it shares the line of the next one that has */
};

#define READER_OPTIONS_MAX 72
#define READER_OPTION_OPT  0x100 /* what getopt_long() returns: this plus the option's number */

extern const struct reader_option reader_options[];
extern const size_t reader_option_count; /* READER_OPTIONS_MAX at most */

/* Prints the help of the options of a run that `who` takes; their descriptions begin at `column`. */
void reader_options_print_run(unsigned who, unsigned column);

/* The same of all others, in sections with titles. */
void reader_options_print_help(unsigned who, unsigned column);

/* Appends the options that `who` takes, and the end of the list, to out[READER_OPTIONS_MAX + ...]. */
void reader_options_getopt(unsigned who, struct option *out);

/* Sets in the choice what the text asks for, which it may point into; false: that is no value of this option. */
bool reader_option_set(const struct reader_option *o, const char *text, struct reader_choice *choice);

/* Says what would have been a value; returns what misuse() does. */
int reader_option_misuse(const struct reader_option *o, const char *text);

#endif

/* For the files of `apldata top`: the readers that offer their figures in a directory. */
#ifndef CMD_TOP_H
#define CMD_TOP_H

#include "apl.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_t;

/* What threads do, in the order of the bar. */
enum top_work { TOP_READING, TOP_DECODING, TOP_ASSEMBLING, TOP_CALLBACK, TOP_PLANNING, TOP_WORKS };

enum top_state {
    TOP_RUNS,
    TOP_SILENT, /* its file has not been written for some seconds: it is stopped, or the disk is full, or it is gone, on another machine */
    TOP_GONE    /* its process has ended without closing it */
};

/* A reader, as its file says. Texts are safe to print. */
struct top_reader {
    char name[32]; /* PID-N, as the file is called */
    enum top_state state;
    double age; /* of its figures, in seconds */
    uint64_t pid, world, rank, ranks, epoch, position, length, step, steps, resident, process_threads;
    double rate, batches, bytes_read, stall, cores; /* per second; the part of the time; of processors */
    double work[TOP_WORKS];                         /* as parts of the threads' time */
    char *store, *split, *command, *diagnosis;
    apl_stats stats; /* what metrics tell */
    struct json_t *json;
};

/* A file that is not one of a reader, although it is called so. */
struct top_refused {
    char name[32];
    char why[128];
};

struct top {
    struct top_reader *readers; /* those that run and are silent, by process and number */
    size_t count, gone;
    struct top_refused refused[4]; /* the first of them */
    size_t refused_count;
    size_t unread; /* files beyond the number that is read */
};

/* Reads all of a directory. 0, or an exit status, after saying what is wrong. To be freed in either case. */
int top_read(struct top *top, const char *directory);
void top_free(struct top *top);

/* The one to explain: of that name, or the one that waits most; NULL: none. */
const struct top_reader *top_chosen(const struct top *top, const char *name);

/* Metrics of all readers: see apl_stats_metrics(). NULL: out of memory. To be freed. */
char *top_metrics(const struct top *top, apl_metrics_format format);

/* A screen of that many columns and rows, or endless if rows is 0: lines with line feeds between them, with escape sequences
 * if there is colour. NULL: out of memory. To be freed. */
struct top_view {
    const char *directory, *name; /* name: of the reader to explain, or NULL */
    unsigned columns, rows;
    bool colour, keys;
};
char *top_draw(const struct top *top, const struct top_view *view);

/* Shows it in the terminal on stdout, until it is interrupted. */
int top_live(const char *directory, const char *name);

/* Serves metrics at HOST:PORT, or PORT of this machine alone, until it is interrupted. */
int top_listen(const char *directory, const char *where, bool quiet);

#endif

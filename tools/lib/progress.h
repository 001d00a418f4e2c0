/* The progress bar: one line on stderr, where that is a terminal. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How far the work has come. */
struct progress_state {
    const char *what;   /* "reading", "checking" */
    double fraction;    /* of `what`, 0 ... 1; negative: not known */
    uint64_t records;   /* so far */
    const char *unit;   /* what is counted; NULL: records */
    uint64_t raw_bytes; /* of those; 0: not shown */
};

struct progress {
    bool on;          /* there is a terminal, and the user wants it */
    bool drawn;       /* the line is not empty */
    const char *what; /* last drawn */
    double began;     /* this `what` */
    double next;      /* earliest moment of the next drawing */
};

/* Finds out whether there is a terminal that can redraw a line. */
void progress_begin(struct progress *progress, bool wanted);

/* Draws, unless it did so a moment ago. */
void progress_show(struct progress *progress, const struct progress_state *state);

/* Clears the line, so that other text can be printed. */
void progress_clear(struct progress *progress);

/* The line itself, at most `width` columns and `size`-1 bytes. */
void progress_line(char *out, size_t size, int width, const struct progress_state *state, double elapsed);

#endif

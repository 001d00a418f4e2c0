/* What this process, and those that its main thread has forked and that still run, take of memory and of processors. */
#ifndef PAPER_USAGE_H
#define PAPER_USAGE_H

struct memory {
    double peak; /* the most that was ever resident of each: what processes share counts in each of them */
    double pss;  /* now: what is shared with other processes counts in proportion */
    double anonymous; /* now: what is of no file */
};

struct memory usage_memory(void);

/* CPU time in seconds, since each began. */
double usage_cpu(void);

#endif

/* What this process takes of memory. */
#ifndef PAPER_MEMORY_H
#define PAPER_MEMORY_H

struct memory {
    double peak;      /* the most that was ever resident */
    double pss;       /* now: what is shared with other processes counts in proportion */
    double anonymous; /* now: what is of no file */
};

struct memory memory_now(void);

#endif

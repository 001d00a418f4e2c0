/* Running a reader as training code would, and timing it. */
#ifndef RUN_READER_H
#define RUN_READER_H

#include "reader_args.h"

/* Of one epoch, or of all. Times in seconds; waits are those of callers for a batch. */
struct run_figures {
    uint64_t epoch, batches, records, bytes;
    double seconds, cpu; /* cpu: without the simulated training */
    double wait_mean, wait_p50, wait_p99, wait_p999, wait_max;
    double stall; /* the share of a caller's time spent waiting */
};

struct run_result {
    struct run_figures *epochs;
    size_t count;
    struct run_figures all;
    double first_batch;           /* from opening the reader; not among the waits */
    double step;                  /* how long the simulated training of a batch takes; 0: no demand */
    uint64_t peak_anonymous;      /* of the process, in memory */
    apl_stats stats, after_first; /* at the end, and after the first epoch */
};

/* Opens a reader, takes its batches for as many epochs or seconds as asked, closes it. */
apl_status run_reader(apl_store *store, const struct reader_choice *choice, struct run_result *result,
                      apl_error *err);
void run_result_free(struct run_result *result);

#endif

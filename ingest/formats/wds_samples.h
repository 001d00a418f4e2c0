/*
 * The second reading of a WebDataset: samples are gathered file by file, made into records on all cores, and appended in their order.
 * One sample is open at a time, behind those that are gathered.
 */
#ifndef WDS_SAMPLES_H
#define WDS_SAMPLES_H

#include "image_tally.h"
#include "wds_splits.h"
#include "wds_value.h"

#define WDS_GATHERED 64u

/* A record on its way. */
struct wds_sample {
    struct wds_value *values; /* of each field */
    char *shown;              /* its key, safe to print */
    apl_status status;
    apl_error error;
};

/* From {0} to wds_samples_free(). */
struct wds_samples {
    const struct format_host *host;
    const struct wds_fields *fields;
    struct wds_splits *splits;
    apl_writer *writer;
    struct wds_sample samples[WDS_GATHERED];
    unsigned gathered; /* the one that is open comes behind them */
    size_t gathered_bytes;
    unsigned threads;
    struct image_maker **makers; /* of each thread; there is the first */
    uint64_t records;            /* appended; */
    const char *appending;       /* the key of the one being appended */
    struct image_tally tally;    /* of their images */
};

/* Both are used until the samples are freed. After a failure, too, they are to be freed. */
apl_status wds_samples_init(struct wds_samples *w, const struct format_host *host,
                            const struct wds_fields *fields, struct wds_splits *splits, apl_error *err);
void wds_samples_free(struct wds_samples *w); /* before the fields */

/* Once the fields are decided: makes room for the values of all samples. */
apl_status wds_samples_room(struct wds_samples *w, apl_error *err);

/* Opens a sample of that key; the one before it has been ended. */
apl_status wds_samples_begin(struct wds_samples *w, const char *key, size_t length, apl_error *err);

/* Takes a file of the open sample, or spoils it where it cannot. */
apl_status wds_samples_take(struct wds_samples *w, const struct wds_name *n, const struct format_member *m,
                            apl_error *err);

/* Something is wrong with the open sample: it will be reported as bad. The first fault counts. */
void wds_samples_spoil(struct wds_samples *w, const apl_error *why);

/* Ends the open sample; once there are many, or large ones, appends them. */
apl_status wds_samples_end(struct wds_samples *w, apl_error *err);

/* Makes what has been gathered, and appends it. */
apl_status wds_samples_flush(struct wds_samples *w, apl_error *err);

#endif

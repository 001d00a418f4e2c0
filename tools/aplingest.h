/* What the files of the command aplingest share. */
#ifndef APLINGEST_H
#define APLINGEST_H

#include "apl_ingest.h"
#include "command_line.h"
#include "json.h"
#include "progress.h"
#include "splits.h"

#define MAX_SPLITS 64
#define MAX_TYPES  64
#define MAX_IMAGES 16 /* columns of images, and as many of masks */

/* Files that the report lists: how many, and of each its path and why, which only JSON takes. */
struct listed_files {
    json_t *list;
    uint64_t count;
};

struct job {
    apl_ingest_options ingest;
    apl_writer_options writer; /* pointed to by `ingest` */
    const char *source, *db, *classes;
    char **class_names, **map;
    uint32_t document_end; /* pointed to by `ingest` */
    bool json, quiet, verbose, no_progress;
    struct listed_files skipped, warned; /* left out; kept, though a library warns of them */
    const char *column_types[MAX_TYPES], *image_columns[MAX_IMAGES], *mask_columns[MAX_IMAGES],
        *kinds[APL_MAX_FIELDS];
    struct split_spec splits[MAX_SPLITS];
    unsigned split_count;
    const char *stratify;
    bool auto_part, no_parts; /* --part auto and none */
    struct progress progress;
    uint64_t records; /* seen while reading: how many there are to check */
};

/* aplingest_options.c: the command line, which fills a job. */
extern const struct command_line ingest_line;

/* aplingest_names.c: reads the files that --classes and --map name; 0, or an exit status after saying what is wrong. To be
 * freed in either case. */
int ingest_names_read(struct job *job);
void ingest_names_free(struct job *job);

/* aplingest_part.c: which part of a set is to be made. The option's value: I/N, auto or none; an exit status after saying what is wrong. */
int part_take(void *job, const char *text);

/* Without I/N, asks the launcher; 0, or an exit status after saying what is wrong. */
int part_find(struct job *job);

/* Of a part that has been made: what there is of the set. */
void part_tell(const struct job *job);
json_t *part_json(const struct job *job);

/* The path of what has been made, safe to print. */
const char *made_path(const struct job *job);

/* aplingest_report.c: what came of it, in words or in JSON; the exit status. */
int report_failure(const struct job *job, const apl_error *err);
int report_split_failure(const struct job *job, const apl_error *err);
int report_success(const struct job *job, const apl_ingest_summary *sum, double seconds);

/* Split files of the store that was replaced stay: another ingest of the same content may need them. Says which. */
void report_stale_splits(const struct job *job);

#endif

/* apldata audit: what was asked for, what was found, and how it is reported. */
#ifndef CMD_AUDIT_H
#define CMD_AUDIT_H

#include "audit.h"
#include "json.h"
#include "not_tested.h"
#include "own_values.h"
#include "reader_args.h"
#include "reader_orders.h"
#include "sampling_audit.h"
#include "source_args.h"
#include "store_splits.h"
#include "windows.h"

/* What of a store is audited. */
enum audit_scope { AUDIT_BOTH, AUDIT_SPLITS, AUDIT_ORDER };

struct audit_job {
    const char *path;
    enum audit_scope scope;
    const char *html; /* the file of the page; NULL: none */
    bool json, quiet, verbose, controls, load, windows;
    double level;
    struct reader_args args;
    struct reader_choice choice;
    apl_store *store;
    struct source_args sources;
    const char *fields[APL_MAX_FIELDS]; /* of a mix: those that all stores have */
    struct reader_orders orders;
    struct audit_sample sample;
    struct own_values values;                /* with --load */
    const char *not_tested[NOT_TESTED_MOST]; /* what is drawn and has no test */
    unsigned not_tested_count;
    struct sampling_law law; /* groups 0: each record once an epoch */
};

struct audit_result {
    bool has_order, has_splits;
    bool uniform; /* the order is meant to be a uniform permutation of the split */
    struct audit_report order;
    struct splits_report splits;
    struct windows windows; /* count 0: not asked for */
    double seconds;
};

/* How many findings, of how many, count against the reader or a split. An order that is not meant to be uniform need only
 * be complete and independent of timing. */
unsigned audit_rejections(const struct audit_result *result);
/* The same and split files that are refused: has the audit failed? */
unsigned audit_failures(const struct audit_result *result);
unsigned audit_findings(const struct audit_result *result);

/* The verdict, in a sentence or two. */
#define AUDIT_VERDICT 1000
void audit_verdict(const struct audit_job *job, const struct audit_result *result, char *text, size_t size);

/* The result: "stands", "REJECTED", or "differs" where the order is not meant to be uniform. */
const char *audit_word(const struct finding *finding, bool judged);

/* p as it is shown. */
const char *audit_p_text(const struct finding *f);

/* What a split is, in words. */
void audit_split_text(const apl_split_file *file, char *text, size_t size);

/* On stdout, for people and for programs; return an exit status. */
int audit_print(const struct audit_job *job, const struct audit_result *result);
int audit_print_json(const struct audit_job *job, const struct audit_result *result);

/* Prints text, wrapped to a terminal. */
void audit_print_wrapped(unsigned indent, const char *text);

/* For --json, and with what is to be drawn for the page. */
json_t *audit_json(const struct audit_job *job, const struct audit_result *result);
json_t *audit_findings_json(const struct finding *findings, unsigned count);

/* The law of the samples that job->choice asks for; when the orders have been opened. */
apl_status audit_law_open(struct audit_job *job, apl_error *err);
void audit_law_close(struct audit_job *job);

/* The same in words. */
void audit_law_text(const struct audit_job *job, char *text, size_t size);

/* With --load: has the readers' values compared with those of their records, and reports what was found. */
apl_status audit_values_open(struct audit_job *job, apl_error *err);
apl_status audit_add_values(struct audit_job *job, struct audit_report *report, apl_error *err);

/* Tests where crops and flips fall, if any are asked for. */
apl_status audit_add_crops(struct audit_job *job, struct audit_report *report, apl_error *err);

/* The page of job->html; 0, or what failed() returned. */
int audit_write_page(const struct audit_job *job, const struct audit_result *result);

/* All controls, and the right order that they are compared with. */
int audit_the_controls(struct audit_job *job);

#endif

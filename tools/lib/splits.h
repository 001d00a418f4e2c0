/* Named splits: parsing them from a command line, making and reporting them. */
#ifndef SPLITS_H
#define SPLITS_H

#include "apl.h"
#include "json.h"

#include <stdbool.h>

/* NAME=RATIO[@PARENT], taken apart; points into a copy that it owns. */
struct split_spec {
    char *name;
    const char *parent; /* NULL: not given */
    double ratio;
    unsigned parts; /* 0: a division in two, with the ratio */
    double concentration;
};

/* Returns 0 or, after saying what is wrong, an exit status. */
int split_parse(const char *text, struct split_spec *spec);
void split_spec_free(struct split_spec *spec);

/* Makes the split, or the parts if `parts` is not 0; takes from `spec` what that says, all else from
 * `options`. */
apl_status split_make(apl_store *store, const struct split_spec *spec, const apl_split_options *options,
                      apl_error *err);

/* Like split_parse(), for a division into parts: NAME or NAME@PARENT. */
int split_parse_parts(const char *text, struct split_spec *spec);

/* Notes which splits can no longer be used, as they come from what the new ones have replaced. */
void split_tell_replaced(apl_store *store, const struct split_spec *spec);

/* "DB: val has 5,013 records, train-val 44,987" */
int split_tell(const char *db, apl_store *store, const char *name);

/* Prints how many files cannot be used, and how many are splits of other lists of the set; if any. */
void split_tell_others(unsigned unusable, unsigned of_other_lists);

/* "content", "key", "id" or "group": what is hashed. */
const char *split_by_name(apl_split_by by);

/* How a split was made, safe to print: "by hash", "by label, in 5". */
const char *split_rule_text(const apl_split_file *file);

/* A split in JSON, also one whose file cannot be used. `classes`: with counts by class. */
json_t *split_file_json(apl_store *store, const apl_split_file *file, bool classes);
json_t *split_named_json(apl_store *store, const char *name);

/* The same for all parts that apl_split_parts() made: a line for each; an object with a list of them. */
int split_tell_parts(const char *db, apl_store *store, const char *name, unsigned parts);
json_t *split_parts_json(apl_store *store, const char *name, unsigned parts);

/* Lists the split files. A directory that may be searched but not listed gives *list NULL, which has no files, and a
 * note that says so. */
apl_status split_list(apl_store *store, apl_split_list **list, apl_error *err);

/* Is it the file of another store, which was here before? It is not used, and harms nothing. */
bool split_is_stale(const apl_split_file *file);

/* The names of all splits: the source's, then of each file that can be used the part and the rest. */
struct split_names {
    const char **names;
    size_t count;
    apl_split_list *list;
};

/* Returns 0, or an exit status after saying what went wrong. */
int split_names_open(apl_store *store, struct split_names *names);
void split_names_close(struct split_names *names);

/* How many records of a split, by its name, have each class; the caller frees it. NULL if they cannot be counted. */
uint64_t *split_counts(apl_store *store, const char *name, unsigned field);

/* A table of the files, and lines on those that cannot be used; nothing without such files. */
int split_describe(const apl_split_list *list);

#endif

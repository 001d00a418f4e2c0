/* A reading of TFRecord files: what its parts share. format_tfrecord.c reads files that show what their fields are, tf_export.c
 * those of an export, whose schema.json says it; both go from record to record by tf_walk.c. */
#ifndef TF_READING_H
#define TF_READING_H

#include "image_tally.h"
#include "tf_declared.h"
#include "tf_fields.h"
#include "tf_frame.h"

struct tfrecord {
    const struct format_host *host;
    apl_writer *writer;
    struct tf_frame frame;
    struct tf_example example;
    struct image_maker *maker;
    struct tf_fields fields;
    bool is_export;
    struct tf_declared declared; /* of an export */
    struct tf_features features; /* of others: what the features.json beside them says */
    uint64_t written;
    size_t file; /* whose records are being read */
    struct image_tally tally;
    uint64_t *records; /* of each file: how many it has */
    bool left;         /* the file being read was left, as the rest is other parts' */
    uint32_t members[64];
};

/* Takes a record that is whole. *bad: it is not to be kept, and *why says why. */
typedef apl_status (*tf_take)(struct tfrecord *t, size_t file, bool *bad, apl_error *why, apl_error *err);

/* Gives each record of a file that is whole to take(). `tell`: the host hears of the others.
 * `split`: of which the records are, to leave out those of other parts; NULL: all are wanted. */
apl_status tf_each_record(struct tfrecord *t, size_t file, const char *split, tf_take take, bool tell,
                          apl_error *err);

/* Where the record that is being appended is; returns `out`. */
const char *tf_where(const void *state, char *out, size_t size);

/* Tallies the image of a field of the current record, which is written. */
void tf_tally(struct tfrecord *t, size_t file, const char *field, const struct made_image *image);

/* Looks for the schema.json of an export beside the files, and reads it: t->is_export. */
apl_status tf_find_export(struct tfrecord *t, apl_error *err);

/* Looks for the features.json beside the first file, and reads it. */
apl_status tf_find_features(struct tfrecord *t, apl_error *err);

/* Reads the files of an export: each is a split. */
apl_status tf_read_export(struct tfrecord *t, apl_error *err);

/* APL_OK if a record was written; the error that says that all were bad. */
apl_status tf_any_written(const struct tfrecord *t, apl_error *err);

#endif

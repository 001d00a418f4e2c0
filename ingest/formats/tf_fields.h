/* What the records of TFRecord files have shown of their features, and the fields that these become. */
#ifndef TF_FIELDS_H
#define TF_FIELDS_H

#include "image_maker.h"
#include "tf_example.h"
#include "tf_features.h"

struct tf_place {
    const char *path; /* of the file */
    uint64_t record;
};

/* What the records have shown of a feature. */
struct tf_field {
    char name[APL_MAX_NAME + 1];
    enum tf_kind kind;          /* of the first record that has it, */
    struct tf_place first;      /* which is this one */
    uint64_t seen;              /* records that have it */
    uint64_t least, most;       /* values, or of bytes their number */
    const char *image;          /* the kind of all so far; NULL: none, or several */
    bool text;                  /* all are UTF-8 without NUL */
    struct made_image made;     /* of a JPEG */
    struct buffer values;       /* of the current record */
    unsigned shape_column;      /* of a JPEG: where its shape goes; 0: nowhere */
    const struct tf_told *told; /* what features.json says of it, if it can be that; NULL: nothing */
};

struct tf_fields {
    struct tf_field *field[TF_MAX_FEATURES];
    unsigned count;
    uint64_t records;
};

/* Takes the features of a record, which is at that place; not of one that is bad, as a feature is of another type than before. */
apl_status tf_fields_learn(struct tf_fields *t, const struct tf_example *example, const struct tf_place *at,
                           apl_error *err);

/* By their names, once all is learnt. `told`, which stays: what features.json says. */
void tf_fields_sort(struct tf_fields *t, const struct tf_features *told);
void tf_fields_free(struct tf_fields *t);

/* Adds the fields to the writer; after all features, the shapes of JPEG images, unless a feature is called so. */
apl_status tf_fields_add(struct tf_fields *t, apl_writer *writer, apl_error *err);

/* Boxes of a sequence: lists of four numbers each. */
bool tf_is_boxes(const struct tf_field *f);

/* All records have it, and of one length, and it is not of a sequence. */
bool tf_is_fixed(const struct tf_fields *t, const struct tf_field *f);

/* Image files of one kind, or JPEG files, in every record. */
bool tf_is_image(const struct tf_fields *t, const struct tf_field *f);
bool tf_is_jpeg(const struct tf_fields *t, const struct tf_field *f);
bool tf_is_text(const struct tf_field *f);

/* Has it a value? A list without any is as good as none. */
bool tf_has_value(const struct tf_feature *f);

#endif

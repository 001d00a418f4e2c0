/*
 * The fields of a WebDataset. Each ending of its files is one, but for images: .jpg and .png of one stem are one field where no sample
 * has both. What a field is, its files tell, or the schema.json of an export.
 */
#ifndef WDS_FIELDS_H
#define WDS_FIELDS_H

#include "declared.h"
#include "survey.h"
#include "wds_name.h"

#include <limits.h>

#define WDS_ENDINGS  APL_MAX_FIELDS /* at most; a bit of 64 each */
#define WDS_NO_FIELD UINT_MAX
#define WDS_KEY_NAME "__key__"

/* WDS_KEY: the key itself, which lies in no file. */
enum wds_kind { WDS_IMAGE, WDS_NUMBER, WDS_TEXT, WDS_ARRAY, WDS_BYTES, WDS_KEY };

/* What the first reading has shown of an ending. */
struct wds_ending {
    char text[WDS_ENDING];
    enum wds_kind kind;
    uint64_t seen;             /* samples that have it */
    uint64_t together;         /* other images of the same stem that a sample had too, by their numbers */
    struct survey survey;      /* of images; */
    struct survey masks;       /* where masks are asked for, as such */
    bool whole;                /* of numbers: there are some, */
    int64_t least, most;       /* from, to */
    bool array, varies, mixed; /* of arrays: one was seen; shapes vary; types or ranks do */
    apl_dtype dtype;           /* of the first */
    unsigned ndim;
    unsigned field; /* in the end: which it belongs to, or WDS_NO_FIELD: samples should not have it */
    int64_t shape[APL_MAX_DIMS];
};

struct wds_field {
    char name[APL_MAX_NAME + 1];
    enum wds_kind kind;
    const char *ending; /* of its files, the first where there are several */
    uint64_t seen;      /* samples that have it */
    apl_dtype dtype;
    apl_role role;
    unsigned ndim;
    int64_t shape[APL_MAX_DIMS];
    const char *media; /* of what is kept; NULL: nothing is */
    const char *const *classes;
    size_t class_count;
    struct survey survey, masks; /* of images: what their files have shown */
    struct image_plan plan;
    const struct declared_field *declared; /* of an export: what it says; NULL: it is none */
    bool shaped; /* of images: a field NAME_shape follows all others, as no ending is called so */
};

struct wds_fields {
    struct wds_ending endings[WDS_ENDINGS];
    unsigned ending_count;
    struct wds_field fields[WDS_ENDINGS + 1];
    unsigned count;
    unsigned masked; /* the first of images, as large as which masks are, or WDS_NO_FIELD */
    uint64_t samples;
    struct declared declared; /* without fields: they are told by the files */
};

/* Adds them to the writer. */
apl_status wds_add_fields(const struct wds_fields *f, const struct format_host *host, apl_writer *writer,
                          apl_error *err);

void wds_fields_free(struct wds_fields *f);

#endif

/* The fields of an export as TFRecord, as its schema.json says them, and their values. */
#ifndef TF_DECLARED_H
#define TF_DECLARED_H

#include "declared.h"
#include "format.h"
#include "image_maker.h"
#include "tf_example.h"

/* The value of a field in the current record. */
struct tf_value {
    enum tf_kind kind;
    unsigned varying; /* dimensions; of several, the feature NAME/shape has the shape */
    char shape_name[APL_MAX_NAME + 8];
    int64_t shape[APL_MAX_DIMS];
    struct buffer data;
    struct made_image made; /* of a JPEG file */
};

/* From {0} to tf_declared_free(). */
struct tf_declared {
    struct declared schema;
    struct tf_value values[APL_MAX_FIELDS];
};

/* Is a file called schema.json that of such an export, and not of something else? */
bool tf_declared_is(const void *text, size_t size);

/* Reads it. Errors do not name it. */
apl_status tf_declared_read(struct tf_declared *t, const void *text, size_t size, apl_error *err);

/* Adds its fields to the writer. */
apl_status tf_declared_add(const struct tf_declared *t, const struct format_host *host, apl_writer *writer,
                           apl_error *err);

/* Makes the values of a record, of which `out` gets one a field. JPEG files are decoded once, as everywhere. Errors do not name the
 * record; APL_E_NOMEM is not its. */
apl_status tf_declared_take(struct tf_declared *t, const struct tf_example *example, bool unchecked,
                            struct image_maker *maker, apl_value *out, apl_error *err);

void tf_declared_free(struct tf_declared *t);

#endif

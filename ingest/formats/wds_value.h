/* From a file of a sample to the value of its field. */
#ifndef WDS_VALUE_H
#define WDS_VALUE_H

#include "mask_maker.h"
#include "wds_fields.h"

/* From {0} to wds_value_free(). */
struct wds_value {
    bool present;
    struct made_image made; /* made.bytes: the file; of a key, the key */
    struct buffer numbers;
    const void *data; /* the value, in one of these */
    int64_t shape[APL_MAX_DIMS];
};

/* Makes it of the file. `image`: of masks: what they lie on; NULL: nothing. Errors name neither shard nor key; APL_E_NOMEM is not the file's. */
apl_status wds_make(const struct wds_field *field, const struct format_host *host, struct image_maker *maker,
                    const struct masked_image *image, struct wds_value *value, apl_error *err);

void wds_value_free(struct wds_value *value);

#endif

/* The features.json that lies beside the records of TensorFlow Datasets: what features are. Of those that it says nothing of, the records tell. */
#ifndef TF_FEATURES_H
#define TF_FEATURES_H

#include "apl.h"
#include "status.h"

#include <stdbool.h>

#define TF_FEATURES_MAX 256u

struct tf_told {
    char name[APL_MAX_NAME + 1]; /* as records have it: "objects/bbox" */
    apl_kind kind;               /* APL_FROM_SOURCE */
    bool listed;                 /* one for each element of a sequence: its number varies */
};

struct tf_features {
    struct tf_told *told;
    unsigned count;
};

/* Reads it. To be freed in any case. Errors do not name it. */
apl_status tf_features_read(const void *text, size_t size, struct tf_features *t, apl_error *err);
void tf_features_free(struct tf_features *t);

/* NULL: it says nothing of that one. */
const struct tf_told *tf_features_find(const struct tf_features *t, const char *name);

#endif

/*
 * A record of a TFRecord file as what it usually is, a tf.train.Example: a protobuf message that maps names to lists of bytes, floats
 * or ints. Only these messages are known, so their few wire types are read here, strictly, instead of by a library:
 *
 *     Example   1: Features
 *     Features  1: of each feature a message of 1: its name, 2: Feature
 *     Feature   one of 1: list of bytes, 2: of floats, 3: of int64; or none
 *     list      1: its values, one by one or (floats and ints) packed
 *
 * Fields with other numbers are passed over, as protobuf wants it, but for the 2 of a tf.train.SequenceExample, which is refused.
 */
#ifndef TF_EXAMPLE_H
#define TF_EXAMPLE_H

#include "bytes.h"
#include "status.h"

#define TF_MAX_FEATURES APL_MAX_FIELDS

enum tf_kind { TF_NONE, TF_BYTES, TF_FLOATS, TF_INTS };

struct tf_feature {
    const char *name; /* not closed by NUL */
    size_t name_size;
    enum tf_kind kind;
    uint64_t count;       /* values */
    const uint8_t *bytes; /* of TF_BYTES: the first value */
    size_t bytes_size;
    const uint8_t *list, *list_end; /* of the others: their message */
};

struct tf_example {
    unsigned count;
    struct tf_feature features[TF_MAX_FEATURES];
};

/* Parses it; what it points to is in `data`. Likely errors: APL_E_SOURCE, APL_E_UNSUPPORTED (a SequenceExample). Names of features are not empty, of UTF-8, and come once each. */
apl_status tf_example_parse(const uint8_t *data, size_t size, struct tf_example *example, apl_error *err);

/* The values of a parsed feature: `count` numbers of 4 (floats) or 8 bytes (ints), little-endian. */
void tf_feature_values(const struct tf_feature *feature, uint8_t *out);

/* "bytes", "floats" or "ints". */
const char *tf_kind_name(enum tf_kind kind);

#endif

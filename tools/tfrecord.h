/* The bytes of TFRecord files of tf.train.Example. */
#ifndef TFRECORD_H
#define TFRECORD_H

#include "value.h"

#define TFRECORD_MAX (256u << 20) /* bytes of a record, as aplingest reads them */

/* The list of a feature: the numbers are those of the protobuf messages. */
enum tfrecord_list { TFRECORD_BYTES = 1, TFRECORD_FLOATS = 2, TFRECORD_INTS = 3 };

/* The features of a record on its way; from {0} to free(data). */
struct tfrecord {
    uint8_t *data;
    size_t size, room;
    bool failed; /* out of memory */
};

/* The list that elements of a field go into: text, files, u8 in arrays, and f64, which TFRecord lacks, are bytes. */
enum tfrecord_list tfrecord_list_of(const apl_field *field);

/* Does an int64 hold all elements of a value for TFRECORD_INTS? Those of u64 may not fit. */
bool tfrecord_fits(const struct value *value);

/* Adds a feature, whose elements stand as the list has them; those of TFRECORD_INTS fit. */
void tfrecord_add(struct tfrecord *t, const char *name, enum tfrecord_list list, const struct value *value);

/* What stands before and behind the features of a record in a file: lengths and masked CRC-32C. Returns the bytes of `head`. */
#define TFRECORD_HEAD 24u
size_t tfrecord_frame(const struct tfrecord *t, uint8_t head[TFRECORD_HEAD], uint8_t tail[4]);

#endif

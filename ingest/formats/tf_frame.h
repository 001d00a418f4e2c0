/* The framing of TFRecord files: of each record its length and its bytes, both with a masked CRC-32C. */
#ifndef TF_FRAME_H
#define TF_FRAME_H

#include "bytes.h"
#include "status.h"

#define TF_RECORD_MAX (256u << 20) /* bytes of a record */

struct tf_frame {
    struct cursor *cursor;
    struct buffer bytes; /* of the record, where it does not fit into the cursor at once; to be freed */
    uint64_t record;     /* records read so far */
};

/* Are these the first bytes of a file, of which the first record's length has its CRC? */
bool tf_frame_is(const uint8_t *head, size_t size);

/* The next record, valid until the next call. APL_END after the last; APL_E_INCOMPLETE if the cursor has failed; APL_E_CORRUPT: its
 * bytes are not those that were written, but the next record can be read. Messages name neither file nor record. */
apl_status tf_frame_next(struct tf_frame *f, const uint8_t **data, size_t *size, apl_error *err);

#endif

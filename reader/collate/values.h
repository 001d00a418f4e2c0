/* Values of varying shape that a batch is made of: where each is, whether it was loaded with its block or is read late, or was made of
 * it (see made.h). Of a planned batch whose blocks are in; without the reader's lock. `k` is the place of a delivery in its job. */
#ifndef VALUES_H
#define VALUES_H

#include "photos.h"
#include "worker.h"

/* How many bytes the value has. */
size_t values_bytes(const struct worker *w, const struct job *job, unsigned field, size_t k);

/* Its shape, of the field's ndim dimensions. */
void values_shape(const struct worker *w, const struct job *job, unsigned field, size_t k, int64_t *shape);

/* Its length along the first dimension of its field that varies. */
int64_t values_length(const struct worker *w, const struct job *job, unsigned field, size_t k);

/* The value itself: good until the worker takes another. NULL where it has no bytes. */
apl_status values_take(struct worker *w, struct job *job, unsigned field, size_t k, const uint8_t **value,
                       apl_error *err);

/* The same of a photo, which may be indexed. */
apl_status values_take_photo(struct worker *w, struct job *job, unsigned field, size_t k,
                             struct photo_value *photo, apl_error *err);

/* Before value `k` is taken: asks for one that comes soon, so that it is there by then, and for the place of a later one; for none from
 * `end` on, of which blocks may not be in yet. */
void values_expect(const struct worker *w, const struct job *job, unsigned field, size_t k, size_t end);

/* Copies the value to `out`, which has room for it. */
apl_status values_copy(struct worker *w, struct job *job, unsigned field, size_t k, uint8_t *out,
                       apl_error *err);

/* Puts record and field in front of the message of an error that concerns the value. */
apl_status values_name(const struct worker *w, const struct job *job, unsigned field, size_t k,
                       apl_status status, apl_error *err);

#endif

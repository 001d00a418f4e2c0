/* What images look like: the hashes of those that a check compares, of pixels or of kept files. */
#ifndef LOOKS_H
#define LOOKS_H

#include "near.h"

struct looks {
    struct image_hash *hashes; /* by id, where */
    uint8_t *is_image;
    uint64_t images;          /* that have a hash */
    uint64_t unread;          /* files that could not be decoded; */
    uint64_t first_unread;    /* the first of them, by id, */
    char why_unread[512];     /* and why not */
    struct near_index *index; /* of all hashes */
};

/* Decodes kept files. The tests see apl.h alone, so the commands hand it over. */
struct image_decoder {
    bool (*takes)(const apl_field *field); /* are its values files that can be decoded? */
    /* Calls looks_take() or looks_miss() for each of the ids, which ascend; in any order. */
    apl_status (*read)(struct looks *looks, apl_store *store, unsigned field, const uint64_t *ids,
                       size_t count, apl_error *err);
};

/* The first input whose values may be images: u8 of that shape, or, with a decoder, files that it takes; -1: none. */
int looks_field(const apl_store *store, const struct image_decoder *decoder);

/* Hashes the images of the records that `wanted` marks, by id. looks_free(), also after a failure. */
apl_status looks_find(apl_store *store, unsigned field, const struct image_decoder *decoder,
                      const uint8_t *wanted, struct looks *looks, apl_error *err);
void looks_free(struct looks *looks);

/* For decoders: the image of a record, 1 or 3 channels side by side in each pixel; or why there is none. */
void looks_take(struct looks *looks, uint64_t id, const uint8_t *pixels, const struct image_layout *layout);
void looks_miss(struct looks *looks, uint64_t id, const char *why);

#endif

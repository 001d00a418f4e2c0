/* What images look like: see looks.h. */
#include "looks.h"
#include "inputs.h"

#include <stdio.h>
#include <stdlib.h>

#define IDS_AT_ONCE \
    65536u /* that a decoder gets: so that their list is small, however many records there are */

int looks_field(const apl_store *store, const struct image_decoder *decoder)
{
    const apl_field *f;
    for (unsigned i = 0; (f = apl_store_field(store, i)) != NULL; i++)
        if (f->role == APL_INPUT && (f->media ? decoder && decoder->takes(f) : images_are_pixels(f)))
            return (int)i;
    return -1;
}

void looks_take(struct looks *looks, uint64_t id, const uint8_t *pixels, const struct image_layout *layout)
{
    looks->hashes[id] = image_hash(pixels, layout);
    looks->is_image[id] = 1;
}

void looks_miss(struct looks *looks, uint64_t id, const char *why)
{
    if (looks->unread++ == 0 || id < looks->first_unread) {
        looks->first_unread = id;
        snprintf(looks->why_unread, sizeof looks->why_unread, "%s", why);
    }
}

static apl_status read_files(struct looks *looks, apl_store *store, unsigned field,
                             const struct image_decoder *decoder, const uint8_t *wanted, apl_error *err)
{
    uint64_t records = apl_store_info(store)->records, *ids = malloc(IDS_AT_ONCE * sizeof *ids);
    apl_status status = ids ? APL_OK : inputs_no_memory(err);
    for (uint64_t id = 0; status == APL_OK && id < records;) {
        size_t count = 0;
        for (; id < records && count < IDS_AT_ONCE; id++)
            if (wanted[id])
                ids[count++] = id;
        if (count > 0)
            status = decoder->read(looks, store, field, ids, count, err);
    }
    free(ids);
    return status;
}

apl_status looks_find(apl_store *store, unsigned field, const struct image_decoder *decoder,
                      const uint8_t *wanted, struct looks *looks, apl_error *err)
{
    size_t n = (size_t)apl_store_info(store)->records;
    *looks = (struct looks){.hashes = calloc(n + 1, sizeof *looks->hashes), .is_image = calloc(n + 1, 1)};
    if (!looks->hashes || !looks->is_image)
        return inputs_no_memory(err);
    apl_status status = apl_store_field(store, field)->media
                            ? read_files(looks, store, field, decoder, wanted, err)
                            : images_hash(store, field, looks->hashes, looks->is_image, err);
    for (size_t i = 0; status == APL_OK && i < n; i++) {
        looks->is_image[i] &= wanted[i];
        looks->images += looks->is_image[i];
    }
    if (status == APL_OK)
        looks->index = near_index_new(looks->hashes, looks->is_image, (uint32_t)n);
    return status == APL_OK && !looks->index ? inputs_no_memory(err) : status;
}

void looks_free(struct looks *looks)
{
    near_index_free(looks->index);
    free(looks->hashes);
    free(looks->is_image);
    *looks = (struct looks){.index = NULL};
}

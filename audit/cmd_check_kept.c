/* apldata check: decodes the images of kept files, as `apldata show` and `apldata view` do. */
#include "cmd_check.h"
#include "image_read.h"

/* A side of the small copies that are made of files of JPEG: a multiple of the eight and of the nine cells that the hash has along it. Of
 * most photographs, no more is decoded than a quarter or an eighth of their sides has. */
#define SIDE 72u

static bool is_file_of_image(const apl_field *field)
{
    return field->media && image_is_readable(field);
}

static int take_image(void *user, uint64_t id, const struct image *image, const char *why)
{
    struct looks *looks = user;
    if (!image) {
        looks_miss(looks, id, why);
        return 0;
    }
    struct image_layout layout = {(uint32_t)image->width, (uint32_t)image->height, image->channels, 1,
                                  image->channels};
    looks_take(looks, id, image->pixels, &layout);
    return 0;
}

static apl_status read_images(struct looks *looks, apl_store *store, unsigned field, const uint64_t *ids,
                              size_t count, apl_error *err)
{
    const struct image_request request = {.store = store,
                                          .field = field,
                                          .ids = ids,
                                          .count = count,
                                          .width = SIDE,
                                          .height = SIDE,
                                          .take = take_image,
                                          .user = looks,
                                          .err = err};
    *err = (apl_error){.status = APL_E_IO, .message = "interrupted"};
    return images_read(&request) == 0 ? APL_OK : err->status;
}

const struct image_decoder kept_images = {is_file_of_image, read_images};

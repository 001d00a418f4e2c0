/* Images of records, decoded for looking at: as the reader decodes them, in 8 bits, grey or RGB. Calls that fail have said why on stderr. */
#ifndef IMAGE_READ_H
#define IMAGE_READ_H

#include "image.h"

/* Can images be made of the field's values? Those of field_is_image(), and files of JPEG and PNG. */
bool image_is_readable(const apl_field *field);

/* The first such field of the store, an input if there is one; -1: none. */
int image_first_field(const apl_store *store);

/* What a value says of its size: by its shape, or in the header of its file. False: nothing. */
bool image_size_of(const apl_field *field, const struct value *value, struct image_size *size);

/* The name of the field that has the sizes of a field of files, u32 {channels, height, width}, or NULL; in `name`. */
const char *image_shape_field(const apl_store *store, unsigned field, char name[APL_MAX_NAME + 8]);

struct image_request {
    apl_store *store;
    unsigned field;
    const uint64_t *ids; /* ascending */
    size_t count;
    size_t width,
        height; /* files of JPEG are scaled to that; other images are shrunk to it along each side */
    unsigned threads;
    /* Called for each id, on this thread; in any order. The image lives as long as the call; NULL: none, and why. Anything but
     * 0 ends it all. */
    int (*take)(void *user, uint64_t id, const struct image *image, const char *why);
    void *user;
    apl_error *err; /* where to say why a call fails; NULL: on stderr */
};

/* 0, what take() returned, or an exit status. One image that cannot be decoded is no failure. */
int images_read(const struct image_request *request);

#endif

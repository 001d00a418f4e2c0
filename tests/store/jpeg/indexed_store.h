/* A store of indexed JPEG files, and readers of crops of them. */
#ifndef INDEXED_STORE_H
#define INDEXED_STORE_H

#include "jpeg_writer.h"
#include "jpegs.h"

#include <criterion/criterion.h>

#ifndef IMAGES
#define IMAGES 30
#endif
#define SIDE 24

static struct jpeg_bytes files[IMAGES];

/* Of all kinds; one that is empty, one that is no image. */
static inline void draw_files(void)
{
    for (unsigned i = 0; i < IMAGES; i++) {
        struct jpeg_case k = jpeg_cases[i % JPEG_CASES];
        k.width += 40 + i;
        k.height += 40 + 2 * i;
        files[i] = jpeg_draw(&k);
    }
    files[3].size = 0;
    files[4].size = 11;
}

/* All of them images. */
static inline void draw_images(void)
{
    draw_files();
    for (unsigned i = 3; i < 5; i++) {
        free(files[i].data);
        files[i] = jpeg_draw(
            &(struct jpeg_case){.width = 80 + i, .height = 70, .colour = JCS_YCbCr, .across = 2, .down = 2});
    }
}

static inline void free_files(void)
{
    for (unsigned i = 0; i < IMAGES; i++)
        free(files[i].data);
}

static inline apl_store *store_of(const char *name, bool indexed, bool shuffled)
{
    apl_writer_options options = APL_WRITER_OPTIONS_INIT;
    options.shuffle = shuffled;
    options.block_records = 7;
    apl_writer *w = writer_of_files(name, indexed, &options);
    for (unsigned i = 0; i < IMAGES; i++)
        append_bytes(w, files[i].data, files[i].size);
    return finished(w, name);
}

static inline void is_file(const apl_column *c, size_t row, unsigned file)
{
    cr_assert_eq(c->offsets[row + 1] - c->offsets[row], files[file].size, "file %u", file);
    cr_assert_eq(c->shapes[row], (int64_t)files[file].size);
    cr_assert(files[file].size == 0 ||
                  memcmp((const uint8_t *)c->data + c->offsets[row], files[file].data, files[file].size) == 0,
              "file %u", file);
}

/* `asked` says the rest. */
static inline apl_reader *open_crops_as(apl_store *s, const apl_reader_options *asked)
{
    apl_transform t = APL_TRANSFORM_INIT;
    apl_reader_options o = *asked;
    apl_reader *r;
    t.sizing = APL_SIZING_RANDOM;
    t.crop_height = t.crop_width = SIDE;
    o.seed = 5;
    o.transforms = &t;
    o.transform_count = 1;
    OK(apl_reader_open(s, &o, &r, &fx_err));
    return r;
}

static inline apl_reader *open_crops(apl_store *s)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    o.batch_size = 4;
    return open_crops_as(s, &o);
}

#endif

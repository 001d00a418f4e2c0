/* A perceptual hash: see image_hash.h. */
#include "image_hash.h"
#include "inputs.h"

#include <string.h>

bool image_layout(apl_form form, const int64_t *shape, struct image_layout *l)
{
    bool first = form == APL_FORM_CHW, last = form == APL_FORM_HWC;
    if (form != APL_FORM_HW && !first && !last)
        return false;
    int64_t height = shape[first], width = shape[first + 1],
            channels = first  ? shape[0]
                       : last ? shape[2]
                              : 1;
    if (height < 1 || width < 1 || channels < 1 || channels > UINT32_MAX || height > UINT32_MAX / width)
        return false;
    *l = (struct image_layout){
        .width = (uint32_t)width, .height = (uint32_t)height, .channels = (uint32_t)channels};
    l->channel_step = last ? 1 : (size_t)width * (size_t)height;
    l->pixel_step = last ? l->channels : 1;
    return true;
}

static uint64_t luma(const uint8_t *pixel, const struct image_layout *l)
{
    if (l->channels != 3 && l->channels != 4)
        return *pixel;
    return (77u * pixel[0] + 150u * pixel[l->channel_step] + 29u * pixel[2 * l->channel_step] + 128) >> 8;
}

#define MOST_CELLS 9

/* One dimension: `size` pixels over `cells` cells, both measured in units of 1 / cells of a pixel. Calls for each cell that pixel i
 * reaches into: how far. */
struct axis {
    uint64_t size, cells;
};

/* The first cell that pixel i overlaps. */
static uint64_t first_cell(const struct axis *a, uint64_t i)
{
    return i * a->cells / a->size;
}

/* How much of pixel i is in a cell; 0: it ends before. */
static uint64_t overlap(const struct axis *a, uint64_t i, uint64_t cell)
{
    uint64_t from = i * a->cells, to = from + a->cells, begin = cell * a->size, end = begin + a->size;
    from = from > begin ? from : begin;
    to = to < end ? to : end;
    return to > from ? to - from : 0;
}

/* Adds weight x v to the cells that pixel i overlaps. */
static void spread(const struct axis *a, uint64_t i, uint64_t v, uint64_t *cells)
{
    for (uint64_t c = first_cell(a, i); c < a->cells; c++) {
        uint64_t weight = overlap(a, i, c);
        if (weight == 0)
            break;
        cells[c] += weight * v;
    }
}

/* Sums over cells, all of the same area: below 2^8 x width x height x cells of both axes. */
static void reduce(const uint8_t *pixels, const struct image_layout *l, unsigned columns, unsigned rows,
                   uint64_t sums[MOST_CELLS][MOST_CELLS])
{
    struct axis across = {l->width, columns}, down = {l->height, rows};
    memset(sums, 0, MOST_CELLS * sizeof *sums);
    for (uint32_t y = 0; y < l->height; y++) {
        uint64_t row[MOST_CELLS] = {0};
        for (uint32_t x = 0; x < l->width; x++)
            spread(&across, x, luma(pixels + ((size_t)y * l->width + x) * l->pixel_step, l), row);
        for (uint64_t c = first_cell(&down, y); c < rows; c++) {
            uint64_t weight = overlap(&down, y, c);
            if (weight == 0)
                break;
            for (unsigned x = 0; x < columns; x++)
                sums[c][x] += weight * row[x];
        }
    }
}

struct image_hash image_hash(const uint8_t *pixels, const struct image_layout *l)
{
    struct image_hash hash = {0, 0};
    uint64_t sums[MOST_CELLS][MOST_CELLS];
    reduce(pixels, l, 9, 8, sums);
    for (unsigned i = 0; i < 64; i++)
        hash.across |= (uint64_t)(sums[i / 8][i % 8 + 1] > sums[i / 8][i % 8]) << i;
    reduce(pixels, l, 8, 9, sums);
    for (unsigned i = 0; i < 64; i++)
        hash.down |= (uint64_t)(sums[i / 8 + 1][i % 8] > sums[i / 8][i % 8]) << i;
    return hash;
}

/* ---------------------------------------------------------------------------------------- of all records */

bool images_are_pixels(const apl_field *f)
{
    return f->dtype == APL_U8 && apl_field_form(f) != APL_FORM_NONE;
}

struct hashing {
    unsigned field;
    apl_form form;
    const int64_t *shape; /* of the field */
    struct image_hash *hashes;
    uint8_t *is_image;
};

static void hash_batch(void *user, const apl_batch *batch)
{
    struct hashing *h = user;
    const apl_column *c = apl_batch_column(batch, h->field);
    size_t rows = apl_batch_rows(batch);
    uint64_t first = apl_batch_ids(batch)[0];
    for (size_t row = 0; row < rows; row++) {
        struct image_layout layout;
        const int64_t *shape = c->offsets ? c->shapes + row * c->ndim : h->shape;
        size_t at = c->offsets ? (size_t)c->offsets[row] : row * (c->bytes / rows);
        h->is_image[first + row] = image_layout(h->form, shape, &layout);
        h->hashes[first + row] = h->is_image[first + row] ? image_hash((const uint8_t *)c->data + at, &layout)
                                                          : (struct image_hash){0, 0};
    }
}

apl_status images_hash(apl_store *store, unsigned field, struct image_hash *hashes, uint8_t *is_image,
                       apl_error *err)
{
    const apl_field *f = apl_store_field(store, field);
    struct hashing h = {field, apl_field_form(f), f->shape, hashes, is_image};
    return inputs_each(store, &f->name, 1, hash_batch, &h, err);
}

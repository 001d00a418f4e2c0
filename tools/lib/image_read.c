/* Images of records: see image_read.h. Files of JPEG go through a reader of the library, all others are decoded here. */
#include "image_read.h"

#include "args.h"
#include "chunk.h"
#include "image_scale.h"
#include "interrupt.h"
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 64u

static bool is_media(const apl_field *field, const char *media)
{
    return field->media && strcmp(field->media, media) == 0;
}

bool image_is_readable(const apl_field *field)
{
    return field_is_image(field) || is_media(field, "image/jpeg") || is_media(field, "image/png");
}

int image_first_field(const apl_store *store)
{
    int found = -1;
    for (unsigned i = apl_store_info(store)->fields; i-- > 0;) {
        const apl_field *field = apl_store_field(store, i);
        bool input = field->role == APL_INPUT;
        if (image_is_readable(field) &&
            (found < 0 || input || apl_store_field(store, (unsigned)found)->role != APL_INPUT))
            found = (int)i;
    }
    return found;
}

const char *image_shape_field(const apl_store *store, unsigned field, char name[APL_MAX_NAME + 8])
{
    snprintf(name, APL_MAX_NAME + 8, "%s_shape", apl_store_field(store, field)->name);
    int found = apl_store_find_field(store, name);
    const apl_field *f = found < 0 ? NULL : apl_store_field(store, (unsigned)found);
    return f && f->dtype == APL_U32 && f->ndim == 1 && f->shape[0] == 3 && f->role == APL_NAME ? name : NULL;
}

/* ------------------------------------------------------------------------------------------------- sizes */

static uint32_t big_endian(const uint8_t *p, unsigned bytes)
{
    uint32_t v = 0;
    for (unsigned i = 0; i < bytes; i++)
        v = v << 8 | p[i];
    return v;
}

static bool starts_frame(uint8_t marker)
{
    return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

/* Walks the segments up to that which begins the frame. */
static bool jpeg_size(const uint8_t *file, size_t bytes, struct image_size *size)
{
    if (bytes < 4 || file[0] != 0xff || file[1] != 0xd8)
        return false;
    for (size_t at = 2; bytes - at > 9 && file[at] == 0xff;) {
        uint32_t length = big_endian(file + at + 2, 2);
        if (file[at + 1] == 0xff) { /* padding */
            at++;
            continue;
        }
        if (starts_frame(file[at + 1])) {
            *size =
                (struct image_size){big_endian(file + at + 7, 2), big_endian(file + at + 5, 2), file[at + 9]};
            return size->width && size->height;
        }
        if (length < 2 || length + 2 > bytes - at)
            return false;
        at += length + 2;
    }
    return false;
}

static bool png_size(const uint8_t *file, size_t bytes, struct image_size *size)
{
    static const uint8_t channels[7] = {1, 0, 3, 3, 2, 0, 4};
    if (bytes < 26 || memcmp(file, "\x89PNG\r\n\x1a\n", 8) != 0 || file[25] > 6)
        return false;
    *size = (struct image_size){big_endian(file + 16, 4), big_endian(file + 20, 4), channels[file[25]]};
    return size->width && size->height && size->channels;
}

bool image_size_of(const apl_field *field, const struct value *value, struct image_size *size)
{
    if (is_media(field, "image/jpeg"))
        return jpeg_size(value->data, value->bytes, size);
    if (is_media(field, "image/png"))
        return png_size(value->data, value->bytes, size);
    return field_is_image(field) && image_value_size(field, value, size);
}

static int stop(const struct image_request *r, const apl_error *err)
{
    if (!r->err)
        return failed("%s", err->message);
    *r->err = *err;
    return EXIT_FAILURE;
}

/* ----------------------------------------------------------------------------------------- files of JPEG */

static int take_row(const struct image_request *r, const apl_batch *batch, size_t row)
{
    const apl_column *c = apl_batch_column(batch, r->field);
    size_t bytes = c->bytes / apl_batch_rows(batch);
    struct image image = {(size_t)c->shape[1], (size_t)c->shape[0], (unsigned)c->shape[2], 1,
                          (uint8_t *)c->data + row * bytes};
    return r->take(r->user, apl_batch_ids(batch)[row], &image, NULL);
}

static int read_split(const struct image_request *r, const char *split);

/* A record that was left out, as all of its block are where one is damaged: on its own, it may be intact, and else says what it has. */
static int take_alone(const struct image_request *r, const char *split, uint64_t id)
{
    struct image_request alone = *r;
    alone.ids = &id;
    alone.count = 1;
    return read_split(&alone, split);
}

static int take_batch(const struct image_request *r, const char *split, const apl_batch *batch)
{
    size_t rows = apl_batch_rows(batch), skipped = 0;
    const uint64_t *left_out = apl_batch_skipped(batch, &skipped);
    int status = 0;
    for (size_t i = 0; i < rows && !status; i++)
        status = take_row(r, batch, i);
    for (size_t i = 0; i < skipped && !status; i++)
        status = take_alone(r, split, left_out[i]);
    return status;
}

/* The message of an error about one record, without the store, that record's id and the field, which take() knows. */
static const char *without_id(const struct image_request *r, const char *message)
{
    char field[APL_MAX_NAME + 16];
    const char *id = strstr(message, "record ");
    char *end;
    if (!id || (id != message && strncmp(id - 2, ": ", 2) != 0) || strtoull(id + 7, &end, 10) != r->ids[0])
        return message;
    snprintf(field, sizeof field, ", field %s: ", shown(apl_store_field(r->store, r->field)->name));
    if (strncmp(end, field, strlen(field)) == 0)
        return end + strlen(field);
    return strncmp(end, ": ", 2) == 0 ? end + 2 : message;
}

static int run_reader_of(const struct image_request *r, const char *split, apl_reader *reader)
{
    apl_batch *batch;
    apl_error err;
    apl_status status;
    int code = 0;
    while (!code && (status = apl_reader_next(reader, &batch, &err)) != APL_END) {
        if (status != APL_OK)
            return r->count == 1 ? r->take(r->user, r->ids[0], NULL, without_id(r, err.message))
                                 : stop(r, &err);
        code = interrupted() ? EXIT_FAILURE : take_batch(r, split, batch);
        apl_batch_release(batch);
    }
    return code;
}

/* Of one split: the ids are all in it. Of a single one, the reader's error is what take() is told. */
static int read_split(const struct image_request *r, const char *split)
{
    const char *name = apl_store_field(r->store, r->field)->name;
    apl_transform transform = APL_TRANSFORM_INIT;
    apl_reader_options options = APL_READER_OPTIONS_INIT;
    apl_reader *reader;
    apl_error err;
    transform.field = name;
    transform.sizing = APL_SIZING_RESIZE;
    transform.resize_width = (unsigned)r->width;
    transform.resize_height = (unsigned)r->height;
    transform.scale = APL_SCALE_NONE;
    transform.dtype = APL_U8;
    transform.layout = APL_NHWC;
    options.split = split;
    options.fields = &name;
    options.field_count = 1;
    options.sequential = 1;
    options.batch_size = BATCH;
    options.ids = r->ids;
    options.id_count = r->count;
    options.transforms = &transform;
    options.transform_count = 1;
    options.threads = r->count == 1 ? APL_NO_THREADS : r->threads;
    options.faults.skip_corrupt = r->count == 1 ? 0 : UINT64_MAX;
    if (apl_reader_open(r->store, &options, &reader, &err) != APL_OK)
        return stop(r, &err);
    int code = run_reader_of(r, split, reader);
    apl_reader_close(reader);
    return code;
}

static int read_jpegs(const struct image_request *request)
{
    int status = 0;
    struct image_request part = *request;
    for (unsigned i = 0; i < apl_store_info(request->store)->splits && !status; i++) {
        const apl_split *split = apl_store_split(request->store, i);
        size_t end = (size_t)(request->ids + request->count - part.ids), n = 0;
        while (n < end && part.ids[n] - split->first < split->count)
            n++;
        part.count = n;
        if (n > 0)
            status = read_split(&part, split->name);
        part.ids += n;
    }
    return status;
}

/* ------------------------------------------------------------------------------------------- all others */

static const char *decode(const apl_field *field, const struct value *value, struct image *image)
{
    return field->media ? image_read_png(image, value->data, value->bytes)
                        : image_make(image, field, value, 1, 1);
}

static int take_value(const struct image_request *r, uint64_t id, const struct value *value)
{
    static const apl_error no_memory = {.status = APL_E_NOMEM, .message = "out of memory"};
    struct image image = {0}, small;
    const char *why = decode(apl_store_field(r->store, r->field), value, &image);
    if (why)
        return r->take(r->user, id, NULL, why);
    image_simplify(&image);
    bool made = image_shrink(&image, r->width, r->height, &small);
    int status = made ? r->take(r->user, id, &small, NULL) : stop(r, &no_memory);
    image_free(&image);
    image_free(&small);
    return status;
}

static int take_values(const struct image_request *r, const apl_batch *batch)
{
    size_t rows = apl_batch_rows(batch);
    int status = 0;
    for (size_t i = 0; i < rows && !status; i++) {
        struct value v = value_of(apl_batch_column(batch, r->field), i, rows);
        status = take_value(r, apl_batch_ids(batch)[i], &v);
    }
    return status;
}

static int read_values(const struct image_request *r)
{
    size_t chunk = chunk_records(apl_store_info(r->store));
    int status = 0;
    for (size_t from = 0; from < r->count && !status; from += chunk) {
        apl_batch *batch = NULL;
        apl_error err;
        size_t n = r->count - from < chunk ? r->count - from : chunk;
        if (interrupted())
            return EXIT_FAILURE;
        bool read = chunk_read(r->store, r->ids + from, n, &r->field, 1, r->threads, &batch, &err) == APL_OK;
        status = read ? take_values(r, batch) : stop(r, &err);
        apl_batch_release(batch);
    }
    return status;
}

int images_read(const struct image_request *request)
{
    const apl_field *field = apl_store_field(request->store, request->field);
    return is_media(field, "image/jpeg") ? read_jpegs(request) : read_values(request);
}

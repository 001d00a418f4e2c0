/*
 * Images in folders by class as a format. Each becomes a record: the file as it is, its label, its path, its channels, height and
 * width. Images are gathered, decoded on all cores to see that they can be, and appended in the order in which they came.
 */
#include "class_tree.h"
#include "format.h"
#include "image_kind.h"
#include "jpeg.h"
#include "parallel.h"
#include "utf8.h"

#include <inttypes.h>
#include <stdio.h>

#define GATHER_FILES 64u
#define GATHER_BYTES ((size_t)16 << 20) /* unless one file has more */

/* An image that was read. */
struct image {
    struct buffer bytes, path; /* path: as records have it */
    char *shown;               /* the path as the source has it, safe to print */
    struct class_place place;
    uint32_t shape[3]; /* channels, height, width */
    apl_status status; /* what came of decoding it */
    apl_error error;
};

struct folder_images {
    const struct format_host *host;
    struct class_tree *tree;
    apl_writer *writer; /* the host's; NULL until the first image */
    struct image images[GATHER_FILES];
    unsigned gathered;
    size_t gathered_bytes;
    unsigned threads;
    struct jpeg_decoder **decoders;   /* of each thread */
    uint64_t listed, others, records; /* images, and other files, that were listed; records made */
    const char *split;                /* of the current member; NULL: none */
    uint32_t members;
    uint32_t ranks_used[32]; /* members of each split */
};

/* ------------------------------------------------------------------------------------------------ listing */

/* Hidden, or what macOS leaves in archives. */
static bool is_hidden(const char *path)
{
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (*part == '.' || strncmp(part, "__MACOSX/", 9) == 0)
            return true;
    }
    return false;
}

static bool wants_image(const void *state, const char *name)
{
    (void)state;
    return image_name(name) && !is_hidden(name);
}

static apl_status list_file(void *state, const char *name, bool directory, apl_error *err)
{
    struct folder_images *f = state;
    if (is_hidden(name) || !*name)
        return APL_OK;
    if (!directory && !image_name(name)) {
        f->others++;
        return APL_OK;
    }
    f->listed += !directory;
    return class_tree_add(f->tree, name, directory, err);
}

static void tell_left_out(const struct folder_images *f, uint64_t count, const char *what)
{
    char text[128];
    snprintf(text, sizeof text, "%s: %" PRIu64, what, count);
    if (count)
        f->host->notice(f->host->user, "", text);
}

static apl_status end_list(void *state, apl_error *err)
{
    struct folder_images *f = state;
    const char *const *names;
    if (f->listed == 0)
        return fail(err, APL_E_SOURCE,
                    "%s: has no images (files called .jpg, .jpeg, .png, ...) in folders by class",
                    f->host->source);
    apl_status status = class_tree_decide(f->tree, f->host->partial, err);
    if (status != APL_OK)
        return fail_in(err, status, "%s", f->host->source);
    if (class_tree_classes(f->tree, &names) == 0 || class_tree_strays(f->tree) == f->listed)
        return fail(err, APL_E_SOURCE,
                    "%s: its images lie in no folders by class, such as cat/1.jpg or train/cat/1.jpg",
                    f->host->source);
    tell_left_out(f, class_tree_strays(f->tree), "images left out, as they lie in no class");
    tell_left_out(f, f->others, "files left out, as their names are not those of images");
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------ checking */

static apl_status wrong_kind(const struct image *image, apl_error *err)
{
    const char *kind = image_kind(image->bytes.data, image->bytes.size);
    if (image->bytes.size == 0)
        return fail(err, APL_E_SOURCE, "is empty");
    if (!kind)
        return fail(err, APL_E_SOURCE, "is not a known image; only JPEG images are accepted");
    return fail(err, APL_E_UNSUPPORTED, "holds %s, and only JPEG images are accepted", kind);
}

/* Reads the header; decodes all of the image, if that is to be seen. Its pixels at an eighth of the size: what is read of the
 * file is the same. */
static apl_status check_jpeg(const struct folder_images *f, struct jpeg_decoder *d, struct image *image,
                             apl_error *err)
{
    struct jpeg_info info;
    struct jpeg_planes planes;
    struct jpeg_band band = {.plane[0].count = 1};
    const char *kind = image_kind(image->bytes.data, image->bytes.size);
    if (!kind || strcmp(kind, "JPEG") != 0)
        return wrong_kind(image, err);
    apl_status status = jpeg_decoder_open(d, image->bytes.data, image->bytes.size, &info, err);
    if (status == APL_OK && !f->host->unchecked)
        status = jpeg_decoder_start(d, (struct jpeg_region){0, 0, info.width, info.height}, 1,
                                    JPEG_CHROMA_PLANES, &planes, err);
    while (status == APL_OK && !f->host->unchecked && band.plane[0].count > 0)
        status = jpeg_decoder_next(d, &band, err);
    jpeg_decoder_end(d);
    if (status == APL_OK) {
        image->shape[0] = info.components;
        image->shape[1] = info.height;
        image->shape[2] = info.width;
    }
    return status;
}

static apl_status check_image(void *context, unsigned worker, size_t task, apl_error *err)
{
    struct folder_images *f = context;
    struct image *image = &f->images[task];
    if (!f->decoders[worker] && !(f->decoders[worker] = jpeg_decoder_new()))
        return fail_nomem(err);
    image->status = check_jpeg(f, f->decoders[worker], image, &image->error);
    if (image->status == APL_OK && !utf8_valid((const char *)image->path.data, image->path.size))
        image->status = fail(&image->error, APL_E_SOURCE, "its path is not UTF-8");
    if (image->status == APL_E_NOMEM)
        *err = image->error;
    return image->status == APL_E_NOMEM ? APL_E_NOMEM : APL_OK;
}

/* ----------------------------------------------------------------------------------------------- appending */

static apl_dtype label_type(uint32_t classes)
{
    return classes <= 256 ? APL_U8 : classes <= 65536 ? APL_U16 : APL_U32;
}

static apl_status add_image_fields(struct folder_images *f, apl_error *err)
{
    static const int64_t any[1] = {-1}, three[1] = {3};
    const char *const *names;
    uint32_t classes = class_tree_classes(f->tree, &names);
    TRY(apl_writer_add_field(f->writer, "image", APL_U8, APL_INPUT, 1, any, err));
    TRY(apl_writer_set_media(f->writer, "image", "image/jpeg", err));
    TRY(apl_writer_add_field(f->writer, "label", label_type(classes), APL_TARGET, 0, NULL, err));
    TRY(apl_writer_add_field(f->writer, "path", APL_UTF8, APL_NAME, 1, any, err));
    TRY(apl_writer_add_field(f->writer, "image_shape", APL_U32, APL_NAME, 1, three, err));
    return apl_writer_set_classes(f->writer, "label", names, classes, err);
}

/* Images of one split after another are a member. Where splits come mixed, as in an archive that is not sorted, each has several:
 * their numbers are next to each other all the same. */
static apl_status begin_split(struct folder_images *f, const struct class_place *place, apl_error *err)
{
    if (f->split == place->split)
        return APL_OK;
    if (!f->split)
        TRY(add_image_fields(f, err));
    uint32_t number = f->ranks_used[place->split_rank]++;
    if (number > UINT16_MAX)
        return fail(err, APL_E_SOURCE, "%s: its splits come mixed: sort the archive", f->host->source);
    TRY(apl_writer_begin_member(f->writer, place->split, place->split, place->split_rank << 16 | number,
                                err));
    f->split = place->split;
    return APL_OK;
}

static apl_status append_image(struct folder_images *f, const struct image *image, apl_error *err)
{
    const int64_t bytes = (int64_t)image->bytes.size, path = (int64_t)image->path.size;
    const uint32_t label = image->place.label;
    const apl_value values[] = {
        {image->bytes.data, &bytes}, {&label, NULL}, {image->path.data, &path}, {image->shape, NULL}};
    if (!f->writer)
        TRY(f->host->writer(f->host->user, &f->writer, err));
    TRY(f->host->not_the_source(f->host->user, begin_split(f, &image->place, err)));
    f->records++;
    return f->host->append(f->host->user, values, err);
}

/* Checks what has been gathered and appends it. */
static apl_status flush(struct folder_images *f, apl_error *err)
{
    unsigned n = f->gathered;
    f->gathered = 0;
    f->gathered_bytes = 0;
    apl_status status = parallel_for(f->threads, n, check_image, f, err);
    if (status != APL_OK)
        return f->host->not_the_source(f->host->user, status);
    for (unsigned i = 0; i < n; i++) {
        struct image *image = &f->images[i];
        if (image->status == APL_OK)
            TRY(append_image(f, image, err));
        else {
            apl_error why = image->error;
            TRY(f->host->bad(f->host->user, image->shown, &why, err));
        }
    }
    return APL_OK;
}

/* ----------------------------------------------------------------------------------------------- gathering */

/* All of the member, into `bytes`. */
static apl_status take_bytes(const struct format_member *m, struct buffer *bytes, apl_error *err)
{
    bytes->size = 0;
    if (!buffer_reserve(bytes, (size_t)m->size + 1))
        return fail_nomem(err);
    for (uint64_t left = m->size; left > 0;) {
        size_t n = cursor_left(m->cursor);
        n = n == 0 ? 1 : n < left ? n : (size_t)left;
        const uint8_t *data = cursor_take(m->cursor, n);
        if (!data)
            return fail(err, APL_E_SOURCE, "cut off");
        buffer_put(bytes, data, n);
        left -= n;
    }
    return APL_OK;
}

static apl_status take_names(struct image *image, const struct format_member *m, apl_error *err)
{
    free(image->shown);
    image->shown = strdup(m->path);
    image->path.size = 0;
    buffer_put(&image->path, image->place.path, strlen(image->place.path));
    return image->shown && !image->path.failed ? APL_OK : fail_nomem(err);
}

static apl_status gather_image(void *state, const struct format_member *m, apl_error *err)
{
    struct folder_images *f = state;
    struct image *image = &f->images[f->gathered];
    if (!class_tree_find(f->tree, m->name, &image->place))
        return APL_OK;
    if (m->size > APL_MAX_VALUE) {
        TRY(flush(f, err));
        apl_error why;
        fail(&why, APL_E_SOURCE, "has %" PRIu64 " bytes, more than the %u of a value", m->size,
             APL_MAX_VALUE);
        return f->host->bad(f->host->user, m->path, &why, err);
    }
    TRY(take_names(image, m, err));
    TRY(take_bytes(m, &image->bytes, err));
    f->gathered_bytes += image->bytes.size;
    f->gathered++;
    return f->gathered == GATHER_FILES || f->gathered_bytes >= GATHER_BYTES ? flush(f, err) : APL_OK;
}

static apl_status finish_folder(void *state, char format[32], apl_error *err)
{
    struct folder_images *f = state;
    TRY(flush(f, err));
    if (f->records == 0)
        return fail(err, APL_E_SOURCE, "%s: all of its images are bad", f->host->source);
    snprintf(format, 32, "folder");
    return APL_OK;
}

/* -------------------------------------------------------------------------------------------- open and close */

static void close_folder(void *state)
{
    struct folder_images *f = state;
    if (!f)
        return;
    for (unsigned i = 0; i < GATHER_FILES; i++) {
        buffer_free(&f->images[i].bytes);
        buffer_free(&f->images[i].path);
        free(f->images[i].shown);
    }
    for (unsigned i = 0; f->decoders && i < f->threads; i++)
        jpeg_decoder_free(f->decoders[i]);
    free(f->decoders);
    class_tree_free(f->tree);
    free(f);
}

static apl_status open_folder_images(const struct format_host *host, void **state, apl_error *err)
{
    struct folder_images *f = calloc(1, sizeof *f);
    if (!f)
        return fail_nomem(err);
    f->host = host;
    f->threads = threads_for(host->threads);
    f->decoders = calloc(f->threads, sizeof *f->decoders);
    f->tree = class_tree_new();
    if (!f->decoders || !f->tree) {
        close_folder(f);
        return fail_nomem(err);
    }
    *state = f;
    return APL_OK;
}

const struct format format_folder = {
    .name = "folder",
    .title = "JPEG images in folders by class: CLASS/*.jpg or SPLIT/CLASS/*.jpg",
    .folders = true,
    .open = open_folder_images,
    .close = close_folder,
    .wants = wants_image,
    .list = list_file,
    .listed = end_list,
    .member = gather_image,
    .finish = finish_folder,
};

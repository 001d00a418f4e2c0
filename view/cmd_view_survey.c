/* apldata view: which records are looked at, and what their images look like. */
#include "args.h"
#include "cmd_view.h"
#include "image_read.h"
#include "report.h"
#include "sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DECODED ((uint64_t)4 << 30) /* bytes of blocks */

/* ------------------------------------------------------------------------------------------- the sample */

/* Values of kept fields are read one by one, all others by the block. */
static uint64_t block_bytes(const struct view *view)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < view->info->fields; i++) {
        const apl_field *f = apl_store_field(view->store, i);
        bytes += f->media ? 0 : f->raw_bytes;
    }
    return view->info->blocks ? bytes / view->info->blocks : 0;
}

static int choose_sample(struct view *view)
{
    const apl_info *info = view->info;
    struct sample_plan plan = {info->records, info->block_records, block_bytes(view), view->most_records,
                               MOST_DECODED};
    view->n = info->records ? (uint32_t)sample_size(&plan) : 0;
    view->ids = calloc((size_t)view->n + 1, sizeof *view->ids);
    if (!view->ids)
        return failed("out of memory");
    if (view->n > 0)
        (void)sample_ids(&plan, view->ids);
    return 0;
}

static void mark_own(struct view *view, unsigned number, const apl_split *split)
{
    for (uint32_t i = 0; i < view->n; i++)
        if (view->ids[i] - split->first < split->count)
            view->in_splits[i] |= (uint64_t)1 << number;
}

static int mark_made(struct view *view, unsigned number)
{
    uint64_t count = 0, at = 0;
    apl_error err;
    apl_status status = apl_split_ids(view->store, view->splits.names[number], NULL, &count, &err);
    uint64_t *ids = malloc((size_t)(count + 1) * sizeof *ids);
    if (!ids)
        return failed("out of memory");
    if (status == APL_OK)
        status = apl_split_ids(view->store, view->splits.names[number], ids, &count, &err);
    for (uint32_t i = 0; status == APL_OK && i < view->n && at < count; i++) {
        while (at < count && ids[at] < view->ids[i])
            at++;
        if (at < count && ids[at] == view->ids[i])
            view->in_splits[i] |= (uint64_t)1 << number;
    }
    free(ids);
    return status == APL_OK ? 0 : failed("%s", err.message);
}

static int mark_splits(struct view *view)
{
    int status = 0;
    for (unsigned i = 0; i < view->splits.count && i < MOST_SPLITS && !status; i++) {
        if (i < view->info->splits)
            mark_own(view, i, apl_store_split(view->store, i));
        else
            status = mark_made(view, i);
    }
    return status;
}

/* -------------------------------------------------------------------------------------------- the images */

static bool means_begin(struct view *view)
{
    const apl_field *f = apl_store_field(view->store, (unsigned)view->image_field);
    struct means *m = &view->means;
    struct value shape = {.ndim = f->ndim};
    struct image_size size;
    memcpy(shape.shape, f->shape, sizeof shape.shape);
    bool fixed = !f->media && f->value_bytes > 0 && image_value_size(f, &shape, &size);
    m->width = fixed && size.width < MEAN_SIDE ? size.width : MEAN_SIDE;
    m->height = fixed && size.height < MEAN_SIDE ? size.height : MEAN_SIDE;
    size_t values = (size_t)3 * m->width * m->height;
    m->sum = calloc(values, sizeof *m->sum);
    m->squares = calloc(values, sizeof *m->squares);
    m->class_sum = calloc(values * MOST_MEANS, sizeof *m->class_sum);
    return m->sum && m->squares && m->class_sum;
}

static void means_add(struct means *m, const struct image *image, uint32_t cls)
{
    float *of_class = cls < MOST_MEANS ? m->class_sum + (size_t)3 * m->width * m->height * cls : NULL;
    size_t at = 0;
    for (size_t y = 0; y < m->height; y++)
        for (size_t x = 0; x < m->width; x++)
            for (unsigned c = 0; c < 3; c++, at++) {
                size_t pixel = y * image->height / m->height * image->width + x * image->width / m->width;
                double v = image->pixels[pixel * image->channels + (image->channels == 3 ? c : 0)];
                m->sum[at] += v;
                m->squares[at] += v * v;
                if (of_class)
                    of_class[at] += (float)v;
            }
    m->count++;
    if (of_class)
        m->class_count[cls]++;
}

static int take_image(void *user, uint64_t id, const struct image *image, const char *why)
{
    struct view *view = user;
    uint32_t at = view_place(view, id);
    if (!image && view->unread++ == 0)
        snprintf(view->why_unread, sizeof view->why_unread, "record %s: %s", count_text(id), why);
    if (image) {
        struct image_layout layout = {(uint32_t)image->width, (uint32_t)image->height, image->channels, 1,
                                      image->channels};
        view->is_image[at] = 1;
        view->hashes[at] = image_hash(image->pixels, &layout);
        features_of(image->pixels, image->width, image->height, image->channels,
                    view->features + (size_t)at * FEATURES);
        means_add(&view->means, image, view->classes[at]);
    }
    return view_goes_on(view, "looking", at, view->n) ? 0 : EXIT_FAILURE;
}

int view_survey_images(struct view *view)
{
    if (view->image_field < 0 || view->n == 0)
        return 0;
    view->features = calloc(view->n, FEATURES);
    view->hashes = calloc(view->n, sizeof *view->hashes);
    if (!view->features || !view->hashes || !means_begin(view))
        return failed("out of memory");
    const struct image_request request = {.store = view->store,
                                          .field = (unsigned)view->image_field,
                                          .ids = view->ids,
                                          .count = view->n,
                                          .width = MEAN_SIDE,
                                          .height = MEAN_SIDE,
                                          .threads = view->threads,
                                          .take = take_image,
                                          .user = view};
    return images_read(&request);
}

/* ---------------------------------------------------------------------------------------------- the whole */

/* The first target with classes, or else of one whole number. */
static int find_class_field(const struct view *view)
{
    int found = -1;
    for (unsigned i = view->info->fields; i-- > 0;) {
        const apl_field *f = apl_store_field(view->store, i);
        bool whole = f->ndim == 0 && f->dtype <= APL_I64;
        if (f->role == APL_TARGET && whole && !f->media &&
            (found < 0 || f->class_count || !apl_store_field(view->store, (unsigned)found)->class_count))
            found = (int)i;
    }
    return found;
}

int view_survey_begin(struct view *view)
{
    view->image_field = image_first_field(view->store);
    view->class_field = find_class_field(view);
    int status = split_names_open(view->store, &view->splits);
    if (!status)
        status = choose_sample(view);
    size_t n = (size_t)view->n + 1;
    view->classes = malloc(n * sizeof *view->classes);
    view->in_splits = calloc(n, sizeof *view->in_splits);
    view->sizes = calloc(n, sizeof *view->sizes);
    view->is_image = calloc(n, 1);
    view->wanted = calloc(n, 1);
    if (!status && (!view->classes || !view->in_splits || !view->sizes || !view->is_image || !view->wanted))
        status = failed("out of memory");
    if (!status) {
        memset(view->classes, 0xff, n * sizeof *view->classes);
        status = mark_splits(view);
    }
    return status;
}

void view_survey_end(struct view *view)
{
    split_names_close(&view->splits);
    free(view->ids);
    free(view->classes);
    free(view->classes_found);
    free(view->in_splits);
    free(view->digests);
    free(view->sizes);
    free(view->is_image);
    free(view->features);
    free(view->hashes);
    free(view->means.sum);
    free(view->means.squares);
    free(view->means.class_sum);
    free(view->neighbours);
    free(view->wanted);
    json_decref(view->document);
}

/* What is known of images, or of some of them: see photo_moments.h. */
#include "photo_moments.h"

#include "images.h"

#include <math.h>
#include <stdlib.h>

#define MOMENT_IMAGES 256

struct sums {
    uint64_t values, sum[PHOTO_CHANNELS], squares[PHOTO_CHANNELS];
};

static void add_pixels(struct sums *s, const uint8_t *rgb, size_t plane)
{
    for (unsigned c = 0; c < PHOTO_CHANNELS; c++)
        for (size_t i = 0; i < plane; i++) {
            s->sum[c] += rgb[c * plane + i];
            s->squares[c] += (uint64_t)rgb[c * plane + i] * rgb[c * plane + i];
        }
    s->values += plane;
}

/* Images that cannot be decoded are left out here: the reader reports them when it gets there. */
static apl_status add_image(apl_store *store, uint64_t id, const apl_field *f, const apl_transform *t,
                            struct photo *photo, uint8_t *rgb, struct sums *sums, apl_error *err)
{
    apl_get_options options = APL_GET_OPTIONS_INIT;
    apl_batch *batch;
    options.fields = &f->name;
    options.field_count = 1;
    TRY(apl_store_get_batch(store, &id, 1, &options, &batch, err));
    const apl_column *column = &batch->columns[schema_find(&store->manifest.schema, f->name)];
    struct photo_value value = {.data = column->data, .bytes = column->bytes};
    for (unsigned d = 0; is_varying_image(f) && d < 3; d++)
        value.shape[d] = (uint32_t)column->shapes[d];
    if (photo_value_draw(photo, f, t, &value, crop_draws(0, 0, id, 0), rgb, NULL) == APL_OK)
        add_pixels(sums, rgb, (size_t)t->crop_height * t->crop_width);
    apl_batch_release(batch);
    return APL_OK;
}

static apl_status add_images(const struct subset *subset, const apl_field *f, const apl_transform *t,
                             struct photo *photo, uint8_t *rgb, struct sums *sums, apl_error *err)
{
    apl_store *store = (apl_store *)subset->part[0].store;
    int train = apl_store_find_split(store, "train");
    const apl_split *split = apl_store_split(store, train < 0 ? subset->part[0].source : (unsigned)train);
    uint64_t count = split->count < MOMENT_IMAGES ? split->count : MOMENT_IMAGES;
    for (uint64_t i = 0; i < count; i++)
        TRY(add_image(store, split->first + i * split->count / count, f, t, photo, rgb, sums, err));
    return APL_OK;
}

static void take_figure(apl_transform *t, unsigned c, double mean, double std)
{
    if (t->std[c] != 0)
        return;
    t->mean[c] = (float)mean;
    t->std[c] = std > 0 ? (float)std : 1.0f;
}

static void take_figures(const struct sums *s, apl_transform *t)
{
    double n = s->values ? (double)s->values : 1;
    for (unsigned c = 0; c < PHOTO_CHANNELS; c++) {
        double mean = (double)s->sum[c] / n, square = (double)s->squares[c] / n - mean * mean;
        take_figure(t, c, mean, square > 0 ? sqrt(square) : 0);
    }
}

/* What the stores know of all images of their splits; false: one of them does not. */
static bool take_known(const struct subset *subset, const apl_field *f, apl_transform *t)
{
    struct colour_sums sum = {0};
    enum colours_kind kind = COLOURS_RGB;
    for (uint32_t i = 0; i < subset->parts; i++) {
        const apl_store *store = subset->part[i].store;
        int field = schema_find(&store->manifest.schema, f->name),
            train = apl_store_find_split(store, "train");
        unsigned split = train < 0 ? subset->part[i].source : (unsigned)train;
        struct colour_sums of;
        enum colours_kind is;
        if (field < 0 || !store_sum_colours(store, split, (unsigned)field, &of, &is) || (i > 0 && is != kind))
            return false;
        kind = is;
        colours_add(&sum, &of);
    }
    for (unsigned c = 0; c < PHOTO_CHANNELS; c++) {
        double mean, std;
        colours_figures(&sum, kind, c, &mean, &std);
        take_figure(t, c, mean, std);
    }
    return true;
}

apl_status photo_moments(const struct subset *subset, const apl_field *f, apl_transform *t, apl_error *err)
{
    if (t->std[0] != 0 && t->std[1] != 0 && t->std[2] != 0)
        return APL_OK;
    if (take_known(subset, f, t))
        return APL_OK;
    struct photo *photo = photo_new();
    uint8_t *rgb = malloc((size_t)PHOTO_CHANNELS * t->crop_height * t->crop_width);
    struct sums sums = {.values = 0};
    apl_status status = photo && rgb ? add_images(subset, f, t, photo, rgb, &sums, err) : fail_nomem(err);
    free(rgb);
    photo_free(photo);
    if (status == APL_OK)
        take_figures(&sums, t);
    return status;
}

/* What is known of images, or of some of them: see photo_moments.h. */
#include "photo_moments.h"

#include "images.h"
#include "jpeg_sums.h"
#include "transcode.h"

#include <math.h>

/* Over red, green and blue of all images of all parts, as far as it is known. */
struct estimate {
    double pixels, sum[PHOTO_CHANNELS], squares[PHOTO_CHANNELS];
};

/* Adds sums, of which each image stands for `each`. */
static void estimate_add(struct estimate *e, const struct colour_sums *sums, enum colours_kind kind,
                         double each)
{
    if (sums->images == 0)
        return;
    double pixels = (double)sums->pixels * each;
    e->pixels += pixels;
    for (unsigned c = 0; c < PHOTO_CHANNELS; c++) {
        double mean, std;
        colours_figures(sums, kind, c, &mean, &std);
        e->sum[c] += mean * pixels;
        e->squares[c] += (std * std + mean * mean) * pixels;
    }
}

static void take_figure(apl_transform *t, unsigned c, double mean, double std)
{
    if (t->std[c] != 0)
        return;
    t->mean[c] = (float)mean;
    t->std[c] = std > 0 ? (float)std : 1.0f;
}

static void take_estimate(apl_transform *t, const struct estimate *e)
{
    for (unsigned c = 0; c < PHOTO_CHANNELS; c++) {
        double mean = e->sum[c] / e->pixels, variance = e->squares[c] / e->pixels - mean * mean;
        take_figure(t, c, mean, variance > 0 ? sqrt(variance) : 0);
    }
}

/* ---------------------------------------------------------------------------------------- what is known */

static uint64_t training_images(const struct subset_part *part)
{
    return apl_store_split(part->store, (unsigned)subset_training_split(part))->count;
}

/* What a part's store knows; false: nothing, or too little. */
static bool known_of(const struct subset_part *part, const apl_field *f, struct colour_sums *sums,
                     enum colours_kind *kind)
{
    int field = schema_find(&part->store->manifest.schema, f->name);
    return field >= 0 &&
           store_sum_colours(part->store, (unsigned)subset_training_split(part), (unsigned)field, sums, kind);
}

/* If all stores know sums of one kind. They are exact, and so it is as if the records were of one store. */
static bool take_known(const struct subset *subset, const apl_field *f, apl_transform *t)
{
    struct colour_sums all = {0}, of;
    enum colours_kind kind = COLOURS_RGB, is;
    for (uint32_t i = 0; i < subset->parts; i++) {
        if (!known_of(&subset->part[i], f, &of, &is) || (i > 0 && is != kind))
            return false;
        kind = is;
        colours_add(&all, &of);
    }
    for (unsigned c = 0; c < PHOTO_CHANNELS; c++) {
        double mean, std;
        colours_figures(&all, kind, c, &mean, &std);
        take_figure(t, c, mean, std);
    }
    return true;
}

/* -------------------------------------------------------------------------------------- what is decoded */

static uint64_t all_training_images(const struct subset *subset)
{
    uint64_t images = 0;
    for (uint32_t i = 0; i < subset->parts; i++)
        images += training_images(&subset->part[i]);
    return images;
}

/* What sums up images, and their sums so far, by their kind. */
struct images_seen {
    struct transcoder transcoder;
    struct jpeg_decoder *decoder; /* of the files that the former does not take */
    struct colour_sums sums[2];
};

/* Sums over a file are made of its coefficients, if they can be, as those are that a store with indexed images keeps. */
static apl_status sum_file(struct images_seen *seen, const apl_column *file, apl_error *err)
{
    struct colour_sums of;
    TRY(transcode_sums(&seen->transcoder, file->data, file->bytes, &of, err));
    colours_add(&seen->sums[COLOURS_YCC], &of);
    if (of.images > 0)
        return APL_OK;
    TRY(jpeg_sums(seen->decoder, file->data, file->bytes, &of, err));
    colours_add(&seen->sums[COLOURS_RGB], &of);
    return APL_OK;
}

static void sum_pixels(struct images_seen *seen, const apl_column *image)
{
    uint64_t channels = image->shapes[0], pixels = channels ? image->bytes / channels : 0;
    struct colour_sums of = colours_of_planes(image->data, channels > 4 ? 0 : (unsigned)channels, pixels);
    colours_add(&seen->sums[COLOURS_RGB], &of);
}

/* Adds image `id`, unless it is damaged. */
static apl_status sum_image(apl_store *store, uint64_t id, const apl_field *f, struct images_seen *seen,
                            apl_error *err)
{
    apl_get_options options = APL_GET_OPTIONS_INIT;
    apl_batch *batch;
    options.fields = &f->name;
    options.field_count = 1;
    options.threads = APL_NO_THREADS;
    apl_status status = apl_store_get_batch(store, &id, 1, &options, &batch, err);
    if (status != APL_OK)
        return status == APL_E_CORRUPT ? APL_OK : status;
    const apl_column *image = &batch->columns[schema_find(&store->manifest.schema, f->name)];
    if (is_photo(f))
        status = sum_file(seen, image, err);
    else
        sum_pixels(seen, image);
    apl_batch_release(batch);
    return status == APL_E_NOMEM ? status : APL_OK;
}

/* Sums up about `share` images of a split, as many as there are at most. */
static apl_status sum_sample(apl_store *store, const apl_split *split, double share, const apl_field *f,
                             struct images_seen *seen, apl_error *err)
{
    uint64_t n = share < (double)split->count ? (uint64_t)share : split->count;
    memset(seen->sums, 0, sizeof seen->sums);
    for (uint64_t i = 0; i < n; i++)
        TRY(sum_image(store, split->first + i * split->count / n, f, seen, err));
    return APL_OK;
}

/* Adds what a part's store knows, or else what its share of the images that are decoded says. */
static apl_status sum_part(const struct subset_part *part, uint64_t all, const apl_field *f,
                           struct images_seen *seen, struct estimate *e, apl_error *err)
{
    const apl_split *split = apl_store_split(part->store, (unsigned)subset_training_split(part));
    struct colour_sums known;
    enum colours_kind kind;
    if (known_of(part, f, &known, &kind)) {
        estimate_add(e, &known, kind, (double)split->count / (double)known.images);
        return APL_OK;
    }
    double share = ceil(PHOTO_MOMENT_IMAGES * ((double)split->count / (double)all));
    TRY(sum_sample((apl_store *)part->store, split, share, f, seen, err));
    const struct colour_sums *sums = seen->sums;
    double each = (double)split->count / (double)(sums[COLOURS_RGB].images + sums[COLOURS_YCC].images);
    estimate_add(e, &sums[COLOURS_RGB], COLOURS_RGB, each);
    estimate_add(e, &sums[COLOURS_YCC], COLOURS_YCC, each);
    return APL_OK;
}

static apl_status sum_parts(const struct subset *subset, const apl_field *f, struct images_seen *seen,
                            struct estimate *e, apl_error *err)
{
    uint64_t all = all_training_images(subset);
    for (uint32_t i = 0; i < subset->parts; i++)
        TRY(sum_part(&subset->part[i], all, f, seen, e, err));
    if (e->pixels == 0)
        return fail(err, APL_E_NOTFOUND,
                    "field %s: no image to take a mean and standard deviation from can be decoded; give them",
                    f->name);
    return APL_OK;
}

static apl_status estimate(const struct subset *subset, const apl_field *f, struct estimate *e,
                           apl_error *err)
{
    struct images_seen seen = {.decoder = jpeg_decoder_new()};
    apl_status status = transcoder_init(&seen.transcoder, err);
    if (status == APL_OK)
        status = seen.decoder ? sum_parts(subset, f, &seen, e, err) : fail_nomem(err);
    transcoder_free(&seen.transcoder);
    jpeg_decoder_free(seen.decoder);
    return status;
}

apl_status photo_moments(const struct subset *subset, const apl_field *f, apl_transform *t, apl_error *err)
{
    struct estimate e = {.pixels = 0};
    if (t->std[0] != 0 && t->std[1] != 0 && t->std[2] != 0)
        return APL_OK;
    if (take_known(subset, f, t))
        return APL_OK;
    TRY(estimate(subset, f, &e, err));
    take_estimate(t, &e);
    return APL_OK;
}

/*
 * Speed of cropping JPEG images:  bench_photo FOLDER [ROUNDS]
 *
 * The JPEG images below FOLDER (1,024 at most) go through RandomResizedCrop(224) into u8 planes and normalised floats, in CPU
 * milliseconds an image, one thread, the least of ROUNDS rounds: as files, and in their indexed form (where they have one, as
 * in a store). Beside it, in the same rounds and of the same boxes: decoding them by libjpeg-turbo alone, rows and columns of
 * the box only; and whole. Absolute figures drift, their ratios do not. Of a folder of large images, 4 megapixels on average
 * or more, the ratio to whole images is judged as well.
 *
 *   bench_photo --pixels [exact]   for photo_quality.py: reads lines FILE LEFT TOP WIDTH HEIGHT OUT_WIDTH OUT_HEIGHT, and writes
 *                                  the pixels of each
 */
#define _XOPEN_SOURCE 700
#include "crops.h"
#include "indexed_decoder.h"
#include "resample.h"
#include "transcode.h"

#include <ftw.h>
#include <string.h>

#define MOST 1024

struct image {
    uint8_t *bytes;
    size_t size;
    struct buffer indexed; /* empty: it has no indexed form */
    struct crop_plan plan;
};

static struct image images[MOST];
static size_t count, indexed_count;
static double pixels_of_all;
static struct photo *photo;
static uint8_t rgb[PHOTO_CHANNELS * PLANE];
static float floats[PHOTO_CHANNELS * PLANE];

static void make_indexed(struct image *im)
{
    static struct transcoder transcoder;
    apl_error err;
    bool indexed;
    if (!transcoder.entropy)
        must(transcoder_init(&transcoder, &err), &err);
    must(transcode(&transcoder, im->bytes, im->size, &im->indexed, &indexed, &err), &err);
    indexed_count += indexed;
}

static int take(const char *path, const struct stat *stat, int type, struct FTW *ftw)
{
    static struct jpeg_decoder *decoder;
    struct image *im = &images[count];
    struct jpeg_info info;
    (void)stat, (void)ftw;
    decoder = decoder ? decoder : must_have(jpeg_decoder_new());
    if (type != FTW_F || count == MOST)
        return 0;
    im->bytes = must_have(read_all(path, &im->size));
    if (jpeg_decoder_probe(decoder, im->bytes, im->size, &info, NULL) != APL_OK || info.colour == JPEG_CMYK) {
        free(im->bytes);
        return 0;
    }
    must(crop_plan(&random_box, info.width, info.height, crop_draws(1, 0, count, 0), &im->plan, NULL), NULL);
    pixels_of_all += (double)info.width * info.height;
    make_indexed(im);
    count++;
    return 0;
}

/* ----------------------------------------------------------------------------------------- libjpeg alone */

static void bare_crop(const struct image *im)
{
    bare_decode(im->bytes, im->size, &im->plan, false);
}

static void bare_whole(const struct image *im)
{
    bare_decode(im->bytes, im->size, &im->plan, true);
}

/* -------------------------------------------------------------------------------------------------- APL */

static void pixels_from(const struct image *im, bool indexed, enum jpeg_chroma chroma)
{
    apl_error err;
    if (indexed && im->indexed.size > 0)
        must(photo_make_indexed(photo, im->indexed.data, im->indexed.size, &im->plan, chroma, rgb, &err),
             &err);
    else
        must(photo_make(photo, im->bytes, im->size, &im->plan, chroma, rgb, &err), &err);
}

static void pixels(const struct image *im)
{
    pixels_from(im, false, JPEG_CHROMA_PLANES);
}

static void exact_pixels(const struct image *im)
{
    pixels_from(im, false, JPEG_CHROMA_EXACT);
}

static void indexed_pixels(const struct image *im)
{
    pixels_from(im, true, JPEG_CHROMA_PLANES);
}

static void indexed_exact_pixels(const struct image *im)
{
    pixels_from(im, true, JPEG_CHROMA_EXACT);
}

static void batch_floats(const struct image *im)
{
    pixels(im);
    finish_floats(rgb, im->plan.box.left % 2, floats);
}

static void indexed_floats(const struct image *im)
{
    indexed_pixels(im);
    finish_floats(rgb, im->plan.box.left % 2, floats);
}

/* Without resampling. */
static void indexed_planes_alone(const struct image *im)
{
    static struct indexed_decoder *decoder;
    struct indexed x;
    struct jpeg_planes planes;
    struct jpeg_band band;
    const struct jpeg_region region = {im->plan.box.left, im->plan.box.top, im->plan.box.width,
                                       im->plan.box.height};
    if (im->indexed.size == 0)
        return;
    decoder = decoder ? decoder : must_have(indexed_decoder_new(cpu_variant()));
    must(indexed_parse(im->indexed.data, im->indexed.size, &x, NULL), NULL);
    must(indexed_decoder_open(decoder, &x, NULL), NULL);
    must(indexed_decoder_start(decoder, region, 8, JPEG_CHROMA_PLANES, &planes, NULL), NULL);
    do
        must(indexed_decoder_next(decoder, &band, NULL), NULL);
    while (band.plane[0].count > 0);
}

static void header(const struct image *im)
{
    static struct jpeg_decoder *decoder;
    struct jpeg_info info;
    decoder = decoder ? decoder : must_have(jpeg_decoder_new());
    must(jpeg_decoder_open(decoder, im->bytes, im->size, &info, NULL), NULL);
    jpeg_decoder_end(decoder);
}

/* ----------------------------------------------------------------------------------------------- rounds */

static const struct way {
    const char *name;
    void (*make)(const struct image *);
} ways[] = {
    {"libjpeg-turbo alone, rows and columns of the box", bare_crop},
    {"libjpeg-turbo alone, whole images", bare_whole},
    {"RandomResizedCrop(224) to f32, flipped, normalised", batch_floats},
    {"RandomResizedCrop(224) to u8 planes", pixels},
    {"the same, with exact chroma", exact_pixels},
    {"header", header},
    {"indexed: RandomResizedCrop(224) to f32, flipped, normalised", indexed_floats},
    {"indexed: RandomResizedCrop(224) to u8 planes", indexed_pixels},
    {"indexed: the same, with exact chroma", indexed_exact_pixels},
    {"indexed: planes of the box alone, not scaled", indexed_planes_alone},
};
#define WAYS (sizeof ways / sizeof ways[0])

/* Those that have an indexed form come first. */
static int by_form(const void *a, const void *b)
{
    const struct image *x = a, *y = b;
    return (y->indexed.size > 0) - (x->indexed.size > 0);
}

static double spend(const struct way *way, size_t from, size_t to)
{
    double begin = cpu_now();
    for (size_t i = from; i < to; i++)
        way->make(&images[i]);
    return cpu_now() - begin;
}

static void measure(int rounds)
{
    double best[WAYS], of_indexed[WAYS];
    qsort(images, count, sizeof images[0], by_form);
    for (int round = 0; round < rounds; round++)
        for (size_t w = 0; w < WAYS; w++) {
            double first = spend(&ways[w], 0, indexed_count), rest = spend(&ways[w], indexed_count, count);
            double all = (first + rest) / (double)count;
            best[w] = round == 0 ? all : least(best[w], all);
            of_indexed[w] = round == 0 ? first : least(of_indexed[w], first);
        }
    for (size_t w = 0; w < WAYS; w++)
        tell(ways[w].name, best[w], "ms", NO_BAR, 0);
    bool large = pixels_of_all / (double)count >= 4e6;
    tell("to f32, over the box by libjpeg-turbo alone", best[2] / best[0], "", large ? NO_BAR : AT_MOST, 1.2);
    tell("indexed to f32, over the box by libjpeg-turbo alone", of_indexed[6] / of_indexed[0], "",
         large ? NO_BAR : AT_MOST, 0.55);
    tell("indexed to f32, over whole images by libjpeg-turbo", of_indexed[6] / of_indexed[1], "",
         large ? AT_MOST : NO_BAR, 1.0 / 6);
}

static void write_pixels(enum jpeg_chroma chroma)
{
    char path[1024];
    struct crop_plan plan = {.window = {0, 0, 0, 0}};
    apl_error err;
    while (scanf("%1023s %u %u %u %u %u %u", path, &plan.box.left, &plan.box.top, &plan.box.width,
                 &plan.box.height, &plan.width, &plan.height) == 7) {
        size_t size, bytes = (size_t)3 * plan.width * plan.height;
        uint8_t *image = must_have(read_all(path, &size)), *out = must_have(malloc(bytes));
        plan.window.width = plan.width;
        plan.window.height = plan.height;
        must(photo_make(photo, image, size, &plan, chroma, out, &err), &err);
        fwrite(out, 1, bytes, stdout);
        free(image);
        free(out);
    }
}

int main(int argc, char **argv)
{
    photo = must_have(photo_new());
    if (argc > 1 && strcmp(argv[1], "--pixels") == 0) {
        write_pixels(argc > 2 ? JPEG_CHROMA_EXACT : JPEG_CHROMA_PLANES);
        return 0;
    }
    if (argc < 2 || nftw(argv[1], take, 8, FTW_PHYS) != 0 || count == 0) {
        fprintf(stderr, "usage: bench_photo FOLDER [ROUNDS], where FOLDER holds JPEG images\n");
        return argc < 2;
    }
    printf("%zu images, %zu of them indexed\n", count, indexed_count);
    measure(argc > 2 ? atoi(argv[2]) : 5);
    return 0;
}

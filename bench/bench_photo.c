/*
 * Speed of cropping JPEG images:  bench_photo FOLDER [ROUNDS]
 *
 * The JPEG images below FOLDER (1,024 at most) go through RandomResizedCrop(224) into u8 planes and normalised floats, in CPU
 * milliseconds an image, one thread, the least of ROUNDS rounds. Beside it, in the same rounds and of the same boxes: decoding
 * them by libjpeg-turbo alone, rows and columns of the box only; and decoding the whole image, then resampling. Absolute
 * figures drift, their ratios do not.
 *
 *   bench_photo --pixels [exact]   for photo_quality.py: reads lines FILE LEFT TOP WIDTH HEIGHT OUT_WIDTH OUT_HEIGHT, and writes
 *                                  the pixels of each
 */
#define _XOPEN_SOURCE 700
#include "assemble.h"
#include "measure.h"
#include "photo.h"
#include "resample.h"
#include "transcode.h"

#include <ftw.h>
#include <jpeglib.h>
#include <string.h>

#define MOST  1024
#define SIDE  224u
#define PLANE ((size_t)SIDE * SIDE)

struct image {
    uint8_t *bytes;
    size_t size;
    struct buffer form; /* the image indexed; as it is, if it cannot be */
    bool is_indexed;
    struct crop_plan plan;
};

static struct image images[MOST];
static size_t count;
static struct photo *photo;
static uint8_t rgb[PHOTO_CHANNELS * PLANE];
static float floats[PHOTO_CHANNELS * PLANE];

static double cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static uint8_t *read_all(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0)
        return NULL;
    *size = (size_t)ftell(f);
    rewind(f);
    uint8_t *bytes = must_have(malloc(*size + 1));
    bool whole = fread(bytes, 1, *size, f) == *size;
    fclose(f);
    return whole ? bytes : NULL;
}

static const struct crop_rules rules = {.sizing = CROP_RANDOM_RESIZED,
                                        .height = SIDE,
                                        .width = SIDE,
                                        .scale = {0.08, 1},
                                        .ratio = {3.0 / 4, 4.0 / 3}};

static void index_image(struct image *im)
{
    static struct transcoder t;
    if (!t.entropy)
        must(transcoder_init(&t, NULL), NULL);
    im->form = (struct buffer){0};
    must(transcode(&t, im->bytes, im->size, &im->form, &im->is_indexed, NULL), NULL);
    if (!im->is_indexed)
        buffer_put(&im->form, im->bytes, im->size);
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
    index_image(im);
    must(crop_plan(&rules, info.width, info.height, crop_draws(1, 0, count, 0), &im->plan, NULL), NULL);
    count++;
    return 0;
}

/* ----------------------------------------------------------------------------------------- libjpeg alone */

static void bare(const struct image *im, bool whole)
{
    static struct jpeg_decompress_struct c;
    static struct jpeg_error_mgr errors;
    static uint8_t line[3 * 65536];
    JSAMPROW row = line;
    if (!c.err) {
        c.err = jpeg_std_error(&errors);
        jpeg_create_decompress(&c);
    }
    jpeg_mem_src(&c, im->bytes, im->size);
    jpeg_read_header(&c, TRUE);
    c.out_color_space = JCS_RGB;
    jpeg_start_decompress(&c);
    JDIMENSION left = im->plan.box.left, width = im->plan.box.width, end = c.output_height;
    if (!whole) {
        jpeg_crop_scanline(&c, &left, &width);
        jpeg_skip_scanlines(&c, im->plan.box.top);
        end = im->plan.box.top + im->plan.box.height;
    }
    while (c.output_scanline < end)
        jpeg_read_scanlines(&c, &row, 1);
    jpeg_abort_decompress(&c);
}

static void bare_crop(const struct image *im)
{
    bare(im, false);
}

static void bare_whole(const struct image *im)
{
    bare(im, true);
}

/* -------------------------------------------------------------------------------------------------- APL */

static void pixels(const struct image *im)
{
    apl_error err;
    must(photo_make(photo, im->bytes, im->size, &im->plan, JPEG_CHROMA_PLANES, rgb, &err), &err);
}

static void exact_pixels(const struct image *im)
{
    apl_error err;
    must(photo_make(photo, im->bytes, im->size, &im->plan, JPEG_CHROMA_EXACT, rgb, &err), &err);
}

static void finish(const struct crop_plan *plan)
{
    struct assembly a = {.channels = 3,
                         .height = SIDE,
                         .width = SIDE,
                         .out_height = SIDE,
                         .out_width = SIDE,
                         .dtype = APL_F32};
    struct placement p = {.flip = plan->box.left % 2, .cut_top = SIDE};
    const uint8_t *source = rgb;
    for (int c = 0; c < 3; c++)
        a.scale[c] = 1 / 58.4f, a.bias[c] = -2.1f;
    assemble(&a, &source, &p, 1, floats);
}

static void batch_floats(const struct image *im)
{
    pixels(im);
    finish(&im->plan);
}

static void indexed_pixels(const struct image *im)
{
    apl_error err;
    must((im->is_indexed ? photo_make_indexed : photo_make)(photo, im->form.data, im->form.size, &im->plan,
                                                            JPEG_CHROMA_PLANES, rgb, &err),
         &err);
}

static void indexed_floats(const struct image *im)
{
    indexed_pixels(im);
    finish(&im->plan);
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
    {"RandomResizedCrop(224) to f32, of indexed images", indexed_floats},
    {"RandomResizedCrop(224) to u8 planes, of indexed images", indexed_pixels},
    {"header", header},
};
#define WAYS (sizeof ways / sizeof ways[0])

static void measure(int rounds)
{
    double best[WAYS];
    for (int round = 0; round < rounds; round++)
        for (size_t w = 0; w < WAYS; w++) {
            double begin = cpu_now();
            for (size_t i = 0; i < count; i++)
                ways[w].make(&images[i]);
            double spent = (cpu_now() - begin) / (double)count;
            best[w] = round == 0 ? spent : least(best[w], spent);
        }
    for (size_t w = 0; w < WAYS; w++)
        tell(ways[w].name, best[w], "ms", NO_BAR, 0);
    tell("to f32, over the box by libjpeg-turbo alone", best[2] / best[0], "", AT_MOST, 1.2);
    tell("to f32, of indexed images, over the same", best[5] / best[0], "", AT_MOST, 0.85);
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
    printf("%zu images\n", count);
    measure(argc > 2 ? atoi(argv[2]) : 5);
    return 0;
}

/*
 * For peers/photographs.py: the boxes that a reader draws, and loops in C that decode them.
 *
 *   bench_boxes draw SEED EPOCH   reads lines ID WIDTH HEIGHT; writes LEFT TOP WIDTH HEIGHT of the box of that record and epoch
 *   bench_boxes crop|whole|loop FILE
 *
 * FILE has lines LEFT TOP WIDTH HEIGHT PATH. For each line on standard input all of them are done once, on one thread, and
 * CPU and wall seconds written:
 *
 *   crop   rows and columns of the box, by libjpeg-turbo alone, from memory: what no loader of such files can do without
 *   whole  the whole image, by libjpeg-turbo alone, from memory
 *   loop   what a reader does, without the reader: reads the file, crops, resizes, flips, normalises, into a batch of floats
 */
#define _XOPEN_SOURCE 700
#include "crops.h"

#include <string.h>

#define BATCH 256

struct image {
    char path[1024];
    uint8_t *bytes;
    size_t size;
    struct crop_plan plan;
};

static struct image *images;
static size_t count;

static int draw(uint64_t seed, uint64_t epoch)
{
    unsigned long long id;
    uint32_t width, height;
    apl_error err;
    while (scanf("%llu %u %u", &id, &width, &height) == 3) {
        struct crop_plan plan;
        must(crop_plan(&random_box, width, height, crop_draws(seed, epoch, id, 0), &plan, &err), &err);
        printf("%u %u %u %u\n", plan.box.left, plan.box.top, plan.box.width, plan.box.height);
    }
    return 0;
}

static bool take_line(FILE *list, struct image *im)
{
    *im = (struct image){.plan = {.width = SIDE, .height = SIDE, .window = {0, 0, SIDE, SIDE}}};
    return fscanf(list, "%u %u %u %u %1023[^\n]", &im->plan.box.left, &im->plan.box.top, &im->plan.box.width,
                  &im->plan.box.height, im->path) == 5;
}

static void take_list(const char *path, bool read)
{
    FILE *list = must_have(fopen(path, "r"));
    struct image im;
    while (take_line(list, &im)) {
        if (read)
            im.bytes = must_have(read_all(im.path + strspn(im.path, " "), &im.size));
        images = must_have(realloc(images, (count + 1) * sizeof *images));
        images[count++] = im;
    }
    fclose(list);
}

static void decode_all(bool whole)
{
    for (size_t i = 0; i < count; i++)
        bare_decode(images[i].bytes, images[i].size, &images[i].plan, whole);
}

static void loop(void)
{
    static struct photo *photo;
    static uint8_t rgb[PHOTO_CHANNELS * PLANE];
    static float *batch;
    apl_error err;
    photo = photo ? photo : must_have(photo_new());
    batch = batch ? batch : must_have(malloc(BATCH * sizeof rgb * sizeof *batch));
    for (size_t i = 0; i < count; i++) {
        const struct image *im = &images[i];
        size_t size;
        uint8_t *bytes = must_have(read_all(im->path + strspn(im->path, " "), &size));
        must(photo_make(photo, bytes, size, &im->plan, JPEG_CHROMA_PLANES, rgb, &err), &err);
        finish_floats(rgb, im->plan.box.left % 2, batch + i % BATCH * sizeof rgb);
        free(bytes);
    }
}

int main(int argc, char **argv)
{
    char line[16];
    if (argc == 4 && strcmp(argv[1], "draw") == 0)
        return draw(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
    bool loops = argc == 3 && strcmp(argv[1], "loop") == 0,
         whole = argc == 3 && strcmp(argv[1], "whole") == 0;
    if (!loops && !whole && (argc != 3 || strcmp(argv[1], "crop") != 0)) {
        fprintf(stderr, "usage: bench_boxes draw SEED EPOCH, or bench_boxes crop|whole|loop FILE\n");
        return 2;
    }
    take_list(argv[2], !loops);
    while (fgets(line, sizeof line, stdin)) {
        double cpu = cpu_now(), wall = now();
        if (loops)
            loop();
        else
            decode_all(whole);
        printf("%.6f %.6f\n", (cpu_now() - cpu) / 1e3, now() - wall);
        fflush(stdout);
    }
    return 0;
}

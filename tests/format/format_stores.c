/* Writes stores that hold what archives of CIFAR do not: every type of element, every codec, shapes that
 * vary, empty values, members and splits, gaps between the numbers of members, blocks of more than 256
 * records.
 *
 *     format_stores DIR SETS     makes the stores DIR/kinds, DIR/shuffled, DIR/picture, ..., and the sets SETS/plain
 *                                and SETS/shuffled
 */
#include "apl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jpegs.h"

#define RECORDS 2100 /* three runs of a field digest */
#define BLOCK   300

static apl_error err;

static void must(apl_status status)
{
    if (status == APL_OK)
        return;
    fprintf(stderr, "%s\n", err.message);
    exit(1);
}

/* Something between noise and a constant, the same on every machine. */
static uint32_t noise(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 24;
}

static void fill(uint8_t *to, size_t n, uint32_t record)
{
    uint32_t state = record;
    for (size_t i = 0; i < n; i++)
        to[i] = (uint8_t)(record / 7 + i / 5 + noise(&state) % 9);
}

static apl_writer *begin(const char *dir, const char *name, apl_writer_options *options)
{
    char path[4096];
    apl_writer *w;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    options->block_records = BLOCK;
    must(apl_writer_open(path, options, &w, &err));
    return w;
}

static void end(apl_writer *w)
{
    must(apl_writer_commit(w, &err));
    apl_writer_close(w);
}

static void say(apl_writer *w, const char *text)
{
    char field[APL_MAX_NAME + 1];
    apl_kind kind;
    must(apl_kind_parse(text, field, &kind, &err));
    must(apl_writer_set_kind(w, field, &kind, &err));
}

/* A scalar of every type, with kinds of some; a vector of floats that grows slowly, text and pictures of varying shape. */
static void add_kinds(apl_writer *w)
{
    static const int64_t text[1] = {-1}, vector[1] = {5}, varying[4] = {-1, 2, -1, 3};
    for (unsigned dtype = APL_U8; dtype <= APL_BOOL; dtype++)
        must(apl_writer_add_field(w, apl_dtype_name((apl_dtype)dtype), (apl_dtype)dtype, APL_TARGET, 0, NULL,
                                  &err));
    must(apl_writer_add_field(w, "vector", APL_F32, APL_INPUT, 1, vector, &err));
    must(apl_writer_add_field(w, "text", APL_UTF8, APL_NAME, 1, text, &err));
    must(apl_writer_add_field(w, "varying", APL_I16, APL_INPUT, 4, varying, &err));
    must(apl_writer_add_field(w, "bytes", APL_U8, APL_INPUT, 1, text, &err));
    say(w, "vector=pinned,of=varying");
    say(w, "text=text");
    say(w, "varying=image,hw");
    say(w, "bytes=audio,rate=16000");
    say(w, "i16=label");
}

static void append_kind(apl_writer *w, uint32_t record)
{
    uint8_t scalars[APL_BOOL][8], bytes[6 * 2 * 5 * 3 * 2];
    float vector[5];
    char text[32];
    apl_value values[APL_BOOL + 4];
    uint64_t number = record * (uint64_t)3 + (record % 10 == 0);
    for (unsigned i = 0; i < APL_BOOL; i++) {
        memcpy(scalars[i], &number, 8);
        scalars[i][0] = i + 1 == APL_BOOL ? record & 1 : scalars[i][0];
        values[i] = (apl_value){scalars[i], NULL};
    }
    scalars[0][0] = (uint8_t)(record % 3); /* it has three classes */
    for (unsigned i = 0; i < 5; i++)
        vector[i] = (float)record + (float)i / 4;
    int64_t length = snprintf(text, sizeof text,
                              record % 11 ? "r\xc3\xa9"
                                            "cord-%u.png"
                                          : "",
                              record);
    int64_t shape[4] = {record % 6, 2, record / 7 % 5, 3}, count = record % 23;
    fill(bytes, sizeof bytes, record);
    values[APL_BOOL] = (apl_value){vector, NULL};
    values[APL_BOOL + 1] = (apl_value){text, &length};
    values[APL_BOOL + 2] = (apl_value){bytes, shape};
    values[APL_BOOL + 3] = (apl_value){bytes, &count};
    must(apl_writer_append(w, values, &err));
}

/* Members come last first, and one of them, and a whole split, are empty. */
static void make_kinds(const char *dir, const char *name, int shuffle)
{
    static const char *const classes[3] = {"none", "some", "all"};
    apl_writer_options options = APL_WRITER_OPTIONS_INIT;
    options.shuffle = shuffle;
    options.shuffle_seed = 0x123456789abcdef0u;
    apl_writer *w = begin(dir, name, &options);
    add_kinds(w);
    must(apl_writer_set_classes(w, "u8", classes, 3, &err));
    must(apl_writer_begin_member(w, "test", "test", shuffle ? 4 : 90, &err));
    for (uint32_t i = 0; i < 333; i++)
        append_kind(w, i);
    must(apl_writer_begin_member(w, "second", "train", shuffle ? 2 : 7, &err));
    for (uint32_t i = 333; i < RECORDS - 1; i++)
        append_kind(w, i);
    must(apl_writer_begin_member(w, "first", "train", 0, &err));
    append_kind(w, RECORDS - 1);
    must(apl_writer_begin_member(w, "nothing", "train", 1, &err));
    must(apl_writer_begin_member(w, "unused", "val", 3 + (shuffle ? 0 : 50), &err));
    end(w);
}

/* Pictures of one to five channels, of odd sizes, down to a single pixel; and codecs that were asked for. */
static void make_pictures(const char *dir, const char *codec)
{
    static const struct {
        const char *name;
        unsigned ndim;
        int64_t shape[3];
    } fields[] = {{"gray", 2, {9, 7}},      {"one", 3, {1, 4, 4}},    {"two", 3, {2, 5, 3}},
                  {"colour", 3, {3, 6, 5}}, {"alpha", 3, {4, 3, 11}}, {"five", 3, {5, 4, 4}},
                  {"pixel", 2, {1, 1}},     {"row", 2, {1, 40}}};
    enum { FIELDS = sizeof fields / sizeof *fields };
    uint8_t bytes[FIELDS][512];
    apl_value values[FIELDS];
    apl_writer_options options = APL_WRITER_OPTIONS_INIT;
    options.codec = codec;
    options.level = strcmp(codec, "picture") == 0 ? 3 : 0;
    apl_writer *w = begin(dir, codec, &options);
    for (unsigned f = 0; f < FIELDS; f++) {
        must(apl_writer_add_field(w, fields[f].name, APL_U8, APL_INPUT, fields[f].ndim, fields[f].shape,
                                  &err));
        values[f] = (apl_value){bytes[f], NULL};
    }
    must(apl_writer_begin_member(w, "drawn", "all", 0, &err));
    for (uint32_t i = 0; i < BLOCK + 33; i++) {
        for (unsigned f = 0; f < FIELDS; f++)
            fill(bytes[f], sizeof bytes[f], i * 31 + f);
        must(apl_writer_append(w, values, &err));
    }
    end(w);
}

/* Boxes, what there is one of for each of them, and points, of every form. */
static void make_boxes(const char *dir, const char *name)
{
    static const int64_t boxes[2] = {-1, 4}, points[3] = {-1, 5, 3}, marks[2] = {4, 2}, any[1] = {-1},
                         names[2] = {-1, -1};
    static const double numbers[30];
    apl_writer_options options = APL_WRITER_OPTIONS_INIT;
    apl_writer *w = begin(dir, name, &options);
    must(apl_writer_add_field(w, "boxes", APL_F32, APL_TARGET, 2, boxes, &err));
    must(apl_writer_add_field(w, "points", APL_F64, APL_TARGET, 3, points, &err));
    must(apl_writer_add_field(w, "marks", APL_F16, APL_TARGET, 2, marks, &err));
    must(apl_writer_add_field(w, "labels", APL_I64, APL_TARGET, 1, any, &err));
    must(apl_writer_add_field(w, "names", APL_UTF8, APL_TARGET, 2, names, &err));
    say(w, "names=text,per=boxes");
    say(w, "boxes=boxes,cxcywh-rel");
    say(w, "points=keypoints,xyv,per=boxes,flip=0-1+3-4");
    say(w, "marks=keypoints,xy-rel,flip=2-1");
    say(w, "labels=label,per=boxes");
    must(apl_writer_begin_member(w, "all", "train", 0, &err));
    for (int64_t i = 0; i < 20; i++) {
        int64_t count = i % 3, box[2] = {count, 4}, people[3] = {count, 5, 3},
                name[2] = {count, count ? 5 : 0};
        apl_value values[5] = {{numbers, box},
                               {numbers, people},
                               {numbers, NULL},
                               {numbers, &count},
                               {"a\0\0\0\0caf\xc3\xa9", name}};
        values[4].data = (const char *)values[4].data + (count == 1 ? 5 : 0);
        must(apl_writer_append(w, values, &err));
    }
    end(w);
}

/* Files of some sizes, and empty ones, in two fields; with sizes that are not kept. */
static void make_kept(const char *dir, const char *name, int shuffle)
{
    static const int64_t any[1] = {-1}, three[1] = {3};
    uint8_t bytes[700];
    apl_writer_options options = APL_WRITER_OPTIONS_INIT;
    options.shuffle = shuffle;
    options.shuffle_seed = 77;
    apl_writer *w = begin(dir, name, &options);
    must(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 1, any, &err));
    must(apl_writer_set_media(w, "image", "image/jpeg", &err));
    must(apl_writer_add_field(w, "plain", APL_U8, APL_INPUT, 1, any, &err));
    must(apl_writer_add_field(w, "notes", APL_U8, APL_NAME, 1, any, &err));
    must(apl_writer_set_media(w, "notes", "application/vnd.notes+json", &err));
    must(apl_writer_add_field(w, "image_shape", APL_U32, APL_NAME, 1, three, &err));
    must(apl_writer_skipped(w, "cat/1.jpg", "is empty", &err));
    must(apl_writer_skipped(w, "dog/\xff\n.jpg", "holds PNG", &err));
    for (uint32_t m = 0; m < 3; m++) {
        must(apl_writer_begin_member(w, m ? "more" : "first", m == 2 ? "test" : "train", m, &err));
        for (uint32_t i = 0; i < 20 + m * 311; i++) {
            int64_t sizes[3] = {i * 37 % 700, i % 5, i % 3 ? 0 : 9};
            uint32_t shape[3] = {3, i % 50, 7};
            fill(bytes, sizeof bytes, i + 1000 * m);
            apl_value values[4] = {{bytes, &sizes[0]}, {bytes, &sizes[1]}, {bytes, &sizes[2]}, {shape, NULL}};
            must(apl_writer_append(w, values, &err));
        }
    }
    end(w);
}

/* Before every second restart marker the lowest bit, which fills up if any does, becomes 0, as no library writes it. */
static struct jpeg_bytes pad_oddly(struct jpeg_bytes jpeg)
{
    for (size_t at = 1; at + 1 < jpeg.size; at++)
        if (jpeg.data[at] == 0xff && jpeg.data[at + 1] >= 0xd0 && jpeg.data[at + 1] <= 0xd7 &&
            jpeg.data[at + 1] % 2)
            jpeg.data[at - 1] &= 0xfe;
    return jpeg;
}

/* JPEG images of many kinds, of which some cannot be indexed, and one whose components have scans of their own. */
static struct jpeg_bytes draw_jpeg(uint32_t i)
{
    static const jpeg_scan_info scans[2] = {{1, {0}, 0, 63, 0, 0}, {2, {1, 2}, 0, 63, 0, 0}};
    static const struct jpeg_case apart[2] = {
        {.width = 45,
         .height = 71,
         .colour = JCS_YCbCr,
         .across = 2,
         .down = 2,
         .scans = scans,
         .scan_count = 2},
        {.width = 70, .height = 39, .colour = JCS_GRAYSCALE, .restart = 2}};
    i %= JPEG_CASES + 2;
    struct jpeg_bytes jpeg = jpeg_draw(i < 2 ? &apart[i] : &jpeg_cases[i - 2]);
    return i == 1 ? pad_oddly(jpeg) : jpeg;
}

/* An image that slopes, of any size and of up to five channels, or without any pixel. */
static void draw_varying(uint32_t i, uint8_t *pixels, int64_t *shape)
{
    shape[0] = 1 + i % 5;
    shape[1] = i % 11 == 10 ? 0 : 1 + i * 7 % 32;
    shape[2] = 1 + i * 5 % 24;
    uint32_t state = i;
    for (int64_t at = 0; at < shape[0] * shape[1] * shape[2]; at++)
        pixels[at] = (uint8_t)(at % shape[2] * 5 + at / shape[2] % shape[1] * 3 + noise(&state) % 7);
}

static void add_images(apl_writer *w)
{
    static const char *const classes[3] = {"none", "some", "all"};
    static const int64_t any[3] = {-1, -1, -1}, tall[3] = {2, -1, 9};
    must(apl_writer_add_field(w, "file", APL_U8, APL_INPUT, 1, any, &err));
    must(apl_writer_set_media(w, "file", "image/jpeg", &err));
    must(apl_writer_set_indexed(w, "file", &err));
    must(apl_writer_add_field(w, "pixels", APL_U8, APL_INPUT, 3, any, &err));
    must(apl_writer_add_field(w, "tall", APL_U8, APL_INPUT, 3, tall, &err));
    must(apl_writer_add_field(w, "label", APL_U16, APL_TARGET, 0, NULL, &err));
    say(w, "file=image");
    say(w, "pixels=image,chw");
    say(w, "tall=map,linear");
    say(w, "label=label");
    must(apl_writer_set_classes(w, "label", classes, 3, &err));
}

/* One in five files cannot be indexed: the names of fields, or nothing at all. */
static void append_images(apl_writer *w, uint32_t i)
{
    static uint8_t pixels[5 * 32 * 24], bytes[2 * 32 * 9];
    struct jpeg_bytes jpeg = draw_jpeg(i);
    uint16_t label = i % 7 ? 2 : 0;
    int64_t shape[3], tall[3] = {2, i * 3 % 32, 9}, size = i % 5 == 4 ? i % 2 * 9 : (int64_t)jpeg.size;
    draw_varying(i, pixels, shape);
    fill(bytes, sizeof bytes, i);
    apl_value values[4] = {{jpeg.data, &size}, {pixels, shape}, {bytes, tall}, {&label, NULL}};
    must(apl_writer_append(w, values, &err));
    free(jpeg.data);
}

static void make_images(const char *dir, const char *name, int shuffle, uint32_t first, uint32_t records)
{
    apl_writer_options options = APL_WRITER_OPTIONS_INIT;
    options.shuffle = shuffle;
    options.shuffle_seed = first + 5;
    apl_writer *w = begin(dir, name, &options);
    add_images(w);
    must(apl_writer_begin_member(w, "few", first ? "test" : "train", 3, &err));
    for (uint32_t i = 0; i < records / 3; i++)
        append_images(w, first + i);
    must(apl_writer_begin_member(w, "many", first ? "train" : "test", 4, &err));
    for (uint32_t i = records / 3; i < records; i++)
        append_images(w, first + i);
    must(apl_writer_begin_member(w, "unused", first ? "extra" : "val", 9, &err));
    end(w);
}

/* Nothing but files: the version is 1.1. */
static void make_indexed(const char *dir, const char *name)
{
    static const int64_t any[1] = {-1};
    apl_writer_options options = APL_WRITER_OPTIONS_INIT;
    apl_writer *w = begin(dir, name, &options);
    must(apl_writer_add_field(w, "file", APL_U8, APL_INPUT, 1, any, &err));
    must(apl_writer_set_media(w, "file", "image/jpeg", &err));
    must(apl_writer_set_indexed(w, "file", &err));
    must(apl_writer_begin_member(w, "drawn", "train", 0, &err));
    for (uint32_t i = 0; i < 6; i++) {
        struct jpeg_bytes jpeg = draw_jpeg(i);
        int64_t size = (int64_t)jpeg.size;
        must(apl_writer_append(w, &(apl_value){jpeg.data, &size}, &err));
        free(jpeg.data);
    }
    end(w);
}

/* Splits come in another order in the second shard, and each has one that is empty. */
static void make_set(const char *dir, const char *name, int shuffle)
{
    char set[4096], shards[2][4200];
    snprintf(set, sizeof set, "%s/%s", dir, name);
    make_images(set, "first", shuffle, 0, 9);
    make_images(set, "deep/second", shuffle, 40, 14);
    snprintf(shards[0], sizeof shards[0], "%s/first", set);
    snprintf(shards[1], sizeof shards[1], "%s/deep/second", set);
    must(apl_set_join(set, (const char *const[2]){shards[0], shards[1]}, 2, NULL, &err));
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    make_kinds(argv[1], "kinds", 0);
    make_kinds(argv[1], "shuffled", 1);
    make_pictures(argv[1], "picture");
    make_pictures(argv[1], "delta");
    make_pictures(argv[1], "zstd");
    make_pictures(argv[1], "raw");
    make_kept(argv[1], "kept", 0);
    make_kept(argv[1], "kept-shuffled", 1);
    make_images(argv[1], "images", 0, 0, 40);
    make_indexed(argv[1], "indexed");
    make_boxes(argv[1], "boxes");
    make_set(argv[2], "plain", 0);
    make_set(argv[2], "shuffled", 1);
    return 0;
}

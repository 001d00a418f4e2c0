/* The first inputs of the targets that read formats of our own: seeds FOLDER writes FOLDER/TARGET/... */
#include "block.h"
#include "fuzz.h"
#include "jpegs.h"
#include "manifest.h"
#include "plain_form.h"
#include "schemas.h"
#include "small.h"
#include "transcode.h"

#include <sys/stat.h>

static const char *root;

static void seed(const char *target, const char *name, const void *data, size_t size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, target);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/%s", root, target, name);
    FILE *f = fopen(path, "wb");
    MUST(f && fwrite(data, 1, size, f) == size && fclose(f) == 0);
}

/* ------------------------------------------------------------------------------------- blocks, manifests */

/* A record whose values are a function of `number`. */
static void append(struct raw_block *block, const struct schema *schema, uint32_t number)
{
    apl_value values[APL_MAX_FIELDS];
    int64_t shapes[APL_MAX_FIELDS][APL_MAX_DIMS];
    uint8_t bytes[512], text[512], flags[512];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 3 + number * 5 + i / 16 * number);
    memset(text, 'a' + (int)(number % 3), sizeof text);
    memset(flags, number % 2, sizeof flags);
    for (unsigned f = 0; f < schema->count; f++) {
        const apl_field *field = &schema->fields[f];
        for (unsigned d = 0; d < field->ndim; d++)
            shapes[f][d] = field->shape[d] < 0 ? (int64_t)(number + d) % 4 : field->shape[d];
        values[f] = (apl_value){field->dtype == APL_UTF8   ? text
                                : field->dtype == APL_BOOL ? flags
                                                           : bytes,
                                shapes[f]};
    }
    MUST(raw_block_append(block, schema, values, NULL) == APL_OK);
}

static void block_seed(unsigned number, int codec, uint32_t records)
{
    struct block_coder bc;
    struct raw_block block = {.segment = 3, .first = 7};
    struct schema schema = *fuzz_schema(number);
    struct buffer coded = {0};
    char name[64];
    MUST(block_coder_init(&bc, NULL) == APL_OK);
    for (uint32_t i = 0; i < records; i++)
        append(&block, &schema, i);
    block.records = records;
    if (block_choose(&bc, &schema, &block, codec, 0, NULL) == APL_OK) {
        MUST(block_encode(&bc, &schema, &block, &coded, NULL) == APL_OK);
        uint8_t *data = malloc(coded.size + 1);
        data[0] = (uint8_t)number;
        memcpy(data + 1, coded.data, coded.size);
        snprintf(name, sizeof name, "schema%u-codec%d-%u", number, codec, records);
        seed("block", name, data, coded.size + 1);
        free(data);
    }
    raw_block_free(&block);
    buffer_free(&coded);
    block_coder_free(&bc);
}

static void block_seeds(void)
{
    for (unsigned number = 0; number < SCHEMAS; number++)
        for (int codec = -1; codec < CODEC_COUNT; codec++) {
            block_seed(number, codec, 3);
            block_seed(number, codec, 70);
        }
}

/* ------------------------------------------------------------------------------------------------- stores */

/* Of some fields; as text, long and short, and naming others. */
static void set_kinds(apl_writer *w, unsigned number)
{
    static const char *const kinds[SCHEMAS][2] = {
        {"image=image,chw", "label=label,of=image"},
        {"grey=mask,ignore=255", "name=text"},
        {"half=pinned", "series=audio,rate=16000"},
        {"track=keypoints,xyv,flip=0-1+2-3", "cube=mask,per=track"},
        {NULL, NULL},
    };
    for (unsigned i = 0; i < 2 && kinds[number][i]; i++) {
        char field[APL_MAX_NAME + 1];
        apl_kind kind;
        MUST(apl_kind_parse(kinds[number][i], field, &kind, NULL) == APL_OK);
        MUST(apl_writer_set_kind(w, field, &kind, NULL) == APL_OK);
    }
}

static const char *write_store(const char *name, unsigned number, const apl_writer_options *options,
                               uint32_t records)
{
    static char db[512];
    apl_writer *w;
    const struct schema *s = fuzz_schema(number);
    struct raw_block block = {0};
    int64_t shapes[APL_MAX_FIELDS][APL_MAX_DIMS];
    apl_value values[APL_MAX_FIELDS];
    snprintf(db, sizeof db, "%s/%s", fuzz_folder(), name);
    MUST(apl_writer_open(db, options, &w, NULL) == APL_OK);
    for (unsigned f = 0; f < s->count; f++)
        if (s->fields[f].role != APL_POSITION)
            MUST(apl_writer_add_field(w, s->fields[f].name, s->fields[f].dtype, s->fields[f].role,
                                      s->fields[f].ndim, s->fields[f].shape, NULL) == APL_OK);
    set_kinds(w, number);
    for (uint32_t i = 0; i < records; i++) {
        if (i == 0 || i == records / 2)
            MUST(apl_writer_begin_member(w, i ? "second" : "first", i ? "test" : "train", i ? 4 : 1, NULL) ==
                 APL_OK);
        append(&block, s, i);
        block.records = i + 1;
        raw_block_record(&block, s, i, values, shapes);
        MUST(apl_writer_append(w, values, NULL) == APL_OK);
    }
    MUST(apl_writer_commit(w, NULL) == APL_OK);
    apl_writer_close(w);
    raw_block_free(&block);
    strcat(db, "/data.mdb");
    return db;
}

static struct buffer read_whole(const char *path)
{
    struct buffer b = {0};
    FILE *f = fopen(path, "rb");
    MUST(f && buffer_reserve(&b, 1 << 20));
    b.size = fread(b.data, 1, 1 << 20, f);
    fclose(f);
    return b;
}

/* The manifest of a store, found by its magic and its size. */
static void manifest_seed(const char *name, const struct buffer *file)
{
    for (size_t at = 0; at + 24 < file->size; at += 2)
        if (memcmp(file->data + at, "APLM", 4) == 0 && load_le(file->data + at + 8, 8) <= file->size - at)
            seed("manifest", name, file->data + at, (size_t)load_le(file->data + at + 8, 8));
}

static void store_seed(unsigned number, int shuffle, uint32_t block_records, uint32_t records)
{
    char name[64];
    apl_writer_options options = APL_WRITER_OPTIONS_INIT;
    options.threads = 1;
    options.shuffle = shuffle;
    options.block_records = block_records;
    snprintf(name, sizeof name, "schema%u-%u-of-%u%s", number, block_records, records,
             shuffle ? "-shuffled" : "");
    struct buffer file = read_whole(write_store(name, number, &options, records));
    seed("store", name, file.data, file.size);
    manifest_seed(name, &file);
    buffer_free(&file);
}

static void store_seeds(void)
{
    for (unsigned number = 0; number < SCHEMAS; number++) {
        if (number != 4)
            store_seed(number, 0, 4, 10);
        if (number != 4)
            store_seed(number, 1, 16, 20);
    }
    store_seed(2, 0, 400, 700); /* blocks of several pages */
    store_seed(0, 0, 1, 60);    /* enough keys for a branch page */
}

/* ------------------------------------------------------------------------------- states and split files */

static void state_seed(unsigned pick, unsigned batches)
{
    uint8_t state[512] = {(uint8_t)pick};
    size_t size = sizeof state - 1;
    char name[64];
    apl_reader *reader;
    apl_batch *batch;
    apl_reader_options options = small_options((uint8_t)pick);
    if (apl_reader_open(small_store(), &options, &reader, NULL) != APL_OK)
        return;
    for (unsigned i = 0; i < batches && apl_reader_next(reader, &batch, NULL) == APL_OK; i++)
        apl_batch_release(batch);
    MUST(apl_reader_state(reader, state + 1, &size, NULL) == APL_OK);
    snprintf(name, sizeof name, "options%u-batch%u", pick, batches);
    seed("state", name, state, size + 1);
    apl_reader_close(reader);
}

/* The epoch that a reader begins with; 2^63 - 1 is the last. */
static void epoch_seed(unsigned pick, uint64_t epoch)
{
    uint8_t bytes[9] = {(uint8_t)pick};
    char name[64];
    store_le(bytes + 1, epoch, 8);
    snprintf(name, sizeof name, "options%u-epoch%llx", pick, (unsigned long long)epoch);
    seed("state", name, bytes, sizeof bytes);
}

static void split_seed(const char *name, const char *parent, const char *stratify, double ratio)
{
    char path[512];
    apl_split_options options = APL_SPLIT_OPTIONS_INIT;
    options.name = name;
    options.parent = parent;
    options.stratify = stratify;
    options.ratio = ratio;
    options.overlap = 1;
    MUST(apl_split_make(small_store(), &options, NULL) == APL_OK);
    snprintf(path, sizeof path, "%s/small/%s.split", fuzz_folder(), name);
    struct buffer file = read_whole(path);
    seed("split", name, file.data, file.size);
    buffer_free(&file);
}

/* Splits by what is not the inputs; of groups, by the field that tells them. */
static void unit_seed(const char *name, apl_split_by by, const char *group, const char *stratify)
{
    char path[512];
    apl_split_options options = APL_SPLIT_OPTIONS_INIT;
    options.name = name;
    options.parent = "train";
    options.stratify = stratify;
    options.ratio = 0.4;
    options.by = by;
    options.group = group;
    options.overlap = 1;
    MUST(apl_split_make(small_store(), &options, NULL) == APL_OK);
    snprintf(path, sizeof path, "%s/small/%s.split", fuzz_folder(), name);
    struct buffer file = read_whole(path);
    seed("split", name, file.data, file.size);
    buffer_free(&file);
}

static void parts_seed(const char *name, const char *parent, const char *stratify, double concentration)
{
    char path[512], second[64];
    apl_split_options options = APL_SPLIT_OPTIONS_INIT;
    options.name = name;
    options.parent = parent;
    options.stratify = stratify;
    options.overlap = 1;
    MUST(apl_split_parts(small_store(), &options, 3, concentration, NULL) == APL_OK);
    snprintf(second, sizeof second, "%s-1", name);
    snprintf(path, sizeof path, "%s/small/%s.split", fuzz_folder(), second);
    struct buffer file = read_whole(path);
    seed("split", second, file.data, file.size);
    buffer_free(&file);
}

static void small_seeds(void)
{
    for (unsigned pick = 0; pick < 128; pick++)
        state_seed(pick, pick % 5);
    for (unsigned pick = 0; pick < 2; pick++) {
        epoch_seed(pick, 0);
        epoch_seed(pick, INT64_MAX);
        epoch_seed(pick, (uint64_t)INT64_MAX + 1);
    }
    split_seed("half", "train", NULL, 0.5);
    split_seed("classes", "train", "label", 0.3);
    split_seed("few", "train-half", NULL, 0.1);
    split_seed("later", "test", "label", 0.9);
    parts_seed("fold", "train", NULL, 0);
    parts_seed("even", "train", "label", 0);
    parts_seed("client", "train", "label", 0.3);
    unit_seed("place", APL_BY_KEY, NULL, "label");
    unit_seed("id", APL_BY_ID, NULL, NULL);
    unit_seed("name", APL_BY_CONTENT, "name", NULL);
    unit_seed("label", APL_BY_CONTENT, "label", "label");
}

/* ------------------------------------------------------------------------------------------------ images */

static void jpeg_seeds(void)
{
    for (size_t i = 0; i < JPEG_CASES; i++)
        for (unsigned way = 0; way < 2; way++) {
            struct jpeg_case k = jpeg_cases[i];
            k.width = (k.width + 1) / 2;
            k.height = (k.height + 1) / 2;
            struct jpeg_bytes bytes = jpeg_draw(&k);
            const uint8_t planned[8] = {0,  0, (uint8_t)k.width,           (uint8_t)k.height, 20,
                                        19, 2, (uint8_t)(130 + i % 2 * 64)};
            const uint8_t drawn[8] = {1, 2, 3, 4, 5, 6, 7, (uint8_t)(i % 8 / 2 + i % 2 * 64)};
            uint8_t *data = malloc(bytes.size + 8);
            char name[64];
            memcpy(data, way ? planned : drawn, 8);
            memcpy(data + 8, bytes.data, bytes.size);
            snprintf(name, sizeof name, "case%zu-%s", i, way ? "planned" : "drawn");
            seed("jpeg", name, data, bytes.size + 8);
            free(data);
            free(bytes.data);
        }
}

/* A file to index, and what it becomes. */
static void indexed_seed(struct transcoder *t, const struct jpeg_case *k, const char *name)
{
    struct jpeg_bytes bytes = jpeg_draw(k);
    struct buffer data = {0};
    bool indexed;
    apl_error err;
    char full[64];
    const uint8_t head[8] = {1,
                             2,
                             (uint8_t)(k->width - 2),
                             (uint8_t)(k->height - 2),
                             (uint8_t)(bytes.size >> 8),
                             (uint8_t)bytes.size,
                             1,
                             (uint8_t)k->quality};
    buffer_put(&data, head, 8);
    buffer_put(&data, bytes.data, bytes.size);
    snprintf(full, sizeof full, "%s-file", name);
    seed("indexed", full, data.data, data.size);
    data.size = 8;
    data.data[6] = 0;
    MUST(transcode(t, bytes.data, bytes.size, &data, &indexed, &err) == APL_OK);
    snprintf(full, sizeof full, "%s-form", name);
    if (indexed)
        seed("indexed", full, data.data, data.size);
    buffer_free(&data);
    free(bytes.data);
}

static void indexed_seeds(void)
{
    static const jpeg_scan_info apart[] = {
        {1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}};
    struct transcoder t;
    apl_error err;
    MUST(transcoder_init(&t, &err) == APL_OK);
    for (int i = 0; i < 15; i++) {
        struct jpeg_case k = {.width = 34 + 3 * (unsigned)i,
                              .height = 27,
                              .colour = i < 2    ? JCS_GRAYSCALE
                                        : i == 9 ? JCS_RGB
                                                 : JCS_YCbCr,
                              .across = 1 + (i & 1),
                              .down = 1 + (i >> 1 & 1),
                              .progressive = i >= 10,
                              .restart = i > 4 ? (unsigned)i - 3 : 0,
                              .quality = 50 + 3 * i};
        char name[32];
        if (i == 8) {
            k.scans = apart;
            k.scan_count = 3;
        }
        snprintf(name, sizeof name, "case%d", i);
        indexed_seed(&t, &k, name);
    }
    transcoder_free(&t);
}

/* Of every sampling, from none to much detail; behind eight bytes that ask for the whole image, or a part. */
static void segments_seed(struct transcoder *t, const struct jpeg_case *drawn, unsigned number)
{
    struct jpeg_bytes file = jpeg_draw(drawn);
    struct buffer image = {.data = NULL};
    const uint8_t head[8] = {0, 0, (uint8_t)(number % 3 ? 255 : 100), 255, (uint8_t)number};
    char name[32];
    bool indexed;
    buffer_put(&image, head, sizeof head);
    MUST(transcode(t, file.data, file.size, &image, &indexed, NULL) == APL_OK);
    snprintf(name, sizeof name, "image-%02u", number);
    if (indexed)
        seed("segments", name, image.data, image.size);
    buffer_free(&image);
    free(file.data);
}

static void segments_seeds(void)
{
    static const int samplings[][2] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}};
    struct transcoder t;
    MUST(transcoder_init(&t, NULL) == APL_OK);
    for (unsigned i = 0; i < 40; i++)
        segments_seed(&t,
                      &(struct jpeg_case){.width = 1 + i * 37 % 90,
                                          .height = 1 + i * 53 % 70,
                                          .colour = i % 5 == 3    ? JCS_GRAYSCALE
                                                    : i % 11 == 4 ? JCS_RGB
                                                                  : JCS_YCbCr,
                                          .across = i % 5 == 3 ? 1 : samplings[i % 4][0],
                                          .down = i % 5 == 3 ? 1 : samplings[i % 4][1],
                                          .quality = (int)(1 + i * 29 % 100)},
                      i);
    transcoder_free(&t);
}

/* The same images taken apart: what they say twice can be changed in one place. */
static void twice_seed(struct transcoder *t, const struct jpeg_case *k, const char *name)
{
    struct jpeg_bytes file = jpeg_draw(k);
    struct buffer form = {.data = NULL}, data = {.data = NULL};
    struct plain_form p;
    bool indexed;
    MUST(transcode(t, file.data, file.size, &form, &indexed, NULL) == APL_OK);
    free(file.data);
    if (!indexed)
        return;
    MUST(plain_take(t, form.data, form.size, &p));
    buffer_le(&data, (uint64_t)k->quality, 1);
    buffer_le(&data, p.pads, 1);
    buffer_put(&data, p.front.data, p.front.size);
    buffer_put(&data, p.parts.data, p.parts.size);
    seed("twice", name, data.data, data.size);
    plain_free(&p);
    buffer_free(&form);
    buffer_free(&data);
}

static void twice_seeds(void)
{
    static const jpeg_scan_info apart[] = {
        {1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}};
    static const J_COLOR_SPACE colours[] = {JCS_YCbCr, JCS_YCbCr, JCS_YCbCr,
                                            JCS_YCbCr, JCS_RGB,   JCS_GRAYSCALE};
    struct transcoder t;
    MUST(transcoder_init(&t, NULL) == APL_OK);
    for (unsigned i = 0; i < 24; i++) {
        struct jpeg_case k = {.width = i < 4 ? 16 : 17 + i,
                              .height = i < 4 ? 16 : 12 + i,
                              .colour = colours[i % 6],
                              .across = i % 6 < 4 ? 1 + (i & 1) : 1,
                              .down = i % 6 < 4 ? 1 + (i >> 1 & 1) : 1,
                              .progressive = i >= 18,
                              .restart = i % 5 == 4 ? 2 : 0,
                              .quality = 20 + 3 * (int)i};
        char name[32];
        if (i >= 12 && i < 16) {
            k.scans = apart;
            k.scan_count = 3;
        }
        snprintf(name, sizeof name, "image-%02u", i);
        twice_seed(&t, &k, name);
    }
    transcoder_free(&t);
}

int main(int argc, char **argv)
{
    MUST(argc == 2);
    root = argv[1];
    mkdir(root, 0777);
    block_seeds();
    segments_seeds();
    store_seeds();
    small_seeds();
    jpeg_seeds();
    indexed_seeds();
    twice_seeds();
    return 0;
}

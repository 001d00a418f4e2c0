/* TFRecord files of tf.train.Example into stores, and files of any kind as bytes: what becomes of features, and everything that can be
 * wrong with records. */
#include "crc32c.h"
#include "ingest_fixture.h"
#include "jpegs.h"

TestSuite(format_tfrecord, .init = ix_set_up, .fini = fx_tear_down, .timeout = 60);

/* ----------------------------------------------------------------------------------------------------- protobuf */

static void put_varint(struct buffer *b, uint64_t v)
{
    for (; v > 127; v >>= 7)
        buffer_le(b, (v & 127) | 128, 1);
    buffer_le(b, v, 1);
}

/* A field of bytes, whose content is freed. */
static void put_message(struct buffer *b, unsigned number, struct buffer *content)
{
    put_varint(b, number << 3 | 2);
    put_varint(b, content->size);
    buffer_put(b, content->data, content->size);
    buffer_free(content);
}

static struct buffer text_of(const void *data, size_t size)
{
    struct buffer b = {0};
    buffer_put(&b, data, size);
    return b;
}

/* Adds a feature to a message of features: kind 1, 2 or 3 of a list whose message is `list`. */
static void put_feature(struct buffer *features, const char *name, unsigned kind, struct buffer *list)
{
    struct buffer entry = {0}, feature = {0}, key = text_of(name, strlen(name));
    put_message(&feature, kind, list);
    put_message(&entry, 1, &key);
    put_message(&entry, 2, &feature);
    put_message(features, 1, &entry);
}

static void put_bytes_feature(struct buffer *features, const char *name, const void *data, size_t size)
{
    struct buffer list = {0}, value = text_of(data, size);
    put_message(&list, 1, &value);
    put_feature(features, name, 1, &list);
}

/* Ints, packed or one by one. */
static void put_ints(struct buffer *features, const char *name, const int64_t *values, size_t count,
                     bool packed)
{
    struct buffer list = {0}, run = {0};
    for (size_t i = 0; i < count; i++) {
        if (!packed)
            put_varint(&list, 1 << 3 | 0);
        put_varint(packed ? &run : &list, (uint64_t)values[i]);
    }
    if (packed)
        put_message(&list, 1, &run);
    put_feature(features, name, 3, &list);
}

static void put_floats(struct buffer *features, const char *name, const float *values, size_t count)
{
    struct buffer list = {0}, run = text_of(values, count * sizeof *values);
    put_message(&list, 1, &run);
    put_feature(features, name, 2, &list);
}

static uint32_t masked(const void *data, size_t size)
{
    uint32_t c = crc32c(data, size);
    return (c >> 15 | c << 17) + 0xa282ead8u;
}

/* Appends a record to a file: a message, which is freed. */
static void put_frame(struct buffer *file, struct buffer *message)
{
    uint8_t length[8];
    store_le(length, message->size, 8);
    buffer_put(file, length, 8);
    buffer_le(file, masked(length, 8), 4);
    buffer_put(file, message->data, message->size);
    buffer_le(file, masked(message->data, message->size), 4);
    buffer_free(message);
}

/* The example of these features, which are freed. */
static void put_record(struct buffer *file, struct buffer *features)
{
    struct buffer example = {0};
    put_message(&example, 1, features);
    put_frame(file, &example);
}

/* A SequenceExample: a context with one feature, and a feature list of one feature of two ints, if it is to have any. */
static void put_sequence(struct buffer *file, bool with_list)
{
    struct buffer example = {0}, context = {0}, steps = {0}, lists = {0}, key = text_of("frames", 6);
    struct buffer list = {0}, feature = {0}, entry = {0};
    put_ints(&context, "label", (const int64_t[]){5}, 1, true);
    put_message(&example, 1, &context);
    put_varint(&list, 1 << 3 | 0);
    put_varint(&list, 7);
    put_message(&feature, 3, &list);
    put_message(&steps, 1, &feature);
    put_message(&entry, 1, &key);
    put_message(&entry, 2, &steps);
    if (with_list)
        put_message(&lists, 1, &entry);
    buffer_free(&entry);
    put_message(&example, 2, &lists);
    put_frame(file, &example);
}

/* ------------------------------------------------------------------------------------------------------ records */

Test(format_tfrecord, crc32c_is_the_one_of_castagnoli)
{
    uint8_t bytes[32] = {0};
    cr_assert_eq(crc32c("123456789", 9), 0xe3069283u);
    cr_assert_eq(crc32c(bytes, 32), 0x8a9136aau);
    memset(bytes, 0xff, 32);
    cr_assert_eq(crc32c(bytes, 32), 0x62a8ab43u);
}

static struct buffer small_file(void)
{
    struct buffer file = {0};
    for (int64_t i = 0; i < 3; i++) {
        struct buffer f = {0};
        const float pair[2] = {(float)i, -1};
        const int64_t many[3] = {i, -i, INT64_MIN};
        put_ints(&f, "label", &i, 1, i == 1);
        put_ints(&f, "many", many, (size_t)i + 1, i != 1);
        put_floats(&f, "box", pair, 2);
        put_bytes_feature(&f, "text", i == 2 ? "\xc3\xa9" : "abc", i == 2 ? 2 : 3);
        if (i != 1)
            put_bytes_feature(&f, "sometimes", "\xff\0\1", 3);
        put_record(&file, &f);
    }
    return file;
}

static void check_field(const apl_store *s, const char *name, apl_dtype dtype, unsigned ndim, int64_t size,
                        apl_role role)
{
    const apl_field *f = apl_store_field(s, (unsigned)apl_store_find_field(s, name));
    cr_assert(f->dtype == dtype && f->ndim == ndim && f->role == role, "%s", name);
    cr_assert(ndim == 0 || f->shape[0] == size, "%s", name);
}

Test(format_tfrecord, features_are_fields)
{
    struct buffer file = small_file();
    ix_put("test.tfrecord", file.data, file.size);
    apl_store *s = IX_STORE("test.tfrecord");
    cr_assert_str_eq(ix_sum.format, "tfrecord");
    cr_assert_str_eq(apl_store_split(s, 0)->name, "test");
    check_field(s, "label", APL_I64, 0, 0, APL_TARGET);
    check_field(s, "many", APL_I64, 1, -1, APL_INPUT);
    check_field(s, "box", APL_F32, 1, 2, APL_INPUT);
    check_field(s, "text", APL_UTF8, 1, -1, APL_INPUT);
    check_field(s, "sometimes", APL_U8, 1, -1, APL_INPUT);
    apl_batch *all = fx_get_all(s);
    const apl_column *many = ix_column(s, all, "many"), *sometimes = ix_column(s, all, "sometimes");
    cr_assert(memcmp(many->data, (const int64_t[]){0, 1, -1, 2, -2, INT64_MIN}, 48) == 0);
    cr_assert(sometimes->offsets[1] == 3 && sometimes->offsets[2] == 3 && sometimes->offsets[3] == 6);
    apl_batch_release(all);
    apl_store_close(s);
    ix_put_gzip("test.tfrecord", file.data, file.size); /* packed, though its name does not say so */
    apl_store_close(IX_STORE("test.tfrecord"));
    cr_assert_eq(ix_sum.records, 3);
    buffer_free(&file);
}

static const char detection[] =
    "{\"pythonClassName\": \"tensorflow_datasets.core.features.features_dict.FeaturesDict\","
    "\"featuresDict\": {\"features\": {"
    "\"label\": {\"pythonClassName\": \"tensorflow_datasets.core.features.class_label_feature.ClassLabel\","
    "\"classLabel\": {\"numClasses\": \"9\"}},"
    "\"box\": {\"pythonClassName\": \"tensorflow_datasets.core.features.bbox_feature.BBoxFeature\"},"
    "\"other\": {\"pythonClassName\": \"tensorflow_datasets.core.features.tensor_feature.Tensor\", "
    "\"tensor\": {\"shape\": {}}},"
    "\"objects\": {\"pythonClassName\": \"tensorflow_datasets.core.features.sequence_feature.Sequence\","
    "\"sequence\": {\"feature\": {\"pythonClassName\": "
    "\"tensorflow_datasets.core.features.features_dict.FeaturesDict\","
    "\"featuresDict\": {\"features\": {"
    "\"bbox\": {\"pythonClassName\": \"tensorflow_datasets.core.features.bbox_feature.BBoxFeature\"},"
    "\"label\": {\"pythonClassName\": \"tensorflow_datasets.core.features.class_label_feature.ClassLabel\"},"
    "\"crowd\": {\"pythonClassName\": \"tensorflow_datasets.core.features.tensor_feature.Tensor\","
    "\"tensor\": {\"shape\": {}, \"dtype\": \"bool\"}},"
    "\"pair\": {\"pythonClassName\": \"tensorflow_datasets.core.features.tensor_feature.Tensor\","
    "\"tensor\": {\"shape\": {\"dimensions\": [\"2\"]}}}}}}}}}}}";

static void put_objects(struct buffer *file, size_t boxes, size_t numbers)
{
    struct buffer f = {0};
    const float sides[9] = {0, 0.25f, 1, 0.5f, 0, 0, 1, 1, 7};
    const int64_t ints[4] = {3, 4, 5, 6};
    put_ints(&f, "label", ints, 1, true);
    put_ints(&f, "other", ints, 1, true);
    put_floats(&f, "box", sides, 4);
    put_floats(&f, "objects/bbox", sides, numbers);
    put_ints(&f, "objects/label", ints, boxes, true);
    put_ints(&f, "objects/crowd", ints, boxes, true);
    put_ints(&f, "objects/pair", ints, 2 * boxes, true);
    put_record(file, &f);
}

static void said_of(const apl_store *s, const char *field, unsigned ndim, const char *kind, apl_origin origin)
{
    char text[APL_KIND_BYTES];
    const apl_field *f = apl_store_field(s, (unsigned)apl_store_find_field(s, field));
    cr_assert(f && f->ndim == ndim, "%s", field);
    cr_assert(!f->kind == !kind, "%s", field);
    cr_assert(!kind || (strcmp(apl_kind_print(NULL, f->kind, text, sizeof text), kind) == 0 &&
                        f->kind->origin == origin),
              "%s: %s", field, text);
}

Test(format_tfrecord, features_json_says_what_features_are)
{
    struct buffer file = {0};
    ix_put("features.json", detection, sizeof detection - 1);
    for (unsigned i = 0; i < 2; i++)
        put_objects(&file, 2, 8);
    put_objects(&file, 1, 8); /* one label for two boxes */
    put_objects(&file, 2, 9);
    ix_put_buffer("t.tfrecord", &file);
    IX_REFUSED(APL_E_SOURCE, "record 2: objects/crowd: 1 element per 'objects/bbox', which has 2",
               "t.tfrecord");
    ix_options.skip_bad = 2;
    apl_store *s = IX_STORE("t.tfrecord");
    said_of(s, "label", 0, "label", APL_FROM_SOURCE);
    said_of(s, "other", 0, "plain", APL_BY_DEFAULT);
    said_of(s, "box", 1, "boxes,yxyx-rel", APL_FROM_SOURCE);
    said_of(s, "objects/bbox", 2, "boxes,yxyx-rel", APL_FROM_SOURCE);
    said_of(s, "objects/label", 1, "label,per=objects/bbox", APL_FROM_SOURCE);
    said_of(s, "objects/crowd", 1, "plain,per=objects/bbox", APL_FROM_SOURCE);
    said_of(s, "objects/pair", 1, NULL, 0);
    cr_assert(strstr(ix_said, "objects/bbox has 9 numbers, and features.json says boxes of 4"), "%s",
              ix_said);
    cr_assert_eq(apl_store_info(s)->records, 2);
    apl_batch *all = fx_get_all(s);
    const apl_column *c = apl_batch_column(all, (unsigned)apl_store_find_field(s, "objects/bbox"));
    cr_assert(c->shapes[0] == 2 && c->shapes[1] == 4 && ((const float *)c->data)[1] == 0.25f);
    apl_batch_release(all);
    apl_store_close(s);
}

Test(format_tfrecord, features_json_that_is_none)
{
    struct buffer file = {0};
    put_objects(&file, 2, 8);
    ix_put_buffer("t.tfrecord", &file);
    ix_put("features.json", "{\"a\": ", 6);
    IX_REFUSED(APL_E_SOURCE, "features.json: is not JSON: line 1", "t.tfrecord");
    ix_put("features.json", "[7]", 3);
    apl_store *s = IX_STORE("t.tfrecord");
    said_of(s, "objects/bbox", 1, NULL, 0);
    said_of(s, "label", 0, "label", APL_GUESSED);
    apl_store_close(s);
}

Test(format_tfrecord, images_are_kept)
{
    struct buffer file = {0};
    for (unsigned i = 0; i < 2; i++) {
        struct jpeg_case k = {
            .width = 20 + i, .height = 9, .colour = JCS_YCbCr, .across = 2, .down = 1, .quality = 90};
        struct jpeg_bytes jpeg = jpeg_draw(&k);
        struct buffer f = {0};
        put_bytes_feature(&f, "image/encoded", jpeg.data, jpeg.size - 20 * i);
        put_bytes_feature(&f, "icon", "\x89PNG\r\n\x1a\n", 8);
        put_record(&file, &f);
        free(jpeg.data);
    }
    ix_put_buffer("train-00000-of-00001.tfrecord", &file);
    IX_REFUSED(APL_E_CORRUPT, "record 1: feature image/encoded: JPEG", "train-00000-of-00001.tfrecord");
    ix_options.skip_bad = 1;
    apl_store *s = IX_STORE("train-00000-of-00001.tfrecord");
    apl_batch *all = fx_get_all(s);
    cr_assert_eq(apl_batch_rows(all), 1);
    cr_assert_str_eq(apl_store_field(s, 1)->media, "image/jpeg");
    cr_assert_str_eq(apl_store_field(s, 0)->media, "image/png");
    const uint32_t *shape = ix_column(s, all, "image/encoded_shape")->data;
    cr_assert(shape[0] == 3 && shape[1] == 9 && shape[2] == 20);
    apl_batch_release(all);
    apl_store_close(s);
}

/* As an export of images has without its schema. */
Test(format_tfrecord, a_feature_called_as_the_shape_of_images_is_kept)
{
    struct jpeg_case k = {
        .width = 20, .height = 9, .colour = JCS_YCbCr, .across = 2, .down = 1, .quality = 90};
    struct jpeg_bytes jpeg = jpeg_draw(&k);
    struct buffer file = {0}, f = {0};
    put_bytes_feature(&f, "image", jpeg.data, jpeg.size);
    put_ints(&f, "image_shape", (const int64_t[]){9, 20, 3}, 3, true);
    put_record(&file, &f);
    free(jpeg.data);
    ix_put_buffer("train.tfrecord", &file);
    apl_store *s = IX_STORE("train.tfrecord");
    check_field(s, "image_shape", APL_I64, 1, 3, APL_NAME);
    apl_batch *all = fx_get_all(s);
    cr_assert(memcmp(ix_column(s, all, "image_shape")->data, (const int64_t[]){9, 20, 3}, 24) == 0);
    cr_assert_eq(apl_store_info(s)->fields, 2);
    apl_batch_release(all);
    apl_store_close(s);
}

Test(format_tfrecord, bad_records_are_named_and_can_be_left_out)
{
    struct buffer file = small_file(), f = {0};
    put_floats(&f, "label", (const float[]){1}, 1);
    put_record(&file, &f);
    ix_put("x.tfrecord", file.data, file.size);
    IX_REFUSED(APL_E_SOURCE, "x.tfrecord: record 3: feature label has floats, but ints in record 0 of",
               "x.tfrecord");
    ix_options.skip_bad = 2;
    apl_store *s = IX_STORE("x.tfrecord");
    cr_assert_eq(ix_sum.records, 3);
    check_field(s, "label", APL_I64, 0, 0, APL_TARGET); /* as if the bad record were not there */
    check_field(s, "box", APL_F32, 1, 2, APL_INPUT);
    apl_store_close(s);
    fx_shell("rm -r '%s'%s", ix_db, "");
    file.data[40] ^= 1;
    ix_put("x.tfrecord", file.data, file.size);
    apl_store_close(IX_STORE("x.tfrecord"));
    cr_assert_eq(ix_sum.records, 2);
    cr_assert_not_null(strstr(ix_said, "record 0: its CRC is wrong"), "%s", ix_said);
    fx_shell("rm -r '%s'%s", ix_db, "");
    ix_options.skip_bad = 0;
    IX_REFUSED(APL_E_CORRUPT, "x.tfrecord: record 0: its CRC is wrong", "x.tfrecord");
    file.data[40] ^= 1;
    ix_put("x.tfrecord", file.data, file.size - 2);
    IX_REFUSED(APL_E_INCOMPLETE, "x.tfrecord: record 3: ends early", "x.tfrecord");
    size_t second = 16 + (size_t)load_le(file.data, 8);
    file.data[second + 1] ^= 1;
    ix_put("x.tfrecord", file.data, file.size);
    IX_REFUSED(APL_E_SOURCE, "x.tfrecord: record 1: the CRC of its length is wrong", "x.tfrecord");
    buffer_free(&file);
}

Test(format_tfrecord, names_that_leave_the_split_open_are_worth_a_line)
{
    struct buffer file = small_file();
    ix_put("train.tfrecord", file.data, file.size);
    ix_put("val-train.tfrecord", file.data, file.size);
    ix_put_buffer("holdout.tfrecord", &file);
    is_said_of(
        IX_STORE("train.tfrecord", "holdout.tfrecord"),
        "holdout.tfrecord: in the split 'train', as its name tells no split, and those of others do\n");
    is_said_of(IX_STORE("train.tfrecord", "val-train.tfrecord"),
               "val-train.tfrecord: in the split 'val', though its name tells 'train' too\n");
    is_said_of(IX_STORE("holdout.tfrecord"), NULL);
}

/* One of several, whether in a directory or by name. */
Test(format_tfrecord, empty_shards)
{
    struct buffer file = small_file();
    cr_assert_eq(mkdir(fx_path("set"), 0755), 0);
    ix_put_buffer("set/train.tfrecord", &file);
    ix_put("set/val.tfrecord", "", 0);
    IX_REFUSED(APL_E_INCOMPLETE, "set/val.tfrecord: is an empty shard: it has no records", "set");
    IX_REFUSED(APL_E_INCOMPLETE, "val.tfrecord: is an empty shard", "set/val.tfrecord", "set/train.tfrecord");
    IX_REFUSED(APL_E_INCOMPLETE, "val.tfrecord: is an empty shard", "set/val.tfrecord");
    ix_options.format = "tfrecord";
    IX_REFUSED(APL_E_INCOMPLETE, "val.tfrecord: is an empty shard", "set");
    ix_options.partial = 1;
    apl_store *s = IX_STORE("set");
    cr_assert(ix_sum.records == 3 && apl_store_split(s, 1)->count == 0);
    cr_assert_str_eq(apl_store_split(s, 1)->name, "val");
    apl_store_close(s);
}

/* Of a series, in a directory or by a pattern; one that is given by name is enough. */
Test(format_tfrecord, missing_shards)
{
    struct buffer file = small_file();
    cr_assert_eq(mkdir(fx_path("set"), 0755), 0);
    ix_put("set/val-00000-of-00001.tfrecord", file.data, file.size);
    ix_put_buffer("set/train-00001-of-00002.tfrecord", &file);
    IX_REFUSED(APL_E_INCOMPLETE,
               "train-00001-of-00002.tfrecord: of the 2 shards that its name speaks of, 1 is", "set");
    IX_REFUSED(APL_E_INCOMPLETE, "missing, number 0 first", "set/train-*");
    apl_store_close(IX_STORE("set/train-00001-of-00002.tfrecord"));
    ix_options.partial = 1;
    apl_store_close(IX_STORE("set"));
    cr_assert_eq(ix_sum.records, 6);
}

/* Where there is not one good record, the first bad one is reported. */
Test(format_tfrecord, nothing_but_bad_records)
{
    struct buffer file = {0}, f = {0};
    put_floats(&f, "a\nb", (const float[]){1}, 1);
    put_record(&file, &f);
    ix_put("x.tfrecord", file.data, file.size);
    IX_REFUSED(APL_E_INVALID, "x.tfrecord: field name \"a\\x0ab\" is not 1 to 255 bytes", "x.tfrecord");
    file.data[20] ^= 1;
    ix_put("x.tfrecord", file.data, file.size);
    IX_REFUSED(APL_E_CORRUPT, "x.tfrecord: record 0: its CRC is wrong", "x.tfrecord");
    buffer_free(&file);
}

Test(format_tfrecord, lists_of_strings_are_refused)
{
    struct buffer file = {0}, f = {0}, list = {0};
    for (unsigned i = 0; i < 2; i++) {
        struct buffer value = text_of("ab", 2);
        put_message(&list, 1, &value);
    }
    put_feature(&f, "words", 1, &list);
    put_record(&file, &f);
    ix_put_buffer("x.tfrecord", &file);
    IX_REFUSED(APL_E_UNSUPPORTED, "record 0: feature words has a list of 2 strings", "x.tfrecord");
}

/* Their context alone would be half of them. */
Test(format_tfrecord, sequences_are_refused)
{
    struct buffer file = {0}, mixed = {0}, f = {0};
    put_sequence(&file, true);
    ix_put_buffer("x.tfrecord", &file);
    IX_REFUSED(APL_E_UNSUPPORTED, "x.tfrecord: record 0: is a tf.train.SequenceExample, whose feature lists",
               "x.tfrecord");
    put_ints(&f, "label", (const int64_t[]){1}, 1, true);
    put_record(&mixed, &f);
    put_sequence(&mixed, true);
    put_sequence(&mixed, false);
    ix_put_buffer("y.tfrecord", &mixed);
    IX_REFUSED(APL_E_UNSUPPORTED, "y.tfrecord: record 1: is a tf.train.SequenceExample", "y.tfrecord");
    ix_options.skip_bad = 1;
    apl_store_close(IX_STORE("y.tfrecord"));
    cr_assert_eq(ix_sum.records, 2);
    cr_assert_not_null(strstr(ix_said, "record 1: is a tf.train.SequenceExample"), "%s", ix_said);
}

/* ------------------------------------------------------------------------------------------------------ exports */

/* Puts an export of one record with a field `x` of that dtype and shape, whose values lie in that list. */
static void put_export(const char *dtype, const char *list, const char *shape, struct buffer *features)
{
    char schema[512];
    struct buffer file = {0};
    int size = snprintf(schema, sizeof schema,
                        "{\"format\": \"apldata-tfrecord\", \"version\": 1, \"splits\": [{\"name\": \"a b\", "
                        "\"file\": \"f.tfrecord\", \"records\": 1}], \"fields\": [{\"name\": \"x\", "
                        "\"list\": \"%s\", \"dtype\": \"%s\", \"role\": \"input\", \"shape\": [%s]}]}",
                        list, dtype, shape);
    put_record(&file, features);
    ix_put("schema.json", schema, (size_t)size);
    ix_put_buffer("f.tfrecord", &file);
}

static struct buffer ints_of(const char *name, const int64_t *values, size_t count)
{
    struct buffer f = {0};
    put_ints(&f, name, values, count, true);
    return f;
}

static struct buffer floats_of(const float *values, size_t count)
{
    struct buffer f = {0};
    put_floats(&f, "x", values, count);
    return f;
}

static struct buffer string_of(const char *text)
{
    struct buffer f = {0};
    put_bytes_feature(&f, "x", text, strlen(text));
    return f;
}

Test(format_tfrecord, values_of_an_export_are_as_its_schema_says)
{
    const int64_t six[] = {0, 1, 2, 3, 4, 300};
    const struct {
        const char *dtype, *list, *shape, *words;
        struct buffer features;
    } cases[] = {
        {"u8", "int64_list", "6", "feature x: 300 is not a valid u8", ints_of("x", six, 6)},
        {"bool", "int64_list", "-1", "feature x: 2 is not a valid bool", ints_of("x", six, 3)},
        {"i16", "int64_list", "5", "it has 6 elements, which is not what its shape says",
         ints_of("x", six, 6)},
        {"i16", "int64_list", "", "it has 6 elements, which is not what its shape says",
         ints_of("x", six, 6)},
        {"i16", "int64_list", "4,-1", "it has 6 elements, which is not what its shape says",
         ints_of("x", six, 6)},
        {"i16", "int64_list", "-1,-1", "there is no feature x/shape of 2 ints", ints_of("x", six, 6)},
        {"i16", "int64_list", "6", "feature x: it has no list of ints", ints_of("y", six, 6)},
        {"i16", "int64_list", "2", "feature x: it has no list of ints", floats_of((const float[]){1, 2}, 2)},
        {"f16", "float_list", "2", "float 1 is not one of f16", floats_of((const float[]){1, 1e6f}, 2)},
        {"f16", "float_list", "1", "float 0 is not one of f16", floats_of((const float[]){1e-8f}, 1)},
        {"f16", "float_list", "1", "float 0 is not one of f16", floats_of((const float[]){0.1f}, 1)},
        {"bf16", "float_list", "1", "float 0 is not one of bf16", floats_of((const float[]){0.1f}, 1)},
        {"f64", "bytes_list", "1", "its 3 bytes are not a whole number of f64", string_of("abc")},
        {"utf8", "bytes_list", "-1", "it is not UTF-8", string_of("\xff")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buffer features = cases[i].features;
        put_export(cases[i].dtype, cases[i].list, cases[i].shape, &features);
        IX_REFUSED(APL_E_SOURCE, cases[i].words, "f.tfrecord");
    }
}

Test(format_tfrecord, shapes_of_an_export_are_checked)
{
    static const int64_t shapes[][2] = {{2, 4}, {-2, -3}, {INT64_MAX, INT64_MAX}, {0, 6}};
    const int64_t six[6] = {0};
    struct buffer features;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        features = ints_of("x", six, 6);
        put_ints(&features, "x/shape", shapes[i], 2, true);
        put_export("i8", "int64_list", "-1,-1", &features);
        IX_REFUSED(APL_E_SOURCE, i == 1 ? "its dimension 0 cannot be -2" : "which is not what its shape says",
                   "f.tfrecord");
    }
    features = ints_of("x", six, 6);
    put_ints(&features, "x/shape", (const int64_t[]){3, 2}, 2, true);
    put_export("i8", "int64_list", "-1,-1", &features);
    apl_store *s = IX_STORE("f.tfrecord");
    apl_batch *all = fx_get_all(s);
    const apl_column *x = ix_column(s, all, "x");
    cr_assert(x->shapes[0] == 3 && x->shapes[1] == 2 && x->bytes == 6);
    cr_assert_str_eq(apl_store_split(s, 0)->name, "a b");
    apl_batch_release(all);
    apl_store_close(s);
}

Test(format_tfrecord, schemas_of_exports_are_checked)
{
    const int64_t one = 1;
    struct buffer features = ints_of("x", &one, 1);
    put_export("f32", "int64_list", "", &features);
    IX_REFUSED(APL_E_SOURCE, "schema.json: field 0 cannot be a int64_list of f32", "f.tfrecord");
    features = ints_of("x", &one, 1);
    put_export("i8", "list", "", &features);
    IX_REFUSED(APL_E_SOURCE, "schema.json: field 0 cannot be a list of i8", "f.tfrecord");
    features = ints_of("x", &one, 1);
    put_export("i8", "int64_list", "-7,0", &features);
    IX_REFUSED(APL_E_INVALID, "f.tfrecord: ", "f.tfrecord");
    const char text[] = "{\"format\": \"apldata-tfrecord\", \"version\": 2}";
    ix_put("schema.json", text, sizeof text - 1);
    IX_REFUSED(APL_E_UNSUPPORTED, "schema.json: is not of version 1", "f.tfrecord");
    ix_put("schema.json", "{} of another tool", 18);
    apl_store_close(IX_STORE("f.tfrecord"));
}

/* ---------------------------------------------------------------------------------------------- files as bytes */

Test(format_tfrecord, any_files_are_kept_as_bytes)
{
    cr_assert_eq(mkdir(fx_path("set"), 0755), 0);
    cr_assert_eq(mkdir(fx_path("set/sub"), 0755), 0);
    ix_put("set/a.flac", "fLaC and more", 13);
    ix_put("set/sub/empty", "", 0);
    ix_put("set/.hidden", "?", 1);
    IX_REFUSED(APL_E_SOURCE, "set", "set");
    ix_options.format = "raw";
    apl_store *s = IX_STORE("set");
    apl_batch *all = fx_get_all(s);
    const apl_column *bytes = ix_column(s, all, "bytes"), *path = ix_column(s, all, "path");
    cr_assert(apl_batch_rows(all) == 2 && bytes->offsets[1] == 13 && bytes->offsets[2] == 13);
    cr_assert(memcmp(bytes->data, "fLaC and more", 13) == 0);
    cr_assert(memcmp(path->data, "a.flacsub/empty", 15) == 0);
    apl_batch_release(all);
    apl_store_close(s);
    fx_shell("tar -C '%s' -cf '%s/set.tar' set", fx_place, fx_place);
    apl_store_close(IX_STORE("set.tar"));
    cr_assert_eq(ix_sum.records, 2 + 1 - 1);
    apl_store_close(IX_STORE("set/a.flac"));
    cr_assert_eq(ix_sum.records, 1);
}

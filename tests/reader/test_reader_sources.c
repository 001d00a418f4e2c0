/* Readers of several stores, of which one is damaged or has other fields; and what is known of them all. */
#include "union_fixture.h"

#include <math.h>

TestSuite(reader_sources, .init = union_set_up, .fini = union_tear_down, .timeout = 60);

/* --------------------------------------------------------------------------------------------------- damage */

/* The second store with a byte of this record's picture changed. */
static apl_store *corrupt_second(uint64_t id)
{
    static uint8_t bytes[1 << 20];
    char path[128];
    uint8_t image[IMAGE_BYTES];
    apl_store *bad;
    fixture_shell("cp -r '%s/second' '%s/bad'", fx.place, fx.place);
    fixture_shell("chmod -R u+w '%s%s'", fx.place, "/bad");
    snprintf(path, sizeof path, "%s/bad/data.mdb", fx.place);
    FILE *f = fopen(path, "r+b");
    cr_assert_not_null(f);
    long size = (long)fread(bytes, 1, sizeof bytes, f), at = 0;
    fixture_image(id, image);
    while (at + IMAGE_BYTES <= size && memcmp(bytes + at, image, IMAGE_BYTES) != 0)
        at++;
    cr_assert(at + IMAGE_BYTES <= size);
    cr_assert_eq(fseek(f, at + 100, SEEK_SET), 0);
    fputc(image[100] ^ 4, f);
    cr_assert_eq(fclose(f), 0);
    open_store("bad", APL_IO_AUTO, &bad);
    return bad;
}

/* Record 40 is in block 1 of member "one": 32 ... 63. */
#define BAD_FIRST (SECOND + 32)
#define BAD_COUNT 32u

Test(reader_sources, an_error_names_the_store_and_the_readers_ids)
{
    apl_store *bad = corrupt_second(SECOND + 40);
    apl_source mix[] = {{.size = sizeof(apl_source), .store = bad},
                        {.size = sizeof(apl_source), .store = third}};
    for (unsigned i = 0; i < 4; i++) {
        apl_reader_options o = fixture_options();
        o.mix.sources = mix;
        o.mix.count = 2;
        o.window = i & 1 ? 120 : 0;
        o.threads = i & 2 ? 2 : APL_NO_THREADS;
        apl_reader *r = fixture_reader(&o);
        apl_status status;
        apl_error err;
        apl_batch *b;
        while ((status = apl_reader_next(r, &b, &err)) == APL_OK) {
            check_values(b);
            apl_batch_release(b);
        }
        cr_assert_eq(status, APL_E_CORRUPT);
        cr_assert(strstr(err.message, "/bad: one: block 1 (records 32 to 63)"), "%s", err.message);
        cr_assert(err.first_record == BAD_FIRST && err.records == BAD_COUNT);
        apl_reader_close(r);
    }
    apl_store_close(bad);
}

static int keep_all(void *user, uint64_t id, const void *value, size_t bytes)
{
    (void)id;
    (void)value;
    *(uint64_t *)user += bytes;
    return 1;
}

/* What is looked up by its values, too. */
Test(reader_sources, records_are_not_looked_up_in_what_is_corrupt)
{
    apl_store *bad = corrupt_second(SECOND + 40);
    apl_error err = {0};
    uint64_t bytes = 0, count = 0;
    cr_assert_eq(apl_store_where(bad, "train", "image", keep_all, &bytes, NULL, &count, &err), APL_E_CORRUPT);
    cr_assert(strstr(err.message, "/bad: one: block 1 (records 32 to 63)"), "%s", err.message);
    cr_assert(err.first_record == 32 && err.records == BAD_COUNT);
    cr_assert_eq(bytes, 32 * IMAGE_BYTES);
    cr_assert_eq(apl_store_where(bad, "train", "label", keep_all, &bytes, NULL, &count, &err), APL_OK);
    cr_assert_eq(count, 300);
    apl_store_close(bad);
}

Test(reader_sources, left_out_records_have_the_readers_ids)
{
    apl_store *bad = corrupt_second(SECOND + 40);
    apl_source mix[] = {{.size = sizeof(apl_source), .store = bad},
                        {.size = sizeof(apl_source), .store = third}};
    for (unsigned i = 0; i < 4; i++) {
        struct sequence s = {0};
        apl_reader_options o = fixture_options();
        apl_batch *b;
        o.mix.sources = mix;
        o.mix.count = 2;
        o.window = i & 1 ? 120 : 0;
        o.order = i & 2 ? APL_FREE : APL_STRICT;
        o.faults.skip_corrupt = BAD_COUNT;
        apl_reader *r = fixture_reader(&o);
        while ((b = fixture_next(r))) {
            size_t n;
            const uint64_t *ids = apl_batch_skipped(b, &n);
            check_values(b);
            sequence_add(&s, b);
            s.ids = realloc(s.ids, (s.room += n) * sizeof *s.ids);
            for (size_t k = 0; k < n; k++) {
                cr_assert_lt(ids[k] - BAD_FIRST, BAD_COUNT);
                s.ids[s.count++] = ids[k];
            }
            apl_batch_release(b);
        }
        check_union(&s, 1);
        sequence_free(&s);
        apl_reader_close(r);
    }
    apl_store_close(bad);
}

/* --------------------------------------------------------------------------------------------- fields differ */

/* What a store is to have instead of what the first one has. */
struct other {
    apl_dtype label;
    int64_t side;
    unsigned classes;
    const char *first_class, *more; /* the name of class 0; a field besides */
    bool no_image;
};

static apl_store *write_other(const struct other *other)
{
    static unsigned number;
    const char *classes[CLASSES] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    int64_t shape[3] = {3, other->side ? other->side : SIDE, SIDE};
    uint8_t image[3 * SIDE * 64] = {0}, label[8] = {0};
    char name[32], path[128];
    apl_value values[4] = {{label, NULL}};
    apl_writer *w = NULL;
    apl_store *store;
    size_t n = 1;
    classes[0] = other->first_class ? other->first_class : "a";
    snprintf(name, sizeof name, "other-%u", number++);
    snprintf(path, sizeof path, "%s/%s", fx.place, name);
    cr_assert_eq(apl_writer_open(path, NULL, &w, NULL), APL_OK);
    cr_assert_eq(apl_writer_add_field(w, "label", other->label, APL_TARGET, 0, NULL, NULL), APL_OK);
    if (!other->no_image) {
        cr_assert_eq(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 3, shape, NULL), APL_OK);
        values[n++].data = image;
    }
    if (other->more) {
        cr_assert_eq(apl_writer_add_field(w, other->more, APL_U8, APL_INPUT, 0, NULL, NULL), APL_OK);
        values[n++].data = label;
    }
    if (other->classes)
        cr_assert_eq(apl_writer_set_classes(w, "label", classes, other->classes, NULL), APL_OK);
    cr_assert_eq(apl_writer_begin_member(w, "m", "train", 0, NULL), APL_OK);
    cr_assert_eq(apl_writer_append(w, values, NULL), APL_OK);
    cr_assert_eq(apl_writer_commit(w, NULL), APL_OK);
    apl_writer_close(w);
    open_store(name, APL_IO_AUTO, &store);
    return store;
}

/* Image and label of the fixture's first store, mixed with the other: refused with these words; NULL: read. */
static void check_other(struct other other, const char *words)
{
    static const char *const both[] = {"image", "label"};
    apl_store *store = write_other(&other);
    apl_source mix = {.size = sizeof(apl_source), .store = store};
    apl_reader_options o = fixture_options();
    o.mix.sources = &mix;
    o.mix.count = 1;
    o.fields = both;
    o.field_count = 2;
    if (words) {
        const char *said = fixture_refused(&o, APL_E_MISMATCH);
        cr_assert(strstr(said, words) && strstr(said, "/other-") && strstr(said, "/db"), "%s", said);
    } else {
        apl_reader *r = fixture_reader(&o);
        size_t rows = 0;
        for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b))
            rows += apl_batch_rows(b);
        cr_assert_eq(rows, 501);
        apl_reader_close(r);
    }
    o.field_count = 0; /* ids alone: whatever the fields are */
    apl_reader_close(fixture_reader(&o));
    apl_store_close(store);
}

Test(reader_sources, fields_must_be_alike)
{
    check_other((struct other){APL_U8, SIDE, 10, NULL, NULL, false}, NULL);
    check_other((struct other){APL_U8, SIDE, 10, NULL, "more", false}, NULL);
    check_other((struct other){APL_U16, SIDE, 10, NULL, NULL, false}, "field label is u16, but u8 in");
    check_other((struct other){APL_U8, 64, 10, NULL, NULL, false},
                "field image is u8[3,64,8], but u8[3,8,8] in");
    check_other((struct other){APL_U8, SIDE, 9, NULL, NULL, false}, "has 9 classes, but 10 in");
    check_other((struct other){APL_U8, SIDE, 0, NULL, NULL, false}, "has 0 classes, but 10 in");
    check_other((struct other){APL_U8, SIDE, 10, "z", NULL, false}, "class 0 of field label is z, but a in");
    check_other((struct other){APL_U8, SIDE, 10, NULL, NULL, true}, "has no field image, which");
}

/* Where all fields are asked for, those of the stores are the same. */
Test(reader_sources, all_fields_are_those_of_all_stores)
{
    struct other other = {APL_U8, SIDE, 10, NULL, "more", false};
    apl_store *store = write_other(&other);
    apl_source mix = {.size = sizeof(apl_source), .store = store};
    apl_reader_options o = fixture_options();
    o.mix.sources = &mix;
    o.mix.count = 1;
    const char *said = fixture_refused(&o, APL_E_MISMATCH);
    cr_assert(strstr(said, "has no field name"), "%s", said);
    mix.store = fx.store;
    apl_store *whole = fx.store;
    fx.store = store;
    said = fixture_refused(&o, APL_E_MISMATCH);
    cr_assert(strstr(said, "has no field more") || strstr(said, "has a field"), "%s", said);
    other.more = NULL;
    fx.store = write_other(&other);
    said = fixture_refused(&o, APL_E_MISMATCH);
    cr_assert(strstr(said, "has a field name"), "%s", said);
    apl_store_close(fx.store);
    fx.store = whole;
    apl_store_close(store);
}

Test(reader_sources, what_cannot_be_mixed)
{
    apl_source mix[] = {{.size = sizeof(apl_source), .store = second, .split = "val"},
                        {.size = sizeof(apl_source), .store = NULL}};
    apl_reader_options o = fixture_options();
    o.mix.count = 1;
    const char *said = fixture_refused(&o, APL_E_INVALID);
    cr_assert(strstr(said, "mix.sources is NULL"), "%s", said);
    o.mix.sources = mix;
    said = fixture_refused(&o, APL_E_NOTFOUND);
    cr_assert(strstr(said, "/second") && strstr(said, "val"), "%s", said);
    o.mix.count = 2;
    said = fixture_refused(&o, APL_E_INVALID);
    cr_assert(strstr(said, "mix.sources[1]"), "%s", said);
    o.mix.count = SIZE_MAX;
    fixture_refused(&o, APL_E_INVALID);
}

/* ----------------------------------------------------------------------------------------------- statistics */

/* Exactly, over the pictures of all training splits. */
static void known_moments(unsigned channel, float *mean, float *std)
{
    uint64_t n = 0, sum = 0, squares = 0;
    uint8_t image[IMAGE_BYTES];
    for (uint64_t id = 0; id < ALL; id++) {
        if (!is_train(id))
            continue;
        fixture_image(id, image);
        for (size_t i = channel * SIDE * SIDE; i < (channel + 1) * SIDE * SIDE; i++, n++) {
            sum += image[i];
            squares += (uint64_t)image[i] * image[i];
        }
    }
    long double average = (long double)sum / (long double)n;
    *mean = (float)(double)average;
    *std = (float)sqrt((double)((long double)squares / (long double)n - average * average));
}

Test(reader_sources, normalises_by_the_training_splits_of_all_stores)
{
    static const char *const image[] = {"image"};
    apl_transform t = APL_TRANSFORM_INIT;
    t.scale = APL_SCALE_NORMALISE;
    t.dtype = APL_F32;
    apl_reader_options o = union_options();
    o.fields = image;
    o.field_count = 1;
    o.transforms = &t;
    o.transform_count = 1;
    apl_reader *found = fixture_reader(&o);
    for (unsigned c = 0; c < 3; c++)
        known_moments(c, &t.mean[c], &t.std[c]);
    apl_reader *told = fixture_reader(&o);
    for (apl_batch *a, *b; (a = fixture_next(found));) {
        b = fixture_next(told);
        const apl_column *x = apl_batch_column(a, FIELD_IMAGE), *y = apl_batch_column(b, FIELD_IMAGE);
        cr_assert(x->bytes == y->bytes && memcmp(x->data, y->data, x->bytes) == 0);
        apl_batch_release(a);
        apl_batch_release(b);
    }
    apl_transform completed = APL_TRANSFORM_INIT;
    completed.scale = APL_SCALE_NORMALISE;
    cr_assert_eq(apl_reader_transform_complete(told, &completed, NULL), APL_OK);
    cr_assert_str_eq(completed.field, "image");
    cr_assert(completed.crop_height == SIDE && completed.dtype == APL_U8);
    for (unsigned c = 0; c < 3; c++)
        cr_assert(completed.mean[c] == t.mean[c] && completed.std[c] == t.std[c]);
    completed.crop_height = 1000;
    cr_assert_eq(apl_reader_transform_complete(told, &completed, NULL), APL_E_INVALID);
    cr_assert_eq(completed.crop_height, 1000, "it is left as it was");
    cr_assert_eq(apl_reader_transform_complete(told, NULL, NULL), APL_E_INVALID);
    cr_assert_eq(apl_reader_transform_complete(NULL, &completed, NULL), APL_E_INVALID);
    apl_reader_close(found);
    apl_reader_close(told);
}

Test(reader_sources, figures_are_of_all_stores)
{
    apl_reader_options o = union_options();
    apl_stats stats;
    struct sequence s = {0};
    apl_reader *r = fixture_reader(&o);
    read_epoch(r, &s);
    cr_assert_eq(apl_reader_stats(r, &stats, sizeof stats), APL_OK);
    cr_assert_eq(stats.records, RECORDS);
    cr_assert_eq(stats.blocks, 11 + 10 + 1); /* of members of 281 and 219, 300 and 100 records */
    cr_assert_geq(stats.bytes_read, RECORDS * IMAGE_BYTES);
    cr_assert_leq(stats.memory, stats.memory_budget);
    apl_reader_close(r);
    sequence_free(&s);
}

/* Kept fields: files that are stored as they are, and read one by one. */
#include "block_case.h"
#include "counts.h"
#include "kept.h"
#include "older.h"
#include "store.h"
#include "store_fixture.h"

TestSuite(kept, .init = fx_set_up, .fini = fx_tear_down, .timeout = 240);

/* --------------------------------------------------------------------------------------------- the writer's side */

Test(kept, media_types)
{
    static const char *const good[] = {"image/jpeg",    "application/octet-stream", "a/b", "audio/flac",
                                       "image/svg+xml", "application/vnd.a-b.c_d"};
    static const char *const bad[] = {
        "",          "jpeg", "image/",       "/jpeg",          "Image/jpeg", "image/jpeg ",
        "image/j/k", "a/+b", "image/jp\neg", "image/\xc3\xa9", "a/b;c=d"};
    static const int64_t any[1] = {-1}, four[1] = {4};
    apl_writer *w = NULL;
    OK(apl_writer_open(fx_path("db"), NULL, &w, &fx_err));
    OK(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 1, any, &fx_err));
    OK(apl_writer_add_field(w, "four", APL_U8, APL_INPUT, 1, four, &fx_err));
    OK(apl_writer_add_field(w, "words", APL_U16, APL_INPUT, 1, any, &fx_err));
    OK(apl_writer_add_field(w, "text", APL_UTF8, APL_NAME, 1, any, &fx_err));
    for (size_t i = 0; i < COUNT(bad); i++) {
        FAILS(APL_E_INVALID, apl_writer_set_media(w, "image", bad[i], &fx_err));
        SAYS("media type");
    }
    char long_one[300];
    memset(long_one, 'a', sizeof long_one);
    long_one[2] = '/';
    long_one[256] = 0;
    FAILS(APL_E_INVALID, apl_writer_set_media(w, "image", long_one, &fx_err));
    long_one[255] = 0;
    OK(apl_writer_set_media(w, "image", long_one, &fx_err));
    for (size_t i = 0; i < COUNT(good); i++)
        OK(apl_writer_set_media(w, "image", good[i], &fx_err));
    static const char *const others[] = {"four", "words", "text"};
    for (size_t i = 0; i < COUNT(others); i++) {
        FAILS(APL_E_INVALID, apl_writer_set_media(w, others[i], "image/jpeg", &fx_err));
        SAYS("only fields of type u8");
    }
    FAILS(APL_E_NOTFOUND, apl_writer_set_media(w, "none", "image/jpeg", &fx_err));
    FAILS(APL_E_NOTFOUND, apl_writer_set_media(w, "image", NULL, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_set_media(NULL, "image", "image/jpeg", &fx_err));
    OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_set_media(w, "image", "image/jpeg", &fx_err));
    apl_writer_close(w);
}

Test(kept, codecs_are_not_for_them)
{
    apl_writer_options o = fx_options(1, 16);
    static const int64_t any[1] = {-1};
    apl_writer *w = NULL;
    o.codec = "zstd";
    OK(apl_writer_open(fx_path("db"), &o, &w, &fx_err));
    OK(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 1, any, &fx_err));
    OK(apl_writer_set_media(w, "image", "image/jpeg", &fx_err));
    OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
    OK(apl_writer_append(w, &(apl_value){"abc", (int64_t[]){3}}, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_commit(w, &fx_err));
    SAYS("codec zstd does not suit");
    apl_writer_close(w);
    o.codec = "kept";
    FAILS(APL_E_INVALID, apl_writer_open(fx_path("db"), &o, &w, &fx_err));
}

Test(kept, only_such_stores_have_the_new_version)
{
    fx_make(fx_path("kept"), &fx_kept, NULL);
    fx_make(fx_path("small"), &fx_small, NULL);
    apl_store *kept = fx_open(fx_path("kept")), *small = fx_open(fx_path("small"));
    cr_assert(older_minor(kept) == 1 && older_minor(small) == 0);
    const apl_field *f = apl_store_field(kept, 0);
    cr_assert_str_eq(f->media, "image/jpeg");
    cr_assert_str_eq(f->codec, "kept");
    cr_assert_eq(f->level, 0);
    cr_assert_eq(f->stored_bytes, f->raw_bytes + 8 * apl_store_info(kept)->records);
    for (unsigned i = 1; i < COUNT(fx_kept_fields); i++)
        cr_assert_null(apl_store_field(kept, i)->media);
    cr_assert_null(apl_store_field(small, 0)->media);
    double mean, std;
    cr_assert_eq(apl_store_moments(kept, 0, 0, 0, &mean, &std), APL_E_NOTFOUND, "means of files are nothing");
    apl_store_close(kept);
    apl_store_close(small);
}

/* The same values have the same digest, kept or not. */
Test(kept, content_is_that_of_bytes)
{
    apl_field fields[COUNT(fx_kept_fields)];
    memcpy(fields, fx_kept_fields, sizeof fields);
    struct fx_recipe recipe = {fields, COUNT(fields), fx_members, COUNT(fx_members)};
    uint8_t content[2][32];
    for (int shuffle = 0; shuffle < 2; shuffle++) {
        for (unsigned threads = 0; threads < 3; threads++) {
            apl_writer_options o = fx_options(threads, 20 + threads);
            o.replace = 1;
            o.shuffle = shuffle;
            fx_make(fx_path("db"), &recipe, &o);
            apl_store *s = fx_open(fx_path("db"));
            fx_check(s, &recipe);
            OK(apl_store_verify(s, NULL, &fx_err));
            memcpy(content[threads > 0], apl_store_info(s)->content_digest, 32);
            apl_store_close(s);
        }
        cr_assert(memcmp(content[0], content[1], 32) == 0);
    }
}

static uint32_t block_records_of(const size_t *sizes, size_t count, unsigned repeat)
{
    static const int64_t any[1] = {-1};
    static uint8_t bytes[3 << 20];
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    apl_writer *w = NULL;
    o.replace = 1;
    OK(apl_writer_open(fx_path("db"), &o, &w, &fx_err));
    OK(apl_writer_add_field(w, "file", APL_U8, APL_INPUT, 1, any, &fx_err));
    OK(apl_writer_set_media(w, "file", "application/octet-stream", &fx_err));
    for (uint32_t m = 0; m < repeat; m++) {
        OK(apl_writer_begin_member(w, "m", "train", m, &fx_err));
        for (size_t i = 0; i < count; i++)
            OK(apl_writer_append(w, &(apl_value){bytes, (int64_t[]){(int64_t)sizes[i]}}, &fx_err));
    }
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
    apl_store *s = fx_open(fx_path("db"));
    cr_assert_eq(apl_store_info(s)->records, count * repeat);
    OK(apl_store_verify(s, NULL, &fx_err));
    uint32_t records = apl_store_info(s)->block_records;
    apl_store_close(s);
    return records;
}

/* The first files tell how many make a block; a first member of few files tells by their mean. */
Test(kept, records_in_a_block)
{
    static size_t sizes[300];
    cr_assert_eq(block_records_of(sizes, 300, 1), 128, "empty files");
    cr_assert_eq(block_records_of(sizes, 3, 2), 128);
    for (size_t i = 0; i < 300; i++)
        sizes[i] = 100 * 1024;
    cr_assert_eq(block_records_of(sizes, 50, 1), 21);
    cr_assert_eq(block_records_of(sizes, 30, 3), 21);
    cr_assert_eq(block_records_of(sizes, 3, 9), 20);
    for (size_t i = 0; i < 300; i++)
        sizes[i] = 3 << 20;
    cr_assert_eq(block_records_of(sizes, 9, 1), 4);
    cr_assert_eq(block_records_of(sizes, 1, 5), 4);
    for (size_t i = 0; i < 300; i++)
        sizes[i] = 1000;
    cr_assert_eq(block_records_of(sizes, 300, 1), 128);
    cr_assert_eq(block_records_of(sizes, 2, 3), 128);
}

/* ------------------------------------------------------------------------------------------- what was left out */

Test(kept, skipped_files_are_listed)
{
    static const int64_t any[1] = {-1};
    for (int shuffle = 0; shuffle < 2; shuffle++) {
        apl_writer_options o = fx_options(1, 16);
        apl_writer *w = NULL;
        const char *why = NULL;
        char text[3000];
        o.replace = 1;
        o.shuffle = shuffle;
        OK(apl_writer_open(fx_path("db"), &o, &w, &fx_err));
        OK(apl_writer_add_field(w, "file", APL_U8, APL_INPUT, 1, any, &fx_err));
        OK(apl_writer_skipped(w, "cat/1.jpg", "is empty", &fx_err));
        OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
        OK(apl_writer_append(w, &(apl_value){"abc", (int64_t[]){3}}, &fx_err));
        memset(text, 'x', sizeof text);
        text[sizeof text - 1] = 0;
        OK(apl_writer_skipped(w, "a\n\xff", text, &fx_err));
        OK(apl_writer_skipped(w, "", "", &fx_err));
        FAILS(APL_E_INVALID, apl_writer_skipped(w, NULL, "", &fx_err));
        FAILS(APL_E_INVALID, apl_writer_skipped(w, "", NULL, &fx_err));
        FAILS(APL_E_INVALID, apl_writer_skipped(NULL, "", "", &fx_err));
        for (unsigned i = 3; i < APL_MAX_SKIPPED + 5; i++)
            OK(apl_writer_skipped(w, "again", "and again", &fx_err));
        OK(apl_writer_commit(w, &fx_err));
        apl_writer_close(w);
        apl_store *s = fx_open(fx_path("db"));
        OK(apl_store_verify(s, NULL, &fx_err));
        cr_assert_eq(apl_store_info(s)->skipped, APL_MAX_SKIPPED + 5);
        cr_assert_eq(older_minor(s), 1);
        cr_assert_str_eq(apl_store_skipped(s, 0, &why), "cat/1.jpg");
        cr_assert_str_eq(why, "is empty");
        cr_assert_str_eq(apl_store_skipped(s, 1, &why), "a\\x0a\\xff");
        cr_assert_leq(strlen(why), APL_MAX_SKIPPED_TEXT);
        cr_assert_str_eq(apl_store_skipped(s, APL_MAX_SKIPPED - 1, NULL), "again");
        cr_assert_null(apl_store_skipped(s, APL_MAX_SKIPPED, &why));
        cr_assert_null(apl_store_skipped(NULL, 0, &why));
        apl_store_close(s);
    }
}

/* ---------------------------------------------------------------------------------------------- one value alone */

static const struct fx_member few_members[] = {{"a", "train", 0, 24}, {"b", "test", 1, 7}};
static const struct fx_recipe few = {fx_kept_fields, COUNT(fx_kept_fields), few_members, COUNT(few_members)};

static apl_store *open_with(const char *path, apl_io io)
{
    apl_store_options o = APL_STORE_OPTIONS_INIT;
    apl_store *s = NULL;
    o.io = io;
    OK(apl_store_open(path, &o, &s, &fx_err));
    return s;
}

/* Is the record right, if it can be read? */
static apl_status get_and_compare(apl_store *s, uint64_t id)
{
    static struct fx_value v;
    apl_batch *b = NULL;
    memset(&fx_err, 0, sizeof fx_err);
    apl_status status = apl_store_get(s, id, &b, &fx_err);
    for (unsigned f = 0; status == APL_OK && f < COUNT(fx_kept_fields); f++) {
        fx_draw(&fx_kept_fields[f], f, id < 24 ? 0 : 1, id < 24 ? id : id - 24, &v);
        cr_assert(fx_row_is(apl_batch_column(b, f), 0, &fx_kept_fields[f], &v), "record %llu, field %u",
                  (unsigned long long)id, f);
    }
    apl_batch_release(b);
    return status;
}

/* Turns a byte of record `id`'s value in the file. */
static void hurt_value(const char *file, uint64_t id)
{
    static struct fx_value v;
    size_t size, places = 0;
    uint8_t *bytes = fx_read(file, &size);
    fx_draw(&fx_kept_fields[0], 0, 0, id, &v);
    cr_assert_gt(v.bytes, 30);
    for (size_t i = 0; i + v.bytes <= size; i++)
        if (memcmp(bytes + i, v.data, v.bytes) == 0) {
            bytes[i + 7] ^= 16;
            places++;
        }
    cr_assert_gt(places, 0);
    fx_write(file, bytes, size);
    free(bytes);
}

/* A value that is damaged is nobody's loss but its own. */
Test(kept, damage_is_of_one_record)
{
    apl_writer_options o = fx_options(1, 8);
    char file[256];
    fx_make(fx_path("db"), &few, &o);
    snprintf(file, sizeof file, "%s/data.mdb", fx_path("db"));
    hurt_value(file, 10);
    for (apl_io io = APL_IO_MAP; io <= APL_IO_READ; io++) {
        apl_store *s = open_with(fx_path("db"), io);
        for (uint64_t id = 0; id < 31; id++)
            cr_assert_eq(get_and_compare(s, id), id == 10 ? APL_E_CORRUPT : APL_OK, "record %llu: %s",
                         (unsigned long long)id, fx_err.message);
        (void)!get_and_compare(s, 10);
        SAYS("a: block 1 (records 8 to 15): field image: the checksum of record 2 of the block is wrong");
        uint64_t ids[] = {30, 9, 9, 0, 11};
        apl_batch *b = NULL;
        OK(apl_store_get_batch(s, ids, COUNT(ids), NULL, &b, &fx_err));
        apl_batch_release(b);
        ids[1] = 10;
        FAILS(APL_E_CORRUPT, apl_store_get_batch(s, ids, COUNT(ids), NULL, &b, &fx_err));
        cr_assert(fx_err.first_record == 10 && fx_err.records == 1);
        apl_store_close(s);
    }
}

static void only_ten(void *user, const apl_bad_block *b)
{
    ++*(int *)user;
    cr_assert(b->bad_count == 1 && b->bad[0] == 10 && b->first == 8 && b->count == 8);
    cr_assert_not_null(strstr(b->message, "record 2 of the block"));
}

Test(kept, verify_names_the_record)
{
    apl_writer_options o = fx_options(1, 8);
    apl_verify_options verify = APL_VERIFY_OPTIONS_INIT;
    char file[256];
    int told = 0;
    fx_make(fx_path("db"), &few, &o);
    snprintf(file, sizeof file, "%s/data.mdb", fx_path("db"));
    hurt_value(file, 10);
    apl_store *s = fx_open(fx_path("db"));
    verify.user = &told;
    verify.bad_block = only_ten;
    FAILS(APL_E_CORRUPT, apl_store_verify(s, &verify, &fx_err));
    cr_assert_eq(told, 1);
    apl_store_close(s);
}

/* Whatever byte is turned, a record that can be read is right. */
Test(kept, every_byte_turned)
{
    apl_writer_options o = fx_options(1, 8);
    size_t size;
    char file[256];
    fx_make(fx_path("db"), &few, &o);
    snprintf(file, sizeof file, "%s/data.mdb", fx_path("db"));
    uint8_t *bytes = fx_read(file, &size);
    for (size_t i = 0; i < size; i += sweep_step()) {
        apl_store_options options = APL_STORE_OPTIONS_INIT;
        apl_store *s = NULL;
        options.io = i % 2 ? APL_IO_MAP : APL_IO_READ;
        bytes[i] ^= (uint8_t)(1u << i % 8);
        fx_write(file, bytes, size);
        bytes[i] ^= (uint8_t)(1u << i % 8);
        if (apl_store_open(fx_path("db"), &options, &s, &fx_err) != APL_OK)
            continue;
        for (uint64_t id = i % 3; id < 31; id += 3) {
            apl_status status = get_and_compare(s, id);
            cr_assert(status == APL_OK || status == APL_E_CORRUPT, "byte %zu: %s", i, fx_err.message);
        }
        apl_store_close(s);
    }
    free(bytes);
}

/* What is read of a file for one value: not its block. */
Test(kept, a_value_is_read_without_its_block)
{
    apl_writer_options o = fx_options(1, 8);
    static struct fx_value v;
    struct block_coder bc;
    struct block_view view;
    struct kept_index index;
    struct buffer out = {0};
    fx_make(fx_path("db"), &few, &o);
    apl_store *s = open_with(fx_path("db"), APL_IO_READ);
    OK(block_coder_init(&bc, &fx_err));
    OK(store_block_head(s, 1, &bc, &view, &fx_err));
    cr_assert_null(view.columns[0].coded);
    OK(store_kept_index(s, 1, &bc, &view, 0, &index, &fx_err));
    for (uint32_t i = 0; i < 8; i++) {
        out.size = 0;
        OK(store_kept_value(s, 1, &bc, &view, 0, &index, i, &out, &fx_err));
        fx_draw(&fx_kept_fields[0], 0, 0, 8 + i, &v);
        cr_assert(out.size == v.bytes && memcmp(out.data, v.data, v.bytes) == 0, "record %u", 8 + i);
    }
    cr_assert_lt(bc.file.capacity, s->blocks[1].size, "no more than a part was ever read");
    buffer_free(&out);
    block_coder_free(&bc);
    apl_store_close(s);
}

/* ------------------------------------------------------------------------------------ indexes that are not so */

static void kept_and_more(struct schema *s)
{
    apl_error err;
    add_field(s, "label", APL_U8, APL_TARGET, 0, NULL);
    add_field(s, "image", APL_U8, APL_INPUT, SHAPE_OF(-1));
    cr_assert_eq(schema_set_media(s, 1, "image/jpeg", 10, &err), APL_OK);
    add_field(s, "sound", APL_U8, APL_NAME, SHAPE_OF(-1));
    cr_assert_eq(schema_set_media(s, 2, "audio/flac", 10, &err), APL_OK);
    add_field(s, "text", APL_UTF8, APL_NAME, SHAPE_OF(-1));
}

static struct bench *kept_block(uint32_t records)
{
    return bench_coded(kept_and_more, records);
}

/* Makes the checksums right again, of the header and of the index of field f. */
static void repair(struct bench *b, unsigned f)
{
    uint32_t n = b->block.records, head = HEAD + ENTRY * b->schema.count + 16 * n;
    uint8_t *entry = b->copy + HEAD + ENTRY * f, *coded = b->copy + b->view.columns[f].offset;
    store_le(entry + 32, hash_xxh3_64(coded, kept_index_bytes(CODEC_KEPT, n)), 8);
    store_le(b->copy + 8, hash_xxh3_64(b->copy + 16, head - 16), 8);
}

Test(kept, every_flip_and_cut_of_a_block)
{
    struct bench *b = kept_block(6);
    apl_error err;
    for (size_t bit = 0; bit < b->coded.size * 8; bit += sweep_step()) {
        b->copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
        cr_assert_eq(parse_and_decode(b, &err), APL_E_CORRUPT, "bit %zu of byte %zu", bit % 8, bit / 8);
        b->copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    cr_assert_eq(parse_and_decode(b, &err), APL_OK, "%s", err.message);
    for (uint32_t i = 0; i < 6; i++)
        expect_record(&b->decoded, &b->schema, i, 1 + i);
    for (size_t size = 0; size < b->coded.size; size++)
        cr_assert_eq(block_parse(&b->coder, b->copy, size, &b->schema, &b->view, &err), APL_E_CORRUPT);
    bench_free(b);
}

/* Writes lengths into the index of field 1, all checksums being right. */
static void expect_lengths(uint32_t first, uint32_t second, const char *complaint)
{
    struct bench *b = bench_new(kept_and_more, 0);
    static const uint8_t data[64];
    const int64_t three[] = {3}, five[] = {5}, one[] = {1};
    apl_value values[2][4] = {{{data, NULL}, {data, three}, {data, one}, {data, one}},
                              {{data, NULL}, {data, five}, {data, one}, {data, one}}};
    apl_error err;
    for (int i = 0; i < 2; i++)
        cr_assert_eq(raw_block_append(&b->block, &b->schema, values[i], &err), APL_OK);
    bench_choose(b);
    bench_encode(b);
    cr_assert_eq(parse(b, &err), APL_OK);
    uint8_t *index = b->copy + b->view.columns[1].offset;
    store_le(index, first, 4);
    store_le(index + 4, second, 4);
    store_le(index + 8, hash_xxh3_64(data, first < 64 ? first : 0), 8);
    store_le(index + 16, hash_xxh3_64(data, second < 64 ? second : 0), 8);
    repair(b, 1);
    uint8_t raw[64] = {0};
    memcpy(raw, index, 8);
    store_le(b->copy + HEAD + ENTRY + 24, hash_xxh3_64(raw, 16), 8);
    repair(b, 1);
    apl_status status = parse_and_decode(b, &err);
    cr_assert_eq(status, complaint ? APL_E_CORRUPT : APL_OK, "%u and %u: %s", first, second, err.message);
    cr_assert(!complaint || strstr(err.message, complaint), "%s", err.message);
    bench_free(b);
}

Test(kept, crafted_indexes)
{
    expect_lengths(3, 5, NULL);
    expect_lengths(5, 3, NULL);
    expect_lengths(0, 8, NULL);
    expect_lengths(4, 5, "impossible size of record 1");
    expect_lengths(9, 0, "impossible size of record 0");
    expect_lengths(UINT32_MAX, 9, "impossible size of record 0");
    expect_lengths(8, UINT32_MAX, "impossible size of record 1");
    expect_lengths(3, 4, "its index and its values do not agree");
    expect_lengths(0, 0, "its index and its values do not agree");
}

/* Numbers in the entry of a kept field that do not fit together; codecs that are not for it. */
Test(kept, crafted_entries)
{
    struct bench *b = kept_block(5);
    apl_error err;
    cr_assert_eq(parse(b, &err), APL_OK);
    const uint64_t coded = b->view.columns[1].coded_bytes, raw = b->view.columns[1].raw_bytes;
    const struct {
        unsigned field, at, bytes;
        uint64_t value;
        const char *complaint;
    } lies[] = {{1, 8, 8, raw + 1, "cannot decode"},
                {1, 8, 8, raw - 1, "cannot decode"},
                {1, 8, 8, 0, "impossible sizes"},
                {1, 8, 8, UINT64_MAX, "impossible sizes"},
                {1, 8, 8, coded, "cannot decode"},
                {1, 16, 8, UINT64_MAX, "impossible sizes"},
                {1, 16, 8, coded - 1, "cannot decode"},
                {1, 16, 8, 0, "cannot decode"},
                {1, 0, 1, CODEC_RAW, "are not kept"},
                {1, 0, 1, CODEC_ZSTD, "are not kept"},
                {1, 0, 1, CODEC_INDEXED, "values are indexed"},
                {1, 0, 1, 8, "codec 8 is not known"},
                {3, 0, 1, CODEC_KEPT, "are kept"},
                {0, 0, 1, CODEC_KEPT, "are kept"}};
    for (size_t i = 0; i < COUNT(lies); i++) {
        store_le(b->copy + HEAD + ENTRY * lies[i].field + lies[i].at, lies[i].value, lies[i].bytes);
        uint32_t head = HEAD + ENTRY * b->schema.count + 16 * 5;
        store_le(b->copy + 8, hash_xxh3_64(b->copy + 16, head - 16), 8);
        cr_assert_eq(parse(b, &err), APL_E_CORRUPT, "lie %zu", i);
        cr_assert_not_null(strstr(err.message, lies[i].complaint), "lie %zu: %s", i, err.message);
        memcpy(b->copy, b->coded.data, b->coded.size);
    }
    bench_free(b);
}

/* A wrong checksum in the index, and a wrong one of all, under others that are right. */
Test(kept, crafted_checksums)
{
    struct bench *b = kept_block(5);
    apl_error err;
    cr_assert_eq(parse(b, &err), APL_OK);
    size_t sums = b->view.columns[1].offset + 4 * 5;
    for (uint32_t i = 0; i < 5; i++) {
        char place[64];
        b->copy[sums + 8 * i + i] ^= 1;
        repair(b, 1);
        cr_assert_eq(parse_and_decode(b, &err), APL_E_CORRUPT);
        snprintf(place, sizeof place, "field image: the checksum of record %u of the block", i);
        cr_assert_not_null(strstr(err.message, place), "%s", err.message);
        memcpy(b->copy, b->coded.data, b->coded.size);
    }
    b->copy[HEAD + ENTRY + 24] ^= 1;
    repair(b, 1);
    cr_assert_eq(parse_and_decode(b, &err), APL_E_CORRUPT);
    cr_assert_not_null(strstr(err.message, "decoded bytes is wrong"), "%s", err.message);
    bench_free(b);
}

/* What a writer is given comes back from the store, whatever the types, shapes and sizes. */
#include "writer.h"

#include "store_fixture.h"

TestSuite(writer, .init = fx_set_up, .fini = fx_tear_down);

static void round_trip(const struct fx_recipe *r, const apl_writer_options *o)
{
    const char *db = fx_path("db");
    fx_make(db, r, o);
    apl_store *s = fx_open(db);
    fx_check(s, r);
    OK(apl_store_verify(s, NULL, &fx_err));
    apl_store_close(s);
    cr_assert_str_eq(fx_list(db), "data.mdb ");
    fx_shell("rm -r '%s%s'", db, "");
}

/* ------------------------------------------------------------------------------------------- round trips */

Test(writer, every_dtype_as_scalar_array_and_varying)
{
    apl_field fields[3 * APL_BOOL];
    char names[3 * APL_BOOL][8];
    for (unsigned i = 0; i < 3 * APL_BOOL; i++) {
        fields[i] = (apl_field){.name = names[i], .dtype = (apl_dtype)(i % APL_BOOL + 1), .role = APL_INPUT};
        fields[i].role = i % 2 ? APL_TARGET : APL_INPUT;
        fields[i].ndim = i / APL_BOOL;
        fields[i].shape[0] = fields[i].ndim == 1 ? 5 : -1;
        fields[i].shape[1] = 2;
        snprintf(names[i], sizeof names[i], "f%u", i);
    }
    struct fx_recipe r = {fields, COUNT(fields), fx_members, COUNT(fx_members)};
    round_trip(&r, NULL);
}

Test(writer, shapes_of_all_kinds)
{
    static const apl_field fields[] = {
        {.name = "one", .dtype = APL_U8, .role = APL_INPUT, .ndim = 1, .shape = {1}},
        {.name = "eight", .dtype = APL_U16, .role = APL_INPUT, .ndim = 8, .shape = {1, 2, 1, 2, 3, 1, 1, 2}},
        {.name = "all vary", .dtype = APL_F32, .role = APL_INPUT, .ndim = 3, .shape = {-1, -1, -1}},
        {.name = "some vary", .dtype = APL_I64, .role = APL_NAME, .ndim = 4, .shape = {-1, 2, -1, 3}},
        {.name = "last varies", .dtype = APL_U8, .role = APL_INPUT, .ndim = 3, .shape = {3, 4, -1}},
        {.name = "text", .dtype = APL_UTF8, .role = APL_TARGET, .ndim = 1, .shape = {-1}},
        {.name = "deep",
         .dtype = APL_BOOL,
         .role = APL_TARGET,
         .ndim = 8,
         .shape = {-1, -1, 1, -1, 1, 1, 1, -1}},
        {.name = "picture", .dtype = APL_U8, .role = APL_INPUT, .ndim = 3, .shape = {3, 8, 9}},
        {.name = "p\xc3\xafxel", .dtype = APL_U8, .role = APL_INPUT, .ndim = 2, .shape = {1, 1}},
    };
    struct fx_recipe r = {fields, COUNT(fields), fx_members, COUNT(fx_members)};
    round_trip(&r, NULL);
}

Test(writer, sixty_four_fields)
{
    static apl_field fields[APL_MAX_FIELDS];
    static char names[APL_MAX_FIELDS][8];
    for (unsigned i = 0; i < APL_MAX_FIELDS; i++) {
        fields[i] = (apl_field){.name = names[i],
                                .dtype = (apl_dtype)(i % APL_BOOL + 1),
                                .role = (apl_role)(i % 3 + 1),
                                .ndim = i % 3,
                                .shape = {i % 2 ? 3 : -1, 2}};
        snprintf(names[i], sizeof names[i], "f%u", i);
    }
    struct fx_recipe r = {fields, APL_MAX_FIELDS, fx_members, COUNT(fx_members)};
    round_trip(&r, NULL);
}

Test(writer, one_record)
{
    static const struct fx_member one[] = {{"m", "s", UINT32_MAX, 1}};
    struct fx_recipe r = {fx_fields, COUNT(fx_fields), one, 1};
    round_trip(&r, NULL);
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    o.shuffle = 1;
    round_trip(&r, &o);
}

Test(writer, nothing_but_empty_values)
{
    static const apl_field fields[] = {
        {.name = "a", .dtype = APL_F64, .role = APL_INPUT, .ndim = 2, .shape = {-1, 3}},
        {.name = "b", .dtype = APL_UTF8, .role = APL_NAME, .ndim = 1, .shape = {-1}}};
    struct fx_recipe r = {fields, COUNT(fields), NULL, 0};
    apl_writer *w = NULL;
    const int64_t none[2] = {0, 3};
    const apl_value values[2] = {{NULL, none}, {NULL, none}};
    OK(apl_writer_open(fx_path("db"), NULL, &w, &fx_err));
    fx_add_fields(w, &r);
    OK(apl_writer_begin_member(w, "m", "s", 0, &fx_err));
    for (unsigned i = 0; i < 300; i++)
        OK(apl_writer_append(w, values, &fx_err));
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
    apl_store *s = fx_open(fx_path("db"));
    apl_batch *all = fx_get_all(s);
    const apl_column *c = apl_batch_column(all, 0);
    cr_assert(c && c->data && c->bytes == 0 && c->offsets[300] == 0);
    cr_assert(c->shapes[2 * 299] == 0 && c->shapes[2 * 299 + 1] == 3);
    apl_batch_release(all);
    OK(apl_store_verify(s, NULL, &fx_err));
    apl_store_close(s);
}

Test(writer, blocks_of_any_size)
{
    const uint32_t sizes[] = {1, 2, 127, 128, 1000, APL_MAX_BLOCK};
    for (unsigned i = 0; i < COUNT(sizes); i++) {
        apl_writer_options o = fx_options(2, sizes[i]);
        round_trip(&fx_small, &o);
        o.shuffle = 1;
        round_trip(&fx_small, &o);
    }
}

Test(writer, every_codec_asked_for)
{
    static const char *const codecs[] = {"raw", "zstd",
                                         "picture"}; /* the last suits the image, and not the track */
    for (unsigned i = 0; i < COUNT(codecs); i++) {
        apl_writer_options o = APL_WRITER_OPTIONS_INIT;
        o.codec = codecs[i];
        o.level = i ? 1 : 0;
        round_trip(&fx_small, &o);
    }
}

Test(writer, codecs_for_numbers)
{
    static const char *const codecs[] = {"shuffle", "delta"};
    static const apl_field fields[] = {
        {.name = "n", .dtype = APL_U16, .role = APL_INPUT},
        {.name = "v", .dtype = APL_F32, .role = APL_INPUT, .ndim = 1, .shape = {5}}};
    struct fx_recipe numbers = {fields, COUNT(fields), fx_members, COUNT(fx_members)};
    for (unsigned i = 0; i < COUNT(codecs); i++) {
        apl_writer_options o = APL_WRITER_OPTIONS_INIT;
        o.codec = codecs[i];
        round_trip(&numbers, &o);
    }
}

/* Members of exactly one block, one more, one less; runs of a digest that end in the middle of one. */
Test(writer, members_of_any_size)
{
    static const struct fx_member members[] = {{"a", "x", 1, 128},  {"b", "x", 2, 127},  {"c", "x", 3, 129},
                                               {"d", "x", 4, 1},    {"e", "y", 5, 641},  {"f", "y", 6, 0},
                                               {"g", "z", 7, 4096}, {"h", "empty", 8, 0}};
    static const apl_field fields[] = {{.name = "n", .dtype = APL_U16, .role = APL_INPUT}};
    struct fx_recipe r = {fields, 1, members, COUNT(members)};
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    round_trip(&r, &o);
    o.shuffle = 1;
    round_trip(&r, &o);
}

Test(writer, as_many_records_a_block_as_fit)
{
    static const apl_field large = {
        .name = "x", .dtype = APL_U8, .role = APL_INPUT, .ndim = 1, .shape = {5 << 20}};
    apl_writer *w = NULL;
    static uint8_t bytes[5 << 20];
    apl_value value = {bytes, NULL};
    OK(apl_writer_open(fx_path("db"), NULL, &w, &fx_err));
    OK(apl_writer_add_field(w, "x", APL_U8, APL_INPUT, 1, large.shape, &fx_err));
    OK(apl_writer_begin_member(w, "m", "s", 0, &fx_err));
    for (int i = 0; i < 3; i++) {
        memset(bytes, i + 1, sizeof bytes);
        OK(apl_writer_append(w, &value, &fx_err));
    }
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
    apl_store *s = fx_open(fx_path("db"));
    cr_assert_eq(apl_store_info(s)->block_records, 1);
    apl_batch *b = fx_get_all(s);
    const uint8_t *data = apl_batch_column(b, 0)->data;
    cr_assert(data[0] == 1 && data[sizeof bytes - 1] == 1 && data[sizeof bytes] == 2 && data[15 << 19] == 2);
    apl_batch_release(b);
    apl_store_close(s);
}

/* Of values whose sizes vary, so many records of which the one size comes after the other: the first block tells. */
static uint32_t block_records_of(int64_t size, unsigned count, int64_t then, unsigned more)
{
    static const int64_t any = -1;
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    apl_writer *w = NULL;
    uint8_t *value = calloc(1, (size_t)(size > then ? size : then));
    o.replace = 1;
    OK(apl_writer_open(fx_path("db"), &o, &w, &fx_err));
    OK(apl_writer_add_field(w, "x", APL_U8, APL_INPUT, 1, &any, &fx_err));
    OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
    for (unsigned i = 0; i < count + more; i++)
        OK(apl_writer_append(w, &(apl_value){value, i < count ? &size : &then}, &fx_err));
    free(value);
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
    apl_store *s = fx_open(fx_path("db"));
    uint32_t records = apl_store_info(s)->block_records;
    apl_store_close(s);
    return records;
}

Test(writer, large_records_of_varying_size_are_few_in_a_block)
{
    cr_assert_eq(block_records_of(1 << 20, 20, 1, 0), 8);
    cr_assert_eq(block_records_of(1 << 20, 3, 1, 0), 7, "a store of fewer than a block");
    cr_assert_eq(block_records_of(9 << 20, 2, 1, 100), 1);
    cr_assert_eq(block_records_of(1000, 3, 1 << 20, 50), 11);
    cr_assert_eq(block_records_of(1000, 300, 1 << 20, 2), 128);
    cr_assert_eq(block_records_of(1000, 3, 1, 0), 128);
}

/* ----------------------------------------------------------------------------------------- the same bytes */

Test(writer, any_number_of_threads)
{
    for (int shuffle = 0; shuffle < 2; shuffle++) {
        apl_writer_options o = fx_options(1, 16);
        o.shuffle = shuffle;
        o.replace = 1;
        fx_make(fx_path("one"), &fx_small, &o);
        for (unsigned threads = 2; threads <= 8; threads++) {
            o.threads = threads;
            fx_make(fx_path("many"), &fx_small, &o);
            cr_assert(fx_same(fx_path("one/data.mdb"), fx_path("many/data.mdb")), "%u threads", threads);
        }
    }
}

/* Rows of tables: what a block takes is not to be more than they do. */
Test(writer, small_records_fill_larger_blocks)
{
    static const struct {
        int64_t bytes;
        uint32_t records; /* in a block */
    } cases[] = {{1, 4096}, {16, 4096}, {17, 3855}, {511, 128}, {512, 128}, {3072, 128}, {1 << 20, 8}};
    for (unsigned i = 0; i < COUNT(cases); i++) {
        apl_writer_options o = APL_WRITER_OPTIONS_INIT;
        apl_writer *w = NULL;
        o.replace = 1;
        OK(apl_writer_open(fx_path("db"), &o, &w, &fx_err));
        OK(apl_writer_add_field(w, "x", APL_U8, APL_INPUT, 1, &cases[i].bytes, &fx_err));
        OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
        uint8_t *value = calloc(1, (size_t)cases[i].bytes);
        OK(apl_writer_append(w, &(apl_value){value, NULL}, &fx_err));
        free(value);
        OK(apl_writer_commit(w, &fx_err));
        apl_writer_close(w);
        apl_store *s = fx_open(fx_path("db"));
        cr_assert_eq(apl_store_info(s)->block_records, cases[i].records, "%lld bytes: %u",
                     (long long)cases[i].bytes, apl_store_info(s)->block_records);
        apl_store_close(s);
    }
}

Test(writer, progress)
{
    apl_progress p;
    apl_writer_options o = fx_options(1, 2);
    for (o.shuffle = 0; o.shuffle <= 1; o.shuffle++) {
        apl_writer *w = NULL;
        OK(apl_writer_open(fx_path("db"), &o, &w, &fx_err));
        fx_add_fields(w, &fx_small);
        apl_writer_progress(w, &p);
        cr_assert(p.records == 0 && p.raw_bytes == 0 && p.stored_bytes == 0);
        fx_append_members(w, &fx_small);
        apl_writer_progress(w, &p);
        cr_assert_eq(p.records, 510);
        cr_assert(o.shuffle || p.stored_bytes > 0);
        uint64_t raw = p.raw_bytes;
        OK(apl_writer_commit(w, &fx_err));
        apl_writer_close(w);
        apl_store *s = fx_open(fx_path("db"));
        cr_assert_eq(apl_store_info(s)->raw_bytes, raw);
        apl_store_close(s);
        fx_shell("rm -r '%s%s'", fx_path("db"), "");
    }
}

/* Of records that are large a block has few; one, if they are larger than a block is to be. */
Test(writer, usual_records)
{
    static const struct {
        int64_t bytes;
        uint32_t records;
    } cases[] = {{1 << 20, 8}, {4 << 20, 2}, {8 << 20, 1}, {(8 << 20) + 1, 1}, {64 << 20, 1}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct schema s = {0};
        apl_error err;
        const int64_t shape[] = {cases[i].bytes};
        cr_assert_eq(schema_add(&s, "value", 5, APL_U8, APL_INPUT, 1, shape, &err), APL_OK);
        cr_assert_eq(writer_usual_records(&s), cases[i].records, "%u", writer_usual_records(&s));
        schema_free(&s);
    }
}

Test(writer, a_commit_without_its_directory_names_it_once)
{
    apl_writer *w;
    OK(apl_writer_open(fx_path("db"), NULL, &w, &fx_err));
    OK(apl_writer_add_field(w, "one", APL_U8, APL_INPUT, 0, NULL, &fx_err));
    OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
    OK(apl_writer_append(w, &(apl_value){"1", NULL}, &fx_err));
    fx_shell("rm -r '%s%s'", fx_path("db"), "");
    FAILS(APL_E_NOTFOUND, apl_writer_commit(w, &fx_err));
    const char *named = strstr(fx_err.message, fx_path("db"));
    cr_assert(named && !strstr(named + 1, fx_path("db")), "%s", fx_err.message);
    apl_writer_close(w);
}

static int call_writer(void *user, const apl_progress *progress)
{
    apl_writer *w = user;
    (void)progress;
    FAILS(APL_E_REENTRANT, apl_writer_commit(w, &fx_err));
    FAILS(APL_E_REENTRANT, apl_writer_append(w, &(apl_value){"1", NULL}, &fx_err));
    apl_writer_close(w);
    return 0;
}

Test(writer, a_callback_cannot_call_its_writer)
{
    apl_writer *w;
    OK(apl_writer_open(fx_path("db"), NULL, &w, &fx_err));
    OK(apl_writer_add_field(w, "one", APL_U8, APL_INPUT, 0, NULL, &fx_err));
    OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
    OK(apl_writer_append(w, &(apl_value){"1", NULL}, &fx_err));
    apl_writer_on_commit(w, call_writer, w);
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
    apl_store_close(fx_open(fx_path("db")));
}

/* The field that shuffling adds is known when the others are. */
Test(writer, a_shuffled_store_has_room_for_its_position)
{
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    apl_writer *w;
    char name[8];
    o.shuffle = 1;
    OK(apl_writer_open(fx_path("db"), &o, &w, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_add_field(w, "source_position", APL_U64, APL_NAME, 0, NULL, &fx_err));
    for (unsigned i = 0; i + 1 < APL_MAX_FIELDS; i++) {
        snprintf(name, sizeof name, "f%u", i);
        OK(apl_writer_add_field(w, name, APL_U8, APL_INPUT, 0, NULL, &fx_err));
    }
    FAILS(APL_E_INVALID, apl_writer_add_field(w, "last", APL_U8, APL_INPUT, 0, NULL, &fx_err));
    SAYS("source_position");
    OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
    apl_writer_close(w);
}

/* What a writer is given comes back from the store, whatever the types, shapes and sizes; what it must not be
 * given is refused; and once it has failed it stays failed. */
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

/* --------------------------------------------------------------------------------------------- what is refused */

static apl_writer *begin(void)
{
    apl_writer *w = NULL;
    OK(apl_writer_open(fx_path("db"), NULL, &w, &fx_err));
    return w;
}

static apl_writer *begin_small(void)
{
    apl_writer *w = begin();
    fx_add_fields(w, &fx_small);
    return w;
}

static apl_status open_with(apl_writer_options o)
{
    apl_writer *w = NULL;
    apl_status status = apl_writer_open(fx_path("db"), &o, &w, &fx_err);
    cr_assert_null(w);
    return status;
}

Test(writer, options_that_cannot_be)
{
    const apl_writer_options good = APL_WRITER_OPTIONS_INIT;
    apl_writer_options o = good;
    o.size = 0;
    FAILS(APL_E_INVALID, open_with(o));
    SAYS("size");
    o.size = sizeof o - 1;
    FAILS(APL_E_INVALID, open_with(o));
    o = good;
    o.block_records = APL_MAX_BLOCK + 1;
    FAILS(APL_E_INVALID, open_with(o));
    o = good;
    o.codec = "gzip";
    FAILS(APL_E_INVALID, open_with(o));
    SAYS("gzip");
    o = good;
    o.level = 23;
    FAILS(APL_E_INVALID, open_with(o));
    o.level = -129;
    FAILS(APL_E_INVALID, open_with(o));
    o = good;
    o.tool = "";
    FAILS(APL_E_INVALID, open_with(o));
    o.tool = "bell\a";
    FAILS(APL_E_INVALID, open_with(o));
    cr_assert(!fx_exists(fx_path("db")));
}

Test(writer, arguments_that_are_NULL)
{
    apl_writer *w = NULL;
    FAILS(APL_E_INVALID, apl_writer_open(NULL, NULL, &w, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_open(fx_path("db"), NULL, NULL, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_open("", NULL, &w, &fx_err));
    cr_assert_eq(apl_writer_open("", NULL, &w, NULL), APL_E_INVALID);
    FAILS(APL_E_INVALID, apl_writer_add_field(NULL, "x", APL_U8, APL_INPUT, 0, NULL, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_set_classes(NULL, "x", fx_classes, 3, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_set_source(NULL, "x", NULL, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_begin_member(NULL, "x", "y", 0, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_append(NULL, NULL, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_commit(NULL, &fx_err));
    apl_writer_close(NULL);
    w = begin();
    FAILS(APL_E_INVALID, apl_writer_add_field(w, NULL, APL_U8, APL_INPUT, 0, NULL, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_add_field(w, "x", APL_U8, APL_INPUT, 2, NULL, &fx_err));
    fx_add_fields(w, &fx_small);
    FAILS(APL_E_NOTFOUND, apl_writer_set_classes(w, NULL, fx_classes, 3, &fx_err));
    FAILS(APL_E_NOTFOUND, apl_writer_set_classes(w, "label", NULL, 3, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_begin_member(w, NULL, "s", 0, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_begin_member(w, "m", NULL, 0, &fx_err));
    OK(apl_writer_begin_member(w, "m", "s", 0, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_append(w, NULL, &fx_err));
    OK(fx_append(w, &fx_small, 0, 0)); /* none of these has broken it */
    OK(apl_writer_set_source(w, NULL, NULL, NULL));
    OK(apl_writer_commit(w, NULL));
    apl_writer_close(w);
}

Test(writer, names_that_are_none)
{
    static const char *const bad[] = {"", "new\nline", "\xff", "cut \xc3", "\x7f"};
    char longest[APL_MAX_NAME + 2];
    memset(longest, 'x', sizeof longest);
    longest[APL_MAX_NAME + 1] = 0;
    apl_writer *w = begin();
    for (unsigned i = 0; i <= COUNT(bad); i++) {
        const char *name = i < COUNT(bad) ? bad[i] : longest;
        FAILS(APL_E_INVALID, apl_writer_add_field(w, name, APL_U8, APL_INPUT, 0, NULL, &fx_err));
    }
    fx_add_fields(w, &fx_small);
    FAILS(APL_E_INVALID, apl_writer_add_field(w, "label", APL_U8, APL_INPUT, 0, NULL, &fx_err));
    for (unsigned i = 0; i <= COUNT(bad); i++) {
        const char *name = i < COUNT(bad) ? bad[i] : longest;
        FAILS(APL_E_INVALID, apl_writer_begin_member(w, name, "s", 0, &fx_err));
        FAILS(APL_E_INVALID, apl_writer_begin_member(w, "m", name, 0, &fx_err));
        if (*name)
            FAILS(APL_E_INVALID, apl_writer_set_source(w, name, NULL, &fx_err));
    }
    longest[APL_MAX_NAME] = 0;
    OK(apl_writer_begin_member(w, longest, longest, 0, &fx_err));
    OK(fx_append(w, &fx_small, 0, 0));
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
}

Test(writer, calls_at_the_wrong_time)
{
    apl_writer *w = begin();
    FAILS(APL_E_INVALID, apl_writer_begin_member(w, "m", "s", 0, &fx_err));
    SAYS("fields");
    fx_add_fields(w, &fx_small);
    const apl_value values[COUNT(fx_fields)] = {{0}};
    FAILS(APL_E_INVALID, apl_writer_append(w, values, &fx_err));
    SAYS("member");
    OK(apl_writer_begin_member(w, "m", "s", 0, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_add_field(w, "late", APL_U8, APL_INPUT, 0, NULL, &fx_err));
    OK(fx_append(w, &fx_small, 0, 0));
    const char *twice[] = {"cat", "cat"};
    FAILS(APL_E_INVALID, apl_writer_set_classes(w, "label", twice, 2, &fx_err));
    SAYS("two classes are called cat");
    OK(apl_writer_set_classes(w, "label", fx_classes, 2, &fx_err));
    OK(apl_writer_commit(w, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_commit(w, &fx_err));
    SAYS("committed");
    FAILS(APL_E_INVALID, fx_append(w, &fx_small, 0, 1));
    FAILS(APL_E_INVALID, apl_writer_begin_member(w, "n", "s", 1, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_set_classes(w, "label", fx_classes, 3, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_set_source(w, "x", NULL, &fx_err));
    apl_writer_close(w);
    apl_store *s = fx_open(fx_path("db"));
    cr_assert_eq(apl_store_field(s, 1)->class_count, 2);
    apl_store_close(s);
}

/* Whatever comes after a failure gives that failure, and closing leaves nothing. */
static void expect_stuck(apl_writer *w, apl_status status)
{
    char message[sizeof fx_err.message];
    strcpy(message, fx_err.message);
    FAILS(status, fx_append(w, &fx_small, 0, 1));
    cr_assert_str_eq(fx_err.message, message);
    FAILS(status, apl_writer_begin_member(w, "n", "s", 77, &fx_err));
    FAILS(status, apl_writer_add_field(w, "x", APL_U8, APL_INPUT, 0, NULL, &fx_err));
    FAILS(status, apl_writer_set_classes(w, "label", fx_classes, 3, &fx_err));
    FAILS(status, apl_writer_set_source(w, "x", NULL, &fx_err));
    FAILS(status, apl_writer_commit(w, &fx_err));
    cr_assert_str_eq(fx_err.message, message);
    apl_writer_close(w);
    cr_assert(!fx_exists(fx_path("db")));
}

Test(writer, stays_failed_after_a_bad_value)
{
    const int64_t short_name[1] = {3}, negative[1] = {-1}, track[2] = {1, 2}, wide[2] = {1, 3},
                  huge[2] = {APL_MAX_VALUE, 2};
    const apl_value good[] = {{"", NULL}, {"\1", NULL}, {"abc", short_name}, {"01234567", track}};
    for (unsigned i = 0; i < 6; i++) {
        static uint8_t image[90];
        apl_value values[COUNT(good)];
        memcpy(values, good, sizeof good);
        values[0].data = i == 0 ? NULL : image;
        values[2].shape = i == 1 ? NULL : i == 2 ? negative : short_name;
        values[3].shape = i == 3 ? wide : i == 4 ? huge : track;
        values[2].data = i == 5 ? NULL : "abc";
        apl_writer *w = begin_small();
        OK(apl_writer_begin_member(w, "m", "s", 0, &fx_err));
        OK(fx_append(w, &fx_small, 0, 0));
        FAILS(APL_E_INVALID, apl_writer_append(w, values, &fx_err));
        SAYS("field");
        expect_stuck(w, APL_E_INVALID);
    }
}

Test(writer, stays_failed_after_a_number_that_two_share)
{
    apl_writer *w = begin_small();
    OK(apl_writer_begin_member(w, "m", "s", 5, &fx_err));
    OK(fx_append(w, &fx_small, 0, 0));
    FAILS(APL_E_INVALID, apl_writer_begin_member(w, "n", "s", 5, &fx_err));
    SAYS("same number 5");
    expect_stuck(w, APL_E_INVALID);
}

Test(writer, stays_failed_after_a_commit_without_records)
{
    apl_writer *w = begin_small();
    OK(apl_writer_begin_member(w, "m", "s", 0, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_commit(w, &fx_err));
    SAYS("without records");
    expect_stuck(w, APL_E_INVALID);
}

Test(writer, no_room_for_the_position)
{
    static const char *const name = "source_position";
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    o.shuffle = 1;
    for (unsigned i = 0; i < 2; i++) {
        apl_writer *w = NULL;
        OK(apl_writer_open(fx_path("db"), &o, &w, &fx_err));
        for (unsigned f = 0; f < (i ? APL_MAX_FIELDS : 1); f++) {
            char other[16];
            snprintf(other, sizeof other, "f%u", f);
            OK(apl_writer_add_field(w, i ? other : name, APL_U8, APL_INPUT, 0, NULL, &fx_err));
        }
        FAILS(APL_E_INVALID, apl_writer_begin_member(w, "m", "s", 0, &fx_err));
        FAILS(APL_E_INVALID, apl_writer_commit(w, &fx_err));
        apl_writer_close(w);
    }
    cr_assert(!fx_exists(fx_path("db")));
}

Test(writer, progress)
{
    apl_progress p;
    apl_writer_options o = fx_options(1, 2);
    apl_writer *w = NULL;
    OK(apl_writer_open(fx_path("db"), &o, &w, &fx_err));
    fx_add_fields(w, &fx_small);
    apl_writer_progress(w, &p);
    cr_assert(p.records == 0 && p.raw_bytes == 0 && p.stored_bytes == 0);
    fx_append_members(w, &fx_small);
    apl_writer_progress(w, &p);
    cr_assert_eq(p.records, 510);
    cr_assert_gt(p.stored_bytes, 0);
    uint64_t raw = p.raw_bytes;
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
    apl_store *s = fx_open(fx_path("db"));
    cr_assert_eq(apl_store_info(s)->raw_bytes, raw);
    apl_store_close(s);
}

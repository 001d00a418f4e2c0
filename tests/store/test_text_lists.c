/* Fields whose values are lists of texts. */
#include "hash.h"
#include "kind_text.h"
#include "manifest_entry.h"
#include "set_case.h"

TestSuite(text_lists, .init = set_set_up, .fini = fx_tear_down, .timeout = 120);

static const apl_field list_fields[] = {
    {.name = "names", .dtype = APL_UTF8, .role = APL_TARGET, .ndim = 2, .shape = {-1, -1}},
    {.name = "three", .dtype = APL_UTF8, .role = APL_INPUT, .ndim = 2, .shape = {3, -1}},
    {.name = "table", .dtype = APL_UTF8, .role = APL_NAME, .ndim = 3, .shape = {-1, 2, -1}},
    {.name = "text", .dtype = APL_UTF8, .role = APL_NAME, .ndim = 1, .shape = {-1}},
};
static const struct fx_recipe lists = {list_fields, COUNT(list_fields), fx_members, COUNT(fx_members)};

Test(text_lists, are_stored_and_read)
{
    apl_writer_options o = fx_options(2, 16);
    fx_make(fx_path("db"), &lists, &o);
    o.shuffle = 1;
    fx_make(fx_path("shuffled"), &lists, &o);
    for (int i = 0; i < 2; i++) {
        apl_store *s = fx_open(fx_path(i ? "shuffled" : "db"));
        cr_assert_eq(apl_store_info(s)->format_minor, 6);
        cr_assert(apl_store_field(s, 0)->ndim == 2 && apl_store_field(s, 0)->shape[1] == -1);
        OK(apl_store_verify(s, NULL, &fx_err));
        fx_check(s, &lists);
        apl_store_close(s);
    }
}

/* A store with one value of the field "names". */
static apl_status append(const char *texts, int64_t count, int64_t width)
{
    static const int64_t shape[2] = {-1, -1};
    const int64_t dims[2] = {count, width};
    apl_writer_options o = fx_options(APL_NO_THREADS, 4);
    apl_writer *w = NULL;
    o.replace = 1;
    OK(apl_writer_open(fx_path("db"), &o, &w, &fx_err));
    OK(apl_writer_add_field(w, "names", APL_UTF8, APL_INPUT, 2, shape, &fx_err));
    OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
    apl_status status = apl_writer_append(w, &(apl_value){texts, dims}, &fx_err);
    if (status == APL_OK)
        OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
    return status;
}

Test(text_lists, have_one_form)
{
    OK(append("dogcat", 2, 3));
    OK(append("dog\0\0giant", 2, 5));
    OK(append("caf\xc3\xa9"
              "dog\0\0",
              2, 5));
    OK(append(NULL, 0, 0));
    OK(append(NULL, 2, 0));
    FAILS(APL_E_INVALID, append("dog\0cat\0", 2, 4));
    SAYS("field names: a list has room for texts of 4 bytes, and its longest has 3");
    FAILS(APL_E_INVALID, append(NULL, 0, 3));
    FAILS(APL_E_INVALID, append("\0\0", 2, 1));
    FAILS(APL_E_INVALID, append("d\0gcat", 2, 3));
    SAYS("field names: text 0 of a list has a NUL in it");
    FAILS(APL_E_INVALID, append("dog\xc3\xa9\xc3", 2, 3));
    SAYS("field names: text 1 of a list is not UTF-8");
    FAILS(APL_E_INVALID, append("ab\xc3\xa9"
                                "cd",
                                2, 3));
    SAYS("text 0 of a list is not UTF-8");
}

Test(text_lists, shapes)
{
    static const int64_t bad[][2] = {{-1, 3}, {4, 4}};
    apl_writer *w = NULL;
    OK(apl_writer_open(fx_path("db"), NULL, &w, &fx_err));
    for (size_t i = 0; i < COUNT(bad); i++) {
        FAILS(APL_E_INVALID, apl_writer_add_field(w, "names", APL_UTF8, APL_INPUT, 2, bad[i], &fx_err));
        SAYS("the last dimension of utf8 is -1");
    }
    FAILS(APL_E_INVALID, apl_writer_add_field(w, "names", APL_UTF8, APL_INPUT, 0, NULL, &fx_err));
    apl_writer_close(w);
}

/* Readers that do not know lists of texts refuse their entry before they come to a field. */
Test(text_lists, are_said_before_the_fields)
{
    static const int64_t shape[2] = {-1, -1};
    struct manifest m = {.info = {.block_records = 1}}, got;
    struct buffer b = {0};
    char text[FIELD_TYPE_TEXT];
    OK(schema_add(&m.schema, "names", 5, APL_UTF8, APL_INPUT, 2, shape, &fx_err));
    cr_assert_str_eq(field_type_text(&m.schema.fields[0], text), "utf8[*]");
    OK(manifest_finish(&m, &fx_err));
    OK(manifest_encode(&m, &b, &fx_err));
    OK(manifest_decode(b.data, b.size, &got, &fx_err));
    cr_assert(got.text_lists == 1 && got.info.format_minor == 6);
    manifest_free(&got);
    size_t at = 24;
    while (load_le(b.data + at, 2) != TAG_TEXT_LISTS) {
        cr_assert_neq(load_le(b.data + at, 2), TAG_FIELD);
        at += 8 + (size_t)load_le(b.data + at + 4, 4);
    }
    cr_assert_eq(load_le(b.data + at + 2, 2) & 1, 1, "required");
    for (unsigned lists_said = 0; lists_said < 3; lists_said += 2) {
        store_le(b.data + at + 8, lists_said, 4);
        store_le(b.data + 16, hash_xxh3_64(b.data + 24, b.size - 24), 8);
        FAILS(APL_E_CORRUPT, manifest_decode(b.data, b.size, &got, &fx_err));
        SAYS("lists of texts");
    }
    store_le(b.data + at, 4000, 2); /* an entry that nobody knows */
    store_le(b.data + 16, hash_xxh3_64(b.data + 24, b.size - 24), 8);
    FAILS(APL_E_VERSION, manifest_decode(b.data, b.size, &got, &fx_err));
    store_le(b.data + at + 2, 0, 2); /* which may be passed over: then it comes behind the fields */
    put_text_lists(&b, &m.schema);
    store_le(b.data + 8, b.size, 8);
    store_le(b.data + 16, hash_xxh3_64(b.data + 24, b.size - 24), 8);
    FAILS(APL_E_CORRUPT, manifest_decode(b.data, b.size, &got, &fx_err));
    SAYS("fields of lists of texts");
    manifest_free(&m);
    buffer_free(&b);
}

static apl_status join_lists(bool lists_first, bool lists_second)
{
    static const int64_t one[1] = {-1}, many[2] = {-1, -1};
    static const int64_t dims[2] = {2, 1};
    const char *paths[2];
    apl_set_options o = APL_SET_OPTIONS_INIT;
    o.replace = 1;
    for (unsigned i = 0; i < 2; i++) {
        bool is_list = i ? lists_second : lists_first;
        apl_writer_options replace = fx_options(APL_NO_THREADS, 4);
        apl_writer *w = NULL;
        replace.replace = 1;
        paths[i] = shard_path(i);
        OK(apl_writer_open(paths[i], &replace, &w, &fx_err));
        OK(apl_writer_add_field(w, "names", APL_UTF8, APL_INPUT, is_list ? 2 : 1, is_list ? many : one,
                                &fx_err));
        OK(apl_writer_begin_member(w, i ? "b" : "a", "train", i, &fx_err));
        OK(apl_writer_append(w, &(apl_value){i ? "xy" : "ab", dims}, &fx_err));
        OK(apl_writer_commit(w, &fx_err));
        apl_writer_close(w);
    }
    return apl_set_join(fx_path("set"), paths, 2, &o, &fx_err);
}

Test(text_lists, of_sets)
{
    apl_batch *b = NULL;
    OK(join_lists(true, true));
    apl_store *s = open_set(0);
    OK(apl_store_get(s, 1, &b, &fx_err));
    const apl_column *c = apl_batch_column(b, 0);
    cr_assert(c->bytes == 2 && memcmp(c->data, "xy", 2) == 0 && c->shapes[0] == 2 && c->shapes[1] == 1);
    apl_batch_release(b);
    apl_store_close(s);
    FAILS(APL_E_MISMATCH, join_lists(true, false));
    SAYS("field names is utf8, but utf8[*] in ");
}

/* There may be one text for each element of another field. */
Test(text_lists, per_boxes)
{
    static const int64_t boxes[2] = {-1, 4}, names[2] = {-1, -1};
    apl_kind kind;
    apl_writer *w = NULL;
    OK(apl_writer_open(fx_path("db"), NULL, &w, &fx_err));
    OK(apl_writer_add_field(w, "boxes", APL_F32, APL_TARGET, 2, boxes, &fx_err));
    OK(apl_writer_add_field(w, "names", APL_UTF8, APL_TARGET, 2, names, &fx_err));
    OK(apl_kind_parse("label,per=boxes", NULL, &kind, &fx_err));
    OK(apl_writer_set_kind(w, "names", &kind, &fx_err));
    OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
    apl_writer_close(w);
}

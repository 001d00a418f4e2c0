/*
 * Stores of format 1.6, with digests of their blocks, must be readable for ever, and say the same of their fields: tests/golden/kinds, made
 * by make_kinds(), and tests/golden/texts, which has lists of texts, made by make_texts().
 */
#include "store_fixture.h"

TestSuite(golden_kinds, .init = fx_set_up, .fini = fx_tear_down, .timeout = 60);

#define GOLDEN "tests/golden/kinds"

static apl_field fields[] = {
    /* which get the kinds below */
    {.name = "left", .dtype = APL_U8, .role = APL_INPUT, .ndim = 3, .shape = {3, 6, 5}},
    {.name = "right", .dtype = APL_U8, .role = APL_INPUT, .ndim = 1, .shape = {-1}, .media = "image/png"},
    {.name = "depth", .dtype = APL_F32, .role = APL_TARGET, .ndim = 2, .shape = {6, 5}},
    {.name = "segments", .dtype = APL_U8, .role = APL_TARGET, .ndim = 3, .shape = {-1, 6, 5}},
    {.name = "boxes", .dtype = APL_F32, .role = APL_TARGET, .ndim = 2, .shape = {-1, 4}},
    {.name = "people", .dtype = APL_F64, .role = APL_TARGET, .ndim = 3, .shape = {-1, 5, 3}},
    {.name = "labels", .dtype = APL_I64, .role = APL_TARGET, .ndim = 1, .shape = {-1}},
    {.name = "camera", .dtype = APL_F64, .role = APL_INPUT, .ndim = 2, .shape = {3, 4}},
    {.name = "caption", .dtype = APL_UTF8, .role = APL_TARGET, .ndim = 1, .shape = {-1}},
    {.name = "wave", .dtype = APL_I16, .role = APL_INPUT, .ndim = 1, .shape = {-1}},
    {.name = "score", .dtype = APL_F32, .role = APL_TARGET},
    {.name = "unsaid", .dtype = APL_U16, .role = APL_NAME, .ndim = 1, .shape = {2}},
};
static const struct fx_member golden_members[] = {{"a", "train", 0, 40}, {"b", "test", 1, 7}};
static const struct fx_recipe recipe = {fields, COUNT(fields), golden_members, COUNT(golden_members)};

/* In the order of the fields. */
static const struct {
    const char *text;
    apl_origin origin;
} said[COUNT(fields)] = {
    {"image,chw", APL_DECLARED},
    {"image", APL_FROM_SOURCE},
    {"map,linear,of=left", APL_DECLARED},
    {"mask,of=left,per=boxes,ignore=255", APL_DECLARED},
    {"boxes,cxcywh-rel,of=left", APL_GUESSED},
    {"keypoints,xyv,of=left,per=boxes,flip=0-1+3-4", APL_FROM_SOURCE},
    {"label,per=boxes", APL_DECLARED},
    {"pinned,of=right", APL_DECLARED},
    {"text", APL_GUESSED},
    {"audio,rate=16000", APL_DECLARED},
    {"plain", APL_BY_DEFAULT},
};

static void say_kinds(void)
{
    static apl_kind kinds[COUNT(fields)];
    for (size_t i = 0; i < COUNT(said); i++) {
        if (!said[i].text)
            continue;
        OK(apl_kind_parse(said[i].text, NULL, &kinds[i], &fx_err));
        kinds[i].origin = said[i].origin;
        fields[i].kind = &kinds[i];
    }
}

static void make_kinds(const char *path)
{
    apl_writer_options o = fx_options(1, 32);
    o.tool = "golden";
    fx_make(path, &recipe, &o);
}

static void expect_kinds(const char *path)
{
    char text[APL_KIND_BYTES];
    say_kinds();
    apl_store *s = fx_open(path);
    cr_assert(apl_store_info(s)->format_major == 1 && apl_store_info(s)->format_minor == 6);
    for (unsigned i = 0; i < COUNT(fields); i++) {
        const apl_kind *kind = apl_store_field(s, i)->kind;
        cr_assert_eq(!kind, !said[i].text, "%s", fields[i].name);
        cr_assert(!kind || kind->origin == said[i].origin, "%s", fields[i].name);
        if (kind)
            cr_assert_str_eq(apl_kind_print(NULL, kind, text, sizeof text), said[i].text);
    }
    OK(apl_store_verify(s, NULL, &fx_err));
    fx_check(s, &recipe);
    apl_store_close(s);
}

#define TEXTS "tests/golden/texts"

static const apl_field text_fields[] = {
    {.name = "boxes", .dtype = APL_F32, .role = APL_TARGET, .ndim = 2, .shape = {-1, 4}},
    {.name = "names", .dtype = APL_UTF8, .role = APL_TARGET, .ndim = 2, .shape = {-1, -1}},
    {.name = "captions", .dtype = APL_UTF8, .role = APL_INPUT, .ndim = 2, .shape = {3, -1}},
    {.name = "text", .dtype = APL_UTF8, .role = APL_NAME, .ndim = 1, .shape = {-1}},
};

/* Of record i: i % 3 boxes, whose names are "r<i>-<box>", the second one longer; captions and a text. */
static void append_texts(apl_writer *w, unsigned i)
{
    float boxes[8] = {0, 0, (float)i, 1, 2, 2, 3, (float)i + 3};
    char names[2][16] = {{0}}, captions[3][16] = {{0}}, text[16], flat[32], three[48];
    int64_t count = i % 3, width = 0;
    for (int64_t k = 0; k < count; k++)
        width = snprintf(names[k], sizeof names[k], "r%02u-%s", i, k ? "second" : "on\xc3\xa9");
    for (int64_t k = 0; k < count; k++)
        memcpy(flat + k * width, names[k], (size_t)width);
    int64_t longest = snprintf(captions[2], sizeof captions[2], "caption %u", i);
    snprintf(captions[0], sizeof captions[0], "c%u", i);
    for (int64_t k = 0; k < 3; k++)
        memcpy(three + k * longest, captions[k], (size_t)longest);
    const int64_t box_shape[2] = {count, 4}, name_shape[2] = {count, width}, caption_shape[2] = {3, longest},
                  text_shape[1] = {snprintf(text, sizeof text, "text %u", i)};
    OK(apl_writer_append(
        w, (apl_value[]){{boxes, box_shape}, {flat, name_shape}, {three, caption_shape}, {text, text_shape}},
        &fx_err));
}

static void make_texts(const char *path)
{
    apl_writer_options o = fx_options(1, 8);
    apl_writer *w = NULL;
    apl_kind kind;
    o.tool = "golden";
    OK(apl_writer_open(path, &o, &w, &fx_err));
    for (size_t i = 0; i < COUNT(text_fields); i++) {
        const apl_field *f = &text_fields[i];
        OK(apl_writer_add_field(w, f->name, f->dtype, f->role, f->ndim, f->shape, &fx_err));
    }
    OK(apl_kind_parse("boxes", NULL, &kind, &fx_err));
    OK(apl_writer_set_kind(w, "boxes", &kind, &fx_err));
    OK(apl_kind_parse("label,per=boxes", NULL, &kind, &fx_err));
    OK(apl_writer_set_kind(w, "names", &kind, &fx_err));
    OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
    for (unsigned i = 0; i < 20; i++)
        append_texts(w, i);
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
}

static void expect_texts(const char *path)
{
    apl_store *s = fx_open(path);
    apl_batch *b = NULL;
    cr_assert(apl_store_info(s)->format_major == 1 && apl_store_info(s)->format_minor == 6);
    OK(apl_store_verify(s, NULL, &fx_err));
    OK(apl_store_get(s, 17, &b, &fx_err));
    const apl_column *names = apl_batch_column(b, 1), *captions = apl_batch_column(b, 2);
    cr_assert(names->ndim == 2 && names->shapes[0] == 2 && names->shapes[1] == 10);
    cr_assert(names->bytes == 20 && memcmp(names->data, "r17-on\xc3\xa9\0\0r17-second", 20) == 0);
    cr_assert(captions->shapes[0] == 3 && captions->shapes[1] == 10);
    cr_assert(memcmp(captions->data, "c17\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0caption 17", 30) == 0);
    apl_batch_release(b);
    apl_store_close(s);
}

Test(golden_kinds, lists_of_texts)
{
    make_texts(fx_path("texts"));
    expect_texts(fx_path("texts"));
    if (!fx_exists(TEXTS "/data.mdb"))
        cr_skip("skipped: " TEXTS " is not there\n");
    expect_texts(TEXTS);
    apl_store *was = fx_open(TEXTS), *is = fx_open(fx_path("texts"));
    cr_assert(memcmp(apl_store_info(was)->content_digest, apl_store_info(is)->content_digest, 32) == 0);
    apl_store_close(was);
    apl_store_close(is);
}

/* The tests are run from the top of the tree; a copy elsewhere has no golden stores beside it. */
Test(golden_kinds, is_read)
{
    if (!fx_exists(GOLDEN "/data.mdb"))
        cr_skip("skipped: " GOLDEN " is not there\n");
    expect_kinds(GOLDEN);
}

/* Byte by byte, with the version of zstd that it was made with. */
Test(golden_kinds, is_written_again)
{
    say_kinds();
    make_kinds(fx_path("kinds"));
    expect_kinds(fx_path("kinds"));
    if (!fx_exists(GOLDEN "/data.mdb"))
        cr_skip("skipped: " GOLDEN " is not there\n");
    apl_store *was = fx_open(GOLDEN), *is = fx_open(fx_path("kinds"));
    cr_assert(memcmp(apl_store_info(was)->content_digest, apl_store_info(is)->content_digest, 32) == 0);
    apl_store_close(was);
    apl_store_close(is);
    if (!fx_same(GOLDEN "/data.mdb", fx_path("kinds/data.mdb")))
        cr_log_warn("skipped: " GOLDEN " is not the same to the byte (another zstd?)\n");
}

/*
 * A store of format 1.6 with kinds, and digests of its blocks: tests/golden/kinds, made by make_kinds(), must be readable for ever, say
 * the same of its fields, and have the same digest.
 */
#include "store_fixture.h"

TestSuite(golden_kinds, .init = fx_set_up, .fini = fx_tear_down, .timeout = 60);

#define GOLDEN "tests/golden/kinds"

static const apl_field fields[] = {
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

static void make_kinds(const char *path)
{
    apl_writer_options o = fx_options(1, 32);
    apl_writer *w = NULL;
    o.tool = "golden";
    OK(apl_writer_open(path, &o, &w, &fx_err));
    fx_add_fields(w, &recipe);
    for (size_t i = 0; i < COUNT(said); i++) {
        apl_kind kind = {0};
        if (said[i].text)
            OK(apl_kind_parse(said[i].text, NULL, &kind, &fx_err));
        kind.origin = said[i].origin;
        OK(apl_writer_set_kind(w, fields[i].name, &kind, &fx_err));
    }
    fx_append_members(w, &recipe);
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
}

static void expect_kinds(const char *path)
{
    char text[APL_KIND_BYTES];
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

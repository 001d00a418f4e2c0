/* Kinds in stores and sets: which fields can have them, that they are stored, and manifests that say nonsense of them. */
#include "hash.h"
#include "kind_text.h"
#include "manifest_entry.h"
#include "set_case.h"

TestSuite(kinds, .init = set_set_up, .fini = fx_tear_down, .timeout = 120);

/* Fields of every kind. */
static const apl_field every[] = {
    {.name = "image", .dtype = APL_U8, .role = APL_INPUT, .ndim = 3, .shape = {3, 6, 5}},
    {.name = "rows", .dtype = APL_U8, .role = APL_INPUT, .ndim = 2, .shape = {-1, -1}},
    {.name = "file", .dtype = APL_U8, .role = APL_INPUT, .ndim = 1, .shape = {-1}, .media = "image/png"},
    {.name = "sound", .dtype = APL_U8, .role = APL_INPUT, .ndim = 1, .shape = {-1}, .media = "audio/flac"},
    {.name = "bytes", .dtype = APL_U8, .role = APL_INPUT, .ndim = 1, .shape = {-1}},
    {.name = "bits", .dtype = APL_BOOL, .role = APL_TARGET, .ndim = 3, .shape = {-1, 6, 5}},
    {.name = "depth", .dtype = APL_F32, .role = APL_TARGET, .ndim = 2, .shape = {6, 5}},
    {.name = "flow", .dtype = APL_F16, .role = APL_TARGET, .ndim = 3, .shape = {6, 5, 2}},
    {.name = "boxes", .dtype = APL_F32, .role = APL_TARGET, .ndim = 2, .shape = {-1, 4}},
    {.name = "box", .dtype = APL_I16, .role = APL_TARGET, .ndim = 1, .shape = {4}},
    {.name = "points", .dtype = APL_F64, .role = APL_TARGET, .ndim = 3, .shape = {-1, 17, 3}},
    {.name = "marks", .dtype = APL_I32, .role = APL_TARGET, .ndim = 2, .shape = {5, 2}},
    {.name = "labels", .dtype = APL_I64, .role = APL_TARGET, .ndim = 1, .shape = {-1}},
    {.name = "label", .dtype = APL_U8, .role = APL_TARGET},
    {.name = "weight", .dtype = APL_F32, .role = APL_TARGET},
    {.name = "text", .dtype = APL_UTF8, .role = APL_NAME, .ndim = 1, .shape = {-1}},
};
static const struct fx_member one_member[] = {{"all", "train", 0, 5}};
static const struct fx_recipe recipe = {every, COUNT(every), one_member, 1};

static apl_writer *writer_of_every(const char *path)
{
    apl_writer *w = NULL;
    OK(apl_writer_open(path, NULL, &w, &fx_err));
    fx_add_fields(w, &recipe);
    return w;
}

/* Sets a kind from text such as "boxes=boxes,xywh". */
static apl_status set_kind(apl_writer *w, const char *text, apl_error *err)
{
    char field[APL_MAX_NAME + 1];
    apl_kind kind;
    OK(apl_kind_parse(text, field, &kind, &fx_err));
    return apl_writer_set_kind(w, field, &kind, err);
}

/* The fields that can have each kind, in the order above: a letter each. */
Test(kinds, suit_types_and_shapes)
{
    /* image rows file sound bytes bits depth flow boxes box points marks labels label weight text */
    static const char *const can[][2] = {{"image", "yyy---yyy-yy----"},
                                         {"image,chw", "y-y----y--y-----"},
                                         {"image,hwc", "y-y----y--y-----"},
                                         {"image,hw", "yyy---yyy-yy----"},
                                         {"mask", "yyy--y-----y----"},
                                         {"mask,ignore=255", "yyy--------y----"},
                                         {"map", "yyy---yyy-yy----"},
                                         {"boxes", "--------yy------"},
                                         {"boxes,yxyx-rel", "--------y-------"},
                                         {"keypoints", "-------y---y----"},
                                         {"keypoints,xyv", "----------y-----"},
                                         {"keypoints,xyz-rel", "----------y-----"},
                                         {"keypoints,xy-rel", "-------y--------"},
                                         {"vectors", "-------y--------"},
                                         {"pinned", "yyyyyyyyyyyyyyyy"},
                                         {"label", "yy--yy---y-yyy-y"},
                                         {"text", "--yyy----------y"},
                                         {"tokens", "yy--y----y-yy---"},
                                         {"audio", "yy-yy-yyyyyyy---"},
                                         {"plain", "yyyyyyyyyyyyyyyy"}};
    apl_writer *w = writer_of_every(fx_path("db"));
    for (size_t i = 0; i < COUNT(can); i++)
        for (size_t f = 0; f < COUNT(every); f++) {
            char text[64];
            snprintf(text, sizeof text, "%s=%s", every[f].name, can[i][0]);
            apl_status status = set_kind(w, text, &fx_err);
            cr_expect_eq(status, can[i][1][f] == 'y' ? APL_OK : APL_E_INVALID, "%s", text);
        }
    apl_writer_close(w);
}

Test(kinds, refusals_say_what_a_kind_takes)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"depth=boxes",
         "field depth is f32[6,5], and boxes takes numbers (-rel: fractions) of shape [n,4] or [4]"},
        {"sound=image",
         "field sound is u8[*] of audio/flac, and image takes numbers in two dimensions or more "
         "(chw, hwc: three), or image files"},
        {"marks=keypoints,xyv",
         "field marks is i32[5,2], and keypoints takes numbers (-rel: fractions) of shape "
         "[k,2] or [n,k,2] (xyv, xyz: 3)"},
        {"marks=keypoints,flip=0-1+4-5", "field marks: flip= has a point 5, and there are 0 to 4"},
        {"image=mask,ignore=256", "field image is u8[3,6,5], which has no value 256 to ignore"},
        {"rows=mask,ignore=-1", "field rows is u8[*,*], which has no value -1 to ignore"},
    };
    apl_writer *w = writer_of_every(fx_path("db"));
    for (size_t i = 0; i < COUNT(bad); i++) {
        FAILS(APL_E_INVALID, set_kind(w, bad[i].text, &fx_err));
        cr_expect_str_eq(fx_err.message, bad[i].message);
        cr_expect_eq(set_kind(w, bad[i].text, NULL), APL_E_INVALID);
    }
    OK(set_kind(w, "points=keypoints,xyv,flip=0-16", &fx_err));
    OK(set_kind(w, "marks=mask,ignore=-2147483648", &fx_err));
    FAILS(APL_E_INVALID, set_kind(w, "marks=mask,ignore=2147483648", &fx_err));
    OK(set_kind(w, "file=mask,ignore=255", &fx_err));
    apl_writer_close(w);
}

Test(kinds, calls_at_the_wrong_time)
{
    const apl_kind plain = {.id = APL_KIND_PLAIN, .origin = APL_DECLARED};
    apl_writer *w = writer_of_every(fx_path("db"));
    FAILS(APL_E_INVALID, apl_writer_set_kind(NULL, "image", &plain, &fx_err));
    FAILS(APL_E_NOTFOUND, apl_writer_set_kind(w, "none", &plain, &fx_err));
    FAILS(APL_E_NOTFOUND, apl_writer_set_kind(w, NULL, &plain, &fx_err));
    FAILS(APL_E_NOTFOUND, apl_writer_set_kind(w, "image", NULL, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_set_kind(w, "image", &(apl_kind){.id = APL_KIND_PLAIN}, &fx_err));
    SAYS("field image: 0 is no origin");
    OK(apl_writer_begin_member(w, "all", "train", 0, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_set_kind(w, "image", &plain, &fx_err));
    apl_writer_close(w);
}

/* Kinds that name other fields are checked when all fields are there. */
Test(kinds, name_fields_that_are_there)
{
    static const struct {
        const char *kinds[3], *message;
    } bad[] = {
        {{"labels=label,per=box"},
         "field labels: per=box, and their first dimensions are -1 and 4 (-1: it varies)"},
        {{"labels=label,per=boxen"}, "field labels: per=boxen, and there is no such field"},
        {{"labels=label,per=labels"}, "field labels: per=labels is the field itself"},
        {{"label=label,per=boxes"},
         "field label: per=boxes, and label has one value in a record, not several"},
        {{"text=text,per=boxes"}, "field text: per=boxes, and text has one value in a record, not several"},
        {{"labels=label,per=file"},
         "field labels: per=file, and file has one value in a record, not several"},
        {{"marks=plain,per=box", "box=boxes"},
         "field marks: per=box, and box has one value in a record, not several"},
        {{"labels=label,per=points", "points=keypoints,xyv,per=boxes"},
         "field labels: per=points, which is per=boxes itself (per=boxes)"},
        {{"depth=map,of=none"}, "field depth: of=none, and there is no such field"},
        {{"depth=map,of=depth"}, "field depth: of=depth is the field itself"},
        {{"depth=map,of=rows", "rows=mask"}, "field depth: of=rows, which is no image but mask"},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        apl_writer *w = writer_of_every(fx_path("db"));
        for (size_t k = 0; k < 3 && bad[i].kinds[k]; k++)
            OK(set_kind(w, bad[i].kinds[k], &fx_err));
        FAILS(APL_E_INVALID, apl_writer_begin_member(w, "all", "train", 0, &fx_err));
        SAYS(bad[i].message);
        for (size_t k = 0; k < 3 && bad[i].kinds[k]; k++) {
            char *name = strdup(bad[i].kinds[k]);
            *strchr(name, '=') = 0;
            OK(apl_writer_set_kind(w, name, &(apl_kind){.id = APL_KIND_NONE}, &fx_err));
            free(name);
        }
        OK(apl_writer_begin_member(w, "all", "train", 0, &fx_err));
        apl_writer_close(w);
    }
}

/* ------------------------------------------------------------------------------------------------ stored */

static const char *const said[] = {"image=image,chw",
                                   "file=image",
                                   "depth=map,linear,of=image",
                                   "boxes=boxes,xywh,of=file",
                                   "bits=mask,of=image,per=boxes",
                                   "labels=label,per=boxes",
                                   "points=keypoints,xyv,of=file,per=boxes,flip=1-2+3-4",
                                   "weight=plain"};

static apl_field said_fields[COUNT(every)]; /* with kinds */
static const struct fx_recipe said_recipe = {said_fields, COUNT(every), one_member, 1};

static void say_all(void)
{
    static apl_kind kinds[COUNT(said)];
    memcpy(said_fields, every, sizeof every);
    for (size_t i = 0; i < COUNT(said); i++) {
        char name[APL_MAX_NAME + 1];
        OK(apl_kind_parse(said[i], name, &kinds[i], &fx_err));
        for (size_t f = 0; f < COUNT(every); f++)
            if (strcmp(every[f].name, name) == 0)
                said_fields[f].kind = &kinds[i];
    }
}

static void make_said(const char *path, bool kinds)
{
    apl_writer *w = NULL;
    OK(apl_writer_open(path, NULL, &w, &fx_err));
    fx_add_fields(w, kinds ? &said_recipe : &recipe);
    fx_append_members(w, &said_recipe);
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
}

static void expect_said(const apl_store *s)
{
    char text[APL_KIND_BYTES];
    unsigned kinds = 0;
    for (unsigned i = 0; i < apl_store_info(s)->fields; i++)
        kinds += apl_store_field(s, i)->kind != NULL;
    cr_assert_eq(kinds, COUNT(said));
    for (size_t i = 0; i < COUNT(said); i++) {
        char *name = strdup(said[i]);
        *strchr(name, '=') = 0;
        const apl_field *f = apl_store_field(s, (unsigned)apl_store_find_field(s, name));
        cr_expect_str_eq(apl_kind_print(name, f->kind, text, sizeof text), said[i]);
        cr_expect_eq(f->kind->origin, APL_DECLARED);
        free(name);
    }
}

/* The content is the same: kinds say what it is. */
Test(kinds, are_stored_beside_the_content)
{
    say_all();
    make_said(fx_path("with"), true);
    make_said(fx_path("without"), false);
    apl_store *with = fx_open(fx_path("with")), *without = fx_open(fx_path("without"));
    expect_said(with);
    fx_check(with, &said_recipe);
    OK(apl_store_verify(with, NULL, &fx_err));
    const apl_info *a = apl_store_info(with), *b = apl_store_info(without);
    cr_assert(memcmp(a->content_digest, b->content_digest, 32) == 0);
    cr_assert(memcmp(a->digest, b->digest, 32) != 0, "a pinned store says what its fields are");
    cr_assert(a->format_minor == 6 && b->format_minor == 6);
    cr_assert_null(apl_store_field(without, 0)->kind);
    apl_store_close(with);
    apl_store_close(without);
}

/* ---------------------------------------------------------------------------------------------- damage */

#define HEAD 24u

/* A manifest of two fields, image and boxes, with a KIND entry of this payload. */
static apl_status decode_with(const void *payload, size_t size, unsigned minor, apl_kind *kind)
{
    static const int64_t image[] = {3, 4, 4}, boxes[] = {-1, 4};
    struct manifest m = {.info = {.block_records = 1}}, got;
    struct buffer b = {0};
    OK(schema_add(&m.schema, "image", 5, APL_U8, APL_INPUT, 3, image, &fx_err));
    OK(schema_add(&m.schema, "boxes", 5, APL_F32, APL_TARGET, 2, boxes, &fx_err));
    OK(manifest_finish(&m, &fx_err));
    OK(manifest_encode(&m, &b, &fx_err));
    manifest_free(&m);
    size_t at = entry_begin(&b, TAG_KIND, 0);
    buffer_put(&b, payload, size);
    entry_end(&b, at);
    store_le(b.data + 6, minor, 2);
    store_le(b.data + 8, b.size, 8);
    store_le(b.data + 16, hash_xxh3_64(b.data + HEAD, b.size - HEAD), 8);
    memset(&fx_err, 0, sizeof fx_err);
    apl_status status = manifest_decode(b.data, b.size, &got, &fx_err);
    if (status == APL_OK) {
        *kind = got.schema.fields[1].kind ? *got.schema.fields[1].kind : (apl_kind){0};
        manifest_free(&got);
    }
    buffer_free(&b);
    return status;
}

Test(kinds, entries_that_say_nonsense)
{
    static const struct {
        size_t size;
        char payload[40];
        const char *message;
    } bad[] = {
        {14, "\2\0\0\0\4\6\1\0\0\0\0\0\0\0", "what a field is"},
        {14, "\1\0\0\0\0\0\1\0\0\0\0\0\0\0", "what a field is"},
        {13, "\1\0\0\0\4\6\1\0\0\0\0\0\0", "what a field is"},
        {14, "\1\0\0\0\4\6\1\0\377\377\0\0\0\0", "what a field is"},
        {16, "\1\0\0\0\4\6\1\0\2\0a\0\0\0\0\0", "what a field is"},
        {14, "\1\0\0\0\15\0\1\0\0\0\0\0\0\0", "field boxes: 13 is no kind"},
        {14, "\1\0\0\0\4\5\1\0\0\0\0\0\0\0", "field boxes: 5 is no form of boxes"},
        {14, "\1\0\0\0\4\6\5\0\0\0\0\0\0\0", "field boxes: 5 is no origin"},
        {14, "\1\0\0\0\2\0\1\0\0\0\0\0\0\0", "field boxes is f32[*,4], and mask takes whole numbers"},
        {16, "\1\0\0\0\4\6\1\0\2\0\n\n\0\0\0\0", "field boxes: of is no name"},
        {16, "\1\0\0\0\4\6\1\0\2\0xx\0\0\0\0", "field boxes: of=xx, and there is no such field"},
        {16, "\1\0\0\0\4\6\1\0\0\0\0\0\2\0xx", "field boxes: xx is none of"},
    };
    apl_kind kind;
    for (size_t i = 0; i < COUNT(bad); i++) {
        FAILS(APL_E_CORRUPT, decode_with(bad[i].payload, bad[i].size, 6, &kind));
        SAYS("the manifest is damaged: ");
        SAYS(bad[i].message);
    }
    OK(decode_with("\1\0\0\0\4\7\3\0\0\0\0\0\0\0more", 18, 6, &kind));
    cr_assert(kind.id == APL_KIND_BOXES && kind.form == APL_FORM_XYWH && kind.origin == APL_GUESSED);
}

/* What a later version says, and this one does not know, cannot be moved. */
Test(kinds, of_later_versions_are_pinned)
{
    apl_kind kind;
    OK(decode_with("\1\0\0\0\15\0\1\0\0\0\0\0\0\0", 14, 7, &kind));
    cr_assert(kind.id == APL_KIND_PINNED && kind.origin == APL_BY_DEFAULT);
    OK(decode_with("\1\0\0\0\4\50\1\0\0\0\0\0\0\0", 14, 7, &kind));
    cr_assert_eq(kind.id, APL_KIND_PINNED);
    OK(decode_with("\1\0\0\0\4\7\1\0\0\0\0\0\0\0", 14, 7, &kind));
    cr_assert_eq(kind.id, APL_KIND_BOXES);
    FAILS(APL_E_CORRUPT, decode_with("\2\0\0\0\4\7\1\0\0\0\0\0\0\0", 14, 7, &kind));
}

/* ------------------------------------------------------------------------------------------------ sets */

static apl_status join_kinds(const char *const *kinds, unsigned shards)
{
    const char *paths[SHARDS];
    apl_set_options o = APL_SET_OPTIONS_INIT;
    o.replace = 1;
    for (unsigned i = 0; i < shards; i++) {
        apl_writer *w = NULL;
        apl_writer_options replace = APL_WRITER_OPTIONS_INIT;
        const struct fx_recipe r = {fx_fields, COUNT(fx_fields), members[i], COUNT(members[i])};
        replace.replace = 1;
        OK(apl_writer_open(shard_path(i), &replace, &w, &fx_err));
        fx_add_fields(w, &r);
        if (*kinds[i])
            OK(set_kind(w, kinds[i], &fx_err));
        fx_append_members(w, &r);
        OK(apl_writer_commit(w, &fx_err));
        apl_writer_close(w);
        paths[i] = shard_path(i);
    }
    return apl_set_join(fx_path("set"), paths, shards, &o, &fx_err);
}

Test(kinds, shards_agree_in_them)
{
    OK(join_kinds((const char *const[]){"track=keypoints", "track=keypoints,xy"}, 2));
    apl_store *s = open_set(0);
    cr_assert_eq(apl_store_field(s, 3)->kind->form, APL_FORM_XY);
    for (uint64_t id = 0; id < apl_store_info(s)->records; id++) {
        apl_batch *b = NULL;
        OK(apl_store_get(s, id, &b, &fx_err));
        apl_batch_release(b);
    }
    apl_store_close(s);
    FAILS(APL_E_MISMATCH, join_kinds((const char *const[]){"track=keypoints", "track=plain"}, 2));
    SAYS("s1: field track is plain, but keypoints,xy in ");
    SAYS("set-kind");
    FAILS(APL_E_MISMATCH, join_kinds((const char *const[]){"track=keypoints", ""}, 2));
    SAYS("s1: field track is of no kind, but keypoints,xy in ");
    FAILS(APL_E_MISMATCH, join_kinds((const char *const[]){"", "track=pinned"}, 2));
}

/* The one rule, as readers obey it: what moves with the pixels of its image, what stays, and what is refused, by kinds alone. */
#include "kind_rule.h"
#include "store_fixture.h"

#include <criterion/criterion.h>

#define RECORDS 12u
#define SIDE    8
#define LONGEST 4096 /* bytes of a value */

TestSuite(reader_kinds, .init = fx_set_up, .fini = fx_tear_down, .timeout = 60);

/* ------------------------------------------------------------------------------- a field beside an image */

/* What a flip does beside it: 0 (APL_OK) or the error of which `says` is a part. */
struct row {
    const char *type; /* for a message */
    apl_dtype dtype;
    apl_role role;
    unsigned ndim;
    int64_t shape[4];
    const char *kind; /* NULL: nobody says */
    apl_status status;
    const char *says;
};

#define UNSAID(words) NULL, APL_E_INVALID, "flip moves 'image', but what is 'field' (" words

static const struct row rows[] = {
    /* what found its way past names: points, outlines, boxes of doubles, maps, frames, a pose */
    {"kps", APL_F32, APL_TARGET, 2, {-1, 3}, UNSAID("f32[*,3])? Say field=keypoints,xyv if")},
    {"polys", APL_F32, APL_TARGET, 2, {-1, 8}, UNSAID("f32[*,8])? Say field=map if")},
    {"bbox", APL_F64, APL_TARGET, 1, {-1}, UNSAID("f64[*])? Say field=label,per=FIELD if")},
    {"heatmap", APL_F32, APL_TARGET, 3, {17, 4, 4}, UNSAID("f32[17,4,4])? Say field=map if")},
    {"clip", APL_U8, APL_INPUT, 4, {2, 3, 4, 4}, UNSAID("u8[2,3,4,4])? Say field=mask if")},
    {"pose", APL_F32, APL_TARGET, 2, {17, 2}, UNSAID("f32[17,2])? Say field=keypoints,xy if")},
    {"corners", APL_F32, APL_TARGET, 2, {4, 2}, UNSAID("f32[4,2])? Say field=keypoints,xy if")},
    {"K", APL_F32, APL_INPUT, 2, {3, 3}, UNSAID("f32[3,3])? Say field=keypoints,xyv if")},
    {"embedding", APL_F32, APL_INPUT, 1, {16}, UNSAID("f32[16])? Say field=label,per=FIELD if")},
    {"xyxy", APL_I64, APL_TARGET, 2, {-1, 4}, UNSAID("i64[*,4])? Say field=boxes,xyxy if")},
    {"flags", APL_BOOL, APL_TARGET, 1, {5}, UNSAID("bool[5])? Say")},
    {"mask", APL_U8, APL_TARGET, 2, {SIDE, SIDE}, UNSAID("u8[8,8])? Say field=mask if")},
    /* what stays without a word: single numbers, text, bytes */
    {"label", APL_I64, APL_TARGET, 0, {0}, NULL, APL_OK, NULL},
    {"yaw", APL_F32, APL_TARGET, 0, {0}, NULL, APL_OK, NULL},
    {"caption", APL_UTF8, APL_TARGET, 1, {-1}, NULL, APL_OK, NULL},
    {"bytes", APL_U8, APL_INPUT, 1, {-1}, NULL, APL_OK, NULL},
    /* and what is said to stay */
    {"embedding", APL_F32, APL_INPUT, 1, {16}, "field=plain", APL_OK, NULL},
    {"one-hot", APL_U8, APL_TARGET, 1, {10}, "field=label", APL_OK, NULL},
    {"tokens", APL_U16, APL_INPUT, 1, {-1}, "field=tokens", APL_OK, NULL},
    {"samples", APL_F32, APL_INPUT, 1, {-1}, "field=audio,rate=16000", APL_OK, NULL},
    {"right", APL_U8, APL_INPUT, 3, {3, SIDE, SIDE}, "field=image", APL_OK, NULL},
    {"another's", APL_U8, APL_TARGET, 2, {SIDE, SIDE}, "field=mask,of=other", APL_OK, NULL},
    /* KITTI's, quads, landmarks, instances */
    {"P2",
     APL_F32,
     APL_INPUT,
     2,
     {3, 4},
     "field=pinned",
     APL_E_INVALID,
     "flip cannot be used beside 'field': it is pinned to 'image'"},
    {"location", APL_F32, APL_TARGET, 2, {-1, 3}, "field=pinned", APL_E_INVALID, "it is pinned to 'image'"},
    {"yaw", APL_F32, APL_TARGET, 0, {0}, "field=pinned", APL_E_INVALID, "it is pinned to 'image'"},
    {"quads",
     APL_F32,
     APL_TARGET,
     3,
     {-1, 4, 2},
     "field=keypoints,xy",
     APL_E_UNSUPPORTED,
     "keypoints cannot be moved yet"},
    {"landmarks",
     APL_F32,
     APL_TARGET,
     2,
     {5, 2},
     "field=keypoints,flip=0-1+3-4",
     APL_E_UNSUPPORTED,
     "keypoints cannot be moved yet"},
    {"flow",
     APL_F32,
     APL_TARGET,
     3,
     {2, SIDE, SIDE},
     "field=vectors",
     APL_E_UNSUPPORTED,
     "vectors cannot be moved yet"},
    {"instances", APL_U8, APL_TARGET, 3, {-1, 4, 4}, "field=mask", APL_E_INVALID, "is of 4 x 4 pixels"},
    /* what moves, as far as it can */
    {"mask", APL_U8, APL_TARGET, 2, {SIDE, SIDE}, "field=mask,ignore=255", APL_OK, NULL},
    {"instances", APL_U8, APL_TARGET, 3, {-1, SIDE, SIDE}, "field=mask", APL_OK, NULL},
    {"depth", APL_F32, APL_TARGET, 2, {SIDE, SIDE}, "field=map", APL_OK, NULL},
    {"parts", APL_U8, APL_TARGET, 3, {5, SIDE, SIDE}, "field=mask", APL_OK, NULL},
    {"small",
     APL_F32,
     APL_TARGET,
     2,
     {4, 4},
     "field=map",
     APL_E_INVALID,
     "is of 4 x 4 pixels, and its image 'image' of 8 x 8"},
    {"boxes", APL_F32, APL_TARGET, 2, {-1, 4}, "field=boxes,xywh", APL_OK, NULL},
    {"two boxes", APL_F32, APL_TARGET, 2, {2, 4}, "field=boxes", APL_OK, NULL},
    {"boxes", APL_F64, APL_TARGET, 2, {-1, 4}, "field=boxes", APL_E_INVALID, "boxes that move are f32[*,4]"},
    {"a box", APL_F32, APL_TARGET, 1, {4}, "field=boxes", APL_E_INVALID, "boxes that move are f32[*,4]"},
};

static void make_store(const struct row *row)
{
    static const int64_t image[3] = {3, SIDE, SIDE};
    static const uint8_t bytes[LONGEST];
    int64_t shape[4];
    uint8_t pixels[3 * SIDE * SIDE];
    apl_writer *w = NULL;
    for (unsigned d = 0; d < 4; d++)
        shape[d] = row->shape[d] < 0 ? 2 : row->shape[d];
    OK(apl_writer_open(fx_path("db"), &(apl_writer_options){.size = sizeof(apl_writer_options), .replace = 1},
                       &w, &fx_err));
    OK(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 3, image, &fx_err));
    OK(apl_writer_add_field(w, "field", row->dtype, row->role, row->ndim, row->shape, &fx_err));
    OK(apl_writer_add_field(w, "other", APL_U8, APL_INPUT, 3, image, &fx_err));
    OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
    for (uint32_t id = 0; id < RECORDS; id++) {
        sample_fill(pixels, sizeof pixels, SAMPLE_RANDOM, 1, id);
        OK(apl_writer_append(w, (apl_value[]){{pixels, image}, {bytes, shape}, {pixels, image}}, &fx_err));
    }
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
}

static apl_status read_with(apl_store *s, const apl_transform *t, const char *const *fields, size_t n,
                            const char *const *kinds, size_t kind_count)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_reader *r;
    apl_batch *batch;
    o.threads = APL_NO_THREADS;
    o.transforms = t;
    o.transform_count = 1;
    o.fields = fields;
    o.field_count = n;
    o.kinds = kinds;
    o.kind_count = kind_count;
    memset(&fx_err, 0, sizeof fx_err);
    apl_status status = apl_reader_open(s, &o, &r, &fx_err);
    if (status != APL_OK)
        return status;
    status = apl_reader_next(r, &batch, &fx_err);
    if (status == APL_OK)
        apl_batch_release(batch);
    apl_reader_close(r);
    return status;
}

Test(reader_kinds, every_field_beside_a_flip_and_beside_colours)
{
    static const char *const fields[] = {"image", "field"};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct row *row = &rows[i];
        apl_transform t = APL_TRANSFORM_INIT;
        t.field = "image";
        t.flip = APL_FLIP_RANDOM;
        make_store(row);
        apl_store *s = fx_open(fx_path("db"));
        apl_status status = read_with(s, &t, fields, 2, &row->kind, row->kind != NULL);
        cr_expect_eq(status, row->status, "%s: %d %s", row->type, (int)status, fx_err.message);
        cr_expect(!row->says || strstr(fx_err.message, row->says), "%s: %s", row->type, fx_err.message);
        t.flip = APL_FLIP_NONE; /* colours move nothing */
        t.brightness[0] = t.brightness[1] = 1.5;
        status = read_with(s, &t, fields, 2, &row->kind, row->kind != NULL);
        cr_expect_eq(status, APL_OK, "%s, colours: %s", row->type, fx_err.message);
        apl_store_close(s);
    }
}

/* Whatever moves pixels is refused beside a pinned field, in the word of its option; nothing else is. */
Test(reader_kinds, every_option_that_moves_pixels)
{
    static const struct row pinned = {"P2", APL_F32, APL_INPUT, 2, {3, 4}, "field=pinned", APL_OK, NULL};
    static const char *const fields[] = {"image", "field"};
    apl_transform moving[8];
    static const char *const words[COUNT(moving)] = {"resize", "resize", "pad",         "crop",
                                                     "flip",   "affine", "perspective", "elastic"};
    for (size_t i = 0; i < COUNT(moving); i++)
        moving[i] = (apl_transform)APL_TRANSFORM_INIT;
    moving[0].sizing = APL_SIZING_RANDOM;
    moving[0].crop_height = moving[0].crop_width = 4;
    moving[1].sizing = APL_SIZING_RESIZE;
    moving[1].resize_height = moving[1].resize_width = 4;
    moving[2].pads[1] = 1;
    moving[3].crop_height = SIDE - 1;
    moving[4].vertical_flip_p = 0.5;
    moving[5].affine_degrees[0] = moving[5].affine_degrees[1] = 5;
    moving[6].perspective_distortion = 0.5;
    moving[7].elastic_alpha[0] = 5;
    make_store(&pinned);
    apl_store *s = fx_open(fx_path("db"));
    for (size_t i = 0; i < COUNT(moving); i++) {
        moving[i].field = "image";
        cr_expect_eq(read_with(s, &moving[i], fields, 2, &pinned.kind, 1), APL_E_INVALID, "%s", words[i]);
        cr_expect(strncmp(fx_err.message, words[i], strlen(words[i])) == 0 &&
                      strstr(fx_err.message, " cannot be used beside 'field'"),
                  "%s: %s", words[i], fx_err.message);
    }
    apl_transform policy = APL_TRANSFORM_INIT, still = APL_TRANSFORM_INIT;
    policy.field = still.field = "image";
    policy.policy = APL_POLICY_TRIVIAL_WIDE;
    cr_expect_eq(read_with(s, &policy, fields, 2, &pinned.kind, 1), APL_E_INVALID);
    still.scale = APL_SCALE_NORMALISE;
    still.dtype = APL_F32;
    still.cutout = 2;
    still.erase_p = 1;
    still.blur_size[0] = still.blur_size[1] = 3;
    still.hue[1] = 0.1;
    cr_expect_eq(read_with(s, &still, fields, 2, &pinned.kind, 1), APL_OK, "%s", fx_err.message);
    apl_store_close(s);
}

/* Of several images, what lies in one says in which; where one is meant without a name, there must be one. */
Test(reader_kinds, one_of_several_images)
{
    static const struct row mask = {"mask", APL_U8, APL_TARGET, 2, {SIDE, SIDE}, NULL, APL_OK, NULL};
    static const char *const unclear[] = {"field=mask", "other=image", "image=image"},
                             *const own[] = {"field=mask,of=image", "other=image"},
                             *const others[] = {"field=mask,of=other", "other=image"},
                             *const said[] = {"field=mask", "other=plain", "image=image"};
    apl_transform t = APL_TRANSFORM_INIT;
    t.flip = APL_FLIP_RANDOM;
    make_store(&mask);
    apl_store *s = fx_open(fx_path("db"));
    cr_expect_eq(read_with(s, &t, NULL, 0, NULL, 0), APL_E_INVALID);
    SAYS("a transform must name its field, since 2 fields are images");
    t.field = "image";
    cr_expect_eq(read_with(s, &t, NULL, 0, NULL, 0), APL_E_INVALID);
    SAYS("but what is 'field'");
    cr_expect_eq(read_with(s, &t, NULL, 0, unclear, 2), APL_E_INVALID);
    SAYS("of which image is 'field'? Add of=image");
    cr_expect_eq(read_with(s, &t, NULL, 0, own, 2), APL_OK, "%s", fx_err.message);
    cr_expect_eq(read_with(s, &t, NULL, 0, others, 2), APL_OK, "%s", fx_err.message);
    t.field = NULL;
    cr_expect_eq(read_with(s, &t, NULL, 0, unclear, 3), APL_E_INVALID);
    cr_expect_eq(read_with(s, &t, NULL, 0, said, 3), APL_OK, "%s", fx_err.message);
    t.field = "field";
    cr_expect_eq(read_with(s, &t, NULL, 0, said, 3), APL_E_INVALID);
    SAYS("field field is of kind mask, not an image");
    apl_store_close(s);
}

Test(reader_kinds, kinds_of_the_future_are_refused)
{
    cr_assert_eq(kind_rule((apl_kind_id)13, false), KIND_REFUSED);
    cr_assert_eq(kind_rule((apl_kind_id)-1, false), KIND_REFUSED);
    cr_assert_eq(kind_rule(APL_KIND_NONE, false), KIND_STAYS);
    cr_assert_eq(kind_rule(APL_KIND_NONE, true), KIND_REFUSED);
    cr_assert_eq(apl_field_action(NULL, NULL), APL_REFUSED);
}

/* ---------------------------------------------------------------------------------------------- states */

/* A state after one batch of a reader of these fields and kinds. */
static void save_state(apl_store *s, const char *const *fields, size_t n, const char *kind, uint8_t *state)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_reader *r;
    apl_batch *batch;
    size_t size = APL_STATE_BYTES;
    o.batch_size = 4;
    o.fields = fields;
    o.field_count = n;
    o.kinds = &kind;
    o.kind_count = kind != NULL;
    OK(apl_reader_open(s, &o, &r, &fx_err));
    OK(apl_reader_next(r, &batch, &fx_err));
    apl_batch_release(batch);
    OK(apl_reader_state(r, state, &size, &fx_err));
    apl_reader_close(r);
}

static apl_status resume(apl_store *s, const char *const *fields, size_t n, const char *kind,
                         const uint8_t *state)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_reader *r;
    o.batch_size = 4;
    o.fields = fields;
    o.field_count = n;
    o.kinds = &kind;
    o.kind_count = kind != NULL;
    o.state = state;
    o.state_size = APL_STATE_BYTES;
    apl_status status = apl_reader_open(s, &o, &r, &fx_err);
    if (status == APL_OK)
        apl_reader_close(r);
    return status;
}

Test(reader_kinds, states_of_another_kind_are_refused)
{
    static const struct row boxes = {"boxes", APL_F32, APL_TARGET, 2, {-1, 4}, NULL, APL_OK, NULL};
    static const char *const fields[] = {"image", "field"};
    uint8_t xyxy[APL_STATE_BYTES], unsaid[APL_STATE_BYTES], without[APL_STATE_BYTES];
    make_store(&boxes);
    apl_store *s = fx_open(fx_path("db"));
    save_state(s, NULL, 0, "field=boxes,xyxy", xyxy);
    save_state(s, NULL, 0, NULL, unsaid);
    save_state(s, fields, 1, "image=image", without);
    OK(resume(s, NULL, 0, "field=boxes", xyxy)); /* the same, said otherwise */
    OK(resume(s, fields, 2, "field=boxes,xyxy", xyxy));
    OK(resume(s, NULL, 0, "field=boxes,xywh", unsaid));
    OK(resume(s, NULL, 0, "image=image", without)); /* fields that were not read make no difference */
    OK(resume(s, fields + 1, 1, "field=boxes,xywh", unsaid));
    FAILS(APL_E_MISMATCH, resume(s, NULL, 0, "field=boxes,xywh", xyxy));
    SAYS("a field had another kind than here: field=boxes,xywh");
    FAILS(APL_E_MISMATCH, resume(s, NULL, 0, NULL, xyxy));
    SAYS("of none is any kind known");
    FAILS(APL_E_MISMATCH, resume(s, NULL, 0, "image=plain", without));
    apl_store_close(s);
}

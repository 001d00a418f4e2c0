/* What becomes of all fields when images move, for callers that move some themselves: apl_reader_actions(). */
#include "store_fixture.h"

#include <criterion/criterion.h>

#define SIDE 8

TestSuite(actions, .init = fx_set_up, .fini = fx_tear_down, .timeout = 60);

enum { LEFT, RIGHT, MASK, NUMBERS, BOXES, LABELS, FIELDS };

static apl_store *make_store(void)
{
    static const int64_t photo[3] = {3, SIDE, SIDE}, mask[2] = {SIDE, SIDE}, boxes[2] = {2, 4};
    static const char *const names[FIELDS] = {"left", "right", "mask", "numbers", "boxes", "labels"};
    static const struct {
        apl_dtype dtype;
        unsigned ndim;
        const int64_t *shape;
        size_t bytes;
    } types[FIELDS] = {{APL_U8, 3, photo, 3 * SIDE * SIDE},
                       {APL_U8, 3, photo, 3 * SIDE * SIDE},
                       {APL_U8, 2, mask, SIDE * SIDE},
                       {APL_F32, 2, boxes, 32},
                       {APL_F32, 2, boxes, 32},
                       {APL_U8, 1, boxes, 2}};
    static const uint8_t zeros[3 * SIDE * SIDE];
    apl_value values[FIELDS];
    apl_writer *w;
    cr_assert_eq(apl_writer_open(fx_path("db"), NULL, &w, NULL), APL_OK);
    for (unsigned f = 0; f < FIELDS; f++) {
        cr_assert_eq(
            apl_writer_add_field(w, names[f], types[f].dtype, APL_INPUT, types[f].ndim, types[f].shape, NULL),
            APL_OK);
        values[f] = (apl_value){zeros, NULL};
    }
    cr_assert_eq(apl_writer_begin_member(w, "all", "train", 0, NULL), APL_OK);
    cr_assert_eq(apl_writer_append(w, values, NULL), APL_OK);
    cr_assert_eq(apl_writer_commit(w, NULL), APL_OK);
    apl_writer_close(w);
    return fx_open(fx_path("db"));
}

/* Asks of images that are named (NULL: of all), and compares: a letter for each field, of "smr". */
static void expect(apl_store *s, const char *const *said, size_t count, const char *image,
                   const char *actions)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_transform t = APL_TRANSFORM_INIT;
    static apl_kind kinds[FIELDS];
    apl_action got[FIELDS];
    t.field = image;
    o.kinds = said;
    o.kind_count = count;
    o.transforms = image ? &t : NULL;
    o.transform_count = image != NULL;
    cr_assert_eq(apl_reader_actions(s, &o, kinds, got, &fx_err), APL_OK, "%s", fx_err.message);
    for (unsigned f = 0; f < FIELDS; f++)
        cr_expect_eq("smr"[got[f]], actions[f], "%s beside %s: %u is %d", count ? said[0] : "",
                     image ? image : "all", f, (int)got[f]);
    cr_expect_eq(kinds[LEFT].id == APL_KIND_IMAGE, actions[LEFT] == 'm');
}

Test(actions, of_all_fields)
{
    apl_store *s = make_store();
    static const char *const one[] = {"left=image"},
                             *const two[] = {"left=image", "right=image", "numbers=plain"},
                             *const of[] = {"mask=mask,of=right", "right=image", "labels=label,per=boxes",
                                            "boxes=boxes,of=right"},
                             *const chain[] = {"inst=mask"};
    expect(s, NULL, 0, NULL, "rrrrrr"); /* neither of two is the image by default */
    expect(s, NULL, 0, "left", "mrrrrr");
    expect(s, one, 1, NULL, "mrrrrr");
    expect(s, two, 3, NULL, "mmrsrr");
    expect(s, two, 3, "left", "mmrsrr"); /* an image of its own moves by itself */
    expect(s, of, 4, "left", "mmsrss");
    expect(s, of, 4, "right", "rmmrms");
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    static apl_kind kinds[FIELDS];
    apl_action got[FIELDS];
    o.kinds = chain;
    o.kind_count = 1;
    cr_assert_eq(apl_reader_actions(s, &o, kinds, got, NULL), APL_E_NOTFOUND);
    cr_assert_eq(apl_reader_actions(NULL, &o, kinds, got, NULL), APL_E_INVALID);
    cr_assert_eq(apl_reader_actions(s, NULL, NULL, got, NULL), APL_E_INVALID);
    apl_store_close(s);
}

/* Fields that are not read stay, and do not hide which is the image. */
Test(actions, of_the_fields_that_are_read)
{
    apl_store *s = make_store();
    static const char *const read[] = {"right", "mask"}, *const none[] = {"nobody"};
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    static apl_kind kinds[FIELDS];
    apl_action got[FIELDS];
    o.fields = read;
    o.field_count = 2;
    cr_assert_eq(apl_reader_actions(s, &o, kinds, got, &fx_err), APL_OK);
    cr_assert_eq(kinds[RIGHT].id, APL_KIND_IMAGE);
    cr_assert_eq(kinds[RIGHT].origin, APL_BY_DEFAULT);
    cr_assert_eq(got[LEFT], APL_STAYS);
    cr_assert_eq(got[RIGHT], APL_MOVES);
    cr_assert_eq(got[MASK], APL_REFUSED);
    o.fields = none;
    o.field_count = 1;
    cr_assert_eq(apl_reader_actions(s, &o, kinds, got, NULL), APL_E_NOTFOUND);
    apl_store_close(s);
}

/* What fields are, as sources and callers say. */
#include "list_fixture.h"

TestSuite(said_kinds, .init = list_set_up, .fini = fx_tear_down, .timeout = 60);

static void said_of(const apl_store *s, const char *field, const char *kind, apl_origin origin)
{
    char text[APL_KIND_BYTES];
    const apl_field *f = field_of(s, field);
    cr_assert(f->kind || !kind, "%s has no kind", field);
    cr_assert(!f->kind || kind, "%s has a kind", field);
    if (!kind)
        return;
    cr_assert_str_eq(apl_kind_print(NULL, f->kind, text, sizeof text), kind, "%s: %s", field, text);
    cr_assert_eq(f->kind->origin, origin, "%s: %d", field, (int)f->kind->origin);
}

static void say(const char *const *kinds, size_t count)
{
    ix_options.kinds = kinds;
    ix_options.kind_count = count;
}

static const char table[] = "{\"image\": \"a.jpg\", \"text\": \"x\", \"boxes\": [[1, 1, 2, 3]], \"ids\": "
                            "[7], \"n\": 1, \"label\": 3, \"f\": 0.5}\n"
                            "{\"image\": \"b.jpg\", \"text\": \"y\", \"boxes\": [[4, 5, 6, 6]], \"ids\": "
                            "[8], \"n\": 2, \"label\": 4, \"f\": 1.5}\n";

Test(said_kinds, of_a_table_of_which_nobody_says_anything)
{
    put_text("in/t.jsonl", table);
    apl_store *s = IX_STORE("in/t.jsonl");
    said_of(s, "image", "image", APL_FROM_SOURCE);
    said_of(s, "text", "text", APL_FROM_SOURCE);
    said_of(s, "path", "text", APL_FROM_SOURCE);
    said_of(s, "image_shape", "plain", APL_FROM_SOURCE);
    said_of(s, "label", "label", APL_GUESSED);
    said_of(s, "n", "plain", APL_BY_DEFAULT);
    said_of(s, "f", "plain", APL_BY_DEFAULT);
    said_of(s, "boxes", NULL, 0);
    said_of(s, "ids", NULL, 0);
    cr_assert_eq(field_of(s, "boxes")->shape[0], 1);
    cr_assert(strstr(ix_said,
                     "2 fields of single numbers are plain, by default, and stay when images move: n, f ("),
              "%s", ix_said);
    apl_store_close(s);
}

Test(said_kinds, that_the_caller_says)
{
    static const char *const kinds[] = {"boxes=boxes", "ids=label,per=boxes", "n=pinned", "label=plain"};
    put_text("in/t.jsonl", table);
    say(kinds, 4);
    ix_options.label_column = "n";
    apl_store *s = IX_STORE("in/t.jsonl");
    said_of(s, "boxes", "boxes,xyxy", APL_DECLARED);
    said_of(s, "ids", "label,per=boxes", APL_DECLARED);
    said_of(s, "n", "pinned", APL_DECLARED);
    said_of(s, "label", "plain", APL_DECLARED);
    cr_assert(field_of(s, "boxes")->dtype == APL_F32 && field_of(s, "boxes")->shape[0] == -1);
    cr_assert(field_of(s, "ids")->dtype == APL_I64 && field_of(s, "ids")->shape[0] == -1);
    apl_store_close(s);
}

/* Whoever names the column of labels has said what it is. */
Test(said_kinds, that_other_options_say)
{
    put_text("in/t.jsonl", table);
    ix_options.label_column = "n";
    apl_store *s = IX_STORE("in/t.jsonl");
    said_of(s, "n", "label", APL_DECLARED);
    apl_store_close(s);
}

Test(said_kinds, that_cannot_be)
{
    put_text("in/t.jsonl", table);
    say((const char *const[]){"boxes=boxes,xyhw"}, 1);
    IX_REFUSED(APL_E_INVALID, "did you mean xywh?", "in/t.jsonl");
    say((const char *const[]){"bexes=boxes"}, 1);
    IX_REFUSED(APL_E_INVALID, "there is no field bexes, for --field; there are image, text", "in/t.jsonl");
    say((const char *const[]){"n=plain", "n=pinned"}, 2);
    IX_REFUSED(APL_E_INVALID, "says twice what n is", "in/t.jsonl");
    say((const char *const[]){"n=boxes"}, 1);
    IX_REFUSED(APL_E_INVALID, "boxes takes numbers", "in/t.jsonl");
    say(NULL, 1);
    IX_REFUSED(APL_E_INVALID, "kinds is NULL, but kind_count is 1", "in/t.jsonl");
}

Test(said_kinds, values_that_contradict_them)
{
    static const char *const kinds[] = {"boxes=boxes,xyxy", "ids=label,per=boxes"};
    put_text("in/t.jsonl",
             "{\"image\": \"a.jpg\", \"boxes\": [[1, 1, 2, 3]], \"ids\": [7]}\n"
             "{\"image\": \"b.jpg\", \"boxes\": [[9, 5, 6, 6]], \"ids\": [7]}\n"
             "{\"image\": \"b.jpg\", \"boxes\": [[1, 1, 2, 3]], \"ids\": [7, 8]}\n"
             "{\"image\": \"b.jpg\", \"boxes\": [[1, 1, 99, 3], [1, 1, 1, 3]], \"ids\": [7, 8]}\n");
    say(kinds, 2);
    IX_REFUSED(APL_E_SOURCE, "t.jsonl: row 2: boxes: [9, 5, 6, 6] has right < left in form xyxy",
               "in/t.jsonl");
    ix_options.skip_bad = 2;
    apl_store *s = IX_STORE("in/t.jsonl");
    cr_assert_eq(apl_store_info(s)->records, 2);
    cr_assert_eq(apl_store_info(s)->skipped, 2);
    cr_assert(strstr(ix_said, "skipped t.jsonl: row 3: ids: 2 elements per 'boxes', which has 1"), "%s",
              ix_said);
    cr_assert(strstr(ix_said,
                     "boxes: of 3 boxes, beyond their image, at least in part: 1, without an area: 1 (kept"),
              "%s", ix_said);
    apl_store_close(s);
}

/* Sizes of 24 x 16 and 17 x 33 pixels become 12 x 8. */
Test(said_kinds, boxes_follow_images_that_are_resized)
{
    put_text("in/t.jsonl", table);
    ix_options.resize_width = 12;
    ix_options.resize_height = 8;
    IX_REFUSED(APL_E_INVALID, "--resize moves images, but what is 'boxes'?", "in/t.jsonl");
    say((const char *const[]){"boxes=boxes,xywh", "ids=plain", "n=pinned"}, 3);
    IX_REFUSED(APL_E_INVALID, "--resize cannot be used beside 'n' (pinned)", "in/t.jsonl");
    say((const char *const[]){"boxes=boxes,xywh", "ids=plain"}, 2);
    ix_options.column_types = (const char *const[]){"boxes=i64[-1,4]"};
    ix_options.column_type_count = 1;
    IX_REFUSED(APL_E_INVALID, "--resize cannot be used beside 'boxes' (boxes)", "in/t.jsonl");
    ix_options.column_type_count = 0;
    apl_store *s = IX_STORE("in/t.jsonl");
    apl_batch *all = fx_get_all(s);
    const float *boxes = apl_batch_column(all, (unsigned)apl_store_find_field(s, "boxes"))->data;
    const float wanted[8] = {0.5f,           0.5f,         1, 1.5f, 4 * 12.0f / 17, 5 * 8.0f / 33,
                             6 * 12.0f / 17, 6 * 8.0f / 33};
    for (unsigned i = 0; i < 8; i++)
        cr_assert_float_eq(boxes[i], wanted[i], 1e-5, "%u: %g", i, (double)boxes[i]);
    apl_batch_release(all);
    apl_store_close(s);
}

/* Names of boxes go with them, and so each box has its own. */
Test(said_kinds, lists_of_texts)
{
    static const char *const kinds[] = {"boxes=boxes", "names=label,per=boxes"};
    put_text("in/t.jsonl", "{\"boxes\": [[1, 1, 2, 3], [1, 1, 2, 3]], \"names\": [\"cat\", \"\u00e9\"]}\n"
                           "{\"boxes\": [], \"names\": []}\n"
                           "{\"boxes\": [[1, 1, 2, 3]], \"names\": [\"\"]}\n"
                           "{\"boxes\": [], \"names\": null}\n"
                           "{\"boxes\": [[1, 1, 2, 3]], \"names\": [\"a\", \"b\"]}\n"
                           "{\"boxes\": [[1, 1, 2, 3]], \"names\": [7]}\n"
                           "{\"boxes\": [[1, 1, 2, 3]], \"names\": \"cat\"}\n");
    say(kinds, 2);
    IX_REFUSED(APL_E_SOURCE, "names: 2 elements per 'boxes', which has 1", "in/t.jsonl");
    ix_options.skip_bad = 3;
    apl_store *s = IX_STORE("in/t.jsonl");
    said_of(s, "names", "label,per=boxes", APL_DECLARED);
    cr_assert(strstr(ix_said, "row 6, column names: is not a list of texts"), "%s", ix_said);
    cr_assert(strstr(ix_said, "row 7, column names: is not a list of texts"), "%s", ix_said);
    apl_batch *all = fx_get_all(s);
    const apl_column *c = apl_batch_column(all, (unsigned)apl_store_find_field(s, "names"));
    static const int64_t shapes[8] = {2, 3, 0, 0, 1, 0, 0, 0};
    cr_assert(memcmp(c->shapes, shapes, sizeof shapes) == 0);
    cr_assert(memcmp(c->data, "cat\xc3\xa9\0", 6) == 0);
    apl_batch_release(all);
    apl_store_close(s);
}

/* Of two images, boxes lie in the one that they name. */
Test(said_kinds, boxes_follow_their_own_image)
{
    put_text(
        "in/t.jsonl",
        "{\"left\": \"a.jpg\", \"right\": \"deep/c.jpg\", \"l\": [[3, 2, 6, 4]], \"r\": [[2, 2, 4, 4]]}\n");
    ix_options.image_column = "left";
    ix_options.more_image_columns = (const char *const[]){"right"};
    ix_options.more_image_column_count = 1;
    ix_options.resize_width = 12;
    ix_options.resize_height = 8;
    say((const char *const[]){"l=boxes,of=image", "r=boxes,of=right"}, 2);
    apl_store *s = IX_STORE("in/t.jsonl");
    apl_batch *all = fx_get_all(s);
    static const float left[4] = {1.5f, 1, 3, 2}, right[4] = {3, 2, 6, 4};
    const apl_column *l = apl_batch_column(all, (unsigned)apl_store_find_field(s, "l"));
    const apl_column *r = apl_batch_column(all, (unsigned)apl_store_find_field(s, "r"));
    cr_assert(memcmp(l->data, left, sizeof left) == 0 && memcmp(r->data, right, sizeof right) == 0);
    apl_batch_release(all);
    apl_store_close(s);
}

/* A mask alone is no image that they could lie in. */
Test(said_kinds, boxes_beside_a_mask_alone_do_not_follow_it)
{
    static const char mask[] = "P5 2 2 255\n0123";
    ix_put("in/m.pgm", mask, sizeof mask - 1);
    put_text("in/t.jsonl", "{\"seg\": \"m.pgm\", \"b\": [[1, 1, 2, 2]]}\n");
    ix_options.max_side = 1;
    say((const char *const[]){"b=boxes", "seg=mask"}, 2);
    IX_REFUSED(APL_E_INVALID, "--max-side cannot be used beside 'b' (boxes)", "in/t.jsonl");
}

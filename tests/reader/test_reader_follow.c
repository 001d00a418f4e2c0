/* Masks and boxes of a batch follow its images: where a pixel comes to lie, its mask does, and the box around it. */
#include "boxes.h"
#include "nearest.h"
#include "store_fixture.h"

#include <criterion/criterion.h>
#include <math.h>

#define RECORDS 40u
#define PLANE   24u /* the longest side */
#define SEED    5u
#define OUT     12u

enum { IMAGE, MASK, BOXES, LABELS, NAMES };

TestSuite(reader_follow, .init = fx_set_up, .fini = fx_tear_down, .timeout = 60);

static uint32_t width_of(uint64_t id)
{
    return 14 + (uint32_t)(id % 9);
}

static uint32_t height_of(uint64_t id)
{
    return 13 + (uint32_t)(id % 11);
}

/* Never 0, and of each pixel of a row and a column another. */
static uint8_t pixel_of(uint64_t id, uint32_t x, uint32_t y)
{
    return (uint8_t)(1 + (x + 31 * y + 7 * id) % 251);
}

#define NAME 3 /* bytes of the longest */

/* The labels as texts of one list, which is as wide as the longest; returns how wide that is. */
static size_t name_labels(const int64_t *labels, uint32_t count, char *names)
{
    size_t width = 0;
    for (uint32_t i = 0; i < count; i++)
        width = labels[i] > 99 ? 3 : labels[i] > 9 && width < 2 ? 2 : width > 1 ? width : 1;
    for (uint32_t i = 0; i < count; i++) {
        char text[24] = "";
        snprintf(text, sizeof text, "%lld", (long long)labels[i]);
        memcpy(names + i * width, text, width);
    }
    return width;
}

static void append(apl_writer *w, uint64_t id, bool any, size_t labels)
{
    uint32_t width = any ? width_of(id) : PLANE, height = any ? height_of(id) : PLANE,
             boxes = (uint32_t)(id % 4);
    uint8_t image[3 * PLANE * PLANE], mask[PLANE * PLANE];
    float box[4 * BOX_NUMBERS];
    int64_t label[4];
    char names[4 * NAME + 1];
    for (uint32_t i = 0; i < width * height; i++) {
        mask[i] = pixel_of(id, i % width, i / width);
        for (uint32_t c = 0; c < 3; c++)
            image[c * width * height + i] = mask[i];
    }
    for (uint32_t i = 0; i < boxes; i++) { /* each around a pixel */
        uint32_t x = (5 * i + (uint32_t)id) % width, y = (7 * i + 3) % height;
        const float one[BOX_NUMBERS] = {(float)x, (float)y, (float)x + 1, (float)y + 1};
        memcpy(box + i * BOX_NUMBERS, one, sizeof one);
        label[i] = pixel_of(id, x, y);
    }
    const size_t width_of_names = name_labels(label, boxes, names);
    const int64_t shape[3] = {3, height, width}, mask_shape[2] = {height, width},
                  box_shape[2] = {boxes, BOX_NUMBERS},
                  label_shape[1] = {labels ? (int64_t)labels : (int64_t)boxes},
                  name_shape[2] = {boxes, (int64_t)width_of_names};
    OK(apl_writer_append(
        w,
        (apl_value[]){
            {image, shape}, {mask, mask_shape}, {box, box_shape}, {label, label_shape}, {names, name_shape}},
        &fx_err));
}

/* Of images of any size, or of PLANE x PLANE. `labels` of each record: 0: as many as boxes. */
static apl_store *make_store(bool any, size_t labels)
{
    const int64_t side = any ? -1 : (int64_t)PLANE, image[3] = {3, side, side}, mask[2] = {side, side},
                  boxes[2] = {-1, BOX_NUMBERS}, one[1] = {-1}, names[2] = {-1, -1};
    apl_writer *w = NULL;
    OK(apl_writer_open(fx_path("db"), NULL, &w, &fx_err));
    OK(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 3, image, &fx_err));
    OK(apl_writer_add_field(w, "mask", APL_U8, APL_TARGET, 2, mask, &fx_err));
    OK(apl_writer_add_field(w, "boxes", APL_F32, APL_TARGET, 2, boxes, &fx_err));
    OK(apl_writer_add_field(w, "labels", APL_I64, APL_TARGET, 1, one, &fx_err));
    OK(apl_writer_add_field(w, "names", APL_UTF8, APL_TARGET, 2, names, &fx_err));
    OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
    for (uint64_t id = 0; id < RECORDS; id++)
        append(w, id, any, labels);
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
    return fx_open(fx_path("db"));
}

static const char *const all_kinds[] = {"mask=mask", "boxes=boxes,xyxy", "labels=label,per=boxes",
                                        "names=label,per=boxes", NULL},
                         *const mask_alone[] = {"mask=mask", "boxes=plain", "labels=plain", "names=text",
                                                NULL};

static apl_transform following(void)
{
    apl_transform t = APL_TRANSFORM_INIT;
    t.field = "image";
    t.crop_height = t.crop_width = OUT;
    t.flip = APL_FLIP_RANDOM;
    t.vertical_flip_p = 0.5;
    return t;
}

/* `kinds` end with NULL. */
static apl_reader_options asking(const apl_transform *t, const char *const *kinds)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    o.transforms = t;
    o.transform_count = 1;
    o.kinds = kinds;
    while (kinds && kinds[o.kind_count])
        o.kind_count++;
    return o;
}

static apl_reader *open_reader(apl_store *s, const apl_transform *t, const char *const *kinds,
                               const apl_collation *c, unsigned threads)
{
    apl_reader_options o = asking(t, kinds);
    apl_reader *r;
    o.batch_size = 7;
    o.seed = SEED;
    o.threads = threads;
    o.collations = c;
    o.collation_count = c != NULL;
    OK(apl_reader_open(s, &o, &r, &fx_err));
    return r;
}

/* Text i of row k, of n, is that label. */
static void check_name(const apl_column *names, size_t k, int64_t n, int64_t i, int64_t label)
{
    char is[NAME + 1] = "", wanted[24];
    size_t width = (size_t)names->shapes[2 * k + 1];
    cr_assert(names->shapes[2 * k] == n && width <= NAME);
    cr_assert_eq(names->offsets[k + 1] - names->offsets[k], (uint64_t)n * width);
    memcpy(is, (const char *)names->data + names->offsets[k] + (size_t)i * width, width);
    snprintf(wanted, sizeof wanted, "%lld", (long long)label);
    cr_assert_str_eq(is, wanted);
}

/* Boxes of row k lie around pixels of their labels; those that are left out lie outside. */
static unsigned check_boxes(const apl_batch *b, size_t k)
{
    const apl_column *boxes = apl_batch_column(b, BOXES), *labels = apl_batch_column(b, LABELS);
    const uint8_t *image = (const uint8_t *)apl_batch_column(b, IMAGE)->data + k * 3 * OUT * OUT;
    const float *box = (const float *)boxes->data + boxes->offsets[k];
    const int64_t *label = (const int64_t *)labels->data + labels->offsets[k];
    int64_t n = boxes->shapes[2 * k];
    unsigned inside = 0;
    cr_assert(boxes->shapes[2 * k + 1] == BOX_NUMBERS && labels->shapes[k] == n);
    cr_assert_eq(boxes->offsets[k + 1] - boxes->offsets[k], (uint64_t)n * BOX_NUMBERS);
    for (int64_t i = 0; i < n; i++, box += BOX_NUMBERS) {
        check_name(apl_batch_column(b, NAMES), k, n, i, label[i]);
        cr_assert(box[0] >= 0 && box[1] >= 0 && box[2] <= OUT && box[3] <= OUT);
        if (box[2] - box[0] < 1 || box[3] - box[1] < 1)
            continue;
        cr_assert(box[2] - box[0] == 1 && box[3] - box[1] == 1);
        cr_assert_eq(image[(size_t)box[1] * OUT + (size_t)box[0]], label[i]);
        inside++;
    }
    return inside;
}

static void check_all(apl_store *s, const apl_transform *t, unsigned threads, unsigned *kept,
                      unsigned *inside)
{
    apl_reader *r = open_reader(s, t, all_kinds, NULL, threads);
    apl_batch *b;
    *kept = *inside = 0;
    apl_status status;
    while ((status = apl_reader_next(r, &b, &fx_err)) == APL_OK) {
        const apl_column *mask = apl_batch_column(b, MASK);
        cr_assert(mask->ndim == 2 && mask->shape[0] == OUT && mask->shape[1] == OUT && !mask->offsets);
        for (size_t k = 0; k < apl_batch_rows(b); k++) {
            cr_assert(memcmp((const uint8_t *)mask->data + k * OUT * OUT,
                             (const uint8_t *)apl_batch_column(b, IMAGE)->data + k * 3 * OUT * OUT,
                             (size_t)OUT * OUT) == 0);
            *inside += check_boxes(b, k);
        }
        *kept += (unsigned)apl_batch_column(b, BOXES)->offsets[apl_batch_rows(b)] / BOX_NUMBERS;
        apl_batch_release(b);
    }
    cr_assert_eq(status, APL_END, "%s", fx_err.message);
    apl_reader_close(r);
}

/* All are like their images; counts their elements. */
static void check_masks(apl_store *s, const apl_transform *t, unsigned found[256])
{
    apl_reader *r = open_reader(s, t, mask_alone, NULL, 2);
    apl_batch *b;
    while (apl_reader_next(r, &b, &fx_err) == APL_OK) {
        for (size_t k = 0; k < apl_batch_rows(b); k++) {
            const uint8_t *mask = (const uint8_t *)apl_batch_column(b, MASK)->data + k * OUT * OUT;
            const uint8_t *image = (const uint8_t *)apl_batch_column(b, IMAGE)->data + k * 3 * OUT * OUT;
            cr_assert_eq(memcmp(mask, image, (size_t)OUT * OUT), 0);
            for (size_t i = 0; i < (size_t)OUT * OUT; i++)
                found[mask[i]]++;
        }
        apl_batch_release(b);
    }
    apl_reader_close(r);
}

Test(reader_follow, masks_and_boxes_lie_where_their_pixels_do)
{
    for (unsigned way = 0; way < 8; way++) {
        apl_store *s = make_store(way & 1, 0);
        apl_transform t = following();
        unsigned all, kept, inside, again;
        t.pad = way & 2 ? 3 : 0;
        t.crop_centre = way & 4 && t.pad == 0;
        check_all(s, &t, 2, &all, &inside);
        cr_assert(all == RECORDS * 3 / 2 && inside > 10 && inside < all);
        t.box_min_size = 1;
        check_all(s, &t, APL_NO_THREADS, &kept, &again);
        cr_assert(kept == inside && again == inside);
        apl_store_close(s);
        fx_tear_down();
        fx_set_up();
    }
}

/* Where images are filled, masks are too, each time with what is said of that. */
Test(reader_follow, masks_are_filled_as_their_images)
{
    static const uint8_t fills[] = {252, 253, 254, 255}; /* which no pixel is */
    apl_store *s = make_store(false, 0);
    apl_transform t = following();
    unsigned found[256] = {0};
    for (unsigned i = 0; i < 4; i++)
        t.pads[i] = 4;
    t.affine_degrees[0] = t.affine_degrees[1] = 20;
    t.perspective_distortion = 0.5;
    t.elastic_alpha[0] = t.elastic_alpha[1] = 60;
    for (unsigned c = 0; c < 3; c++) {
        t.pad_fill[c] = fills[0];
        t.affine_fill[c] = fills[1];
        t.perspective_fill[c] = fills[2];
        t.elastic_fill[c] = fills[3];
    }
    t.mask_fill = fills[3];
    t.pad_mask_fill = fills[0];
    t.affine_mask_fill = fills[1];
    t.perspective_mask_fill = fills[2];
    check_masks(s, &t, found);
    for (unsigned i = 0; i < 4; i++)
        cr_assert_gt(found[fills[i]], 0, "%u", fills[i]);
    t.affine_mask_fill = -1;
    apl_reader_options o = asking(&t, mask_alone);
    apl_reader *r;
    FAILS(APL_E_INVALID, apl_reader_open(s, &o, &r, &fx_err));
    SAYS("field mask: u8 cannot hold affine_mask_fill -1 exactly");
    apl_store_close(s);
}

/* What is padded by reflection has masks that are; also where nothing is random. */
Test(reader_follow, masks_are_reflected_as_their_images)
{
    apl_store *s = make_store(false, 0);
    apl_transform t = following();
    t.pad = 5;
    t.pad_mode = APL_PAD_REFLECT;
    apl_reader_options o = asking(&t, all_kinds);
    apl_reader *r;
    FAILS(APL_E_INVALID, apl_reader_open(s, &o, &r, &fx_err));
    SAYS("pad with a constant");
    o.kinds = mask_alone;
    t.crop_height = t.crop_width = PLANE + 10;
    t.flip = APL_FLIP_NONE;
    t.vertical_flip_p = 0;
    OK(apl_reader_open(s, &o, &r, &fx_err));
    apl_batch *b;
    OK(apl_reader_next(r, &b, &fx_err));
    size_t plane = (size_t)(PLANE + 10) * (PLANE + 10);
    for (size_t k = 0; k < apl_batch_rows(b); k++)
        cr_assert(memcmp((const uint8_t *)apl_batch_column(b, MASK)->data + k * plane,
                         (const uint8_t *)apl_batch_column(b, IMAGE)->data + k * 3 * plane, plane) == 0);
    apl_batch_release(b);
    apl_reader_close(r);
    apl_store_close(s);
}

Test(reader_follow, boxes_are_padded_too)
{
    apl_store *s = make_store(true, 0);
    apl_transform t = following();
    apl_collation c = APL_COLLATION_INIT;
    apl_batch *b;
    t.box_min_size = 1;
    c.field = "boxes";
    c.how = APL_COLLATE_PAD;
    c.fill = -1;
    apl_reader *r = open_reader(s, &t, all_kinds, &c, 1);
    while (apl_reader_next(r, &b, &fx_err) == APL_OK) {
        const apl_column *boxes = apl_batch_column(b, BOXES), *labels = apl_batch_column(b, LABELS);
        const int64_t *lengths = apl_batch_part(b, BOXES, APL_PART_LENGTHS)->data;
        for (size_t k = 0; k < apl_batch_rows(b); k++) {
            const float *box = (const float *)boxes->data + k * (size_t)boxes->shape[0] * BOX_NUMBERS;
            cr_assert_eq(labels->shapes[k], lengths[k]);
            for (int64_t i = 0; i < boxes->shape[0] * BOX_NUMBERS; i++)
                cr_assert(i < lengths[k] * BOX_NUMBERS ? box[i] >= 0 : box[i] == -1);
        }
        apl_batch_release(b);
    }
    apl_reader_close(r);
    apl_store_close(s);
}

/* With these kinds of mask, boxes and labels. */
static void check_refused(apl_store *s, const apl_transform *t, apl_status status, const char *mask,
                          const char *boxes, const char *labels, const char *why)
{
    const char *const kinds[] = {mask, boxes, labels, "names=text", NULL};
    apl_reader_options o = asking(t, kinds);
    apl_reader *r;
    FAILS(status, apl_reader_open(s, &o, &r, &fx_err));
    SAYS(why);
}

Test(reader_follow, what_cannot_follow_is_refused)
{
    static const char *const mask = "mask=mask", *const boxes = "boxes=boxes",
                             *const labels = "labels=label,per=boxes";
    apl_store *s = make_store(false, 0);
    apl_transform t = following();
    check_refused(s, &t, APL_E_UNSUPPORTED, "mask=map,linear", boxes, labels, "cannot move a linear map yet");
    check_refused(s, &t, APL_E_UNSUPPORTED, mask, "boxes=boxes,yxyx", labels,
                  "only boxes of form xyxy, xywh or cxcywh");
    check_refused(s, &t, APL_E_UNSUPPORTED, mask, "boxes=boxes,xyxy-rel", labels, "can be moved yet");
    check_refused(s, &t, APL_E_INVALID, mask, "boxes=pinned", labels, "pinned to 'image'");
    check_refused(s, &t, APL_E_INVALID, mask, boxes, "boxes=boxes", "declared twice");
    check_refused(s, &t, APL_E_INVALID, mask, boxes, "labels=label,per=boxen", "no such field");
    check_refused(s, &t, APL_E_INVALID, mask, boxes, "labels=label,per=labels", "itself");
    check_refused(s, &t, APL_E_NOTFOUND, mask, boxes, "label=label", "label");
    t.box_min_size = 1;
    check_refused(s, &t, APL_E_UNSUPPORTED, mask, "boxes=boxes,per=labels", "labels=label",
                  "cannot be left out of it");
    check_refused(s, &t, APL_E_INVALID, mask, "boxes=plain", "labels=label",
                  "no field that is read is of that kind");
    t.box_min_area = -1;
    check_refused(s, &t, APL_E_INVALID, mask, boxes, labels, "at least 0");
    t = following();
    t.policy = APL_POLICY_TRIVIAL_WIDE;
    check_refused(s, &t, APL_E_INVALID, mask, boxes, labels, "do not follow");
    apl_store_close(s);
}

Test(reader_follow, labels_are_as_many_as_boxes)
{
    apl_store *s = make_store(false, 3);
    apl_transform t = following();
    apl_reader *r = open_reader(s, &t, all_kinds, NULL, APL_NO_THREADS);
    apl_batch *b;
    FAILS(APL_E_INVALID, apl_reader_next(r, &b, &fx_err));
    SAYS("field labels: 3 values for");
    cr_assert_eq(fx_err.records, 1);
    apl_reader_close(r);
    apl_store_close(s);
}

/* ----------------------------------------------------------------------------------- as many in each record */

enum { FIXED_IMAGE, FIXED_BOXES, FIXED_LABELS, FIXED_WORDS, FIXED_MORE };

/* Two boxes a record, each around a pixel that its label knows: of a fixed number or not, as of other boxes. */
static apl_store *make_pairs(bool fixed_boxes)
{
    const int64_t image[3] = {3, PLANE, PLANE}, boxes[2] = {fixed_boxes ? 2 : -1, BOX_NUMBERS}, two[1] = {2},
                  any[1] = {-1}, shape[2] = {2, BOX_NUMBERS}, letters = 3, none[2] = {0, BOX_NUMBERS};
    uint8_t pixels[3 * PLANE * PLANE];
    apl_writer *w = NULL;
    OK(apl_writer_open(fx_path("pairs"), NULL, &w, &fx_err));
    OK(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 3, image, &fx_err));
    OK(apl_writer_add_field(w, "boxes", APL_F32, APL_TARGET, 2, boxes, &fx_err));
    OK(apl_writer_add_field(w, "labels", APL_I64, APL_TARGET, 1, two, &fx_err));
    OK(apl_writer_add_field(w, "words", APL_UTF8, APL_TARGET, 1, any, &fx_err));
    OK(apl_writer_add_field(w, "more", APL_F32, APL_TARGET, 2, (int64_t[]){-1, BOX_NUMBERS}, &fx_err));
    OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
    for (uint32_t id = 0; id < RECORDS; id++) {
        float box[2][BOX_NUMBERS];
        int64_t label[2];
        for (uint32_t i = 0; i < 3 * PLANE * PLANE; i++)
            pixels[i] = pixel_of(id, i % (PLANE * PLANE) % PLANE, i % (PLANE * PLANE) / PLANE);
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t x = (11 * i + id) % PLANE, y = (7 * id + 3) % PLANE;
            memcpy(box[i], (float[]){(float)x, (float)y, (float)x + 1, (float)y + 1}, sizeof box[i]);
            label[i] = pixel_of(id, x, y);
        }
        OK(apl_writer_append(
            w, (apl_value[]){{pixels, image}, {box, shape}, {label, two}, {"cat", &letters}, {box, none}},
            &fx_err));
    }
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
    return fx_open(fx_path("pairs"));
}

/* Labels of a fixed number go with their boxes, one by one; both come out as lists. */
Test(reader_follow, labels_of_a_fixed_number_go_with_their_boxes)
{
    static const char *const kinds[] = {"boxes=boxes", "labels=label,per=boxes", "more=boxes,xywh", NULL};
    for (unsigned way = 0; way < 4; way++) {
        apl_store *s = make_pairs(way & 1);
        apl_transform t = following();
        apl_batch *b;
        unsigned kept = 0;
        t.box_min_size = way & 2 ? 1 : 0;
        apl_reader *r = open_reader(s, &t, kinds, NULL, 2);
        apl_status status;
        while ((status = apl_reader_next(r, &b, &fx_err)) == APL_OK) {
            const apl_column *boxes = apl_batch_column(b, FIXED_BOXES),
                             *labels = apl_batch_column(b, FIXED_LABELS);
            cr_assert(boxes->offsets && labels->offsets && labels->shape[0] == -1);
            cr_assert_eq(apl_batch_column(b, FIXED_MORE)->offsets[apl_batch_rows(b)], 0);
            for (size_t k = 0; k < apl_batch_rows(b); k++) {
                const uint8_t *image =
                    (const uint8_t *)apl_batch_column(b, FIXED_IMAGE)->data + k * 3 * OUT * OUT;
                cr_assert(labels->shapes[k] == boxes->shapes[2 * k] && labels->shapes[k] <= 2);
                for (uint64_t i = 0; i < (uint64_t)labels->shapes[k]; i++) {
                    const float *box = (const float *)boxes->data + boxes->offsets[k] + i * BOX_NUMBERS;
                    if (box[2] - box[0] == 1 && box[3] - box[1] == 1)
                        cr_assert_eq(image[(size_t)box[1] * OUT + (size_t)box[0]],
                                     ((const int64_t *)labels->data)[labels->offsets[k] + i]);
                }
                kept += (unsigned)labels->shapes[k];
            }
            apl_batch_release(b);
        }
        cr_assert_eq(status, APL_END, "%s", fx_err.message);
        cr_assert(way & 2 ? kept > 0 && kept < 2 * RECORDS : kept == 2 * RECORDS, "%u", kept);
        apl_reader_close(r);
        apl_store_close(s);
        fx_tear_down();
        fx_set_up();
    }
}

/* Two boxes a record, and for each a plane: the image's own pixels, or those of 255 less. `number` of planes, and their sides, as the
 * field says. */
static apl_store *make_instances(int64_t number, int64_t side)
{
    const int64_t image[3] = {3, PLANE, PLANE}, boxes[2] = {-1, BOX_NUMBERS}, any[1] = {-1},
                  masks[3] = {number, side, side}, shape[2] = {2, BOX_NUMBERS}, two[1] = {2},
                  planes[3] = {2, PLANE, PLANE};
    const size_t plane = PLANE * PLANE;
    uint8_t pixels[3 * PLANE * PLANE], mask[2 * PLANE * PLANE];
    apl_writer *w = NULL;
    OK(apl_writer_open(fx_path("instances"), NULL, &w, &fx_err));
    OK(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 3, image, &fx_err));
    OK(apl_writer_add_field(w, "boxes", APL_F32, APL_TARGET, 2, boxes, &fx_err));
    OK(apl_writer_add_field(w, "labels", APL_I64, APL_TARGET, 1, any, &fx_err));
    OK(apl_writer_add_field(w, "masks", APL_U8, APL_TARGET, 3, masks, &fx_err));
    OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
    for (uint32_t id = 0; id < RECORDS; id++) {
        const int64_t label[2] = {0, 1};
        float box[2][BOX_NUMBERS];
        for (uint32_t i = 0; i < 3 * plane; i++)
            pixels[i] = pixel_of(id, i % plane % PLANE, (uint32_t)(i % plane / PLANE));
        for (uint32_t i = 0; i < 2 * plane; i++)
            mask[i] = (uint8_t)(i < plane ? pixels[i] : 255 - pixels[i - plane]);
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t x = (11 * i + id) % PLANE, y = (7 * id + 3) % PLANE;
            memcpy(box[i], (float[]){(float)x, (float)y, (float)x + 1, (float)y + 1}, sizeof box[i]);
        }
        OK(apl_writer_append(w, (apl_value[]){{pixels, image}, {box, shape}, {label, two}, {mask, planes}},
                             &fx_err));
    }
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
    return fx_open(fx_path("instances"));
}

/* Each plane that is left is of the box that is: moved as its image was. */
static unsigned check_planes(const apl_batch *b)
{
    const apl_column *labels = apl_batch_column(b, 2), *masks = apl_batch_column(b, 3);
    const size_t plane = (size_t)OUT * OUT;
    unsigned seen = 0;
    for (size_t k = 0; k < apl_batch_rows(b); k++) {
        const uint8_t *image = (const uint8_t *)apl_batch_column(b, 0)->data + k * 3 * plane;
        const int64_t *shape = masks->shapes + 3 * k;
        cr_assert(shape[0] == labels->shapes[k] && shape[1] == OUT && shape[2] == OUT);
        cr_assert_eq(masks->offsets[k + 1] - masks->offsets[k], (uint64_t)shape[0] * plane);
        for (int64_t i = 0; i < shape[0]; i++, seen++) {
            int64_t label = ((const int64_t *)labels->data)[labels->offsets[k] + (uint64_t)i];
            const uint8_t *mask = (const uint8_t *)masks->data + masks->offsets[k] + (size_t)i * plane;
            for (size_t at = 0; at < plane; at++)
                cr_assert_eq(mask[at], label ? 255 - image[at] : image[at]);
        }
    }
    return seen;
}

Test(reader_follow, masks_of_instances_go_with_their_boxes)
{
    static const char *const kinds[] = {"boxes=boxes", "labels=label,per=boxes", "masks=mask,per=boxes",
                                        NULL};
    static const int64_t types[][2] = {{-1, PLANE}, {2, PLANE}, {-1, -1}};
    for (unsigned way = 0; way < 6; way++) {
        apl_store *s = make_instances(types[way % 3][0], types[way % 3][1]);
        apl_transform t = following();
        apl_status status;
        apl_batch *b;
        unsigned seen = 0;
        t.box_min_size = way < 3 ? 0 : 1;
        apl_reader *r = open_reader(s, &t, kinds, NULL, 2);
        while ((status = apl_reader_next(r, &b, &fx_err)) == APL_OK) {
            seen += check_planes(b);
            apl_batch_release(b);
        }
        cr_assert_eq(status, APL_END, "%s", fx_err.message);
        cr_assert(way < 3 ? seen == 2 * RECORDS : seen > 0 && seen < 2 * RECORDS, "%u", seen);
        apl_reader_close(r);
        apl_store_close(s);
        fx_tear_down();
        fx_set_up();
    }
}

/* A text is of all boxes together: it can be beside them, but nothing can be taken out of it. */
Test(reader_follow, texts_cannot_lose_what_is_of_one_box)
{
    static const char *const kinds[] = {"boxes=boxes", "words=text,per=boxes", "more=plain", NULL};
    apl_store *s = make_pairs(false);
    apl_transform t = following();
    apl_reader *r;
    apl_reader_options o = asking(&t, kinds);
    o.fields = (const char *const[]){"image", "boxes", "words"};
    o.field_count = 3;
    OK(apl_reader_open(s, &o, &r, &fx_err));
    apl_reader_close(r);
    t.box_min_size = 1;
    FAILS(APL_E_UNSUPPORTED, apl_reader_open(s, &o, &r, &fx_err));
    SAYS("field words: is utf8, per boxes: elements of it cannot be left out");
    o.field_count = 2; /* what is not read is no matter */
    OK(apl_reader_open(s, &o, &r, &fx_err));
    apl_reader_close(r);
    apl_store_close(s);
}

/* Readers that share what is decoded may take the same field in two ways: as it is stored, or as boxes. */
Test(reader_follow, readers_share_no_values_that_they_take_in_another_way)
{
    static const char *const kinds[] = {"boxes=boxes", "labels=label,per=boxes", "more=plain", NULL};
    apl_store *s = make_pairs(true);
    apl_transform t = following();
    apl_batch *lists, *arrays;
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_reader *plain, *r = open_reader(s, &t, kinds, NULL, 1);
    o.batch_size = 7;
    o.seed = SEED;
    OK(apl_reader_open(s, &o, &plain, &fx_err));
    OK(apl_reader_next(r, &lists, &fx_err));
    OK(apl_reader_next(plain, &arrays, &fx_err));
    const apl_column *labels = apl_batch_column(lists, FIXED_LABELS),
                     *stored = apl_batch_column(arrays, FIXED_LABELS);
    cr_assert(labels->offsets && !stored->offsets && labels->bytes == stored->bytes);
    cr_assert_arr_eq(labels->data, stored->data, stored->bytes);
    apl_batch_release(lists);
    apl_batch_release(arrays);
    apl_reader_close(r);
    apl_reader_close(plain);
    apl_store_close(s);
}

/* ------------------------------------------------------------------------------------- one thing at a time */

Test(reader_follow, elements_are_the_nearest)
{
    static const uint16_t source[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
    static const uint16_t want[3][4] = {{8, 7, 7, 0}, {4, 3, 3, 0}, {4, 3, 3, 0}};
    struct geometry g = geometry_window(4, 2, -1, 0, 4, 3);
    struct scratch scratch = {NULL, 0};
    uint16_t out[3][4];
    g.plan.box.left = 2; /* two columns and two rows become three of each; one beyond is 0 */
    g.plan.box.width = 2;
    g.plan.width = g.plan.height = 3;
    g.flip = g.vertical_flip = true;
    const struct nearest_planes planes = {1, sizeof(uint16_t), (const uint8_t *)&(uint16_t){0}};
    cr_assert(nearest_take(&scratch, &g, &planes, (const uint8_t *)source, (uint8_t *)out));
    cr_assert(memcmp(out, want, sizeof want) == 0);
    scratch_free(&scratch);
}

/* A box that reaches beyond the image is cut by a crop, or at the end. */
Test(reader_follow, boxes_are_clamped_when_they_have_moved)
{
    struct geometry whole = geometry_window(20, 30, 0, 0, 20, 30),
                    part = geometry_window(20, 30, 0, 0, 20, 29);
    const float box[BOX_NUMBERS] = {-2, 1, 8, 33}, endless[BOX_NUMBERS] = {-INFINITY, 1, 8, 2};
    float out[BOX_NUMBERS];
    whole.flip = true;
    boxes_follow(&whole, APL_FORM_XYXY, true, box, 1, out);
    cr_assert(out[0] == 12 && out[1] == 1 && out[2] == 22 && out[3] == 33);
    boxes_follow(&whole, APL_FORM_XYXY, false, box, 1, out);
    cr_assert(out[0] == 12 && out[1] == 1 && out[2] == 20 && out[3] == 30);
    boxes_follow(&whole, APL_FORM_XYXY, true, endless, 1, out);
    cr_assert(out[0] == 12 && out[2] == 20);
    boxes_follow(&part, APL_FORM_XYXY, true, box, 1, out);
    cr_assert(out[0] == 0 && out[1] == 1 && out[2] == 8 && out[3] == 29);
}

Test(reader_follow, formats_of_boxes_say_the_same)
{
    struct geometry g = geometry_window(100, 50, 20, 5, 60, 30);
    const float corners[BOX_NUMBERS] = {10, 10, 50, 20}, sides[BOX_NUMBERS] = {10, 10, 40, 10},
                middle[BOX_NUMBERS] = {30, 15, 40, 10};
    float out[BOX_NUMBERS];
    g.flip = true; /* 0 ... 30 of 60 becomes 30 ... 60 */
    boxes_follow(&g, APL_FORM_XYXY, false, corners, 1, out);
    cr_assert(out[0] == 30 && out[1] == 5 && out[2] == 60 && out[3] == 15);
    boxes_follow(&g, APL_FORM_XYWH, false, sides, 1, out);
    cr_assert(out[0] == 30 && out[1] == 5 && out[2] == 30 && out[3] == 10);
    boxes_follow(&g, APL_FORM_CXCYWH, false, middle, 1, out);
    cr_assert(out[0] == 45 && out[1] == 10 && out[2] == 30 && out[3] == 10);
    cr_assert(boxes_keep(&g, APL_FORM_CXCYWH, 10, 300, out) &&
              !boxes_keep(&g, APL_FORM_CXCYWH, 10, 301, out) && !boxes_keep(&g, APL_FORM_CXCYWH, 11, 0, out));
    out[0] = NAN;
    cr_assert(!boxes_keep(&g, APL_FORM_CXCYWH, 0, 0, out));
}

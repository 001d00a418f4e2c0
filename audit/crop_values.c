/* Where crops lie, as numbers whose law is known: see crop_values.h. */
#include "crop_values.h"

#include "generator.h"

#include <stdlib.h>

#define MOST_PLACES 64u /* more are counted in */
#define BINS        16u

/* ------------------------------------------------------------------------------------------------- places */

/* The places of a crop along one side: the first, and how many; 0: it does not fit. */
struct places {
    int32_t first;
    uint32_t count;
};

static struct places places_of(const apl_transform *t, uint32_t size, uint32_t crop, unsigned side)
{
    uint32_t before = t->pads[side] + t->pad, all = size + before + t->pads[side + 2] + t->pad;
    uint32_t lacks = all < crop && t->pad_if_needed ? crop - all : 0;
    all += 2 * lacks;
    return (struct places){-(int32_t)(before + lacks), all < crop ? 0 : all - crop + 1};
}

/* Where a crop in the middle begins: half of what is left, rounded to the even pixel. */
static int32_t middle_place(const apl_transform *t, uint32_t size, uint32_t crop, unsigned side)
{
    uint32_t before = t->pads[side], all = size + before + t->pads[side + 2];
    if (crop > all)
        return -(int32_t)((crop - all) / 2) - (int32_t)before;
    return (int32_t)rint((all - crop) / 2.0) - (int32_t)before;
}

/* What images are resized to: the sides of all of them, or 0. */
static uint32_t resized_side(const apl_transform *t, const struct crop_sizes *s, bool down)
{
    uint64_t side = t->resize_short, shorter = s->width < s->height ? s->width : s->height;
    uint32_t own = down ? s->height : s->width;
    if (t->sizing != APL_SIZING_RESIZE)
        return own;
    if (!side)
        return down ? t->resize_height : t->resize_width;
    return own ? (uint32_t)(side * own / shorter) : 0;
}

/* --------------------------------------------------------------------------------------------- quantities */

/* `places`: how many there are, where there are few, and the same for all images. */
static void add_quantity(struct crop_values *v, enum crop_what what, const char *name, uint32_t places)
{
    struct crop_law *law = &v->law;
    if (places == 1)
        return;
    v->what[law->count] = what;
    law->names[law->count] = name;
    law->values[law->count++] = places && places <= MOST_PLACES ? places : BINS;
}

static void add_box(struct crop_values *v)
{
    static const char *const names[BOX_NUMBERS] = {"height", "width", "down", "across"};
    for (unsigned i = 0; i < BOX_NUMBERS; i++)
        add_quantity(v, CROP_BOX, names[i], 0);
}

static void add_places(struct crop_values *v)
{
    const apl_transform *t = v->transform;
    uint32_t height = resized_side(t, v->sizes, true), width = resized_side(t, v->sizes, false);
    add_quantity(v, CROP_DOWN, "down", height ? places_of(t, height, t->crop_height, 1).count : 0);
    add_quantity(v, CROP_ACROSS, "across", width ? places_of(t, width, t->crop_width, 0).count : 0);
}

static int by_size(const void *a, const void *b)
{
    const struct sized_law *x = a, *y = b;
    if (x->width != y->width)
        return x->width < y->width ? -1 : 1;
    return (x->height > y->height) - (x->height < y->height);
}

/* One law for each size that there is. */
static bool make_laws(struct crop_values *v)
{
    const struct crop_sizes *s = v->sizes;
    const apl_transform *t = v->transform;
    const struct box_rules rules = {{t->area[0], t->area[1]}, {t->ratio[0], t->ratio[1]}};
    uint32_t count = s->of ? s->count : 1;
    v->laws = calloc((size_t)count + 1, sizeof *v->laws);
    for (uint32_t i = 0; v->laws && i < count; i++)
        v->laws[i] = s->of ? (struct sized_law){s->of[i][0], s->of[i][1], NULL}
                           : (struct sized_law){s->width, s->height, NULL};
    if (v->laws)
        qsort(v->laws, count, sizeof *v->laws, by_size);
    for (uint32_t i = 0; v->laws && i < count; i++) {
        if (i > 0 && by_size(&v->laws[v->law_count - 1], &v->laws[i]) == 0)
            continue;
        struct sized_law *to = &v->laws[v->law_count++];
        *to = v->laws[i];
        if (!to->width || !to->height || !(to->law = box_law_new(&rules, to->width, to->height)))
            return false;
    }
    return v->laws != NULL;
}

bool crop_values_init(struct crop_values *v, const apl_transform *t, const struct crop_sizes *sizes)
{
    *v = (struct crop_values){.transform = t, .sizes = sizes};
    bool boxes = t->sizing == APL_SIZING_RANDOM;
    if (boxes)
        add_box(v);
    else if (!t->crop_centre)
        add_places(v);
    add_quantity(v, CROP_FLIPPED, "flipped",
                 t->flip == APL_FLIP_RANDOM && (t->flip_p == 0 || t->flip_p == 0.5) ? 2 : 1);
    add_quantity(v, CROP_CUT_DOWN, "cutout down", t->cutout ? t->crop_height : 1);
    add_quantity(v, CROP_CUT_ACROSS, "cutout across", t->cutout ? t->crop_width : 1);
    return !boxes || make_laws(v);
}

void crop_values_release(struct crop_values *v)
{
    for (uint32_t i = 0; v->laws && i < v->law_count; i++)
        box_law_free(v->laws[i].law);
    free(v->laws);
    v->laws = NULL;
}

/* ------------------------------------------------------------------------------------------------ values */

/* A crop, and uniform numbers for it. */
struct taken {
    struct crop_values *v;
    const apl_crop_box *box;
    struct generator shares;
    bool wrong;
};

static double next_share(struct taken *c)
{
    return (double)(generator_draw(&c->shares) >> 11) * 0x1p-53;
}

static uint32_t bin_of(double uniform)
{
    return uniform < 1 ? (uint32_t)(uniform * BINS) : BINS - 1;
}

/* The value of quantity q: one of `count` places, all alike. */
static uint32_t place_value(struct taken *c, unsigned q, int64_t offset, uint32_t count)
{
    bool fits = offset >= 0 && offset < (int64_t)count;
    c->wrong |= !fits;
    if (!fits)
        return 0;
    if (count == c->v->law.values[q] && count <= MOST_PLACES)
        return (uint32_t)offset;
    return bin_of(((double)offset + next_share(c)) / count);
}

static void take_box(struct taken *c, uint32_t *values)
{
    const apl_crop_box *b = c->box;
    const struct sized_law wanted = {b->image_width, b->image_height, NULL};
    const struct drawn_box box = {b->left, b->top, b->width, b->height};
    const struct sized_law *sized = bsearch(&wanted, c->v->laws, c->v->law_count, sizeof wanted, by_size);
    double shares[BOX_NUMBERS], uniform[BOX_NUMBERS] = {0};
    for (unsigned i = 0; i < BOX_NUMBERS; i++)
        shares[i] = next_share(c);
    bool fits = sized && b->width && b->height && b->width <= b->image_width - b->left &&
                b->height <= b->image_height - b->top && b->left < b->image_width && b->top < b->image_height;
    c->wrong |= !fits;
    if (fits)
        box_law_uniform(sized->law, &box, shares, uniform);
    for (unsigned i = 0; i < BOX_NUMBERS; i++)
        values[i] = bin_of(uniform[i]);
}

static uint32_t take_side(struct taken *c, unsigned q, bool down)
{
    const apl_transform *t = c->v->transform;
    struct places p = down ? places_of(t, c->box->resized_height, t->crop_height, 1)
                           : places_of(t, c->box->resized_width, t->crop_width, 0);
    return place_value(c, q, (int64_t)(down ? c->box->crop_top : c->box->crop_left) - p.first, p.count);
}

static uint32_t value_of(struct taken *c, unsigned q)
{
    const apl_transform *t = c->v->transform;
    switch (c->v->what[q]) {
    case CROP_DOWN:
    case CROP_ACROSS:
        return take_side(c, q, c->v->what[q] == CROP_DOWN);
    case CROP_CUT_DOWN:
        return place_value(c, q, (int64_t)c->box->cut_top + t->cutout / 2, t->crop_height);
    case CROP_CUT_ACROSS:
        return place_value(c, q, (int64_t)c->box->cut_left + t->cutout / 2, t->crop_width);
    default:
        return c->box->flip & 1;
    }
}

/* What is not left to chance. */
static bool is_as_asked(const apl_transform *t, const apl_crop_box *b)
{
    bool whole = b->left == 0 && b->top == 0 && b->width == b->image_width && b->height == b->image_height;
    bool middle = b->crop_top == middle_place(t, b->resized_height, t->crop_height, 1) &&
                  b->crop_left == middle_place(t, b->resized_width, t->crop_width, 0);
    bool flips = (t->flip != APL_FLIP_NONE || !(b->flip & 1)) && (t->vertical_flip_p > 0 || !(b->flip & 2));
    return flips && (t->sizing == APL_SIZING_RANDOM || whole) && (!t->crop_centre || middle);
}

void crop_values_take(struct crop_values *v, const apl_crop_box *box, uint64_t key, uint32_t *values)
{
    struct taken c = {v, box, generator_keyed(key, 0), !is_as_asked(v->transform, box)};
    for (unsigned q = 0; q < v->law.count; q++) {
        if (v->what[q] != CROP_BOX)
            values[q] = value_of(&c, q);
        else if (q == 0)
            take_box(&c, values);
    }
    v->seen++;
    v->wrong += c.wrong;
}

/* Columns of which the caller says what they are: see list_kinds.h. */
#include "list_kinds.h"

#include "boxes_moved.h"
#include "said_kinds.h"

static const apl_kind *said_of(const struct list_columns *l, const struct column *c)
{
    return said_kinds_find(l->host->kinds, c->name);
}

void list_kinds_shape(struct list_columns *l)
{
    for (unsigned i = 0; i < l->count; i++) {
        struct column *c = &l->columns[i];
        const apl_kind *kind = said_of(l, c);
        bool boxes = kind && kind->id == APL_KIND_BOXES;
        bool named = kind && (kind->id == APL_KIND_LABEL || kind->id == APL_KIND_TEXT);
        c->texts = named && kind->per[0] && c->kinds[CELL_TEXT] > 0;
        if (!kind || !c->any_list)
            continue;
        if (boxes && !c->any_filled) /* in no record is there one */
            c->inner = 4;
        c->single = boxes || kind->id == APL_KIND_KEYPOINTS;
        c->lengths_vary |= kind->per[0] || (boxes && c->inner > 0);
    }
}

/* The image that boxes lie in: the one that they name, or the first; -1: there is none. */
static int image_of_boxes(const struct list_columns *l, const apl_kind *kind)
{
    int column = *kind->of ? list_find_column(l, kind->of) : -1;
    int image = column < 0 ? -1 : list_image_of(l, (unsigned)column);
    image = image < 0 && list_has_images(l) ? 0 : image;
    return image < 0 || l->images[image].mask ? -1 : image;
}

bool list_kinds_moves(const struct list_columns *l, const apl_field *field)
{
    int i = list_find_column(l, field->name);
    int image = i < 0 ? -1 : list_image_of(l, (unsigned)i);
    if (field->kind->id == APL_KIND_MASK ||
        (field->kind->id == APL_KIND_MAP && field->kind->form != APL_FORM_LINEAR))
        return image >= 0 && l->images[image].mask;
    bool floats = field->dtype == APL_F32 || field->dtype == APL_F64;
    return field->kind->id == APL_KIND_BOXES && i >= 0 && floats && image_of_boxes(l, field->kind) >= 0;
}

void list_kinds_move(const struct list_columns *l, unsigned k, const struct made_image *image,
                     uint8_t *values, const size_t *begins, int64_t (*shapes)[2])
{
    bool moved = image->turned > 1 || image->shape[1] != image->height || image->shape[2] != image->width;
    for (unsigned i = 0; moved && i < l->count; i++) {
        const struct column *c = &l->columns[i];
        const apl_kind *kind = list_is_value(l, i) ? said_of(l, c) : NULL;
        if (!kind || kind->id != APL_KIND_BOXES || image_of_boxes(l, kind) != (int)k)
            continue;
        size_t n = c->ndim == 2 ? (size_t)(c->shape[0] < 0 ? shapes[i][0] : c->shape[0]) : 1;
        boxes_move(image, kind->form, c->dtype, values + begins[i], n);
    }
}

/* Columns of images, of a list: see list_images.h. */
#include "list_images.h"

#include "image_kind.h"
#include "said_kinds.h"

#include <inttypes.h>
#include <stdio.h>

/* ------------------------------------------------------------------------------------------------- finding */

static apl_status add_image(struct list_columns *l, const char *name, bool mask, const char *option,
                            apl_error *err)
{
    int column = list_find_column(l, name);
    if (column < 0)
        return list_lacks_column(l, name, option, err);
    int known = list_image_of(l, (unsigned)column);
    if (known >= 0 && l->images[known].mask != mask)
        return fail(err, APL_E_INVALID, "%s: column %s cannot be both image and mask", l->host->source,
                    l->columns[column].name);
    if (known >= 0)
        return fail(err, APL_E_INVALID, "%s: column %s is given twice, as %s", l->host->source,
                    l->columns[column].name, option);
    if (l->image_count == LIST_IMAGES)
        return fail(err, APL_E_UNSUPPORTED, "%s: more than %u columns of images and masks", l->host->source,
                    LIST_IMAGES);
    l->images[l->image_count++] = (struct list_image){.column = (unsigned)column, .mask = mask};
    return APL_OK;
}

/* Does --field say that a column of paths is of masks (or maps, whose numbers are kept as well), or of further images? The first is called image. */
static bool is_said(const struct list_columns *l, unsigned i, bool mask)
{
    const struct column *c = &l->columns[i];
    const apl_kind *kind = said_kinds_find(l->host->kinds, c->name);
    if (!kind || c->images == 0)
        return false;
    return mask ? kind->id == APL_KIND_MASK || kind->id == APL_KIND_MAP
                : kind->id == APL_KIND_IMAGE && strcmp(c->name, "image") != 0;
}

static apl_status add_said(struct list_columns *l, bool mask, apl_error *err)
{
    for (unsigned i = 0; i < l->count; i++)
        if (is_said(l, i, mask) && list_image_of(l, i) < 0)
            TRY(add_image(l, l->columns[i].name, mask, "--field", err));
    return APL_OK;
}

/* Is its column given as a further one, or as one of masks? */
static bool is_column_given(const apl_ingest_options *o, const char *name)
{
    for (size_t i = 0; i < o->more_image_column_count; i++)
        if (strcmp(o->more_image_columns[i], name) == 0)
            return true;
    for (size_t i = 0; i < o->mask_column_count; i++)
        if (strcmp(o->mask_columns[i], name) == 0)
            return true;
    return false;
}

/* Are all of its cells names of images, and is nothing said of it? */
static bool is_of_images(const struct list_columns *l, unsigned i)
{
    return l->rows > 0 && l->columns[i].images == l->rows &&
           !is_column_given(l->host->options, l->columns[i].name) && !is_said(l, i, true) &&
           !is_said(l, i, false);
}

/* A table without a header would lose its first image, as the name of a column. Lines of JSON have names each. */
static apl_status check_for_header(const struct list_columns *l, apl_error *err)
{
    enum rows_kind kind = ROWS_CSV;
    list_kind(l->host->files[0].name, &kind);
    for (unsigned i = 0; kind != ROWS_JSON && i < l->count; i++)
        if (is_of_images(l, i) && image_name(l->columns[i].name))
            return fail(err, APL_E_SOURCE,
                        "%s: has no header: its first row names an image, %s, where the names of columns "
                        "belong: put a row such as image,label before it, or, if that is a name, give "
                        "--image %s",
                        l->host->source, l->columns[i].name, l->columns[i].name);
    return APL_OK;
}

/* The first column of images, where none is named; -1: there is none. */
static apl_status detect_image(const struct list_columns *l, int *found, apl_error *err)
{
    static const char *const usual[] = {"image",      "path",     "file", "file_name", "filename",
                                        "image_path", "filepath", "img",  NULL};
    *found = -1;
    TRY(check_for_header(l, err));
    for (unsigned i = 0; usual[i] && *found < 0; i++) {
        int at = list_find_column(l, usual[i]);
        if (at >= 0 && is_of_images(l, (unsigned)at))
            *found = at;
    }
    if (*found >= 0)
        return APL_OK;
    for (unsigned i = 0; i < l->count; i++) {
        if (!is_of_images(l, i))
            continue;
        if (*found >= 0)
            return fail(err, APL_E_SOURCE,
                        "%s: columns %s and %s both name images: --image says which are to be read",
                        l->host->source, l->columns[*found].name, l->columns[i].name);
        *found = (int)i;
    }
    return APL_OK;
}

/* What is of images has no other type. */
static apl_status check_types(const struct list_columns *l, apl_error *err)
{
    for (unsigned k = 0; k < l->image_count; k++) {
        const struct list_image *image = &l->images[k];
        const struct column *c = &l->columns[image->column];
        if ((k > 0 || image->mask) && c->given)
            return fail(err, APL_E_INVALID, "%s: column %s is given as %s, and has no --type",
                        l->host->source, c->name, image->mask ? "--mask" : "--image");
    }
    return APL_OK;
}

apl_status list_images_find(struct list_columns *l, apl_error *err)
{
    const apl_ingest_options *o = l->host->options;
    int found = -1;
    if (!o->image_column)
        TRY(detect_image(l, &found, err));
    const char *first = found < 0 ? o->image_column : l->columns[found].name;
    if (first)
        TRY(add_image(l, first, false, "--image", err));
    for (size_t i = 0; i < o->more_image_column_count; i++)
        TRY(add_image(l, o->more_image_columns[i], false, "--image", err));
    TRY(add_said(l, false, err));
    for (size_t i = 0; i < o->mask_column_count; i++)
        TRY(add_image(l, o->mask_columns[i], true, "--mask", err));
    TRY(add_said(l, true, err));
    return check_types(l, err);
}

/* ------------------------------------------------------------------------------------------------- telling */

/* Masks, for example: text where images were expected. */
static void tell_of_more_images(const struct list_columns *l, const struct column *c)
{
    char text[5 * APL_MAX_NAME + 256];
    const char *first = l->columns[l->images[0].column].name;
    if (l->images[0].mask || c->images < l->rows)
        return;
    snprintf(
        text, sizeof text,
        "column %s names images too, and becomes text: --mask %s stores the class numbers of masks, --image "
        "%s --image %s another image",
        c->name, c->name, first, c->name);
    l->host->notice(l->host->user, "", text);
}

/* A cell that is empty, or names none, leaves a store without images. */
static void tell_of_images(const struct list_columns *l, const struct column *c)
{
    char text[2 * APL_MAX_NAME + 256];
    if (c->images < l->rows - c->images)
        return;
    snprintf(text, sizeof text,
             "column %s: %" PRIu64 " of %" PRIu64
             " cells name images, so all of it is text; --image %s reads them, and refuses "
             "the others, which --skip-bad leaves out",
             c->name, c->images, l->rows, c->name);
    l->host->notice(l->host->user, "", text);
}

void list_images_tell(const struct list_columns *l)
{
    for (unsigned i = 0; i < l->count; i++) {
        const struct column *c = &l->columns[i];
        if ((int)i == l->label || c->given || list_image_of(l, i) >= 0)
            continue;
        if (list_has_images(l))
            tell_of_more_images(l, c);
        else
            tell_of_images(l, c);
    }
}

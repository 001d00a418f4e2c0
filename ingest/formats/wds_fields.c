/* From fields to those of the store: see wds_fields.h. */
#include "wds_fields.h"

#include "image_fields.h"
#include "said_kinds.h"

#include <stdio.h>

/* The image that masks are of, where there are several. */
static const char *masked_of(const struct wds_fields *all)
{
    unsigned images = 0;
    for (unsigned i = 0; i < all->count; i++)
        images += all->fields[i].kind == WDS_IMAGE && !all->fields[i].plan.mask;
    return images > 1 && all->masked < all->count ? all->fields[all->masked].name : NULL;
}

/* As endings tell, or exports say. */
static apl_status add_wds_kind(const struct wds_fields *all, const struct wds_field *f, apl_writer *writer,
                               apl_error *err)
{
    bool audio = f->media && strncmp(f->media, "audio/", 6) == 0;
    apl_kind_id kind = f->kind == WDS_NUMBER                       ? APL_KIND_LABEL
                       : f->kind == WDS_TEXT || f->kind == WDS_KEY ? APL_KIND_TEXT
                       : audio                                     ? APL_KIND_AUDIO
                                                                   : APL_KIND_NONE;
    if (f->declared)
        return declared_kind_set(f->declared, writer, err);
    if (f->kind == WDS_IMAGE)
        return image_kind_set(writer, f->name, &f->plan, masked_of(all), err);
    return (int)kind ? said_kinds_set(writer, f->name, kind, APL_FORM_NONE, NULL, APL_FROM_SOURCE, err)
                     : APL_OK;
}

static apl_status add_wds_field(const struct wds_fields *all, const struct wds_field *f,
                                const struct format_host *host, apl_writer *writer, apl_error *err)
{
    TRY(apl_writer_add_field(writer, f->name, f->dtype, f->role, f->ndim, f->shape, err));
    if (f->media)
        TRY(apl_writer_set_media(writer, f->name, f->media, err));
    if (f->class_count)
        TRY(apl_writer_set_classes(writer, f->name, f->classes, f->class_count, err));
    if (f->kind == WDS_IMAGE && f->plan.keep && !host->options->keep_files)
        TRY(apl_writer_set_indexed(writer, f->name, err));
    return add_wds_kind(all, f, writer, err);
}

/* What is beside images. */
static apl_status add_beside(const struct wds_field *f, apl_writer *writer, apl_error *err)
{
    char name[APL_MAX_NAME + 16];
    if (!f->shaped)
        return APL_OK;
    snprintf(name, sizeof name, "%s_shape", f->name);
    TRY(image_shape_add(writer, name, err));
    snprintf(name, sizeof name, "%s_orientation", f->name);
    return f->plan.orientations ? image_orientation_add(writer, name, err) : APL_OK;
}

apl_status wds_add_fields(const struct wds_fields *f, const struct format_host *host, apl_writer *writer,
                          apl_error *err)
{
    for (unsigned i = 0; i < f->count; i++)
        TRY(add_wds_field(f, &f->fields[i], host, writer, err));
    for (unsigned i = 0; i < f->count; i++)
        TRY(add_beside(&f->fields[i], writer, err));
    return APL_OK;
}

void wds_fields_free(struct wds_fields *f)
{
    declared_free(&f->declared);
}

/* From fields to those of the store: see wds_fields.h. */
#include "wds_fields.h"

#include <stdio.h>

static apl_status add_wds_field(const struct wds_field *f, const struct format_host *host, apl_writer *writer,
                                apl_error *err)
{
    TRY(apl_writer_add_field(writer, f->name, f->dtype, f->role, f->ndim, f->shape, err));
    if (f->media)
        TRY(apl_writer_set_media(writer, f->name, f->media, err));
    if (f->class_count)
        TRY(apl_writer_set_classes(writer, f->name, f->classes, f->class_count, err));
    return f->kind == WDS_IMAGE && f->plan.keep && !host->options->keep_files
               ? apl_writer_set_indexed(writer, f->name, err)
               : APL_OK;
}

/* What is beside images. */
static apl_status add_beside(const struct wds_field *f, apl_writer *writer, apl_error *err)
{
    static const int64_t three[1] = {3};
    char name[APL_MAX_NAME + 16];
    if (!f->shaped)
        return APL_OK;
    snprintf(name, sizeof name, "%s_shape", f->name);
    TRY(apl_writer_add_field(writer, name, APL_U32, APL_NAME, 1, three, err));
    snprintf(name, sizeof name, "%s_orientation", f->name);
    return f->plan.orientations ? apl_writer_add_field(writer, name, APL_U8, APL_NAME, 0, NULL, err) : APL_OK;
}

apl_status wds_add_fields(const struct wds_fields *f, const struct format_host *host, apl_writer *writer,
                          apl_error *err)
{
    for (unsigned i = 0; i < f->count; i++)
        TRY(add_wds_field(&f->fields[i], host, writer, err));
    for (unsigned i = 0; i < f->count; i++)
        TRY(add_beside(&f->fields[i], writer, err));
    return APL_OK;
}

void wds_fields_free(struct wds_fields *f)
{
    declared_free(&f->declared);
}

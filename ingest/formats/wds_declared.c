/* From declared fields to fields: see wds_declared.h. */
#include "wds_declared.h"

#include "wds_endings.h"

#include <stdio.h>

static bool kind_of_declared(const struct declared_field *d, enum wds_kind *kind)
{
    const char *ending = wds_ending_kind(d->ending);
    *kind = strcmp(d->ending, WDS_KEY_NAME) == 0 && d->dtype == APL_UTF8 ? WDS_KEY
            : d->media && strcmp(d->media, "image/jpeg") == 0            ? WDS_IMAGE
            : d->media                                                   ? WDS_BYTES
            : d->dtype == APL_UTF8                                       ? WDS_TEXT
            : strcmp(ending, "cls") == 0                                 ? WDS_NUMBER
            : strcmp(ending, "png") == 0                                 ? WDS_IMAGE
                                                                         : WDS_ARRAY;
    return *kind != WDS_ARRAY || strcmp(ending, "npy") == 0;
}

static bool image_is_possible(const struct declared_field *d)
{
    return d->media || ((d->ndim == 2 || d->ndim == 3) && (d->dtype == APL_U8 || d->dtype == APL_U16));
}

static void plan_declared(struct wds_field *field, const struct declared_field *d)
{
    field->plan = (struct image_plan){.keep = d->media != NULL, .bits = d->dtype == APL_U16 ? 16 : 8};
    if (d->media)
        return;
    unsigned without = 3 - d->ndim; /* the dimension of channels, of which there is then one */
    field->plan.fixed = true;
    for (unsigned i = 0; i < 3; i++) {
        int64_t side = i < without ? 1 : d->shape[i - without];
        field->plan.fixed &= side >= 1;
        field->plan.shape[i] = side >= 1 && side < UINT32_MAX ? (uint32_t)side : 0;
    }
}

apl_status wds_decide_declared(struct wds_fields *f, const struct format_host *host, apl_error *err)
{
    const struct image_rules *r = &host->images;
    if (r->form != IMAGES_AUTO || r->quality || r->orient || r->sizes.shorter || r->sizes.width ||
        r->sizes.longest || host->options->mask_column_count)
        return fail(err, APL_E_INVALID,
                    "is an export, which is read back as it was: its images and masks stay what they are");
    for (unsigned i = 0; i < f->ending_count; i++)
        f->endings[i].field = WDS_NO_FIELD;
    for (; f->count < f->declared.count; f->count++) {
        const struct declared_field *d = &f->declared.fields[f->count];
        struct wds_field *field = &f->fields[f->count];
        *field = (struct wds_field){.ending = d->ending,
                                    .declared = d,
                                    .dtype = d->dtype,
                                    .role = d->role,
                                    .ndim = d->ndim,
                                    .media = d->media,
                                    .classes = d->classes,
                                    .class_count = d->class_count};
        memcpy(field->shape, d->shape, sizeof field->shape);
        snprintf(field->name, sizeof field->name, "%s", d->name);
        if (strlen(d->name) > APL_MAX_NAME || !kind_of_declared(d, &field->kind) ||
            (field->kind == WDS_IMAGE && !image_is_possible(d)) ||
            (field->kind == WDS_NUMBER && (d->ndim > 0 || d->dtype > APL_I64)))
            return fail(err, APL_E_SOURCE, "field %u of schema.json cannot be a file .%.100s", f->count,
                        d->ending);
        if (field->kind == WDS_IMAGE)
            plan_declared(field, d);
        int ending = wds_find_ending(f, d->ending);
        if (ending >= 0) {
            f->endings[ending].field = f->count;
            field->seen = f->endings[ending].seen;
        }
    }
    return APL_OK;
}

/* From the names of masks to their fields: see wds_masks.h. */
#include "wds_masks.h"

#include "said_kinds.h"

#include <inttypes.h>
#include <stdio.h>

static struct wds_field *field_of_mask(struct wds_fields *f, const char *name)
{
    for (unsigned i = 0; i < f->count; i++)
        if (strcmp(f->fields[i].name, name) == 0)
            return &f->fields[i];
    return NULL;
}

/* All names of fields, "image, mask", or as many as there is room for. */
static const char *names_of(const struct wds_fields *f, char *out, size_t size)
{
    size_t used = 0;
    *out = 0;
    for (unsigned i = 0; i < f->count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "", f->fields[i].name);
    return out;
}

/* --field says that it is a mask, or a map, whose numbers are kept as well. */
static bool is_said_mask(const struct wds_field *field, const struct format_host *host)
{
    const apl_kind *kind = said_kinds_find(host->kinds, field->name);
    return kind && field->kind == WDS_IMAGE && (kind->id == APL_KIND_MASK || kind->id == APL_KIND_MAP);
}

static apl_status ask_for_mask(struct wds_fields *f, const char *name, apl_error *err)
{
    char shown[256], names[512];
    struct wds_field *field = field_of_mask(f, name);
    printable(shown, sizeof shown, name, strlen(name));
    if (!field)
        return fail(err, APL_E_INVALID, "has no field %s, for --mask; there are %s", shown,
                    names_of(f, names, sizeof names));
    if (field->kind != WDS_IMAGE)
        return fail(err, APL_E_INVALID, "field %s is of files .%s, which are no masks, for --mask", shown,
                    field->ending);
    if (field->plan.mask)
        return fail(err, APL_E_INVALID, "field %s is given twice, as --mask", shown);
    field->plan.mask = true;
    return APL_OK;
}

/* What is called after more than its kind may be masks. */
static void tell_of_numbers(const struct wds_field *field, const struct format_host *host)
{
    char text[2 * APL_MAX_NAME + 256];
    if (field->kind != WDS_IMAGE || field->plan.mask || field->survey.changed == 0 ||
        strcmp(field->name, "image") == 0)
        return;
    snprintf(text, sizeof text,
             "field %s: %" PRIu64
             " images with a palette or few levels of grey, whose numbers become colours or are scaled; if "
             "they are masks, --mask %s stores the class numbers",
             field->name, field->survey.changed, field->name);
    host->notice(host->user, "", text);
}

apl_status wds_masks_find(struct wds_fields *f, const struct format_host *host, apl_error *err)
{
    const apl_ingest_options *o = host->options;
    for (size_t i = 0; i < o->mask_column_count; i++)
        TRY(ask_for_mask(f, o->mask_columns[i], err));
    for (unsigned i = 0; i < f->count; i++)
        f->fields[i].plan.mask |= is_said_mask(&f->fields[i], host);
    f->masked = WDS_NO_FIELD;
    for (unsigned i = f->count; i-- > 0;)
        if (f->fields[i].kind == WDS_IMAGE && !f->fields[i].plan.mask)
            f->masked = i;
    for (unsigned i = 0; i < f->count; i++)
        tell_of_numbers(&f->fields[i], host);
    return APL_OK;
}

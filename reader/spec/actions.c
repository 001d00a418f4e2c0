/* What becomes of fields when images move, for callers who move some themselves: see apl_reader_actions(). */
#include "asked.h"
#include "field_kinds.h"
#include "images.h"
#include "kind_rule.h"
#include "transform.h"

#include <stdlib.h>
#include <string.h>

static apl_status mark_read(const struct spec *spec, const apl_reader_options *o, bool *wanted,
                            apl_error *err)
{
    for (unsigned f = 0; f < spec->schema->count; f++)
        wanted[f] = !o->fields;
    for (size_t i = 0; o->fields && i < o->field_count; i++) {
        unsigned f;
        TRY(store_find_field(spec->store, o->fields[i], &f, err));
        wanted[f] = true;
    }
    return APL_OK;
}

/* An image of its own: not one that is said to belong to another. */
static bool is_own_image(const struct schema *schema, unsigned field)
{
    return field_kind(&schema->fields[field]) == APL_KIND_IMAGE && !*schema->fields[field].kind->of;
}

/* The images that move: those that transforms name; or all that are said to be, or else the one by default, if there is but one. */
static apl_status find_moved(const struct spec *spec, const apl_reader_options *o, const bool *wanted,
                             bool *moved, apl_error *err)
{
    apl_error none;
    unsigned f = 0;
    bool any = false;
    for (size_t i = 0; i < o->transform_count; i++) {
        apl_transform t;
        TRY(transform_take(&t, o->transforms, i, err));
        if (t.field) {
            TRY(store_find_field(spec->store, t.field, &f, err));
            moved[f] = any = true;
        }
    }
    for (f = 0; !o->transform_count && f < spec->schema->count; f++)
        any |= moved[f] = wanted[f] && is_own_image(spec->schema, f);
    if (!any && image_find(spec->schema, wanted, NULL, &f, &none) == APL_OK)
        moved[f] = true;
    return APL_OK;
}

/* A field of which nobody has said what it is, and that moves as an image, is one. */
static apl_kind kind_told(const apl_field *f, bool moved)
{
    if (field_kind(f) == APL_KIND_NONE && moved)
        return (apl_kind){.id = APL_KIND_IMAGE, .origin = APL_BY_DEFAULT};
    return f->kind ? *f->kind : (apl_kind){.id = APL_KIND_NONE};
}

static apl_action action_of(const struct spec *spec, unsigned field, const bool *moved)
{
    const apl_field *f = &spec->schema->fields[field];
    apl_kind_id id = field_kind(f);
    if (moved[field] && (id == APL_KIND_NONE || id == APL_KIND_IMAGE))
        return APL_MOVES;
    const char *of = kinds_image(spec->schema, f);
    int image = *of ? schema_find(spec->schema, of) : -1;
    return image >= 0 && !moved[image] ? APL_STAYS : apl_field_action(f, NULL);
}

static apl_status tell_actions(struct spec *spec, const apl_reader_options *o, apl_kind *kinds,
                               apl_action *actions, apl_error *err)
{
    bool wanted[APL_MAX_FIELDS] = {false}, moved[APL_MAX_FIELDS] = {false};
    TRY(kinds_open(spec, o->kinds, o->kind_count, err));
    TRY(mark_read(spec, o, wanted, err));
    TRY(find_moved(spec, o, wanted, moved, err));
    for (unsigned f = 0; f < spec->schema->count; f++) {
        kinds[f] = kind_told(&spec->schema->fields[f], moved[f]);
        actions[f] = wanted[f] ? action_of(spec, f, moved) : APL_STAYS;
    }
    return APL_OK;
}

apl_status apl_reader_actions(apl_store *store, const apl_reader_options *options, apl_kind *kinds,
                              apl_action *actions, apl_error *err)
{
    struct asked asked;
    struct spec *spec = calloc(1, sizeof *spec);
    if (!spec)
        return fail_nomem(err);
    apl_status status = store && kinds && actions
                            ? asked_take(&asked, options, err)
                            : fail(err, APL_E_INVALID, "apl_reader_actions: store, kinds or actions is NULL");
    if (status == APL_OK) {
        spec->store = store;
        status = tell_actions(spec, &asked.options, kinds, actions, err);
        asked_free(&asked);
        kinds_close(spec);
    }
    free(spec);
    return status;
}

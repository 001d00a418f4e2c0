/* The entry of a manifest, or of the list of a set, that says what a field is. */
#include "manifest_entry.h"

#include <string.h>

/* KIND: field (4), kind (1), form (1), origin (1), zero (1), of, per, parameters (text each). Readers need not know the entry: without
 * it, nobody has said what the field is. */
void put_kind(struct buffer *b, const struct schema *schema, unsigned f)
{
    const apl_kind *kind = schema->fields[f].kind;
    size_t at = entry_begin(b, TAG_KIND, 0);
    buffer_le(b, f, 4);
    buffer_le(b, kind->id, 1);
    buffer_le(b, kind->form, 1);
    buffer_le(b, kind->origin, 1);
    buffer_le(b, 0, 1);
    text_put(b, kind->of);
    text_put(b, kind->per);
    text_put(b, kind->parameters);
    entry_end(b, at);
}

/* A text as a string; false: it does not fit, or has a NUL. */
static bool get_string(struct cursor *c, char *to, size_t size)
{
    size_t length;
    const char *text = text_get(c, &length);
    if (!text || length >= size || memchr(text, 0, length))
        return false;
    memcpy(to, text, length);
    return true;
}

apl_status get_kind(struct cursor *c, struct manifest *m, unsigned known_minor, apl_error *err)
{
    apl_kind kind = {0};
    uint32_t f = cursor_u32(c);
    kind.id = (apl_kind_id)cursor_u8(c);
    kind.form = (apl_form)cursor_u8(c);
    kind.origin = (apl_origin)cursor_u8(c);
    cursor_take(c, 1);
    if (f >= m->schema.count || m->schema.fields[f].kind || kind.id == APL_KIND_NONE ||
        !get_string(c, kind.of, sizeof kind.of) || !get_string(c, kind.per, sizeof kind.per) ||
        !get_string(c, kind.parameters, sizeof kind.parameters))
        return bad_manifest(err, "what a field is");
    apl_error inner;
    apl_status status = schema_set_kind(&m->schema, f, &kind, &inner);
    /* Of a later version, it may be what this one does not know: then the field is one that cannot be moved. */
    if (status == APL_E_INVALID && m->info.format_minor > known_minor)
        status = schema_set_kind(&m->schema, f, &(apl_kind){.id = APL_KIND_PINNED, .origin = APL_BY_DEFAULT},
                                 &inner);
    return status == APL_E_INVALID ? bad_manifest(err, inner.message)
           : status == APL_OK      ? APL_OK
                                   : fail_nomem(err);
}

/* What the fields that are read are: see field_kinds.h. */
#include "field_kinds.h"

#include "hash.h"
#include "kind_rule.h"

#include <stdlib.h>
#include <string.h>

/* A field that another says to be of, or per: it must be there, and be another one. */
static apl_status check_other(const struct schema *schema, unsigned field, const char *word,
                              const char *other, apl_error *err)
{
    const char *name = schema->fields[field].name;
    if (!*other || (schema_find(schema, other) >= 0 && strcmp(other, name) != 0))
        return APL_OK;
    return fail(err, APL_E_INVALID, "kinds: %.64s says %s=%.64s, %s", name, word, other,
                strcmp(other, name) == 0 ? "itself" : "and there is no such field");
}

static apl_status declare(struct spec *spec, const char *text, apl_error *err)
{
    char name[APL_MAX_NAME + 1];
    apl_kind kind;
    unsigned field;
    if (!text)
        return fail(err, APL_E_INVALID, "kinds: one of them is NULL");
    apl_status status = apl_kind_parse(text, name, &kind, err);
    if (status == APL_OK)
        status = store_find_field(spec->store, name, &field, err);
    if (status != APL_OK)
        return fail_in(err, status, "kinds");
    if (spec->declared[field])
        return fail(err, APL_E_INVALID, "kinds: field %s is declared twice", name);
    spec->own.fields[field].kind = NULL; /* that is the store's */
    TRY(schema_set_kind(&spec->own, field, &kind, err));
    spec->declared[field] = true;
    TRY(check_other(spec->schema, field, "of", kind.of, err));
    return check_other(spec->schema, field, "per", kind.per, err);
}

apl_status kinds_open(struct spec *spec, const char *const *texts, size_t count, apl_error *err)
{
    spec->own = spec->store->manifest.schema; /* what its fields point to is the store's, */
    spec->schema = &spec->own;
    for (size_t i = 0; i < count; i++)
        TRY(declare(spec, texts[i], err));
    return APL_OK;
}

void kinds_close(struct spec *spec)
{
    for (unsigned f = 0; f < APL_MAX_FIELDS; f++)
        if (spec->declared[f]) /* and only what is declared here is its own */
            free((apl_kind *)spec->own.fields[f].kind);
}

/* The field that this one has an element for each of; NULL: none. */
static const apl_field *per_field(const struct schema *schema, const apl_field *field)
{
    int per = field->kind && *field->kind->per ? schema_find(schema, field->kind->per) : -1;
    return per < 0 ? NULL : &schema->fields[per];
}

/* No chain is longer than there are fields, but where it leads in a circle. */
const char *kinds_image(const struct schema *schema, const apl_field *field)
{
    for (unsigned steps = 0; field && steps < schema->count; steps++) {
        if (field->kind && *field->kind->of)
            return field->kind->of;
        field = per_field(schema, field);
    }
    return "";
}

int kinds_boxes(const struct schema *schema, const apl_field *field)
{
    for (unsigned steps = 0; field && steps < schema->count; steps++) {
        field = per_field(schema, field);
        if (field && field_kind(field) == APL_KIND_BOXES)
            return (int)(field - schema->fields);
    }
    return -1;
}

/* ---------------------------------------------------------------------------------------------- states */

static bool is_declared(const apl_field *field)
{
    return field_kind(field) != APL_KIND_NONE && field->kind->origin != APL_BY_DEFAULT;
}

/* Of its name and all that its kind says; 0: nobody has said. */
static uint64_t kind_hash(const apl_field *field)
{
    struct buffer b = {0};
    const apl_kind *kind = field->kind;
    if (!is_declared(field))
        return 0;
    const char *const texts[] = {field->name, kind->of, kind->per, kind->parameters};
    buffer_le(&b, kind->id, 4);
    buffer_le(&b, kind_form(kind), 4);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        buffer_put(&b, texts[i], strlen(texts[i]) + 1);
    uint64_t hash = b.failed ? 0 : hash_xxh3_64(b.data, b.size);
    buffer_free(&b);
    return hash;
}

uint64_t kinds_sum(const struct spec *spec)
{
    uint64_t sum = 0;
    for (unsigned f = 0; f < spec->schema->count; f++)
        sum ^= spec->options.wanted[f] ? kind_hash(&spec->schema->fields[f]) : 0;
    return sum;
}

/* Sums of hashes, by exclusive or, as a basis of vectors of bits: basis[i] has i as its highest bit, or is 0. What is left of a sum once all
 * that it can be made of is taken away is 0 if it is one of some of them. */
static uint64_t reduce(const uint64_t basis[64], uint64_t sum)
{
    for (unsigned i = 64; i-- > 0;)
        if (sum >> i & 1)
            sum ^= basis[i];
    return sum;
}

static void extend(uint64_t basis[64], uint64_t hash)
{
    uint64_t left = reduce(basis, hash);
    for (unsigned i = 64; i-- > 0;)
        if (left >> i & 1) {
            basis[i] = left;
            return;
        }
}

/* Of a field that is not read here, what the store says agrees too. */
bool kinds_agree(const struct spec *spec, uint64_t sum)
{
    uint64_t basis[64] = {0};
    for (unsigned f = 0; f < spec->schema->count; f++) {
        extend(basis, kind_hash(&spec->schema->fields[f]));
        if (!spec->options.wanted[f])
            extend(basis, kind_hash(&spec->store->manifest.schema.fields[f]));
    }
    return reduce(basis, sum) == 0;
}

char *kinds_list(const struct spec *spec, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned f = 0; f < spec->schema->count && used + 2 < size; f++) {
        const apl_field *field = &spec->schema->fields[f];
        if (!spec->options.wanted[f] || !is_declared(field))
            continue;
        if (used)
            text[used++] = ' ';
        used += strlen(apl_kind_print(field->name, field->kind, text + used, size - used));
    }
    return used ? text : strcpy(text, "of none is any kind known");
}

/* What a caller asks to be collated: see collation.h. */
#include "collation.h"

#include "buckets.h"
#include "exact_value.h"
#include "packing.h"
#include "sized.h"
#include "token_windows.h"

/* ---------------------------------------------------------------------------------------------- asking */

static const char *const names[] = {[APL_COLLATE_NONE] = "none",
                                    [APL_COLLATE_RAGGED] = "ragged",
                                    [APL_COLLATE_PAD] = "pad",
                                    [APL_COLLATE_PACK] = "pack",
                                    [APL_COLLATE_NODES] = "nodes",
                                    [APL_COLLATE_EDGES] = "edges",
                                    [APL_COLLATE_EDGE_INDEX] = "edge_index",
                                    [APL_COLLATE_WINDOWS] = "windows"};
#define LAST_WAY APL_COLLATE_WINDOWS

static apl_status check_windows(const char *field, const apl_collation *asked, apl_error *err)
{
    bool sizes = asked->length && asked->length <= INT32_MAX && asked->stride <= INT32_MAX;
    if (!sizes || asked->fill != 0 || asked->truncate)
        return fail(
            err, APL_E_INVALID,
            "field %s: windows want a length, 1 to 2^31 - 1, a stride of as much at most, and neither fill "
            "nor truncate",
            field);
    return APL_OK;
}

/* Members that another way of collating has. */
static apl_status check_meaning(const char *field, const apl_collation *asked, apl_error *err)
{
    bool pads = asked->how == APL_COLLATE_PAD, packs = asked->how == APL_COLLATE_PACK;
    if (asked->no_segments && !packs)
        return fail(err, APL_E_INVALID, "field %s: no_segments has no meaning for %s", field,
                    names[asked->how]);
    if (asked->how == APL_COLLATE_WINDOWS)
        return check_windows(field, asked, err);
    if (asked->stride || asked->join)
        return fail(err, APL_E_INVALID, "field %s: stride and join have no meaning for %s", field,
                    names[asked->how]);
    if (packs && (asked->length == 0 || asked->length > INT32_MAX || asked->truncate))
        return fail(err, APL_E_INVALID,
                    "field %s: pack wants the length of a row, 1 to 2^31 - 1, and no truncate", field);
    if (!pads && !packs && (asked->length || asked->fill != 0 || asked->truncate))
        return fail(err, APL_E_INVALID, "field %s: length, fill and truncate have no meaning for %s", field,
                    names[asked->how]);
    if (asked->truncate && asked->length == 0)
        return fail(err, APL_E_INVALID, "field %s: truncate without a length", field);
    return APL_OK;
}

/* The one dimension that varies. */
static apl_status find_axis(const apl_field *f, const apl_collation *asked, unsigned *axis, apl_error *err)
{
    char text[FIELD_TYPE_TEXT];
    *axis = 0;
    if (f->dtype == APL_UTF8)
        return fail(err, APL_E_INVALID,
                    "field %s: text comes with offsets only; to pad or pack its bytes, store them as u8[-1]",
                    f->name);
    while (*axis < f->ndim && f->shape[*axis] >= 0)
        ++*axis;
    bool any_axis = asked->how == APL_COLLATE_PAD || asked->how == APL_COLLATE_EDGE_INDEX;
    if (field_varying(f) != 1 || (*axis > 0 && !any_axis))
        return fail(err, APL_E_INVALID, "field %s: is %s; %s is for fields with one varying dimension%s",
                    f->name, field_type_text(f, text), names[asked->how], any_axis ? "" : ", the first");
    return APL_OK;
}

/* Bytes of a value that is `length` long in the dimension that varies; 0: more than a value may have. */
static size_t row_value_bytes(const apl_field *f, uint64_t length)
{
    uint32_t dim = length > APL_MAX_VALUE ? APL_MAX_VALUE + 1 : (uint32_t)length;
    size_t bytes;
    return field_value_bytes(f, &dim, &bytes) ? bytes : 0;
}

apl_status collation_add_part(struct reader_options *o, unsigned field, apl_part part, size_t row_bytes,
                              apl_error *err)
{
    if (o->part_count == POOL_MAX_PARTS)
        return fail(err, APL_E_UNSUPPORTED, "collations add more than %u arrays to a batch", POOL_MAX_PARTS);
    o->parts[o->part_count++] = (struct collation_part){field, part, row_bytes};
    return APL_OK;
}

static apl_status take_pad(struct reader_options *o, unsigned field, const apl_field *f,
                           const struct collation *c, apl_error *err)
{
    if (c->length && row_value_bytes(f, c->length) == 0)
        return fail(err, APL_E_INVALID, "field %s: values of length %llu are larger than %u bytes", f->name,
                    (unsigned long long)c->length, APL_MAX_VALUE);
    TRY(collation_add_part(o, field, APL_PART_LENGTHS, sizeof(int64_t), err));
    return collation_add_part(o, field, APL_PART_MASK, (size_t)c->length, err);
}

static apl_status take_pack(struct reader_options *o, unsigned field, const apl_field *f,
                            const struct collation *c, bool no_segments, apl_error *err)
{
    if (row_value_bytes(f, c->length) == 0)
        return fail(err, APL_E_INVALID, "field %s: rows of length %llu are larger than %u bytes", f->name,
                    (unsigned long long)c->length, APL_MAX_VALUE);
    if (o->pack.row && o->pack.row != c->length)
        return fail(err, APL_E_INVALID, "field %s: is packed to %llu, and another field to %llu", f->name,
                    (unsigned long long)c->length, (unsigned long long)o->pack.row);
    if (o->pack.row && o->pack.no_segments != no_segments)
        return fail(err, APL_E_INVALID, "field %s: is packed %s segments, unlike another field", f->name,
                    no_segments ? "without" : "with");
    if (o->pack.row)
        return APL_OK;
    o->pack.row = c->length;
    o->pack.field = field;
    o->pack.no_segments = no_segments;
    if (no_segments)
        return APL_OK;
    TRY(collation_add_part(o, field, APL_PART_SEGMENTS, (size_t)c->length * sizeof(int32_t), err));
    return collation_add_part(o, field, APL_PART_POSITIONS, (size_t)c->length * sizeof(int32_t), err);
}

static apl_status take_windows(struct reader_options *o, unsigned field, const apl_field *f,
                               const apl_collation *asked, apl_error *err)
{
    struct windows *w = &o->windows;
    uint64_t stride = asked->stride ? asked->stride : asked->length;
    if (row_value_bytes(f, asked->length) == 0)
        return fail(err, APL_E_INVALID, "field %s: windows of length %llu are larger than %u bytes", f->name,
                    (unsigned long long)asked->length, APL_MAX_VALUE);
    if (w->length && (w->length != asked->length || w->stride != stride || w->join != (asked->join != 0)))
        return fail(err, APL_E_INVALID, "field %s: has other windows than another field", f->name);
    w->field = w->length ? w->field : field;
    w->length = asked->length;
    w->stride = stride;
    w->join = asked->join != 0;
    return APL_OK;
}

static bool is_edge_index(const apl_field *f)
{
    bool either = f->ndim == 2 && (f->shape[0] == 2 || f->shape[1] == 2);
    return either && (f->dtype == APL_I32 || f->dtype == APL_I64);
}

static apl_status graph_take(struct reader_options *o, unsigned field, const apl_field *f,
                             const struct collation *c, apl_error *err)
{
    char text[FIELD_TYPE_TEXT];
    struct graph *g = &o->graph;
    if (c->how == APL_COLLATE_EDGE_INDEX && !is_edge_index(f))
        return fail(err, APL_E_INVALID, "field %s: is %s; edge_index is i32 or i64, of shape [2,*] or [*,2]",
                    f->name, field_type_text(f, text));
    if (c->how == APL_COLLATE_EDGE_INDEX && !g->indexed) {
        g->indexed = true;
        g->index = field;
    }
    if (c->how != APL_COLLATE_NODES || g->noded)
        return APL_OK;
    g->noded = true;
    g->nodes = field;
    TRY(collation_add_part(o, field, APL_PART_GRAPHS, 0, err));
    return collation_add_part(o, field, APL_PART_STARTS, 0, err);
}

static apl_status take_bucket(struct reader_options *o, unsigned field, const apl_field *f,
                              const apl_collation *asked, apl_error *err)
{
    if (asked->bucket && asked->how != APL_COLLATE_PAD && asked->how != APL_COLLATE_RAGGED)
        return fail(err, APL_E_INVALID, "field %s: bucket has no meaning for %s", f->name, names[asked->how]);
    if (asked->bucket && o->bucket.batches)
        return fail(err, APL_E_INVALID, "field %s: two fields have buckets", f->name);
    if (asked->bucket > UINT32_MAX / options_global_batch(o))
        return fail(err, APL_E_INVALID, "field %s: buckets of 2^32 records or more", f->name);
    if (asked->bucket) {
        o->bucket.batches = asked->bucket;
        o->bucket.field = field;
    }
    return APL_OK;
}

static apl_status take_collation(struct spec *spec, const apl_collation *asked, apl_error *err)
{
    struct reader_options *o = &spec->options;
    unsigned field;
    if ((unsigned)asked->how > LAST_WAY)
        return fail(err, APL_E_INVALID, "a collation's `how` is %u: at most %u", (unsigned)asked->how,
                    LAST_WAY);
    TRY(store_find_field(spec->store, asked->field, &field, err));
    const apl_field *f = &spec->schema->fields[field];
    struct collation *c = &o->collations[field];
    if (!o->wanted[field])
        return fail(err, APL_E_INVALID, "field %s: has a collation, but is not read", f->name);
    if (c->how || o->transforms[field].size)
        return fail(err, APL_E_INVALID, "field %s: %s", f->name,
                    c->how ? "two collations" : "a transform and a collation exclude each other");
    TRY(check_meaning(f->name, asked, err));
    if (asked->how == APL_COLLATE_NONE)
        return APL_OK;
    TRY(find_axis(f, asked, &c->axis, err));
    TRY(take_bucket(o, field, f, asked, err));
    c->how = asked->how;
    c->length = asked->length;
    c->truncate = asked->truncate;
    if (!exact_value(f->dtype, asked->fill, c->fill))
        return fail(err, APL_E_INVALID, "field %s: %s cannot hold fill %.17g exactly", f->name,
                    apl_dtype_name(f->dtype), asked->fill);
    if (c->how == APL_COLLATE_PACK)
        return take_pack(o, field, f, c, asked->no_segments != 0, err);
    if (c->how == APL_COLLATE_WINDOWS)
        return take_windows(o, field, f, asked, err);
    if (c->how >= APL_COLLATE_NODES)
        return graph_take(o, field, f, c, err);
    return c->how == APL_COLLATE_PAD ? take_pad(o, field, f, c, err) : APL_OK;
}

apl_status collation_resolve(struct spec *spec, const apl_reader_options *asked, apl_error *err)
{
    static const apl_collation defaults = APL_COLLATION_INIT;
    for (size_t i = 0; i < asked->collation_count; i++) {
        apl_collation one = defaults;
        TRY(options_take_from(&one, sizeof one, asked->collations, i, "apl_collation", err));
        if (!one.field)
            return fail(err, APL_E_INVALID, "collations[%zu]: field is NULL", i);
        TRY(take_collation(spec, &one, err));
    }
    return APL_OK;
}

/* Where rows are not records, only fields that are collated in this way are read. */
static apl_status read_alone(struct spec *spec, const apl_reader_options *asked, unsigned first, bool *alike,
                             apl_error *err)
{
    struct reader_options *o = &spec->options;
    apl_collate how = o->collations[first].how;
    const char *made = how == APL_COLLATE_PACK ? "packed" : "windowed";
    for (unsigned f = 0; f < spec->schema->count; f++) {
        alike[f] = o->collations[f].how == how;
        if (o->wanted[f] && !alike[f] && (asked->fields || o->collations[f].how || o->transforms[f].size))
            return fail(err, APL_E_INVALID, "field %s: is not %s, as field %s is: rows are of all or of none",
                        spec->schema->fields[f].name, made, spec->schema->fields[first].name);
        o->wanted[f] = alike[f];
    }
    return APL_OK;
}

static apl_status open_packed(struct spec *spec, const apl_reader_options *asked, apl_error *err)
{
    const struct reader_options *o = &spec->options;
    bool packed[APL_MAX_FIELDS];
    TRY(read_alone(spec, asked, o->pack.field, packed, err));
    if (o->free_order || o->plan.lanes > 1)
        return fail(err, APL_E_INVALID, "pack is for strict order, without lanes");
    return packing_open(spec, packed, err);
}

static apl_status open_windows(struct spec *spec, const apl_reader_options *asked, apl_error *err)
{
    bool windowed[APL_MAX_FIELDS];
    TRY(read_alone(spec, asked, spec->options.windows.field, windowed, err));
    return windows_open(spec, windowed, err);
}

apl_status collation_open(struct spec *spec, const apl_reader_options *asked, apl_error *err)
{
    if (spec->options.pack.row)
        return open_packed(spec, asked, err);
    return spec->options.windows.length ? open_windows(spec, asked, err) : APL_OK;
}

static apl_status graph_check(const struct spec *spec, apl_error *err)
{
    const struct graph *g = &spec->options.graph;
    if (g->indexed && !g->noded)
        return fail(err, APL_E_INVALID, "field %s: edges lead to nodes, and no field is collated as nodes",
                    spec->schema->fields[g->index].name);
    return APL_OK;
}

static apl_status finish_buckets(struct spec *spec, apl_error *err)
{
    const struct reader_options *o = &spec->options;
    if (o->free_order || o->plan.lanes > 1 || o->plan.sequential || o->pack.row || o->windows.length)
        return fail(err, APL_E_INVALID,
                    "field %s: buckets are for strict order that is shuffled, without lanes, pack or windows",
                    spec->schema->fields[o->bucket.field].name);
    return buckets_open(spec, err);
}

apl_status collation_finish(struct spec *spec, apl_error *err)
{
    TRY(graph_check(spec, err));
    if (spec->options.bucket.batches)
        TRY(finish_buckets(spec, err));
    return spec->options.pack.row ? packing_count(spec, err) : APL_OK;
}

/* ---------------------------------------------------------------------------------------------- memory */

void collation_row_bytes(const struct spec *spec, size_t *bytes)
{
    const struct reader_options *o = &spec->options;
    for (unsigned f = 0; f < spec->schema->count; f++)
        if (o->collations[f].length)
            bytes[f] = row_value_bytes(&spec->schema->fields[f], o->collations[f].length);
    for (unsigned i = 0; i < o->part_count; i++)
        bytes[spec->schema->count + i] = o->parts[i].row_bytes;
}

unsigned collation_part(const struct spec *spec, unsigned field, apl_part part)
{
    unsigned i = 0;
    while (spec->options.parts[i].field != field || spec->options.parts[i].part != part)
        i++;
    return spec->schema->count + i;
}

void collation_fill(const struct spec *spec, unsigned field, uint8_t *out, size_t n)
{
    const uint8_t *fill = spec->options.collations[field].fill;
    size_t element = apl_dtype_size(spec->schema->fields[field].dtype), bytes = n * element;
    if (bytes == 0)
        return;
    memcpy(out, fill, element);
    for (size_t done = element; done < bytes;) { /* what is filled already fills as much again */
        size_t more = done < bytes - done ? done : bytes - done;
        memcpy(out + done, out, more);
        done += more;
    }
}

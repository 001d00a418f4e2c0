/* How long values are: see lengths.h. */
#include "lengths.h"

#include "kept.h"
#include "mix.h"
#include "parallel.h"

#include <stdlib.h>

struct visits {
    const struct spec *spec;
    unsigned field;
    bool values;
    lengths_visit *visit;
    void *user;
    struct visitor {
        bool ready;
        struct block_coder bc;
        struct raw_column column;
    } * workers;
};

/* The column of a block; of a kept field its list, if that will do. */
static apl_status read_column(const struct visits *v, struct visitor *w, uint32_t index, apl_error *err)
{
    const struct mix_source *source = mix_source_of(v->spec, index);
    const struct schema *schema = &source->store->manifest.schema;
    uint64_t number = v->spec->subset.block[index].number;
    unsigned field = source->field[v->field];
    struct block_view view;
    raw_column_clear(&w->column);
    if (mix_keeps(source, v->field) && !v->values) {
        TRY(store_block_head(source->store, number, &w->bc, &view, err));
        return store_list_kept(source->store, number, &w->bc, &view, field, &w->column, err);
    }
    TRY(store_block(source->store, number, &w->bc, &view, err));
    apl_status status = block_decode_column(&w->bc, schema, &view, field, false, &w->column, err);
    return status == APL_OK ? APL_OK : mix_name_block(v->spec, index, status, err);
}

static apl_status visit_block(void *context, unsigned worker, size_t task, apl_error *err)
{
    struct visits *v = context;
    struct visitor *w = &v->workers[worker];
    if (!w->ready)
        TRY(block_coder_init(&w->bc, err));
    w->ready = true;
    apl_status status = read_column(v, w, (uint32_t)task, err);
    bool bad = status == APL_E_CORRUPT && v->spec->options.skip_corrupt;
    if (status != APL_OK && !bad)
        return status;
    return v->visit(v->user, (uint32_t)task, bad ? NULL : &w->column, err);
}

apl_status lengths_visit_blocks(const struct spec *spec, unsigned field, bool values, lengths_visit *visit,
                                void *user, apl_error *err)
{
    unsigned threads = threads_for(0);
    struct visits v = {.spec = spec, .field = field, .values = values, .visit = visit, .user = user};
    v.workers = calloc(threads, sizeof *v.workers);
    apl_status status =
        v.workers ? parallel_for(threads, spec->subset.blocks, visit_block, &v, err) : fail_nomem(err);
    for (unsigned i = 0; v.workers && i < threads; i++) {
        block_coder_free(&v.workers[i].bc);
        raw_column_free(&v.workers[i].column);
    }
    free(v.workers);
    return status;
}

/* ------------------------------------------------------------------------------------------ lengths alone */

struct lengths {
    const struct spec *spec;
    uint32_t *of;
};

static apl_status note_lengths(void *user, uint32_t index, const struct raw_column *column, apl_error *err)
{
    const struct lengths *l = user;
    const struct subset_block *block = &l->spec->subset.block[index];
    (void)err;
    for (uint32_t i = 0; i < block->count; i++) {
        uint32_t record = block->chosen ? block->chosen[i] : i;
        l->of[block->before + i] = column ? lengths_of(column, record) : LENGTHS_UNKNOWN;
    }
    return APL_OK;
}

apl_status lengths_read(const struct spec *spec, unsigned field, uint32_t *lengths, apl_error *err)
{
    struct lengths l = {spec, lengths};
    return lengths_visit_blocks(spec, field, false, note_lengths, &l, err);
}

void lengths_forget_unknown(uint32_t *lengths, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        lengths[i] = lengths[i] == LENGTHS_UNKNOWN ? 0 : lengths[i];
}

static uint64_t id_at(const struct subset *subset, uint64_t i)
{
    uint32_t b = 0;
    while (i >= subset->block[b].before + subset->block[b].count)
        b++;
    return subset_id(subset, b * subset->stride + (uint32_t)(i - subset->block[b].before));
}

static bool alike(uint32_t a, uint32_t b)
{
    return a == b || a == LENGTHS_UNKNOWN || b == LENGTHS_UNKNOWN;
}

apl_status lengths_check_alike(const struct spec *spec, unsigned first, const uint32_t *lengths,
                               unsigned field, apl_error *err)
{
    uint64_t n = spec->subset.records, at = 0;
    uint32_t *other = malloc(n * sizeof *other);
    if (!other)
        return fail_nomem(err);
    apl_status status = lengths_read(spec, field, other, err);
    while (status == APL_OK && at < n && alike(lengths[at], other[at]))
        at++;
    if (status == APL_OK && at < n) {
        uint64_t id = id_at(&spec->subset, at);
        fail(err, APL_E_INVALID, "record %llu: field %s is %u long, and field %s, %s with it, %u",
             (unsigned long long)id, spec->schema->fields[first].name, lengths[at],
             spec->schema->fields[field].name, spec->options.pack.row ? "packed" : "windowed", other[at]);
        status = fail_records(err, APL_E_INVALID, id, 1);
    }
    free(other);
    return status;
}

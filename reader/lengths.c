/* How long values are: see lengths.h. */
#include "lengths.h"

#include "kept.h"
#include "mix.h"

#include <stdlib.h>

struct lengths {
    const apl_reader *reader;
    unsigned field;
    uint32_t *of;
    struct lengths_worker {
        bool ready;
        struct block_coder bc;
        struct raw_column column;
    } * workers;
};

/* The column of a block, or of a kept field its list. */
static apl_status read_column(const struct lengths *l, struct lengths_worker *w, uint32_t index,
                              apl_error *err)
{
    const struct mix_source *source = mix_source_of(l->reader, index);
    const struct schema *schema = &source->store->manifest.schema;
    uint64_t number = l->reader->subset.block[index].number;
    unsigned field = source->field[l->field];
    struct block_view view;
    raw_column_clear(&w->column);
    if (mix_keeps(source, l->field)) {
        TRY(store_block_head(source->store, number, &w->bc, &view, err));
        return store_list_kept(source->store, number, &w->bc, &view, field, &w->column, err);
    }
    TRY(store_block(source->store, number, &w->bc, &view, err));
    apl_status status = block_decode_column(&w->bc, schema, &view, field, false, &w->column, err);
    return status == APL_OK ? APL_OK : mix_name_block(l->reader, index, status, err);
}

static apl_status read_lengths(void *context, unsigned worker, size_t task, apl_error *err)
{
    struct lengths *l = context;
    struct lengths_worker *w = &l->workers[worker];
    const struct subset_block *block = &l->reader->subset.block[task];
    if (!w->ready)
        TRY(block_coder_init(&w->bc, err));
    w->ready = true;
    apl_status status = read_column(l, w, (uint32_t)task, err);
    bool bad = status == APL_E_CORRUPT && l->reader->options.skip_corrupt;
    if (status != APL_OK && !bad)
        return status;
    for (uint32_t i = 0; i < block->count; i++) {
        uint32_t record = block->members ? block->members[i] : i;
        l->of[block->first + i] = bad ? 0 : (uint32_t)load_le(w->column.dims.data + (size_t)record * 4, 4);
    }
    return APL_OK;
}

apl_status lengths_read(const apl_reader *r, unsigned field, uint32_t *lengths, apl_error *err)
{
    unsigned threads = threads_for(0);
    struct lengths l = {.reader = r, .field = field, .of = lengths};
    l.workers = calloc(threads, sizeof *l.workers);
    apl_status status =
        l.workers ? parallel_for(threads, r->subset.blocks, read_lengths, &l, err) : fail_nomem(err);
    for (unsigned i = 0; l.workers && i < threads; i++) {
        block_coder_free(&l.workers[i].bc);
        raw_column_free(&l.workers[i].column);
    }
    free(l.workers);
    return status;
}

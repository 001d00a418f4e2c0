/* Windows over values: see token_windows.h. */
#include "token_windows.h"

#include "lengths.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------------- reading */

struct opening {
    struct spec *spec;
    unsigned field;
    bool first;    /* the field whose lengths count */
    uint8_t *bad;  /* of each block of records */
    uint64_t *all; /* and how many tokens it has */
};

/* Keeps the tokens at the beginning of a block, those of its chosen records one after another. */
static apl_status keep_head(const struct opening *o, uint32_t index, const struct raw_column *column,
                            apl_error *err)
{
    const struct windows *w = &o->spec->options.windows;
    const struct subset_block *block = &o->spec->subset.block[index];
    const apl_field *field = &o->spec->schema->fields[o->field];
    size_t unit = lengths_unit(field), room = (size_t)(w->length - 1) * unit, done = 0;
    uint64_t bytes = o->all[index] * unit;
    room = bytes < room ? (size_t)bytes : room;
    uint8_t *head = malloc(room + 1);
    if (!head)
        return fail_nomem(err);
    w->heads[o->field][index] = head;
    for (uint32_t i = 0; i < block->count && done < room; i++) {
        size_t n;
        const uint8_t *value = raw_column_value(column, field, block->chosen ? block->chosen[i] : i, &n);
        n = n < room - done ? n : room - done;
        if (n)
            memcpy(head + done, value, n);
        done += n;
    }
    return APL_OK;
}

/* Notes the lengths of a block's values; for now, in the place of their ends. */
static apl_status take_block(void *user, uint32_t index, const struct raw_column *column, apl_error *err)
{
    struct opening *o = user;
    struct windows *w = &o->spec->options.windows;
    const struct subset_block *block = &o->spec->subset.block[index];
    for (uint32_t i = 0; o->first && i < block->count; i++) {
        uint32_t record = block->chosen ? block->chosen[i] : i;
        w->ends[block->before + i] = column ? lengths_of(column, record) : LENGTHS_UNKNOWN;
        o->all[index] += column ? w->ends[block->before + i] : 0;
    }
    o->bad[index] |= !column;
    return column && w->join ? keep_head(o, index, column, err) : APL_OK;
}

/* The lengths of the first field, those of the others, which are the same; and the heads of blocks. */
static apl_status read_fields(struct opening *o, const bool *windowed, apl_error *err)
{
    struct spec *spec = o->spec;
    struct windows *w = &spec->options.windows;
    o->first = true;
    o->field = w->field;
    TRY(lengths_visit_blocks(spec, w->field, w->join, take_block, o, err));
    o->first = false;
    for (o->field = 0; o->field < spec->schema->count; o->field++) {
        if (!windowed[o->field] || o->field == w->field)
            continue;
        TRY(lengths_check_alike(spec, w->field, w->ends, o->field, err));
        if (w->join)
            TRY(lengths_visit_blocks(spec, o->field, true, take_block, o, err));
    }
    lengths_forget_unknown(w->ends, spec->subset.records);
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------ counting */

static uint64_t windows_in(const struct windows *w, uint64_t tokens)
{
    return tokens < w->length ? 0 : (tokens - w->length) / w->stride + 1;
}

/* From lengths to ends, within a block: of tokens, or where records are apart, of windows. Of bad ones, one each. */
static uint32_t sum_ends(struct windows *w, const struct subset_block *block, bool bad)
{
    uint32_t *ends = w->ends + block->before, sum = 0;
    for (uint32_t i = 0; i < block->count; i++)
        ends[i] = sum += bad ? 1 : w->join ? ends[i] : (uint32_t)windows_in(w, ends[i]);
    return sum;
}

/* The windows that begin in a block, which comes `start` tokens after a stream begins, and has that many after it. */
static uint32_t count_joined(const struct windows *w, uint64_t start, uint64_t own, uint64_t after,
                             uint32_t *skip)
{
    uint64_t first = (w->stride - start % w->stride) % w->stride, begin, whole;
    *skip = first < own ? (uint32_t)first : 0;
    if (first >= own)
        return 0;
    begin = (own - first - 1) / w->stride + 1;
    whole = windows_in(w, own - first + after);
    return (uint32_t)(begin < whole ? begin : whole);
}

/* Does a stream go on from the block before `index` to it? */
static bool goes_on(const struct opening *o, uint32_t index)
{
    const struct subset *records = &o->spec->subset;
    return index > 0 && index < records->blocks && !o->bad[index - 1] && !o->bad[index] &&
           records->block[index - 1].part == records->block[index].part;
}

/* Tokens of the stream from block `index` on, into after[index]; of the last block's, none. */
static void count_after(const struct opening *o, uint64_t *after)
{
    uint32_t n = o->spec->subset.blocks;
    for (uint32_t i = n; i-- > 0;)
        after[i] = goes_on(o, i + 1) ? o->all[i + 1] + after[i + 1] : 0;
}

/* Appends a block of windows to the view. */
static void add_block(struct windows *w, struct subset *view, const struct subset *records, uint32_t index,
                      uint32_t count, struct window_block how)
{
    if (count == 0)
        return;
    how.records = index;
    w->block[view->blocks] = how;
    view->block[view->blocks++] = (struct subset_block){.number = records->block[index].number,
                                                        .first_id = view->records,
                                                        .records = count,
                                                        .count = count,
                                                        .part = records->block[index].part,
                                                        .before = view->records};
    view->records += count;
    view->part[records->block[index].part].records += count;
    view->stride = count > view->stride ? count : view->stride;
}

static void make_view(struct opening *o, const uint64_t *after, struct subset *view)
{
    struct windows *w = &o->spec->options.windows;
    const struct subset *records = &o->spec->subset;
    uint64_t start = 0;
    for (uint32_t i = 0; i < records->blocks; i++) {
        struct window_block how = {.bad = o->bad[i]};
        uint32_t sum = sum_ends(w, &records->block[i], how.bad), count = sum;
        start = goes_on(o, i) ? start : 0;
        if (w->join && !how.bad)
            count = count_joined(w, start, o->all[i], after[i], &how.skip);
        start += o->all[i];
        w->tokens += o->all[i];
        add_block(w, view, records, i, count, how);
    }
}

/* The most values that a window can be of: those that `length` tokens in a row may touch, the first and the last of them with one
 * token. While `ends` are lengths. */
static uint64_t most_parts(const struct windows *w, uint64_t records)
{
    const uint32_t *lengths = w->ends;
    uint64_t most = 1, count = 0, between = 0, first = 0;
    for (uint64_t last = 0; w->join && w->length > 1 && last < records; last++) {
        if (lengths[last] == 0)
            continue;
        first = count++ == 0 ? last : first;
        while (count > 2 && between > w->length - 2) {
            while (lengths[++first] == 0)
                continue;
            between -= lengths[first];
            count--;
        }
        most = count > most ? count : most;
        between += count > 1 ? lengths[last] : 0;
    }
    return most;
}

/* ------------------------------------------------------------------------------------------- opening */

static apl_status check_view(const struct spec *spec, const struct subset *view, apl_error *err)
{
    const struct windows *w = &spec->options.windows;
    const char *name = spec->schema->fields[w->field].name;
    if (view->records == 0)
        return fail(err, APL_E_INVALID, "field %s: no value is as long as a window, which has %llu", name,
                    (unsigned long long)w->length);
    if (view->records >= UINT32_MAX)
        return fail(err, APL_E_UNSUPPORTED, "field %s: %llu windows: at most 2^32 - 2", name,
                    (unsigned long long)view->records);
    return APL_OK;
}

/* The view that takes the place of the records, once `o` knows all about them. */
static apl_status take_view(struct opening *o, uint64_t *after, apl_error *err)
{
    struct spec *spec = o->spec;
    struct windows *w = &spec->options.windows;
    const struct subset *records = &spec->subset;
    struct subset view = {.parts = records->parts};
    view.block = calloc(records->blocks, sizeof *view.block);
    view.part = calloc(records->parts, sizeof *view.part);
    w->block = calloc(records->blocks, sizeof *w->block);
    apl_status status = view.block && view.part && w->block ? APL_OK : fail_nomem(err);
    if (status == APL_OK) {
        memcpy(view.part, records->part, records->parts * sizeof *view.part);
        for (uint32_t i = 0; i < view.parts; i++)
            view.part[i].records = 0;
        w->parts = most_parts(w, records->records);
        count_after(o, after);
        make_view(o, after, &view);
        status = check_view(spec, &view, err);
    }
    w->records = *records;
    spec->subset = view;
    return status;
}

static apl_status open_view(struct opening *o, const bool *windowed, apl_error *err)
{
    struct spec *spec = o->spec;
    struct windows *w = &spec->options.windows;
    w->ends = malloc(spec->subset.records * sizeof *w->ends);
    if (!w->ends)
        return fail_nomem(err);
    for (unsigned f = 0; w->join && f < spec->schema->count; f++)
        if (windowed[f] && !(w->heads[f] = calloc(spec->subset.blocks, sizeof *w->heads[f])))
            return fail_nomem(err);
    TRY(read_fields(o, windowed, err));
    uint64_t *after = malloc(spec->subset.blocks * sizeof *after);
    apl_status status = after ? take_view(o, after, err) : fail_nomem(err);
    free(after);
    return status;
}

static void free_heads(struct windows *w, uint32_t blocks)
{
    for (unsigned f = 0; f < APL_MAX_FIELDS; f++) {
        for (uint32_t i = 0; w->heads[f] && i < blocks; i++)
            free(w->heads[f][i]);
        free(w->heads[f]);
        w->heads[f] = NULL;
    }
}

apl_status windows_open(struct spec *spec, const bool *windowed, apl_error *err)
{
    struct opening o = {.spec = spec};
    o.bad = calloc(spec->subset.blocks, sizeof *o.bad);
    o.all = calloc(spec->subset.blocks, sizeof *o.all);
    apl_status status = o.bad && o.all ? open_view(&o, windowed, err) : fail_nomem(err);
    if (spec->options.windows.records.blocks ==
        0) /* there is no view yet that says how many heads there are */
        free_heads(&spec->options.windows, spec->subset.blocks);
    free(o.bad);
    free(o.all);
    return status;
}

void windows_free(struct windows *w)
{
    free_heads(w, w->records.blocks);
    subset_close(&w->records);
    free(w->ends);
    free(w->block);
}

/* -------------------------------------------------------------------------------------------- memory */

static uint64_t heads_bytes(const struct spec *spec)
{
    const struct windows *w = &spec->options.windows;
    uint64_t bytes = 0;
    for (unsigned f = 0; f < spec->schema->count; f++)
        if (w->heads[f])
            bytes += w->records.blocks * (w->length - 1) * lengths_unit(&spec->schema->fields[f]);
    return bytes;
}

uint64_t windows_bytes(const struct spec *spec)
{
    const struct windows *w = &spec->options.windows;
    return w->length ? w->records.records * sizeof *w->ends + spec->subset.blocks * sizeof *w->block +
                           heads_bytes(spec)
                     : 0;
}

uint64_t windows_standing_bytes(const struct spec *spec, unsigned field)
{
    return spec->options.windows.tokens * lengths_unit(&spec->schema->fields[field]) / spec->subset.records +
           1;
}

/* ------------------------------------------------------------------------------------------- walking */

/* The first of n ends that is above `at`; n, if none is. */
static uint32_t end_above(const uint32_t *ends, uint32_t n, uint64_t at)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ends[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void windows_begin(const struct spec *spec, uint32_t index, uint32_t nth, struct window_walk *walk)
{
    const struct windows *w = &spec->options.windows;
    const struct window_block *b = &w->block[index];
    const struct subset_block *records = windows_records(w, index);
    const uint32_t *ends = w->ends + records->before;
    uint64_t at = w->join && !b->bad ? b->skip + nth * w->stride : nth;
    uint32_t i = end_above(ends, records->count, at);
    uint64_t within = at - (i ? ends[i - 1] : 0);
    *walk = (struct window_walk){.windows = w,
                                 .block = b->records,
                                 .nth = i,
                                 .offset = w->join ? within : within * w->stride,
                                 .left = w->length};
}

/* Tokens that are left of the value where the walk is; apart, all of a window are of one. */
static uint64_t left_here(const struct window_walk *walk, const struct subset_block *b, uint32_t before)
{
    const struct windows *w = walk->windows;
    uint64_t here = w->join ? w->ends[b->before + walk->nth] - before - walk->offset : walk->left;
    return here < walk->left ? here : walk->left;
}

bool windows_next(struct window_walk *walk, struct window_part *part)
{
    const struct windows *w = walk->windows;
    uint64_t n = 0;
    while (walk->left > 0 && walk->block < w->records.blocks) {
        const struct subset_block *b = &w->records.block[walk->block];
        if (walk->nth >= b->count) {
            walk->block++;
            walk->nth = 0;
            continue;
        }
        uint32_t before = walk->nth ? w->ends[b->before + walk->nth - 1] : 0;
        n = left_here(walk, b, before);
        *part = (struct window_part){.block = walk->block,
                                     .nth = walk->nth,
                                     .id = b->first_id + (b->chosen ? b->chosen[walk->nth] : walk->nth),
                                     .offset = walk->offset,
                                     .before = before,
                                     .start = (uint32_t)(w->length - walk->left),
                                     .tokens = (uint32_t)n};
        walk->nth++;
        walk->offset = 0;
        walk->left -= n;
        if (n)
            return true;
    }
    return false;
}

uint32_t windows_block_records(const struct spec *spec, uint32_t index)
{
    const struct windows *w = &spec->options.windows;
    return w->records.blocks ? windows_records(w, index)->count : spec->subset.block[index].count;
}

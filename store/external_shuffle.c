/* Sorting by piles: see piles.h. */
#include "external_shuffle.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define PILE_BITS   6u
#define PILES       (1u << PILE_BITS)
#define SPILL_COUNT 64u                  /* records gathered for a pile before they are coded, */
#define SPILL_BYTES ((size_t)256 << 10)  /* or bytes */
#define SORT_BYTES  ((uint64_t)32 << 20) /* a pile of more is split into piles of its own */

struct chunk {
    uint64_t offset;
    size_t size;
};

struct pile {
    struct raw_block gathered;
    struct buffer chunks; /* of struct chunk */
    uint64_t bytes;       /* raw, of all chunks */
};

struct piles {
    struct schema schema; /* borrowed, but for the choices */
    bool chosen;
    unsigned position;
    struct random_key key;
    int fd;
    uint64_t *end;
    struct block_coder *bc;
    unsigned shift; /* of the key, so that its PILE_BITS lowest bits pick the pile */
    struct buffer coded;
    struct pile pile[PILES];
};

apl_status piles_new(const struct schema *schema, unsigned position, struct random_key key, int fd,
                     uint64_t *end, struct block_coder *bc, struct piles **piles, apl_error *err)
{
    struct piles *p = calloc(1, sizeof *p);
    if (!p)
        return fail_nomem(err);
    p->schema = *schema;
    p->position = position;
    p->key = key;
    p->fd = fd;
    p->end = end;
    p->bc = bc;
    p->shift = 64 - PILE_BITS;
    *piles = p;
    return APL_OK;
}

void piles_free(struct piles *p)
{
    if (!p)
        return;
    for (unsigned i = 0; i < PILES; i++) {
        raw_block_free(&p->pile[i].gathered);
        buffer_free(&p->pile[i].chunks);
    }
    buffer_free(&p->coded);
    free(p);
}

static uint64_t sort_key(const struct piles *p, uint64_t position)
{
    return siphash(p->key, &position, 1);
}

static apl_status write_scratch(int fd, const uint8_t *data, size_t size, uint64_t offset, apl_error *err)
{
    while (size > 0) {
        ssize_t n = pwrite(fd, data, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail_errno(err, n < 0 ? errno : ENOSPC, "cannot write the scratch file");
        data += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return APL_OK;
}

static apl_status read_scratch(int fd, uint8_t *data, size_t size, uint64_t offset, apl_error *err)
{
    while (size > 0) {
        ssize_t n = pread(fd, data, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail_errno(err, n < 0 ? errno : EIO, "cannot read the scratch file");
        data += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return APL_OK;
}

/* Codes what has been gathered for a pile and appends it to the file. */
static apl_status spill(struct piles *p, struct pile *pile, apl_error *err)
{
    if (pile->gathered.records == 0)
        return APL_OK;
    if (!p->chosen)
        TRY(block_choose(p->bc, &p->schema, &pile->gathered, -1, 0, err));
    p->chosen = true;
    TRY(block_encode(p->bc, &p->schema, &pile->gathered, &p->coded, err));
    struct chunk chunk = {*p->end, p->coded.size};
    TRY(write_scratch(p->fd, p->coded.data, p->coded.size, chunk.offset, err));
    *p->end += chunk.size;
    pile->bytes += raw_block_bytes(&pile->gathered, &p->schema);
    buffer_put(&pile->chunks, &chunk, sizeof chunk);
    raw_block_clear(&pile->gathered);
    return pile->chunks.failed ? fail_nomem(err) : APL_OK;
}

apl_status piles_add(struct piles *p, const apl_value *values, apl_error *err)
{
    uint64_t position;
    memcpy(&position, values[p->position].data, sizeof position);
    struct pile *pile = &p->pile[sort_key(p, position) >> p->shift & (PILES - 1)];
    TRY(raw_block_append(&pile->gathered, &p->schema, values, err));
    if (pile->gathered.records >= SPILL_COUNT || raw_block_bytes(&pile->gathered, &p->schema) >= SPILL_BYTES)
        return spill(p, pile, err);
    return APL_OK;
}

/* ---------------------------------------------------------------------------------------------- taking */

/* Calls `each` for every record of a pile, in the order they came. */
static apl_status for_each(struct piles *p, struct pile *pile,
                           apl_status (*each)(void *, const apl_value *, apl_error *), void *context,
                           apl_error *err)
{
    struct raw_block block = {0};
    apl_value values[APL_MAX_FIELDS];
    int64_t shapes[APL_MAX_FIELDS][APL_MAX_DIMS];
    apl_status status = APL_OK;
    for (size_t at = 0; at < pile->chunks.size; at += sizeof(struct chunk)) {
        struct chunk chunk;
        struct block_view view;
        memcpy(&chunk, pile->chunks.data + at, sizeof chunk);
        p->coded.size = 0;
        GUARD(buffer_reserve(&p->coded, chunk.size) ? APL_OK : fail_nomem(err));
        GUARD(read_scratch(p->fd, p->coded.data, chunk.size, chunk.offset, err));
        GUARD(block_parse(p->bc, p->coded.data, chunk.size, &p->schema, &view, err));
        GUARD(block_decode(p->bc, &p->schema, &view, &block, err));
        for (uint32_t i = 0; i < block.records; i++) {
            raw_block_record(&block, &p->schema, i, values, shapes);
            GUARD(each(context, values, err));
        }
    }
out:
    raw_block_free(&block);
    return status;
}

struct order {
    uint64_t key, position;
    uint32_t record;
};

static int compare_order(const void *a, const void *b)
{
    const struct order *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

struct gather {
    struct piles *piles;
    struct raw_block block;
};

static apl_status gather_record(void *context, const apl_value *values, apl_error *err)
{
    struct gather *g = context;
    return raw_block_append(&g->block, &g->piles->schema, values, err);
}

/* Reads a whole pile into memory, sorts it and hands it out. */
static apl_status sort_pile(struct piles *p, struct pile *pile,
                            apl_status (*take)(void *, const apl_value *, apl_error *), void *context,
                            apl_error *err)
{
    struct gather g = {.piles = p};
    struct order *order = NULL;
    apl_value values[APL_MAX_FIELDS];
    int64_t shapes[APL_MAX_FIELDS][APL_MAX_DIMS];
    apl_status status;
    GUARD(for_each(p, pile, gather_record, &g, err));
    order = calloc(g.block.records + 1, sizeof *order);
    GUARD(order ? APL_OK : fail_nomem(err));
    for (uint32_t i = 0; i < g.block.records; i++) {
        memcpy(&order[i].position, g.block.columns[p->position].values.data + i * sizeof(uint64_t),
               sizeof(uint64_t));
        order[i].key = sort_key(p, order[i].position);
        order[i].record = i;
    }
    qsort(order, g.block.records, sizeof *order, compare_order);
    for (uint32_t i = 0; i < g.block.records; i++) {
        raw_block_record(&g.block, &p->schema, order[i].record, values, shapes);
        GUARD(take(context, values, err));
    }
out:
    free(order);
    raw_block_free(&g.block);
    return status;
}

static apl_status add_record(void *context, const apl_value *values, apl_error *err)
{
    return piles_add(context, values, err);
}

/* Splits a pile that is too large to be sorted in memory by the next bits of the keys. */
static apl_status split_pile(struct piles *p, struct pile *pile,
                             apl_status (*take)(void *, const apl_value *, apl_error *), void *context,
                             apl_error *err)
{
    struct piles *finer = NULL; /* gcc 14 does not see that it is set */
    TRY(piles_new(&p->schema, p->position, p->key, p->fd, p->end, p->bc, &finer, err));
    finer->chosen = true;
    finer->shift = p->shift - PILE_BITS;
    apl_status status = for_each(p, pile, add_record, finer, err);
    if (status == APL_OK)
        status = piles_take(finer, take, context, err);
    piles_free(finer);
    return status;
}

apl_status piles_take(struct piles *p,
                      apl_status (*take)(void *context, const apl_value *values, apl_error *err),
                      void *context, apl_error *err)
{
    for (unsigned i = 0; i < PILES; i++) {
        struct pile *pile = &p->pile[i];
        TRY(spill(p, pile, err));
        if (pile->bytes > SORT_BYTES && p->shift >= PILE_BITS)
            TRY(split_pile(p, pile, take, context, err));
        else
            TRY(sort_pile(p, pile, take, context, err));
        raw_block_free(&pile->gathered);
        pile->gathered = (struct raw_block){0};
    }
    return APL_OK;
}

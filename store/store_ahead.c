/* What will be read is asked for before it is needed: at a URL by requests, of a file here by telling the kernel. */
#include "kept.h"
#include "set.h"
#include "store_file.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------- in parts, of a block */

static size_t head_bytes(const apl_store *store, uint64_t number, uint32_t *records)
{
    uint64_t first;
    manifest_block_ids(&store->manifest, number, &first, records);
    return (size_t)block_head_bytes(store->manifest.schema.count, *records);
}

/* Is the field one of the first, so that its index follows the header, and is asked for together with that? */
static bool is_beside_head(const apl_store *store, unsigned field)
{
    return field == 0 && store->manifest.schema.fields[field].media;
}

/* Columns that are next to each other are fetched together. */
static void ask_columns(const apl_store *store, uint64_t number, const struct block_view *view,
                        uint64_t fields, struct need need)
{
    unsigned n = 0;
    struct extent pieces[APL_MAX_FIELDS];
    for (unsigned f = 0; f < store->manifest.schema.count; f++) {
        const struct column_view *v = &view->columns[f];
        bool kept = store->manifest.schema.fields[f].media;
        if (fields >> f & 1 && !is_beside_head(store, f))
            pieces[n++] =
                (struct extent){v->offset, kept ? kept_index_bytes(v->codec, view->records) : v->coded_bytes};
    }
    (void)lmdb_reader_ahead(&store->lmdb, &store->blocks[number], pieces, n, need);
}

/* Waits for the header, which says where the columns lie. Whatever is wrong with it, those who take it find out. */
static void look_into_block(const apl_store *store, uint64_t number, uint64_t fields, struct need need)
{
    uint32_t records;
    struct block_coder bc = {0};
    struct block_view view;
    apl_error error;
    const uint8_t *bytes;
    const struct entry *e = &store->blocks[number];
    size_t head = head_bytes(store, number, &records);
    if (lmdb_reader_peek(&store->lmdb, e, head, &bc.file, &bytes) &&
        block_parse_head(&bc, bytes, head, e->size, &store->manifest.schema, &view, &error) == APL_OK)
        ask_columns(store, number, &view, fields, need);
    buffer_free(&bc.file);
    buffer_free(&bc.head);
}

/* The header, and the index that follows it. */
static enum ahead_asked ask_head(const apl_store *store, uint64_t number, uint64_t fields, struct need need)
{
    uint32_t records;
    const struct entry *e = &store->blocks[number];
    size_t head = head_bytes(store, number, &records);
    struct extent pieces[2] = {{0, head}};
    bool beside = fields & 1 && is_beside_head(store, 0);
    size_t index = beside ? kept_index_bytes(schema_kept_codec(&store->manifest.schema, 0), records) : 0;
    pieces[1] = (struct extent){head, index < e->size - head ? index : e->size - head};
    return lmdb_reader_ahead(&store->lmdb, e, pieces, 1 + beside, need);
}

/* -------------------------------------------------------------------------------------- in the background */

struct errand {
    apl_store *store; /* a set: the shard is not open yet */
    uint64_t number, fields;
    struct need need;
};

/* If the shard is open by now, a thread may be reading the block without having asked for it: it would be fetched twice. */
static void ask_at_once(void *what, apl_store *shard, uint64_t own)
{
    const struct errand *e = what;
    (void)store_ahead(shard, own, e->fields, e->need);
}

static void run_errand(void *what)
{
    struct errand *e = what;
    if (e->store->set)
        set_open_ahead(e->store, e->number, ask_at_once, e); /* if it fails, those who need it find out */
    else
        look_into_block(e->store, e->number, e->fields, e->need);
    store_release(e->store);
    free(e);
}

static void send_errand(const apl_store *store, uint64_t number, uint64_t fields, struct need need)
{
    struct errand *e = malloc(sizeof *e);
    if (!e)
        return;
    *e = (struct errand){store_retain((apl_store *)store), number, fields, need};
    if (remote_call(run_errand, e))
        return;
    store_release(e->store);
    free(e);
}

/* ------------------------------------------------------------------------------------------------ asking */

/* Of a block in a file here: its header and, as that would have to be waited for to know where its columns lie, its last bytes. There are
 * those that come after the column that is kept. */
#define TAIL ((size_t)16 << 10)
static void ask_ends(const apl_store *store, uint64_t number)
{
    uint32_t records;
    const struct entry *e = &store->blocks[number];
    size_t tail = e->size < TAIL ? e->size : TAIL;
    struct extent pieces[2] = {{0, head_bytes(store, number, &records)}, {e->size - tail, tail}};
    (void)lmdb_reader_ahead(&store->lmdb, e, pieces, 2, (struct need){false, DUE_UNKNOWN});
}

static bool ahead_here(const apl_store *store, uint64_t number, uint64_t fields, struct need need)
{
    const struct entry *e = &store->blocks[number];
    struct extent whole = {0, e->size};
    if (!fields || store->pinned) /* whose blocks are read as a whole */
        return lmdb_reader_ahead(&store->lmdb, e, &whole, 1, need) != ASK_LATER;
    if (!store->lmdb.remote) {
        ask_ends(store, number);
        return true;
    }
    enum ahead_asked asked = ask_head(store, number, fields, need);
    if (asked == ASKED)
        send_errand(store, number, fields, need);
    return asked != ASK_LATER;
}

bool store_ahead(const apl_store *store, uint64_t number, uint64_t fields, struct need need)
{
    bool asked;
    uint64_t own;
    if (!store->set)
        return ahead_here(store, number, fields, need);
    apl_store *shard = set_find_open(store, number, &own, &asked);
    if (!shard) {
        if (!asked && store_is_elsewhere(store))
            send_errand(store, number, fields, need);
        return true;
    }
    bool ok = ahead_here(shard, own, fields, need);
    store_release_file(shard);
    return ok;
}

/* The store whose file has the block, to be released with release_file(), and its number there; NULL: it is not open. */
static const apl_store *file_with(const apl_store *store, uint64_t *number)
{
    bool asked;
    return store->set ? set_find_open(store, *number, number, &asked) : store;
}

static void release_file(const apl_store *store, const apl_store *file)
{
    if (file != store)
        store_release_file((apl_store *)file);
}

void store_ahead_columns(const apl_store *store, uint64_t number, const struct block_view *view,
                         uint64_t fields, uint64_t again)
{
    const apl_store *file = file_with(store, &number);
    if (file && !file->pinned)
        ask_columns(file, number, view, fields, (struct need){false, again});
    release_file(store, file);
}

static bool ask_value(const apl_store *store, uint64_t number, const struct kept_place *place, uint64_t again)
{
    const apl_store *file = file_with(store, &number);
    struct extent piece = {place->offset, place->bytes};
    bool ok = !file || lmdb_reader_ahead(&file->lmdb, &file->blocks[number], &piece, 1,
                                         (struct need){true, again}) != ASK_LATER;
    release_file(store, file);
    return ok;
}

bool store_ahead_kept(const apl_store *store, uint64_t number, const struct block_view *view, unsigned field,
                      const struct kept_index *index, uint32_t record)
{
    struct kept_place place = kept_place_of(index, record);
    place.offset += view->columns[field].offset;
    return store->pinned || ask_value(store, number, &place, DUE_UNKNOWN);
}

bool store_ahead_value(const apl_store *store, uint64_t number, const struct raw_column *list,
                       uint32_t record, uint64_t again)
{
    struct kept_place place = kept_listed(list, record);
    return ask_value(store, number, &place, again);
}

void store_ahead_near(const apl_store *store, uint64_t number, const struct raw_column *list, uint32_t record)
{
    const apl_store *file = file_with(store, &number);
    struct kept_place place = kept_listed(list, record);
    struct extent piece = {place.offset, place.bytes};
    if (file && file->lmdb.fd >= 0)
        (void)lmdb_reader_ahead(&file->lmdb, &file->blocks[number], &piece, 1,
                                (struct need){false, DUE_UNKNOWN});
    release_file(store, file);
}

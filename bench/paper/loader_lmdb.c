/*
 * Records in an LMDB, each a value of its own, compressed by zstd or as it is, read as LMDBIO (Pumma et al., 2017 and 2019) reads:
 * where each value lies is found out once, so that no reader walks past records that others want; several readers
 * then share each batch, each at positions that it knows. This is the one file that reads and writes these LMDBs.
 */
#include "lmdb_records.h"
#include "source.h"

#include "measure.h"

#include <lmdb.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum { LEVEL = 3 };

/* A split is a database of this name, whose keys are the numbers of its records. */
struct records {
    char path[4096];
    MDB_env *env;
    MDB_txn *txn;
    MDB_val *positions; /* in the map, which does not move while the transaction lasts */
    size_t count;
    ZSTD_DCtx *decoders[PAPER_READERS];
};

static void must_lmdb(int code, const char *path)
{
    if (code != MDB_SUCCESS)
        paper_die("%s: %s", path, mdb_strerror(code));
}

/* The LMDB in the directory `lmdb`, by the form of its values. */
static void path_of(char *path, size_t size, const char *lmdb, bool compressed)
{
    snprintf(path, size, "%s/%s", lmdb, compressed ? "zstd" : "raw");
}

/* ---------------------------------------------------------------------------------------------- reading */

/* The one walk over all keys. Values of this size have pages of their own, which it does not touch. */
static void note_positions(struct records *r, MDB_dbi dbi)
{
    MDB_cursor *cursor;
    MDB_stat stat;
    MDB_val key;
    must_lmdb(mdb_stat(r->txn, dbi, &stat), r->path);
    must_lmdb(mdb_cursor_open(r->txn, dbi, &cursor), r->path);
    r->positions = must_have(calloc(stat.ms_entries + 1, sizeof *r->positions));
    while (r->count < stat.ms_entries) {
        must_lmdb(mdb_cursor_get(cursor, &key, &r->positions[r->count], MDB_NEXT), r->path);
        r->count++;
    }
    mdb_cursor_close(cursor);
}

static struct records *records_open(const struct loading *asked, bool compressed, size_t *count)
{
    const unsigned flags = MDB_RDONLY | MDB_NOLOCK | MDB_NOTLS | MDB_NORDAHEAD;
    MDB_dbi dbi;
    struct records *r = must_have(calloc(1, sizeof *r));
    path_of(r->path, sizeof r->path, asked->lmdb, compressed);
    must_lmdb(mdb_env_create(&r->env), r->path);
    must_lmdb(mdb_env_set_maxdbs(r->env, 2), r->path);
    must_lmdb(mdb_env_open(r->env, r->path, flags, 0), r->path);
    must_lmdb(mdb_txn_begin(r->env, NULL, MDB_RDONLY, &r->txn), r->path);
    must_lmdb(mdb_dbi_open(r->txn, asked->split, MDB_INTEGERKEY, &dbi), r->path);
    note_positions(r, dbi);
    *count = r->count;
    return r;
}

static void *open_compressed(const struct loading *asked, size_t *count)
{
    struct records *r = records_open(asked, true, count);
    for (unsigned i = 0; i < PAPER_READERS; i++)
        r->decoders[i] = must_have(ZSTD_createDCtx());
    return r;
}

static void *open_raw(const struct loading *asked, size_t *count)
{
    return records_open(asked, false, count);
}

static void copy_records(void *source, unsigned reader, const uint64_t *ids, size_t n, uint8_t *rows)
{
    const struct records *r = source;
    (void)reader;
    for (size_t i = 0; i < n; i++) {
        const MDB_val *value = &r->positions[ids[i]];
        if (value->mv_size != PAPER_ROW)
            paper_die("record %llu of %s has %zu bytes", (unsigned long long)ids[i], r->path, value->mv_size);
        memcpy(rows + i * PAPER_ROW, value->mv_data, PAPER_ROW);
    }
}

static void decompress_records(void *source, unsigned reader, const uint64_t *ids, size_t n, uint8_t *rows)
{
    struct records *r = source;
    for (size_t i = 0; i < n; i++) {
        const MDB_val *value = &r->positions[ids[i]];
        const size_t got = ZSTD_decompressDCtx(r->decoders[reader], rows + i * PAPER_ROW, PAPER_ROW,
                                               value->mv_data, value->mv_size);
        if (got != PAPER_ROW)
            paper_die("record %llu of %s cannot be decompressed", (unsigned long long)ids[i], r->path);
    }
}

static void records_close(void *source)
{
    struct records *r = source;
    for (unsigned i = 0; i < PAPER_READERS; i++)
        ZSTD_freeDCtx(r->decoders[i]);
    mdb_txn_abort(r->txn);
    mdb_env_close(r->env);
    free(r->positions);
    free(r);
}

static struct loader *compressed_loader(const struct loading *asked)
{
    static const struct source_kind kind = {open_compressed, decompress_records, NULL, records_close};
    return by_number_open(&kind, asked);
}

static struct loader *raw_loader(const struct loading *asked)
{
    static const struct source_kind kind = {open_raw, copy_records, NULL, records_close};
    return by_number_open(&kind, asked);
}

const struct loader_kind paper_lmdb = {"lmdb", compressed_loader, by_number_next, by_number_staged,
                                       by_number_close};
const struct loader_kind paper_lmdb_raw = {"lmdb-raw", raw_loader, by_number_next, by_number_staged,
                                           by_number_close};

/* --------------------------------------------------------------------------------------------- writing */

/* What is written, and the transaction that does. */
struct writing {
    const struct loading *asked;
    char path[4096];
    bool compressed;
    MDB_txn *txn;
};

static void put_record(const struct writing *w, MDB_dbi dbi, unsigned number, uint8_t *row)
{
    uint8_t coded[2 * PAPER_ROW];
    MDB_val key = {sizeof number, &number}, value = {PAPER_ROW, row};
    if (w->compressed) {
        value = (MDB_val){ZSTD_compress(coded, sizeof coded, row, PAPER_ROW, LEVEL), coded};
        if (ZSTD_isError(value.mv_size))
            paper_die("%s: %s", w->path, ZSTD_getErrorName(value.mv_size));
    }
    must_lmdb(mdb_put(w->txn, dbi, &key, &value, MDB_APPEND), w->path);
}

static void put_split(const struct writing *w, const char *split)
{
    struct loading of = *w->asked;
    char path[4096];
    uint8_t row[PAPER_ROW];
    MDB_dbi dbi;
    unsigned number = 0;
    of.split = split;
    must_lmdb(mdb_dbi_open(w->txn, split, MDB_INTEGERKEY | MDB_CREATE, &dbi), w->path);
    for (int file, i = 0; (file = raw_open(&of, (unsigned)i, path, sizeof path)) >= 0; i++) {
        ssize_t got;
        while ((got = read(file, row, sizeof row)) == (ssize_t)sizeof row)
            put_record(w, dbi, number++, row);
        if (got != 0)
            paper_die("%s: ends in the middle of a record", path);
        close(file);
    }
}

static void write_one(const struct loading *asked, bool compressed)
{
    MDB_env *env;
    struct writing w = {.asked = asked, .compressed = compressed};
    path_of(w.path, sizeof w.path, asked->lmdb, compressed);
    if (mkdir(w.path, 0777) != 0)
        paper_die_of(w.path);
    must_lmdb(mdb_env_create(&env), w.path);
    must_lmdb(mdb_env_set_maxdbs(env, 2), w.path);
    must_lmdb(mdb_env_set_mapsize(env, (size_t)1 << 30), w.path);
    must_lmdb(mdb_env_open(env, w.path, 0, 0666), w.path);
    must_lmdb(mdb_txn_begin(env, NULL, 0, &w.txn), w.path);
    put_split(&w, "train");
    put_split(&w, "test");
    must_lmdb(mdb_txn_commit(w.txn), w.path);
    mdb_env_close(env);
}

void lmdb_records_write(const struct loading *asked)
{
    if (mkdir(asked->lmdb, 0777) != 0)
        paper_die_of(asked->lmdb);
    write_one(asked, true);
    write_one(asked, false);
}

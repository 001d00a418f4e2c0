/*
 * Records in an LMDB, each compressed by zstd as a value of its own, read as LMDBIO (Pumma et al., 2017 and 2019) reads:
 * where each value lies is found out once, so that no reader walks past records that others want; several readers
 * then share each batch, each at positions that it knows. This is the one file that reads and writes that LMDB.
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

/* ---------------------------------------------------------------------------------------------- reading */

/* The one walk over all keys. Values of this size have pages of their own, which it does not touch. */
static void note_positions(struct records *r, MDB_dbi dbi, const char *path)
{
    MDB_cursor *cursor;
    MDB_stat stat;
    MDB_val key;
    must_lmdb(mdb_stat(r->txn, dbi, &stat), path);
    must_lmdb(mdb_cursor_open(r->txn, dbi, &cursor), path);
    r->positions = must_have(calloc(stat.ms_entries + 1, sizeof *r->positions));
    while (r->count < stat.ms_entries) {
        must_lmdb(mdb_cursor_get(cursor, &key, &r->positions[r->count], MDB_NEXT), path);
        r->count++;
    }
    mdb_cursor_close(cursor);
}

static void *records_open(const struct loading *asked, size_t *count)
{
    MDB_dbi dbi;
    struct records *r = must_have(calloc(1, sizeof *r));
    must_lmdb(mdb_env_create(&r->env), asked->lmdb);
    must_lmdb(mdb_env_set_maxdbs(r->env, 2), asked->lmdb);
    must_lmdb(mdb_env_open(r->env, asked->lmdb, MDB_RDONLY | MDB_NOLOCK | MDB_NOTLS | MDB_NORDAHEAD, 0),
              asked->lmdb);
    must_lmdb(mdb_txn_begin(r->env, NULL, MDB_RDONLY, &r->txn), asked->lmdb);
    must_lmdb(mdb_dbi_open(r->txn, asked->split, MDB_INTEGERKEY, &dbi), asked->lmdb);
    note_positions(r, dbi, asked->lmdb);
    for (unsigned i = 0; i < PAPER_READERS; i++)
        r->decoders[i] = must_have(ZSTD_createDCtx());
    *count = r->count;
    return r;
}

static void records_read(void *source, unsigned reader, const uint64_t *ids, size_t n, uint8_t *rows)
{
    struct records *r = source;
    for (size_t i = 0; i < n; i++) {
        const MDB_val *value = &r->positions[ids[i]];
        const size_t got = ZSTD_decompressDCtx(r->decoders[reader], rows + i * PAPER_ROW, PAPER_ROW,
                                               value->mv_data, value->mv_size);
        if (got != PAPER_ROW)
            paper_die("record %llu of the LMDB cannot be decompressed", (unsigned long long)ids[i]);
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

static struct loader *lmdb_loader(const struct loading *asked)
{
    static const struct source_kind kind = {records_open, records_read, NULL, records_close};
    return by_number_open(&kind, asked);
}

const struct loader_kind paper_lmdb = {"lmdb", lmdb_loader, by_number_next, by_number_staged,
                                       by_number_close};

/* --------------------------------------------------------------------------------------------- writing */

static void put_file(MDB_txn *txn, MDB_dbi dbi, int file, const char *path, unsigned *number)
{
    uint8_t row[PAPER_ROW], coded[2 * PAPER_ROW];
    ssize_t got;
    while ((got = read(file, row, sizeof row)) == (ssize_t)sizeof row) {
        const size_t size = ZSTD_compress(coded, sizeof coded, row, sizeof row, LEVEL);
        if (ZSTD_isError(size))
            paper_die("%s: %s", path, ZSTD_getErrorName(size));
        MDB_val key = {sizeof *number, number}, value = {size, coded};
        must_lmdb(mdb_put(txn, dbi, &key, &value, MDB_APPEND), path);
        ++*number;
    }
    if (got != 0)
        paper_die("%s: ends in the middle of a record", path);
}

static void put_split(MDB_txn *txn, const struct loading *asked)
{
    char path[4096];
    MDB_dbi dbi;
    unsigned number = 0;
    must_lmdb(mdb_dbi_open(txn, asked->split, MDB_INTEGERKEY | MDB_CREATE, &dbi), asked->lmdb);
    for (int file, i = 0; (file = raw_open(asked, (unsigned)i, path, sizeof path)) >= 0; i++) {
        put_file(txn, dbi, file, path, &number);
        close(file);
    }
}

void lmdb_records_write(const struct loading *asked)
{
    MDB_env *env;
    MDB_txn *txn;
    struct loading of = *asked;
    if (mkdir(asked->lmdb, 0777) != 0)
        paper_die_of(asked->lmdb);
    must_lmdb(mdb_env_create(&env), asked->lmdb);
    must_lmdb(mdb_env_set_maxdbs(env, 2), asked->lmdb);
    must_lmdb(mdb_env_set_mapsize(env, (size_t)1 << 30), asked->lmdb);
    must_lmdb(mdb_env_open(env, asked->lmdb, 0, 0666), asked->lmdb);
    must_lmdb(mdb_txn_begin(env, NULL, 0, &txn), asked->lmdb);
    of.split = "train";
    put_split(txn, &of);
    of.split = "test";
    put_split(txn, &of);
    must_lmdb(mdb_txn_commit(txn), asked->lmdb);
    mdb_env_close(env);
}

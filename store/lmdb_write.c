/* The only file that includes lmdb.h. */
#define _GNU_SOURCE /* sync_file_range */
#include "lmdb_write.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define COMMIT_BYTES ((size_t)8 << 20) /* LMDB holds what is not committed in memory */
#define FIRST_MAP    ((size_t)64 << 20)
/* One part in this many of the file is set aside for the pages of the tree, which need far less. */
#define TREE_ALLOWANCE 4

struct lmdb_writer {
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi dbi;
    int file;                 /* the caller's, as long as lmdb_writer_create() runs; then -1 */
    size_t map_size, pending; /* bytes put since the last commit */
    uint64_t bytes, paged;    /* bytes put; the same rounded up to pages */
    bool has_dbi;
};

/* Has a write come short for lack of room? LMDB reports it as EIO, or as ENOSPC for its first pages. */
static int want_of_room(const struct lmdb_writer *w, int code)
{
    struct rlimit limit;
    struct stat st;
    struct statvfs fs;
    int fd = w->file;
    uint64_t wanted = w->pending + ((uint64_t)1 << 20);
    if (code != EIO && code != ENOSPC)
        return code;
    if (fd < 0 && mdb_env_get_fd(w->env, &fd) != 0)
        return code;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && fstat(fd, &st) == 0 &&
        (uint64_t)st.st_size + wanted > limit.rlim_cur)
        return EFBIG;
    return fstatvfs(fd, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize < wanted ? ENOSPC : code;
}

static apl_status lmdb_failed(struct lmdb_writer *w, int code, const char *what, apl_error *err)
{
    code = want_of_room(w, code);
    if (code > 0)
        return fail_errno(err, code, "cannot %s", what);
    return fail(err, APL_E_IO, "cannot %s: %s", what, mdb_strerror(code));
}

/* liblmdb opens files by their names, and follows links: what it gets leads to the file that is open, whatever others
 * put in the place of its name. */
static int open_same(MDB_env *env, int fd, const char *path)
{
    /* No lock file: the caller holds a lock on the directory, and nobody else knows the file. NOTLS: a
     * transaction may be begun on one thread and ended on another, one after the other. NOSYNC: the file
     * counts only after lmdb_writer_sync(). */
    static const unsigned flags = MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOTLS | MDB_NOSYNC;
    char self[32];
    struct stat expected = {0}, is = {0};
    int opened;
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    bool proc = faccessat(AT_FDCWD, self, F_OK, 0) == 0;
    int code = mdb_env_open(env, proc ? self : path, flags, 0600);
    if (code == 0)
        code = mdb_env_get_fd(env, &opened);
    if (code == 0 &&
        (fcntl(opened, F_SETFD, FD_CLOEXEC) != 0 || fstat(fd, &expected) != 0 || fstat(opened, &is) != 0))
        code = errno;
    return code == 0 && (is.st_dev != expected.st_dev || is.st_ino != expected.st_ino) ? ESTALE : code;
}

apl_status lmdb_writer_create(int file, const char *path, struct lmdb_writer **lmdb, apl_error *err)
{
    struct lmdb_writer *w = calloc(1, sizeof *w);
    if (!w)
        return fail_nomem(err);
    w->map_size = FIRST_MAP;
    w->file = file;
    int code = mdb_env_create(&w->env);
    if (code != 0) {
        free(w);
        return fail_errno(err, ENOMEM, "cannot prepare LMDB");
    }
    code = mdb_env_set_mapsize(w->env, w->map_size);
    if (code == 0)
        code = open_same(w->env, file, path);
    if (code != 0) {
        apl_status status = lmdb_failed(w, code, "create the file", err);
        lmdb_writer_close(w);
        return status;
    }
    w->file = -1;
    *lmdb = w;
    return APL_OK;
}

/* Doubles the map until `more` bytes fit with room to spare; only between transactions. */
static apl_status ensure_map(struct lmdb_writer *w, size_t more, apl_error *err)
{
    uint64_t needed = w->paged + more + w->paged / TREE_ALLOWANCE + ((size_t)4 << 20);
    size_t size = w->map_size;
    while (size < needed)
        size *= 2;
    if (size == w->map_size)
        return APL_OK;
    int code = mdb_env_set_mapsize(w->env, size);
    if (code != 0)
        return lmdb_failed(w, code, "enlarge the map", err);
    w->map_size = size;
    return APL_OK;
}

static apl_status begin_transaction(struct lmdb_writer *w, size_t size, apl_error *err)
{
    TRY(ensure_map(w, size + COMMIT_BYTES, err));
    int code = mdb_txn_begin(w->env, NULL, 0, &w->txn);
    if (code == 0 && !w->has_dbi) {
        code = mdb_dbi_open(w->txn, NULL, 0, &w->dbi);
        w->has_dbi = code == 0;
    }
    return code ? lmdb_failed(w, code, "begin a transaction", err) : APL_OK;
}

static void store_be32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (24 - 8 * i));
}

apl_status lmdb_writer_put(struct lmdb_writer *w, struct key key, const void *value, size_t size,
                           apl_error *err)
{
    if (w->txn && w->pending + size > COMMIT_BYTES)
        TRY(lmdb_writer_commit(w, err));
    if (!w->txn)
        TRY(begin_transaction(w, size, err));
    uint8_t k[KEY_BYTES];
    store_be32(k, key.kind);
    store_be32(k + 4, key.segment);
    store_be32(k + 8, key.block);
    MDB_val mk = {sizeof k, k}, mv = {size, (void *)value};
    int code = mdb_put(w->txn, w->dbi, &mk, &mv, MDB_NOOVERWRITE);
    if (code != 0)
        return lmdb_failed(w, code, "put a block", err);
    w->pending += size;
    w->bytes += size;
    w->paged += (size + 16 + 4095) / 4096 * 4096;
    return APL_OK;
}

apl_status lmdb_writer_commit(struct lmdb_writer *w, apl_error *err)
{
    if (!w->txn)
        return APL_OK;
    int fd, code = mdb_txn_commit(w->txn);
    w->txn = NULL; /* freed by the commit, whatever came of it */
    if (code != 0)
        return lmdb_failed(w, code, "write the file", err);
    w->pending = 0;
    /* Lets the disk begin now; what matters is the sync at the end. */
    if (mdb_env_get_fd(w->env, &fd) == 0)
        sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    return APL_OK;
}

apl_status lmdb_writer_sync(struct lmdb_writer *w, apl_error *err)
{
    int code = mdb_env_sync(w->env, 1);
    return code ? lmdb_failed(w, code, "sync the file", err) : APL_OK;
}

uint64_t lmdb_writer_bytes(const struct lmdb_writer *w)
{
    return w->bytes;
}

void lmdb_writer_close(struct lmdb_writer *w)
{
    if (!w)
        return;
    if (w->txn)
        mdb_txn_abort(w->txn);
    mdb_env_close(w->env);
    free(w);
}

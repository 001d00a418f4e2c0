/*
 * The reading side of an LMDB file, without liblmdb: the library trusts every byte of a file that it opens,
 * and a store may come from anybody. The file's B-tree is walked once, with every page, node and key checked before it is
 * followed; what comes out is where each value lies. Values that have pages of their own are looked at when they are
 * taken, and not before: opening a file would read all of it. Values are taken from a map of the file, or read: a file that is
 * cut or fails under a map kills the process, which on a network is not rare. Or they are asked for range by range, of a file that is
 * at the other end of a URL. Layout: lmdb 0.9, 64-bit, little-endian
 * (data version 1).
 */
#ifndef LMDB_READ_H
#define LMDB_READ_H

#include "bytes.h"
#include "remote.h"
#include "status.h"

#include <stdbool.h>
#include <sys/types.h>

/* The keys of a store: three 4-byte big-endian numbers. */
struct key {
    uint32_t kind, segment, block;
};
#define KEY_BYTES    12
#define KEY_MANIFEST 1 /* segment 0, block 0 */
#define KEY_BLOCK    2

struct entry {
    struct key key;
    uint64_t offset; /* in the file */
    uint32_t size;
};

struct lmdb_reader {
    const uint8_t *map;    /* the whole file, read-only; NULL: it is read */
    int fd;                /* of a file that is read; else -1 */
    struct remote *remote; /* of a file that is elsewhere; else NULL */
    uint64_t size;
    uint32_t page_size;
    struct entry *entries; /* in the order of their keys */
    size_t count;
};

/* Walks the file open as `fd`, which may be closed afterwards. APL_E_CORRUPT if anything is not as LMDB writes it. */
apl_status lmdb_reader_open(int fd, apl_io io, struct lmdb_reader *lmdb, apl_error *err);

/* The same of a file elsewhere, which is taken over in any case. */
apl_status lmdb_reader_open_remote(struct remote *remote, struct lmdb_reader *lmdb, apl_error *err);

void lmdb_reader_close(struct lmdb_reader *lmdb);

/* The entry of that key, or NULL. */
const struct entry *lmdb_reader_find(const struct lmdb_reader *lmdb, struct key key);

/* The bytes of an entry's value: as they are mapped, or read into `scratch`, which they share until it is used again.
 * APL_E_CORRUPT if the pages are not those of such a value. Mapped bytes may change at any time, by a process that writes to
 * the file: who checks them must not read them again to use them. */
apl_status lmdb_reader_value(const struct lmdb_reader *lmdb, const struct entry *entry,
                             struct buffer *scratch, const uint8_t **bytes, apl_error *err);

/* The same of some of them only: `size` from `offset`, which the value must have. */
apl_status lmdb_reader_part(const struct lmdb_reader *lmdb, const struct entry *entry, size_t offset,
                            size_t size, struct buffer *scratch, const uint8_t **bytes, apl_error *err);

/* Copies `size` of them from `offset`, which is above 0, to `out`: the copy does not change. */
apl_status lmdb_reader_bytes(const struct lmdb_reader *lmdb, const struct entry *entry, size_t offset,
                             size_t size, uint8_t *out, apl_error *err);

/* Says that parts of the value will be taken soon, each at once. Those of a file elsewhere are fetched; of those of a file here the kernel
 * is told, which may make this call wait while its disk is busy. The pieces' offsets are in the value, and become those in the file.
 * Returned is what ahead_add() says; of a file here, ASKED_BEFORE. */
enum ahead_asked lmdb_reader_ahead(const struct lmdb_reader *lmdb, const struct entry *entry,
                                   struct extent *pieces, unsigned count, struct need need);

/* Waits for the first `size` bytes of the value of a file elsewhere, which have been asked for: as lmdb_reader_part(), but they are
 * still to be taken. False: they have not come, or have been taken. */
bool lmdb_reader_peek(const struct lmdb_reader *lmdb, const struct entry *entry, size_t size,
                      struct buffer *scratch, const uint8_t **bytes);

/* What has come of the value from elsewhere was wrong: it must be asked for again. False: the file is here, and stays what it is. */
bool lmdb_reader_again(const struct lmdb_reader *lmdb, const struct entry *entry);

/* A copy of them all, in `copy`. */
apl_status lmdb_reader_copy(const struct lmdb_reader *lmdb, const struct entry *entry, struct buffer *copy,
                            apl_error *err);

#endif

/* Opening a file, and taking its values; it is walked by lmdb_walk.c. */
#define _GNU_SOURCE /* fstatfs() */
#include "lmdb_page.h"
#include "lmdb_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Does the file lie where others may cut it, or the way to it fail, at any time: on a network, or in another process? (The
 * numbers are those of statfs(2), and of the file systems that it does not list.) */
static bool is_remote(int fd)
{
    static const uint32_t types[] = {
        0x6969 /* NFS */,      0x517b /* SMB */,
        0xff534d42 /* CIFS */, 0xfe534d42 /* SMB 2 */,
        0x65735546 /* FUSE */, 0x0bd00bd0 /* Lustre */,
        0x47504653 /* GPFS */, 0x01021997 /* 9P */,
        0x00c36400 /* Ceph */, 0x19830326 /* BeeGFS */,
        0x5346414f /* AFS */,  0x7461636f /* OCFS2 */,
        0x01161970 /* GFS2 */, 0x786f4256 /* VirtualBox */,
    };
    struct statfs fs;
    if (fstatfs(fd, &fs) != 0)
        return false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if ((uint32_t)fs.f_type == types[i])
            return true;
    return false;
}

/* What AUTO means for this file: as APL_IO in the environment says, or as suits the file system. */
static apl_status choose_io(int fd, apl_io *io, apl_error *err)
{
    const char *said = getenv("APL_IO");
    if (!said || !*said)
        *io = is_remote(fd) ? APL_IO_READ : APL_IO_MAP;
    else if (strcmp(said, "read") == 0)
        *io = APL_IO_READ;
    else if (strcmp(said, "map") == 0)
        *io = APL_IO_MAP;
    else
        return fail(err, APL_E_INVALID, "APL_IO in the environment is neither read nor map");
    return APL_OK;
}

static apl_status take_file(int fd, apl_io io, struct lmdb_reader *lmdb, apl_error *err)
{
    if (io == APL_IO_AUTO)
        TRY(choose_io(fd, &io, err));
    if (io == APL_IO_READ) {
        lmdb->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        return lmdb->fd < 0 ? fail_errno(err, errno, "cannot duplicate its descriptor") : APL_OK;
    }
    void *map = mmap(NULL, (size_t)lmdb->size, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return fail_errno(err, errno, "cannot map it");
    lmdb->map = map;
    return APL_OK;
}

apl_status lmdb_reader_open(int fd, apl_io io, struct lmdb_reader *lmdb, apl_error *err)
{
    struct stat st;
    *lmdb = (struct lmdb_reader){.fd = -1};
    if (fstat(fd, &st) != 0)
        return fail_errno(err, errno, "cannot examine it");
    if (!S_ISREG(st.st_mode))
        return fail(err, APL_E_CORRUPT, "it is not a regular file");
    if (st.st_size == 0)
        return fail(err, APL_E_CORRUPT, "it is empty");
    lmdb->size = (uint64_t)st.st_size;
    TRY(take_file(fd, io, lmdb, err));
    /* the pages of the tree are few and far apart: what lies between them is not worth reading yet */
    if (lmdb->map)
        madvise((void *)lmdb->map, (size_t)lmdb->size, MADV_RANDOM);
    apl_status status = lmdb_walk(lmdb, fd, err);
    if (lmdb->map)
        madvise((void *)lmdb->map, (size_t)lmdb->size, MADV_NORMAL);
    if (status != APL_OK)
        lmdb_reader_close(lmdb);
    return status;
}

apl_status lmdb_reader_open_remote(struct remote *remote, struct lmdb_reader *lmdb, apl_error *err)
{
    *lmdb = (struct lmdb_reader){.fd = -1, .remote = remote, .size = remote_size(remote)};
    apl_status status = lmdb_walk(lmdb, -1, err);
    if (status != APL_OK)
        lmdb_reader_close(lmdb);
    return status;
}

void lmdb_reader_close(struct lmdb_reader *lmdb)
{
    if (lmdb->remote) {
        remote_stop(lmdb->remote);
        remote_release(lmdb->remote);
    }
    if (lmdb->map)
        munmap((void *)lmdb->map, (size_t)lmdb->size);
    else if (lmdb->fd >= 0)
        close(lmdb->fd);
    free(lmdb->entries);
    *lmdb = (struct lmdb_reader){.fd = -1};
}

/* ---------------------------------------------------------------------------------------------- values */

/* A value in a leaf has a node's header and a key before it too. */
static bool in_overflow(const struct lmdb_reader *lmdb, const struct entry *entry)
{
    return entry->offset % lmdb->page_size == PAGE_HEAD;
}

/* Is `page` the first of the entry's own pages? */
static apl_status check_run(const struct lmdb_reader *lmdb, const struct entry *entry, const uint8_t *page,
                            apl_error *err)
{
    uint64_t number = entry->offset / lmdb->page_size;
    TRY(page_check(page, number, PAGE_OVERFLOW, err));
    return load_le(page + 12, 4) == page_run(entry->size, lmdb->page_size)
               ? APL_OK
               : page_bad(number, "begins a run of a wrong length", err);
}

apl_status lmdb_reader_part(const struct lmdb_reader *lmdb, const struct entry *entry, size_t offset,
                            size_t size, struct buffer *scratch, const uint8_t **bytes, apl_error *err)
{
    size_t head = offset == 0 && in_overflow(lmdb, entry) ? PAGE_HEAD : 0;
    uint64_t at = entry->offset + offset - head;
    const uint8_t *from = lmdb->map ? lmdb->map + at : NULL;
    if (!lmdb->map) {
        scratch->size = 0;
        if (!buffer_reserve(scratch, head + size))
            return fail_nomem(err);
        TRY(page_read(lmdb, at, scratch->data, head + size, err));
        from = scratch->data;
    }
    *bytes = from + head;
    return head ? check_run(lmdb, entry, from, err) : APL_OK;
}

apl_status lmdb_reader_value(const struct lmdb_reader *lmdb, const struct entry *entry,
                             struct buffer *scratch, const uint8_t **bytes, apl_error *err)
{
    return lmdb_reader_part(lmdb, entry, 0, entry->size, scratch, bytes, err);
}

apl_status lmdb_reader_bytes(const struct lmdb_reader *lmdb, const struct entry *entry, size_t offset,
                             size_t size, uint8_t *out, apl_error *err)
{
    if (size == 0)
        return APL_OK;
    if (!lmdb->map)
        return page_read(lmdb, entry->offset + offset, out, size, err);
    memcpy(out, lmdb->map + entry->offset + offset, size);
    return APL_OK;
}

/* Of a longer range the kernel reads no more than this, unless a device says that it takes more. */
#define KERNEL_READS ((size_t)128 << 10)

/* The kernel reads the pages of a file here in the background; those that it has cost it a look each. */
static void ask_kernel(const struct lmdb_reader *lmdb, const struct extent *piece)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = piece->offset + piece->n;
    for (uint64_t at = piece->offset / page * page; at < end; at += KERNEL_READS) {
        size_t n = end - at < KERNEL_READS ? (size_t)(end - at) : KERNEL_READS;
        if (lmdb->map)
            madvise((void *)(lmdb->map + at), n, MADV_WILLNEED);
        else
            (void)posix_fadvise(lmdb->fd, (off_t)at, (off_t)n, POSIX_FADV_WILLNEED);
    }
}

enum ahead_asked lmdb_reader_ahead(const struct lmdb_reader *lmdb, const struct entry *entry,
                                   struct extent *pieces, unsigned count, struct need need)
{
    for (unsigned i = 0; i < count; i++) {
        size_t head = pieces[i].offset == 0 && in_overflow(lmdb, entry) ? PAGE_HEAD : 0;
        pieces[i].offset += entry->offset - head;
        pieces[i].n += head;
    }
    if (lmdb->remote)
        return remote_ahead(lmdb->remote, pieces, count, need);
    for (unsigned i = 0; i < count; i++)
        ask_kernel(lmdb, &pieces[i]);
    return ASKED_BEFORE;
}

bool lmdb_reader_peek(const struct lmdb_reader *lmdb, const struct entry *entry, size_t size,
                      struct buffer *scratch, const uint8_t **bytes)
{
    size_t head = in_overflow(lmdb, entry) ? PAGE_HEAD : 0;
    scratch->size = 0;
    if (!lmdb->remote || !buffer_reserve(scratch, head + size) ||
        !remote_peek(lmdb->remote, entry->offset - head, scratch->data, head + size))
        return false;
    *bytes = scratch->data + head;
    return true;
}

bool lmdb_reader_again(const struct lmdb_reader *lmdb, const struct entry *entry)
{
    if (lmdb->remote)
        remote_forget(lmdb->remote, entry->offset - PAGE_HEAD, entry->size + PAGE_HEAD);
    return lmdb->remote;
}

apl_status lmdb_reader_copy(const struct lmdb_reader *lmdb, const struct entry *entry, struct buffer *copy,
                            apl_error *err)
{
    struct buffer scratch = {0};
    const uint8_t *bytes;
    copy->size = 0;
    apl_status status = lmdb_reader_value(lmdb, entry, &scratch, &bytes, err);
    if (status == APL_OK && !buffer_reserve(copy, entry->size))
        status = fail_nomem(err);
    if (status == APL_OK)
        buffer_put(copy, bytes, entry->size);
    buffer_free(&scratch);
    return status;
}

const struct entry *lmdb_reader_find(const struct lmdb_reader *lmdb, struct key key)
{
    size_t low = 0, high = lmdb->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_keys(&lmdb->entries[middle].key, &key);
        if (order == 0)
            return &lmdb->entries[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

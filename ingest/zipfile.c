/* The directory is read first, then each member where it lies: see zipfile.h. */
#include "zipfile.h"

#include "hash.h"
#include "memberpath.h"
#include "part.h"
#include "zip_list.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#define ZIPPED_MAX  (UINT64_C(4) << 30) /* bytes in a wanted member */
#define NAMES_HELD  ((size_t)1 << 20)   /* hashes of names that are compared at once */
#define BLOCK_BYTES ((size_t)1 << 20)

struct zipfile {
    struct zipfile_options options;
    int fd;
    struct stat st;
    struct zip_directory directory;
    struct zip_entry entry;
    char *member; /* its name as the source has it */
    struct part *part;
    struct format_part what;
    uint64_t bytes;
};

bool zipfile_is(const uint8_t *h, size_t size)
{
    if (size < 22 || (memcmp(h, "PK\3\4", 4) != 0 && memcmp(h, "PK\5\6", 4) != 0))
        return false;
    size_t name = size < 30 ? 0 : load_le(h + 26, 2);
    return name < 4 || 30 + name > size || memcmp(h + 30 + name - 4, ".npy", 4) != 0;
}

static apl_status in_zip(const struct zipfile *z, apl_status status, apl_error *err)
{
    return fail_in(err, status, "%s", z->options.name);
}

static apl_status read_zipfile(void *user, uint64_t offset, void *out, size_t size, apl_error *err)
{
    struct zipfile *z = user;
    apl_error why;
    apl_status status = part_read_at(z->fd, "", offset, out, size, &why);
    return status == APL_OK ? status : fail(err, status, "%s", why.message + 2); /* without the name */
}

static apl_status poll_zip(const struct zipfile *z, apl_error *err)
{
    return z->options.poll && z->options.poll(z->options.user) ? fail(err, APL_E_CANCELLED, "cancelled")
                                                               : APL_OK;
}

/* ------------------------------------------------------------------------------------------------------ opening */

static int by_name_hash(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The hashes of names of one part out of `parts`, sorted. */
static apl_status gather_hashes(struct zipfile *z, uint64_t part, uint64_t parts, uint64_t *hashes,
                                size_t *count, apl_error *err)
{
    struct zip_entry e;
    apl_status status;
    *count = 0;
    zip_directory_rewind(&z->directory);
    while ((status = zip_directory_next(&z->directory, &e, err)) == APL_OK) {
        uint64_t hash = hash_xxh3_64(e.name, e.name_size);
        if (hash % parts != part)
            continue;
        if (*count == NAMES_HELD)
            return fail(err, APL_E_SOURCE, "member %s is there more than once", e.shown);
        hashes[(*count)++] = hash;
    }
    qsort(hashes, *count, sizeof *hashes, by_name_hash);
    return status == APL_END ? APL_OK : status;
}

/* Two members have that hash: is it because they have one name? */
static apl_status compare_names(struct zipfile *z, uint64_t hash, apl_error *err)
{
    struct zip_entry e;
    apl_status status;
    struct buffer first = {0};
    zip_directory_rewind(&z->directory);
    while ((status = zip_directory_next(&z->directory, &e, err)) == APL_OK) {
        if (hash_xxh3_64(e.name, e.name_size) != hash)
            continue;
        if (first.size == e.name_size && first.size > 0 && memcmp(first.data, e.name, first.size) == 0) {
            status = fail(err, APL_E_SOURCE, "member %s is there more than once", e.shown);
            break;
        }
        first.size = 0;
        buffer_put(&first, e.name, e.name_size);
    }
    status = first.failed ? fail_nomem(err) : status;
    buffer_free(&first);
    return status == APL_END ? APL_OK : status;
}

static apl_status refuse_equal_names(struct zipfile *z, apl_error *err)
{
    uint64_t parts = z->directory.entries / (NAMES_HELD / 2) + 1;
    uint64_t held = z->directory.entries < NAMES_HELD ? z->directory.entries : NAMES_HELD;
    uint64_t *hashes = malloc(((size_t)held + 1) * sizeof *hashes);
    apl_status status = hashes ? APL_OK : fail_nomem(err);
    size_t count;
    for (uint64_t part = 0; status == APL_OK && part < parts; part++) {
        status = gather_hashes(z, part, parts, hashes, &count, err);
        for (size_t i = 1; status == APL_OK && i < count; i++)
            if (hashes[i] == hashes[i - 1])
                status = compare_names(z, hashes[i], err);
    }
    free(hashes);
    return status;
}

/* Members that lie one over another, as in archives made to unpack without end, have more bytes than there are. */
static apl_status refuse_overlaps(struct zipfile *z, apl_error *err)
{
    struct zip_entry e;
    apl_status status;
    uint64_t left = z->directory.size - z->directory.bytes;
    while ((status = zip_directory_next(&z->directory, &e, err)) == APL_OK) {
        if (e.packed > left || e.name_size + 30 > left - e.packed)
            return fail(err, APL_E_SOURCE, "its members have more bytes than the zip archive: some overlap");
        left -= e.packed + e.name_size + 30;
    }
    return status == APL_END ? APL_OK : status;
}

static apl_status open_zip_directory(struct zipfile *z, apl_error *err)
{
    TRY(zip_directory_open(read_zipfile, z, (uint64_t)z->st.st_size, &z->directory, err));
    TRY(refuse_overlaps(z, err));
    if (!z->options.list)
        TRY(refuse_equal_names(z, err));
    zip_directory_rewind(&z->directory);
    return APL_OK;
}

apl_status zipfile_open(int fd, const struct zipfile_options *options, struct zipfile **out, apl_error *err)
{
    struct zipfile *z = calloc(1, sizeof *z);
    if (!z) {
        close(fd);
        return fail_nomem(err);
    }
    z->fd = fd;
    z->options = *options;
    apl_status status = fstat(fd, &z->st) == 0 ? APL_OK : fail_errno(err, errno, "cannot be examined");
    if (status == APL_OK)
        status = open_zip_directory(z, err);
    if (status != APL_OK) {
        in_zip(z, status, err);
        zipfile_close(z);
        return status;
    }
    *out = z;
    return APL_OK;
}

void zipfile_close(struct zipfile *z)
{
    if (!z)
        return;
    part_close(z->part);
    zip_directory_close(&z->directory);
    close(z->fd);
    free(z->member);
    free(z);
}

/* ------------------------------------------------------------------------------------------------------ members */

/* What no member that is wanted may be. */
static const char *objection_to(const struct zip_entry *e, const char *path)
{
    return e->link ? "is a link or the like, not a regular file: zip without -y packs what it leads to"
           : path_leads_out(path) ? "has a path that leads out of the archive"
           : e->size > ZIPPED_MAX ? "is larger than 4 GiB"
                                  : NULL;
}

static apl_status open_zipped(struct zipfile *z, const char *path, apl_error *err)
{
    const char *why = objection_to(&z->entry, path);
    if (why)
        return fail(err, APL_E_SOURCE, "member %s: %s", z->entry.shown, why);
    uint64_t offset;
    TRY(zip_find_data(&z->directory, &z->entry, true, &offset, err));
    z->what = (struct format_part){.name = z->entry.shown,
                                   .offset = offset,
                                   .packed = z->entry.packed,
                                   .size = z->entry.size,
                                   .deflated = z->entry.method == 8,
                                   .checked = true,
                                   .crc = z->entry.crc};
    part_close(z->part);
    z->part = NULL;
    int fd = fcntl(z->fd, F_DUPFD_CLOEXEC, 3);
    if (fd < 0)
        return fail_errno(err, errno, "cannot be read");
    return part_open(fd, z->options.name, &z->what, &z->part, err);
}

/* After the last: the archive's own bytes, if it is still the same. */
static apl_status hash_archive(struct zipfile *z, apl_error *err)
{
    struct stat now;
    if (!z->options.sha || z->options.list)
        return APL_OK;
    uint8_t *block = malloc(BLOCK_BYTES);
    apl_status status = block ? APL_OK : fail_nomem(err);
    uint64_t size = (uint64_t)z->st.st_size;
    for (uint64_t at = 0, n; status == APL_OK && at < size; at += n) {
        n = size - at < BLOCK_BYTES ? size - at : BLOCK_BYTES;
        status = read_zipfile(z, at, block, (size_t)n, err);
        if (status == APL_OK) {
            hasher_add(z->options.sha, block, (size_t)n);
            status = poll_zip(z, err);
        }
    }
    free(block);
    TRY(status);
    if (fstat(z->fd, &now) != 0 || now.st_size != z->st.st_size ||
        now.st_mtim.tv_sec != z->st.st_mtim.tv_sec || now.st_mtim.tv_nsec != z->st.st_mtim.tv_nsec)
        return fail(err, APL_E_SOURCE, "changed while it was read");
    z->bytes = size;
    return APL_OK;
}

/* What the directory says of the entry. */
static void hash_entry(struct zipfile *z)
{
    uint8_t numbers[12];
    store_le(numbers, z->entry.size, 8);
    store_le(numbers + 8, z->entry.crc, 4);
    hasher_add(z->options.sha, z->entry.name, z->entry.name_size);
    hasher_add(z->options.sha, numbers, sizeof numbers);
}

/* The next entry's path, to be freed; APL_END after the last. */
static apl_status next_path(struct zipfile *z, char **path, apl_error *err)
{
    apl_status status = zip_directory_next(&z->directory, &z->entry, err);
    if (status == APL_END)
        TRY(hash_archive(z, err));
    TRY(status);
    if (z->options.list)
        hash_entry(z);
    if ((z->directory.taken & 1023) == 0)
        TRY(poll_zip(z, err));
    *path = strndup((const char *)z->entry.name, z->entry.name_size);
    if (!*path)
        return fail_nomem(err);
    free(z->member);
    z->member = z->options.folders ? path_plain(*path) : path_basename(*path);
    return z->member ? APL_OK : fail_nomem(err);
}

static apl_status visit_entry(struct zipfile *z, const char *path, struct source_member *member, bool *found,
                              apl_error *err)
{
    size_t length = z->entry.name_size;
    bool directory = length > 0 && path[length - 1] == '/';
    *found = z->options.list || (!directory && z->options.wants(z->member, z->options.user));
    if (*found && !z->options.list)
        TRY(open_zipped(z, path, err));
    *member = (struct source_member){.name = z->member,
                                     .path = z->entry.shown,
                                     .size = z->options.list ? 0 : z->entry.size,
                                     .directory = directory};
    return APL_OK;
}

apl_status zipfile_next(struct zipfile *z, struct source_member *member, apl_error *err)
{
    for (bool found = false; !found;) {
        char *path = NULL;
        apl_status status = next_path(z, &path, err);
        if (status == APL_OK)
            status = visit_entry(z, path, member, &found, err);
        free(path);
        if (status != APL_OK)
            return status == APL_END ? status : in_zip(z, status, err);
    }
    return APL_OK;
}

apl_status zipfile_look(struct zipfile *z, uint64_t *size, apl_error *err)
{
    *size = 0;
    if (objection_to(&z->entry, z->member))
        return APL_OK;
    apl_status status = open_zipped(z, z->member, err);
    *size = z->entry.size;
    return status == APL_OK ? status : in_zip(z, status, err);
}

apl_status zipfile_block(struct zipfile *z, const uint8_t **data, size_t *size, apl_error *err)
{
    if (!z->part)
        return APL_END;
    TRY(part_next(z->part, data, size, err));
    z->bytes += *size < z->entry.packed ? *size : z->entry.packed;
    z->bytes = z->bytes < (uint64_t)z->st.st_size ? z->bytes : (uint64_t)z->st.st_size;
    return APL_OK;
}

uint64_t zipfile_bytes(const struct zipfile *z)
{
    return z->bytes;
}

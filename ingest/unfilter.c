/* libarchive's filters xz, zstd and bzip2: see unfilter.h. Nothing else of it is switched on. */
#include "unfilter.h"

#include "bytes.h"
#include "gunzip.h"
#include "packed_window.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <inttypes.h>

struct unfilter {
    struct archive *archive;
    enum unfilter_kind kind;
    const char *name;
    unfilter_read read;
    void *user;
    uint64_t given; /* packed bytes given to libarchive */
    bool ended;     /* it knows that nothing more comes */
    apl_error why;  /* of a read that failed */
    const uint8_t *data;
    size_t size;      /* of what it was given last */
    uint8_t tail[32]; /* the last bytes given before that */
    bool opened;      /* the first packed bytes have been looked at */
    struct packed_window window;
};

static void keep_tail(struct unfilter *u)
{
    size_t n = u->size < sizeof u->tail ? u->size : sizeof u->tail;
    memmove(u->tail, u->tail + n, sizeof u->tail - n);
    if (n > 0)
        memcpy(u->tail + sizeof u->tail - n, u->data + u->size - n, n);
}

/* libarchive gives xz all the memory that it asks for, and says of zstd only that it is too much. */
static apl_status check_window(struct unfilter *u)
{
    packed_window_see(&u->window, u->data, u->size);
    if (u->window.most <= PACKED_WINDOW_MOST)
        return APL_OK;
    return fail(&u->why, APL_E_UNSUPPORTED,
                "%s: decompressing it takes a window of %" PRIu64 " MiB; the limit is %" PRIu64
                " MiB (xz -9 makes 64, zstd --long=27 makes 128)",
                u->name, u->window.most >> 20, (uint64_t)(PACKED_WINDOW_MOST >> 20));
}

static la_ssize_t give_packed(struct archive *archive, void *user, const void **data)
{
    struct unfilter *u = user;
    keep_tail(u);
    if (u->read(u->user, &u->data, &u->size, &u->why) != APL_OK || check_window(u) != APL_OK) {
        archive_set_error(archive, EIO, "%s", "read failed");
        return -1;
    }
    u->why.status = APL_OK;
    u->given += u->size;
    u->ended = u->size == 0;
    *data = u->data;
    return (la_ssize_t)u->size;
}

/* A filter that libarchive lacks would be replaced by running a program: ARCHIVE_WARN warns of that. */
static int support(struct archive *archive, enum unfilter_kind kind)
{
    switch (kind) { /* unreached: nobody asks for another kind */
    case UNFILTER_XZ:
        return archive_read_support_filter_xz(archive);
    case UNFILTER_ZSTD:
        return archive_read_support_filter_zstd(archive);
    case UNFILTER_BZIP2:
        return archive_read_support_filter_bzip2(archive);
    default:
        return ARCHIVE_FATAL;
    }
}

apl_status unfilter_open(enum unfilter_kind kind, const char *name, unfilter_read read, void *user,
                         struct unfilter **unfilter, apl_error *err)
{
    struct unfilter *u = calloc(1, sizeof *u);
    if (!u)
        return fail_nomem(err);
    *u = (struct unfilter){.archive = archive_read_new(),
                           .kind = kind,
                           .name = name,
                           .read = read,
                           .user = user,
                           .window.kind = kind};
    if (!u->archive) {
        free(u);
        return fail_nomem(err);
    }
    if (support(u->archive, kind) != ARCHIVE_OK || /* unreached: this libarchive has them */
        archive_read_support_format_raw(u->archive) != ARCHIVE_OK) {
        unfilter_close(u);
        return fail(err, APL_E_UNSUPPORTED, "%s: this libarchive cannot decompress it", name);
    }
    *unfilter = u;
    return APL_OK;
}

void unfilter_close(struct unfilter *u)
{
    if (!u)
        return;
    archive_read_free(u->archive);
    free(u);
}

/* libarchive takes a few bytes behind an xz stream for one that is cut. A stream ends with a footer: a checksum of the
 * six bytes that follow it, and "YZ". How many bytes come after one, at the end of the file? 0: none, or of a next
 * stream, which is cut indeed. */
static size_t behind_xz(const struct unfilter *u)
{
    static const uint8_t magic[] = {0xfd, '7', 'z', 'X', 'Z', 0};
    for (size_t behind = 1; u->kind == UNFILTER_XZ && behind + 12 <= sizeof u->tail; behind++) {
        const uint8_t *end = u->tail + sizeof u->tail - behind, *footer = end - 12;
        size_t same = behind < sizeof magic ? behind : sizeof magic;
        if (memcmp(footer + 10, "YZ", 2) == 0 && load_le(footer, 4) == gunzip_crc32(footer + 4, 6))
            return memcmp(end, magic, same) == 0 ? 0 : behind;
    }
    return 0;
}

static apl_status unfilter_failed(struct unfilter *u, apl_error *err)
{
    if (u->why.status != APL_OK) {
        *err = u->why;
        return err->status;
    }
    if (u->ended && behind_xz(u) > 0)
        return fail(err, APL_E_SOURCE, "%s: byte %" PRIu64 ": garbage after the end of the compressed stream",
                    u->name, u->given - behind_xz(u));
    if (u->ended)
        return fail(err, APL_E_INCOMPLETE,
                    "%s: ends early at byte %" PRIu64
                    ": the compressed stream is truncated (an interrupted download?)",
                    u->name, u->given);
    if (archive_errno(u->archive) == ENOMEM)
        return fail_nomem(err);
    const char *text = archive_error_string(u->archive);
    char safe[128];
    if (!text) /* unreached: libarchive has words for all that it refuses */
        text = "compressed data is damaged";
    return fail(err, APL_E_SOURCE, "%s: before byte %" PRIu64 ": %s", u->name, u->given,
                printable(safe, sizeof safe, text, strlen(text)));
}

static apl_status unfilter_begin(struct unfilter *u, apl_error *err)
{
    struct archive_entry *entry;
    if (archive_read_open(u->archive, u, NULL, give_packed, NULL) != ARCHIVE_OK ||
        archive_read_next_header(u->archive, &entry) != ARCHIVE_OK)
        return unfilter_failed(u, err);
    if (archive_filter_count(u->archive) > 2) /* ours and "none" */
        return fail(err, APL_E_SOURCE, "%s: is compressed more than once", u->name);
    u->opened = true;
    return APL_OK;
}

static apl_status only_zeros(const struct unfilter *u, uint64_t start, const uint8_t *data, size_t size,
                             apl_error *err)
{
    for (size_t i = 0; i < size; i++)
        if (data[i] != 0)
            return fail(err, APL_E_SOURCE,
                        "%s: byte %" PRIu64 ": garbage after the end of the compressed stream", u->name,
                        start + i);
    return APL_OK;
}

/* The decompressor has come to its end; has the file? To see that nothing follows, libarchive may have gone
 * on to another portion, but by fewer bytes than the tail holds. */
static apl_status unfilter_finish(struct unfilter *u, apl_error *err)
{
    uint64_t used = (uint64_t)archive_filter_bytes(u->archive, -1), start = u->given - u->size;
    if (used < start) {
        size_t n = start - used < sizeof u->tail ? (size_t)(start - used) : sizeof u->tail;
        TRY(only_zeros(u, start - n, u->tail + sizeof u->tail - n, n, err));
        used = start;
    }
    while (!u->ended) {
        size_t at = (size_t)(used - start);
        TRY(only_zeros(u, used, u->data + at, u->size - at, err));
        used = start = u->given;
        const void *data;
        if (give_packed(u->archive, u, &data) < 0)
            return unfilter_failed(u, err);
    }
    return APL_OK;
}

apl_status unfilter_fill(struct unfilter *u, uint8_t *out, size_t room, size_t *got, apl_error *err)
{
    if (!u->opened)
        TRY(unfilter_begin(u, err));
    size_t have = 0;
    while (have < room) {
        la_ssize_t n = archive_read_data(u->archive, out + have, room - have);
        if (n < 0)
            return unfilter_failed(u, err);
        if (n == 0) {
            TRY(unfilter_finish(u, err));
            break;
        }
        have += (size_t)n;
    }
    *got = have;
    return APL_OK;
}

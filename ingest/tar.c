/* libarchive's tar format: see tar.h. Nothing else of it is switched on. */
#include "tar.h"

#include "bytes.h"
#include "memberpath.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <inttypes.h>

#define MEMBER_MAX  (UINT64_C(4) << 30)  /* bytes in a wanted member */
#define TOTAL_MAX   (UINT64_C(16) << 30) /* bytes in a whole tar */
#define ENTRIES_MAX 100000               /* members in a tar, wanted or not */
#define FILES_MAX   (1u << 28)           /* of a tar whose members are records */
#define TAR_BLOCK   512
#define TAR_TYPE    156        /* in a header, its type */
#define HEADERS_MAX (4u << 20) /* bytes of headers for one member, with long names, maps of holes, ... */

struct tar {
    struct archive *archive;
    struct input *input;
    struct tar_options options;
    const char *name;
    apl_error why;       /* of an input that failed or a limit that was passed */
    const uint8_t *data; /* given to libarchive last */
    size_t size;
    uint64_t given;    /* to libarchive, in all; */
    uint64_t zeros;    /* NUL bytes at the end of that */
    size_t headers;    /* given while it looked for the next header */
    bool in_header;    /* it does */
    bool ended;        /* it knows that nothing more comes */
    unsigned entries;  /* headers read */
    uint64_t at, left; /* bytes of the member that have been read, and that are still to come */
    char *member;      /* its name as in the tar, and safe to print */
    char path[256];
};

static void count_zeros(struct tar *tar)
{
    size_t at = tar->size;
    while (at > 0 && tar->data[at - 1] == 0)
        at--;
    tar->zeros = at > 0 ? tar->size - at : tar->zeros + tar->size;
}

/* The input's next bytes; *size == 0 at its end. */
static apl_status pull(struct tar *tar, apl_error *err)
{
    apl_status status = input_next(tar->input, &tar->data, &tar->size, err);
    if (status == APL_END) {
        tar->ended = true;
        tar->size = 0;
        return APL_OK;
    }
    TRY(status);
    tar->given += tar->size;
    count_zeros(tar);
    if (tar->given > TOTAL_MAX && !tar->options.folders)
        return fail(err, APL_E_SOURCE, "%s: unpacks to more than 16 GiB", tar->name);
    tar->headers += tar->in_header ? tar->size : 0;
    if (tar->headers > HEADERS_MAX)
        return fail(err, APL_E_SOURCE, "%s: byte %" PRIu64 " of the tar: headers of more than 4 MiB",
                    tar->name, tar->given);
    return APL_OK;
}

static la_ssize_t give_plain(struct archive *archive, void *user, const void **data)
{
    struct tar *tar = user;
    tar->why.status = pull(tar, &tar->why);
    if (tar->why.status != APL_OK) {
        archive_set_error(archive, EIO, "%s", "read failed");
        return -1;
    }
    *data = tar->data;
    return (la_ssize_t)tar->size;
}

apl_status tar_open(struct input *input, const struct tar_options *options, struct tar **out, apl_error *err)
{
    struct tar *tar = calloc(1, sizeof *tar);
    if (!tar)
        return fail_nomem(err);
    *tar = (struct tar){
        .archive = archive_read_new(), .input = input, .options = *options, .name = options->name};
    if (!tar->archive || archive_read_support_format_tar(tar->archive) != ARCHIVE_OK) {
        tar_close(tar);
        return fail_nomem(err);
    }
    *out = tar;
    return APL_OK;
}

void tar_close(struct tar *tar)
{
    if (!tar)
        return;
    archive_read_free(tar->archive);
    free(tar->member);
    free(tar);
}

/* How far libarchive has come, counted in bytes of the tar. */
static uint64_t position(const struct tar *tar)
{
    return (uint64_t)archive_filter_bytes(tar->archive, 0);
}

/* What made libarchive give up; `place` is "" or names the member. */
static apl_status tar_failed(struct tar *tar, const char *place, apl_error *err)
{
    if (tar->why.status != APL_OK) {
        if (err)
            *err = tar->why;
        return tar->why.status;
    }
    if (tar->ended)
        return fail(err, APL_E_INCOMPLETE,
                    "%s: %sends early at byte %" PRIu64 " of the tar: the tar is truncated", tar->name, place,
                    tar->given);
    if (archive_errno(tar->archive) == ENOMEM)
        return fail_nomem(err);
    const char *text = archive_error_string(tar->archive);
    char safe[160];
    if (!text) /* unreached: libarchive has words for all that it refuses */
        text = "damaged tar archive";
    return fail(err, APL_E_SOURCE, "%s: %sbyte %" PRIu64 " of the tar: %s", tar->name, place, position(tar),
                printable(safe, sizeof safe, text, strlen(text)));
}

static apl_status begin_failed(struct tar *tar, apl_error *err)
{
    bool began = archive_format(tar->archive) != 0 || archive_errno(tar->archive) == ENOMEM;
    if (tar->why.status != APL_OK || began)
        return tar_failed(tar, "", err);
    return fail(
        err, APL_E_SOURCE,
        "%s: is not a known archive: expected a tar, plain or compressed once with gzip, xz, zstd or bzip2",
        tar->name);
}

/* Is all that libarchive has to say that the locale has no characters for a name? That is taken as UTF-8 then. */
static bool is_only_the_name(const struct tar *tar)
{
    const char *text = archive_error_string(tar->archive);
    return tar->options.folders && text && strncmp(text, "Pathname can't be converted", 27) == 0;
}

/* The next header of any kind, into *entry; APL_END after the last. *clean: libarchive had nothing to say
 * against it. */
static apl_status next_header(struct tar *tar, struct archive_entry **entry, bool *clean, apl_error *err)
{
    tar->in_header = true;
    tar->headers = 0;
    if (tar->entries == 0 && archive_read_open(tar->archive, tar, NULL, give_plain, NULL) != ARCHIVE_OK)
        return begin_failed(tar, err);
    int result = archive_read_next_header(tar->archive, entry);
    tar->in_header = false;
    if (result == ARCHIVE_EOF)
        return APL_END;
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN)
        return tar->entries == 0 ? begin_failed(tar, err) : tar_failed(tar, "", err);
    *clean = result == ARCHIVE_OK || is_only_the_name(tar);
    unsigned most = tar->options.folders ? FILES_MAX : ENTRIES_MAX;
    if (++tar->entries > most)
        return fail(err, APL_E_SOURCE, "%s: has more than %u members", tar->name, most);
    return APL_OK;
}

/* libarchive takes a member of type S without a map of holes for a plain file, whatever its real size; GNU tar and
 * Python do not. The header is the block that it has just passed; none straddles two portions of the input. */
static bool is_old_sparse(const struct tar *tar)
{
    uint64_t end = position(tar), start = tar->given - tar->size;
    return end >= start + TAR_BLOCK && end <= tar->given &&
           tar->data[end - start - TAR_BLOCK + TAR_TYPE] == 'S';
}

/* Why a wanted entry is not to be read, or NULL. */
static const char *objection(const struct tar *tar, struct archive_entry *entry, const char *path)
{
    if (archive_entry_hardlink(entry) || archive_entry_hardlink_utf8(entry))
        return "is a hard link, not a regular file: tar --hard-dereference packs what it leads to";
    if (archive_entry_filetype(entry) == AE_IFLNK)
        return "is a symbolic link, not a regular file: tar --dereference packs what it leads to";
    if (archive_entry_filetype(entry) == AE_IFDIR)
        return "is a directory, not a regular file";
    if (archive_entry_filetype(entry) != AE_IFREG)
        return "is a device or pipe, not a regular file";
    if (path_leads_out(path))
        return "has a path that leads out of the archive";
    if (archive_entry_sparse_count(entry) > 0 || is_old_sparse(tar))
        return "is a sparse file, which is not accepted";
    if (!archive_entry_size_is_set(entry) || archive_entry_size(entry) < 0) /* unreached: a tar has them */
        return "has no size";
    if ((uint64_t)archive_entry_size(entry) > MEMBER_MAX)
        return "is larger than 4 GiB";
    return NULL;
}

static apl_status accept(struct tar *tar, struct archive_entry *entry, const char *path, bool clean,
                         apl_error *err)
{
    const char *why = objection(tar, entry, path);
    if (why)
        return fail(err, APL_E_SOURCE, "%s: member %s: byte %" PRIu64 " of the tar: %s", tar->name, tar->path,
                    position(tar), why);
    if (!clean) {
        char place[sizeof tar->path + 16];
        snprintf(place, sizeof place, "member %s: ", tar->path);
        return tar_failed(tar, place, err);
    }
    tar->at = 0;
    tar->left = (uint64_t)archive_entry_size(entry);
    return APL_OK;
}

/* After the end mark: nothing but NUL bytes to the end of the input. */
static apl_status drain(struct tar *tar, apl_error *err)
{
    uint64_t used = position(tar), start = tar->given - tar->size;
    if (tar->ended && used < start) /* half a block, where libarchive looked for the rest of the mark */
        return tar_failed(tar, "", err);
    while (!tar->ended) {
        for (size_t at = used > start ? (size_t)(used - start) : 0; at < tar->size; at++)
            if (tar->data[at] != 0)
                return fail(err, APL_E_SOURCE, "%s: byte %" PRIu64 " of the tar: garbage after its end",
                            tar->name, start + at);
        start = tar->given;
        TRY(pull(tar, err));
    }
    return APL_OK;
}

bool tar_lacks_end(const struct tar *tar)
{
    return tar->ended && tar->zeros < TAR_BLOCK;
}

/* What can be looked at of a member that is listed: what reading it would refuse has nothing. */
static uint64_t listed_bytes(const struct tar *tar, struct archive_entry *entry, bool clean)
{
    return clean && !objection(tar, entry, tar->member) ? (uint64_t)archive_entry_size(entry) : 0;
}

apl_status tar_look(struct tar *tar, uint64_t *size)
{
    *size = tar->left;
    return APL_OK;
}

apl_status tar_leave(struct tar *tar, apl_error *err)
{
    return archive_read_data_skip(tar->archive) < ARCHIVE_WARN ? tar_failed(tar, "", err) : APL_OK;
}

apl_status tar_next(struct tar *tar, struct source_member *member, apl_error *err)
{
    if (tar->options.list && tar->entries > 0) /* what was listed has not been read, and is no header */
        TRY(tar_leave(tar, err));
    for (;;) {
        struct archive_entry *entry;
        bool clean = false;
        apl_status status = next_header(tar, &entry, &clean, err);
        if (status == APL_END)
            TRY(drain(tar, err));
        TRY(status);
        const char *path = archive_entry_pathname(entry);
        if (!path)
            path = archive_entry_pathname_utf8(entry); /* what the C locale has no characters for */
        if (!path)
            path = "";
        free(tar->member);
        tar->member = tar->options.folders ? path_plain(path) : path_basename(path);
        if (!tar->member)
            return fail_nomem(err);
        printable(tar->path, sizeof tar->path, path, strlen(path));
        if (tar->options.list) {
            tar->at = 0;
            tar->left = listed_bytes(tar, entry, clean);
            *member = (struct source_member){.name = tar->member,
                                             .path = tar->path,
                                             .directory = archive_entry_filetype(entry) == AE_IFDIR};
            return APL_OK;
        }
        bool passed = tar->options.files_only && archive_entry_filetype(entry) == AE_IFDIR;
        if (!passed && tar->options.wants(tar->member, tar->options.user)) {
            TRY(accept(tar, entry, path, clean, err));
            *member = (struct source_member){.name = tar->member, .path = tar->path, .size = tar->left};
            return APL_OK;
        }
        if (archive_read_data_skip(tar->archive) < ARCHIVE_WARN)
            return tar_failed(tar, "", err);
    }
}

static apl_status block_failed(struct tar *tar, const char *why, apl_error *err)
{
    char place[sizeof tar->path + 16];
    snprintf(place, sizeof place, "member %s: ", tar->path);
    if (!why)
        return tar_failed(tar, place, err);
    return fail(err, APL_E_SOURCE, "%s: %sbyte %" PRIu64 " of the tar: %s", tar->name, place, position(tar),
                why);
}

apl_status tar_block(struct tar *tar, const uint8_t **data, size_t *size, apl_error *err)
{
    const void *block = NULL;
    size_t n = 0;
    la_int64_t offset = 0;
    while (n == 0) {
        int result = archive_read_data_block(tar->archive, &block, &n, &offset);
        if (result == ARCHIVE_EOF)
            return tar->left == 0 ? APL_END : block_failed(tar, "has fewer bytes than its header says", err);
        if (result != ARCHIVE_OK)
            return block_failed(tar, NULL, err);
    }
    if (n > tar->left) /* unreached: libarchive goes by the header */
        return block_failed(tar, "has more bytes than its header says", err);
    if ((uint64_t)offset != tar->at) /* unreached: sparse files are refused before */
        return block_failed(tar, "has a hole", err);
    tar->at += n;
    tar->left -= n;
    *data = block;
    *size = n;
    return APL_OK;
}

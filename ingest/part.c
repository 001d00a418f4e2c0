/* Reading by pread(); what is deflated is handed to the inflater as the gzip member that it would be, so that it is checked alike. */
#include "part.h"

#include "gunzip.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#define PART_BYTES (256u << 10)

struct part {
    struct format_part what;
    int fd;
    const char *name;
    uint64_t at;  /* packed bytes read, */
    uint64_t out; /* and bytes given */
    uint32_t crc;
    struct gunzip *gunzip; /* NULL: it is stored */
    struct gunzip_io io;
    bool headed, tailed; /* the inflater has had its header; its trailer */
    uint8_t frame[10];
    uint8_t raw[PART_BYTES], plain[PART_BYTES];
};

apl_status part_read_at(int fd, const char *name, uint64_t offset, void *out, size_t size, apl_error *err)
{
    for (size_t have = 0; have < size;) {
        ssize_t n = pread(fd, (char *)out + have, size - have, (off_t)(offset + have));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_errno(err, errno, "%s: byte %" PRIu64 ": cannot be read", name, offset + have);
        if (n == 0)
            return fail(err, APL_E_INCOMPLETE, "%s: ends early at byte %" PRIu64 ": it is truncated", name,
                        offset + have);
        have += (size_t)n;
    }
    return APL_OK;
}

apl_status part_open(int fd, const char *name, const struct format_part *what, struct part **out,
                     apl_error *err)
{
    struct part *part = calloc(1, sizeof *part);
    const struct gunzip_kind *kind = what->deflated ? gunzip_pick() : NULL;
    if (part && kind)
        part->gunzip = gunzip_open(kind);
    if (!part || (what->deflated && !part->gunzip)) {
        free(part);
        close(fd);
        return what->deflated && !kind
                   ? fail(err, APL_E_UNSUPPORTED, "APL_GUNZIP names no inflater of this build")
                   : fail_nomem(err);
    }
    part->what = *what;
    part->fd = fd;
    part->name = name;
    *out = part;
    return APL_OK;
}

void part_close(struct part *part)
{
    if (!part)
        return;
    gunzip_close(part->gunzip);
    close(part->fd);
    free(part);
}

static apl_status part_damaged(const struct part *part, const char *how, apl_error *err)
{
    return fail(err, APL_E_SOURCE, "%s: %s: %s", part->name, part->what.name, how);
}

/* Reads more packed bytes; none are left after the last. */
static apl_status read_packed(struct part *part, size_t *size, apl_error *err)
{
    uint64_t left = part->what.packed - part->at;
    *size = left < PART_BYTES ? (size_t)left : PART_BYTES;
    TRY(part_read_at(part->fd, part->name, part->what.offset + part->at, part->raw, *size, err));
    part->at += *size;
    return APL_OK;
}

static apl_status next_stored(struct part *part, const uint8_t **data, size_t *size, apl_error *err)
{
    TRY(read_packed(part, size, err));
    *data = part->raw;
    part->crc = gunzip_crc32_more(part->crc, part->raw, *size);
    if (*size > 0)
        return APL_OK;
    return !part->what.checked || part->crc == part->what.crc ? APL_END
                                                              : part_damaged(part, "its CRC is wrong", err);
}

/* What the inflater gets next: a header, the data, a trailer of the CRC and the size that are said to be. */
static apl_status feed_inflater(struct part *part, bool *ended, apl_error *err)
{
    static const uint8_t header[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff};
    size_t size;
    *ended = false;
    if (!part->headed) {
        part->headed = true;
        part->io.in = header;
        part->io.in_left = sizeof header;
        return APL_OK;
    }
    TRY(read_packed(part, &size, err));
    part->io.in = part->raw;
    part->io.in_left = size;
    if (size > 0)
        return APL_OK;
    *ended = part->tailed;
    part->tailed = true;
    store_le(part->frame, part->what.crc, 4);
    store_le(part->frame + 4, part->what.size, 4);
    part->io.in = part->frame;
    part->io.in_left = *ended ? 0 : 8;
    return APL_OK;
}

static apl_status next_inflated(struct part *part, const uint8_t **data, size_t *size, apl_error *err)
{
    bool ended = false;
    part->io.out = part->plain;
    part->io.out_left = PART_BYTES;
    while (part->io.out_left > 0 && !ended) {
        if (part->io.in_left == 0)
            TRY(feed_inflater(part, &ended, err));
        if (gunzip_run(part->gunzip, &part->io, part->name, NULL) != APL_OK)
            return part_damaged(part, "its deflated bytes are damaged, or its CRC is wrong", err);
    }
    *data = part->plain;
    *size = PART_BYTES - part->io.out_left;
    part->out += *size;
    if (part->out > part->what.size)
        return part_damaged(part, "has more bytes than the archive says", err);
    if (*size > 0)
        return APL_OK;
    if (gunzip_finish(part->gunzip, part->name, NULL) != APL_OK || part->out != part->what.size)
        return part_damaged(part, "has fewer bytes than the archive says", err);
    return APL_END;
}

apl_status part_next(struct part *part, const uint8_t **data, size_t *size, apl_error *err)
{
    return part->gunzip ? next_inflated(part, data, size, err) : next_stored(part, data, size, err);
}

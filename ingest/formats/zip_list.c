/* The end of the directory, the directory, and each member's own header: see zip_list.h. */
#include "zip_list.h"

#include "bytes.h"

#include <inttypes.h>

#define END_BYTES     22u
#define COMMENT_MAX   65535u
#define ENTRY_BYTES   46u
#define LOCAL_BYTES   30u
#define MEMBERS_MAX   4096u
#define DIRECTORY_MAX (4u << 20)

struct zip {
    zip_read read;
    void *user;
    uint64_t size;
    uint64_t entries, directory_size, directory_at;
};

/* Reads within the file only. */
static apl_status read_within(const struct zip *zip, uint64_t offset, void *out, size_t size, apl_error *err)
{
    if (offset > zip->size || size > zip->size - offset)
        return fail(err, APL_E_SOURCE, "the zip archive refers to byte %" PRIu64 ", beyond its end", offset);
    return zip->read(zip->user, offset, out, size, err);
}

/* The 64-bit numbers, where there are too many bytes for 32: behind the end, 20 bytes before it, lies where they are. */
static apl_status read_end64(struct zip *zip, uint64_t end_at, apl_error *err)
{
    uint8_t locator[20], end[56];
    if (end_at < sizeof locator)
        return fail(err, APL_E_SOURCE, "the zip archive lacks its 64-bit directory");
    TRY(read_within(zip, end_at - sizeof locator, locator, sizeof locator, err));
    if (load_le(locator, 4) != 0x07064b50)
        return fail(err, APL_E_SOURCE, "the zip archive lacks its 64-bit directory");
    TRY(read_within(zip, load_le(locator + 8, 8), end, sizeof end, err));
    if (load_le(end, 4) != 0x06064b50)
        return fail(err, APL_E_SOURCE, "the zip archive lacks its 64-bit directory");
    zip->entries = load_le(end + 32, 8);
    zip->directory_size = load_le(end + 40, 8);
    zip->directory_at = load_le(end + 48, 8);
    return APL_OK;
}

/* Looks for the end from behind, over a comment of whatever length. */
static apl_status find_end(struct zip *zip, struct buffer *tail, apl_error *err)
{
    size_t size = zip->size < END_BYTES + COMMENT_MAX ? (size_t)zip->size : END_BYTES + COMMENT_MAX;
    if (!buffer_reserve(tail, size + 1))
        return fail_nomem(err);
    TRY(read_within(zip, zip->size - size, tail->data, size, err));
    for (size_t at = size >= END_BYTES ? size - END_BYTES + 1 : 0; at-- > 0;) {
        const uint8_t *end = tail->data + at;
        if (load_le(end, 4) != 0x06054b50 || load_le(end + 20, 2) != size - at - END_BYTES)
            continue;
        zip->entries = load_le(end + 10, 2);
        zip->directory_size = load_le(end + 12, 4);
        zip->directory_at = load_le(end + 16, 4);
        bool wide =
            zip->entries == 0xffff || zip->directory_size == 0xffffffff || zip->directory_at == 0xffffffff;
        return wide ? read_end64(zip, zip->size - size + at, err) : APL_OK;
    }
    return fail(err, APL_E_INCOMPLETE,
                "the zip archive's directory, at its end, is missing: it is truncated");
}

/* The 64-bit numbers of an entry, in the order in which their places are all ones. */
static apl_status take_wide(struct zip_member *m, uint64_t *local, struct cursor extra, apl_error *err)
{
    while (cursor_left(&extra) >= 4) {
        uint16_t id = cursor_u16(&extra), size = cursor_u16(&extra);
        const uint8_t *data = cursor_take(&extra, size);
        if (!data)
            break;
        struct cursor c = cursor_over(data, size);
        if (id != 1)
            continue;
        if (m->size == 0xffffffff)
            m->size = cursor_u64(&c);
        if (m->packed == 0xffffffff)
            m->packed = cursor_u64(&c);
        if (*local == 0xffffffff)
            *local = cursor_u64(&c);
        return cursor_ok(&c) ? APL_OK
                             : fail(err, APL_E_SOURCE, "member %s: its 64-bit sizes are cut off", m->name);
    }
    return m->size == 0xffffffff || m->packed == 0xffffffff || *local == 0xffffffff
               ? fail(err, APL_E_SOURCE, "member %s: its 64-bit sizes are missing", m->name)
               : APL_OK;
}

/* Where the data begin: behind the member's own header, whose name and extra bytes may be others than the directory's. */
static apl_status find_data(const struct zip *zip, uint64_t local, struct zip_member *m, apl_error *err)
{
    uint8_t header[LOCAL_BYTES];
    TRY(read_within(zip, local, header, sizeof header, err));
    if (load_le(header, 4) != 0x04034b50)
        return fail(err, APL_E_SOURCE, "member %s: its header is not where the directory says", m->name);
    m->offset = local + LOCAL_BYTES + load_le(header + 26, 2) + load_le(header + 28, 2);
    if (m->offset > zip->size || m->packed > zip->size - m->offset)
        return fail(err, APL_E_SOURCE, "member %s: reaches beyond the end of the zip archive", m->name);
    if (!m->deflated && m->packed != m->size)
        return fail(err, APL_E_SOURCE, "member %s: is stored, but its two sizes differ", m->name);
    return APL_OK;
}

static apl_status take_member(const struct zip *zip, struct cursor *c, struct zip_member *m, apl_error *err)
{
    const uint8_t *e = cursor_take(c, ENTRY_BYTES);
    if (!e || load_le(e, 4) != 0x02014b50)
        return fail(err, APL_E_SOURCE, "the zip archive's directory is damaged");
    unsigned flags = (unsigned)load_le(e + 8, 2), method = (unsigned)load_le(e + 10, 2);
    size_t name_size = load_le(e + 28, 2), extra_size = load_le(e + 30, 2), comment = load_le(e + 32, 2);
    uint64_t local = load_le(e + 42, 4);
    *m = (struct zip_member){.crc = (uint32_t)load_le(e + 16, 4),
                             .packed = load_le(e + 20, 4),
                             .size = load_le(e + 24, 4),
                             .deflated = method == 8};
    const uint8_t *name = cursor_take(c, name_size), *extra = cursor_take(c, extra_size);
    cursor_take(c, comment);
    if (!cursor_ok(c) || name_size >= sizeof m->name)
        return fail(err, APL_E_SOURCE, "the zip archive's directory is damaged");
    printable(m->name, sizeof m->name, (const char *)name, name_size);
    if (flags & 1)
        return fail(err, APL_E_UNSUPPORTED, "member %s: is encrypted", m->name);
    if (method != 0 && method != 8)
        return fail(err, APL_E_UNSUPPORTED, "member %s: is neither stored nor deflated (method %u)", m->name,
                    method);
    TRY(take_wide(m, &local, cursor_over(extra, extra_size), err));
    return find_data(zip, local, m, err);
}

static apl_status take_members(const struct zip *zip, const struct buffer *directory, struct zip_list *list,
                               apl_error *err)
{
    struct cursor c = cursor_over(directory->data, directory->size);
    list->members = calloc((size_t)zip->entries + 1, sizeof *list->members);
    if (!list->members)
        return fail_nomem(err);
    for (; list->count < zip->entries; list->count++)
        TRY(take_member(zip, &c, &list->members[list->count], err));
    return cursor_at_end(&c) ? APL_OK : fail(err, APL_E_SOURCE, "the zip archive's directory is damaged");
}

apl_status zip_list_read(zip_read read, void *user, uint64_t size, struct zip_list *list, apl_error *err)
{
    struct zip zip = {.read = read, .user = user, .size = size};
    struct buffer bytes = {0};
    apl_status status;
    *list = (struct zip_list){0};
    GUARD(find_end(&zip, &bytes, err));
    if (zip.entries > MEMBERS_MAX || zip.directory_size > DIRECTORY_MAX) {
        status = fail(err, APL_E_SOURCE, "the zip archive has more than %u members", MEMBERS_MAX);
        goto out;
    }
    bytes.size = 0;
    if (!buffer_reserve(&bytes, (size_t)zip.directory_size + 1)) {
        status = fail_nomem(err);
        goto out;
    }
    bytes.size = (size_t)zip.directory_size;
    GUARD(read_within(&zip, zip.directory_at, bytes.data, bytes.size, err));
    GUARD(take_members(&zip, &bytes, list, err));
out:
    buffer_free(&bytes);
    return status;
}

void zip_list_free(struct zip_list *list)
{
    free(list->members);
    *list = (struct zip_list){0};
}

/* The end of the directory, the directory, and each member's own header: see zip_list.h. */
#include "zip_list.h"

#include <inttypes.h>
#include <stdlib.h>

#define END_BYTES    22u
#define COMMENT_MAX  65535u
#define ENTRY_BYTES  46u
#define LOCAL_BYTES  30u
#define MEMBERS_MAX  4096u
#define ENTRY_MAX    (ENTRY_BYTES + 3u * 65535u)
#define WINDOW_BYTES ((size_t)256 << 10) /* at least an entry */
#define LINK_MODES   0170000u
#define FILE_MODE    0100000u
#define FOLDER_MODE  0040000u

/* Reads within the file only. */
static apl_status read_within(const struct zip_directory *zip, uint64_t offset, void *out, size_t size,
                              apl_error *err)
{
    if (offset > zip->size || size > zip->size - offset)
        return fail(err, APL_E_SOURCE, "the zip archive refers to byte %" PRIu64 ", beyond its end", offset);
    return zip->read(zip->user, offset, out, size, err);
}

/* The 64-bit numbers, where there are too many bytes for 32: behind the end, 20 bytes before it, lies where they are. */
static apl_status read_end64(struct zip_directory *zip, uint64_t end_at, apl_error *err)
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
    zip->bytes = load_le(end + 40, 8);
    zip->begin = load_le(end + 48, 8);
    return APL_OK;
}

/* Looks for the end from behind, over a comment of whatever length. */
static apl_status find_end(struct zip_directory *zip, struct buffer *tail, apl_error *err)
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
        zip->bytes = load_le(end + 12, 4);
        zip->begin = load_le(end + 16, 4);
        bool wide = zip->entries == 0xffff || zip->bytes == 0xffffffff || zip->begin == 0xffffffff;
        return wide ? read_end64(zip, zip->size - size + at, err) : APL_OK;
    }
    return fail(err, APL_E_INCOMPLETE,
                "the zip archive's directory is not at its end: it is truncated, or something follows it");
}

/* The 64-bit numbers of an entry, in the order in which their places are all ones. */
static apl_status take_wide(struct zip_entry *e, struct cursor extra, apl_error *err)
{
    while (cursor_left(&extra) >= 4) {
        uint16_t id = cursor_u16(&extra), size = cursor_u16(&extra);
        const uint8_t *data = cursor_take(&extra, size);
        if (!data)
            break;
        struct cursor c = cursor_over(data, size);
        if (id != 1)
            continue;
        if (e->size == 0xffffffff)
            e->size = cursor_u64(&c);
        if (e->packed == 0xffffffff)
            e->packed = cursor_u64(&c);
        if (e->local == 0xffffffff)
            e->local = cursor_u64(&c);
        return cursor_ok(&c) ? APL_OK
                             : fail(err, APL_E_SOURCE, "member %s: its 64-bit sizes are cut off", e->shown);
    }
    return e->size == 0xffffffff || e->packed == 0xffffffff || e->local == 0xffffffff
               ? fail(err, APL_E_SOURCE, "member %s: its 64-bit sizes are missing", e->shown)
               : APL_OK;
}

apl_status zip_find_data(const struct zip_directory *d, const struct zip_entry *e, bool named,
                         uint64_t *offset, apl_error *err)
{
    uint8_t header[LOCAL_BYTES], name[4096];
    if (e->encrypted)
        return fail(err, APL_E_UNSUPPORTED, "member %s: is encrypted", e->shown);
    if (e->method != 0 && e->method != 8)
        return fail(err, APL_E_UNSUPPORTED, "member %s: is neither stored nor deflated (method %u)", e->shown,
                    e->method);
    TRY(read_within(d, e->local, header, sizeof header, err));
    size_t length = load_le(header + 26, 2);
    if (load_le(header, 4) != 0x04034b50)
        return fail(err, APL_E_SOURCE, "member %s: its header is not where the directory says", e->shown);
    if (named && length == e->name_size && length <= sizeof name)
        TRY(read_within(d, e->local + LOCAL_BYTES, name, length, err));
    if (named && (length != e->name_size || length > sizeof name || memcmp(name, e->name, length) != 0))
        return fail(err, APL_E_SOURCE, "member %s: its own header has another name", e->shown);
    *offset = e->local + LOCAL_BYTES + length + load_le(header + 28, 2);
    if (*offset > d->size || e->packed > d->size - *offset)
        return fail(err, APL_E_SOURCE, "member %s: reaches beyond the end of the zip archive", e->shown);
    if (e->method == 0 && e->packed != e->size)
        return fail(err, APL_E_SOURCE, "member %s: is stored, but its two sizes differ", e->shown);
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------- the directory */

void zip_directory_rewind(struct zip_directory *d)
{
    d->taken = d->at = 0;
    d->cursor = cursor_over(NULL, 0);
}

apl_status zip_directory_open(zip_read read, void *user, uint64_t size, struct zip_directory *d,
                              apl_error *err)
{
    *d = (struct zip_directory){.read = read, .user = user, .size = size};
    struct buffer tail = {0};
    apl_status status = find_end(d, &tail, err);
    buffer_free(&tail);
    zip_directory_rewind(d);
    TRY(status);
    if (d->begin > size || d->bytes > size - d->begin || d->entries > d->bytes / ENTRY_BYTES)
        return fail(err, APL_E_SOURCE, "the zip archive's directory is damaged");
    return buffer_reserve(&d->window, WINDOW_BYTES) ? APL_OK : fail_nomem(err);
}

void zip_directory_close(struct zip_directory *d)
{
    buffer_free(&d->window);
}

/* Moves the window, unless it has all of the next entry. */
static apl_status fill_window(struct zip_directory *d, apl_error *err)
{
    size_t left = cursor_left(&d->cursor);
    uint64_t more = d->bytes - d->at;
    if (left >= ENTRY_MAX || more == 0)
        return APL_OK;
    if (left > 0)
        memmove(d->window.data, d->cursor.at, left);
    size_t n = more < WINDOW_BYTES - left ? (size_t)more : WINDOW_BYTES - left;
    TRY(read_within(d, d->begin + d->at, d->window.data + left, n, err));
    d->at += n;
    d->cursor = cursor_over(d->window.data, left + n);
    return APL_OK;
}

static apl_status damaged_directory(apl_error *err)
{
    return fail(err, APL_E_SOURCE, "the zip archive's directory is damaged");
}

apl_status zip_directory_next(struct zip_directory *d, struct zip_entry *entry, apl_error *err)
{
    TRY(fill_window(d, err));
    if (d->taken == d->entries)
        return cursor_left(&d->cursor) == 0 && d->at == d->bytes ? APL_END : damaged_directory(err);
    const uint8_t *e = cursor_take(&d->cursor, ENTRY_BYTES);
    if (!e || load_le(e, 4) != 0x02014b50)
        return damaged_directory(err);
    unsigned mode = (unsigned)load_le(e + 40, 2) & LINK_MODES;
    *entry = (struct zip_entry){.name_size = load_le(e + 28, 2),
                                .local = load_le(e + 42, 4),
                                .packed = load_le(e + 20, 4),
                                .size = load_le(e + 24, 4),
                                .crc = (uint32_t)load_le(e + 16, 4),
                                .encrypted = load_le(e + 8, 2) & 1,
                                .link = e[5] == 3 && mode != 0 && mode != FILE_MODE && mode != FOLDER_MODE,
                                .method = (unsigned)load_le(e + 10, 2)};
    size_t extra_size = load_le(e + 30, 2);
    entry->name = cursor_take(&d->cursor, entry->name_size);
    const uint8_t *extra = cursor_take(&d->cursor, extra_size);
    cursor_take(&d->cursor, load_le(e + 32, 2));
    if (!cursor_ok(&d->cursor) || memchr(entry->name, 0, entry->name_size))
        return damaged_directory(err);
    printable(entry->shown, sizeof entry->shown, (const char *)entry->name, entry->name_size);
    d->taken++;
    return take_wide(entry, cursor_over(extra, extra_size), err);
}

/* ------------------------------------------------------------------------------------------------- few members */

static apl_status list_member(const struct zip_directory *d, const struct zip_entry *e, struct zip_member *m,
                              apl_error *err)
{
    if (e->name_size >= sizeof m->name)
        return damaged_directory(err);
    *m = (struct zip_member){.packed = e->packed, .size = e->size, .crc = e->crc, .deflated = e->method == 8};
    memcpy(m->name, e->shown, sizeof m->name);
    return zip_find_data(d, e, false, &m->offset, err);
}

static apl_status list_few(struct zip_directory *d, struct zip_list *list, apl_error *err)
{
    struct zip_entry entry;
    apl_status status;
    if (d->entries > MEMBERS_MAX)
        return fail(err, APL_E_SOURCE, "the zip archive has more than %u members", MEMBERS_MAX);
    list->members = calloc((size_t)d->entries + 1, sizeof *list->members);
    if (!list->members)
        return fail_nomem(err);
    while ((status = zip_directory_next(d, &entry, err)) == APL_OK) {
        TRY(list_member(d, &entry, &list->members[list->count], err));
        list->count++;
    }
    return status == APL_END ? APL_OK : status;
}

apl_status zip_list_read(zip_read read, void *user, uint64_t size, struct zip_list *list, apl_error *err)
{
    struct zip_directory d;
    *list = (struct zip_list){0};
    apl_status status = zip_directory_open(read, user, size, &d, err);
    if (status == APL_OK)
        status = list_few(&d, list, err);
    zip_directory_close(&d);
    return status;
}

void zip_list_free(struct zip_list *list)
{
    free(list->members);
    *list = (struct zip_list){0};
}

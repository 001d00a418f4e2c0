/* Parts of files, as zip archives have them: their bytes, and what is wrong with them. */
#include "archives.h"
#include "part.h"

#include <fcntl.h>
#include <unistd.h>

TestSuite(part);

#define MANY (600u << 10)

static struct buffer plain, packed;

static void set_up(void)
{
    for (unsigned i = 0; i < MANY; i++)
        buffer_le(&plain, i * i >> 7, 1);
    packed = gzip_of(&plain);
}

static void tear_down(void)
{
    buffer_free(&plain);
    buffer_free(&packed);
}

/* Of a file of these bytes with ten before them; what it gives is compared as far as it comes. */
static apl_status read_part(const struct buffer *bytes, const struct format_part *is, apl_error *err)
{
    char path[] = "/tmp/apl-part-XXXXXX";
    struct format_part what = *is;
    struct part *part;
    const uint8_t *data;
    size_t size, all = 0;
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    unlink(path);
    cr_assert_eq(pwrite(fd, bytes->data, bytes->size, 10), (ssize_t)bytes->size);
    what.name = "member";
    what.offset = 10;
    cr_assert_eq(part_open(fd, "file", &what, &part, err), APL_OK);
    apl_status status = APL_OK;
    while ((status = part_next(part, &data, &size, err)) == APL_OK) {
        cr_assert(all + size <= is->size && memcmp(data, plain.data + all, size) == 0);
        all += size;
    }
    cr_assert(status != APL_END || all == is->size);
    part_close(part);
    return status;
}

/* Between gzip's header of ten bytes and its trailer of eight. */
static apl_status read_deflated(uint64_t size, uint32_t wrong, apl_error *err)
{
    const struct buffer raw = {.data = packed.data + 10, .size = packed.size - 18};
    uint32_t crc = (uint32_t)load_le(packed.data + packed.size - 8, 4) + wrong;
    return read_part(
        &raw, &(struct format_part){.packed = raw.size, .size = size, .deflated = true, .crc = crc}, err);
}

Test(part, of_deflated_bytes, .init = set_up, .fini = tear_down)
{
    apl_error err = {0};
    cr_assert_eq(read_deflated(MANY, 0, &err), APL_END, "%s", err.message);
    cr_assert_eq(read_deflated(MANY, 1, &err), APL_E_SOURCE);
    cr_assert(strstr(err.message, "file: member: its deflated bytes are damaged, or its CRC is wrong"));
    cr_assert_eq(read_deflated(MANY + 1, 0, &err), APL_E_SOURCE);
    cr_assert_eq(read_deflated((256u << 10) - 1, 0, &err), APL_E_SOURCE);
    cr_assert(strstr(err.message, "has more bytes than the archive says"), "%s", err.message);
}

Test(part, of_stored_bytes, .init = set_up, .fini = tear_down)
{
    apl_error err = {0};
    uint32_t crc = (uint32_t)load_le(packed.data + packed.size - 8, 4);
    struct format_part what = {.packed = MANY, .size = MANY, .checked = true, .crc = crc};
    cr_assert_eq(read_part(&plain, &what, &err), APL_END, "%s", err.message);
    what.crc++;
    cr_assert_eq(read_part(&plain, &what, &err), APL_E_SOURCE);
    cr_assert(strstr(err.message, "file: member: its CRC is wrong"), "%s", err.message);
    what.checked = false;
    cr_assert_eq(read_part(&plain, &what, &err), APL_END, "there is none to compare");
}

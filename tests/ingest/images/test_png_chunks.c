/* What of a PNG file its chunks alone tell: frames. */
#include "png_chunks.h"

#include "bytes.h"

#include <criterion/criterion.h>

static struct buffer file;

static void begin(void)
{
    file.size = 0;
    buffer_put(&file, "\x89PNG\r\n\x1a\n", 8);
}

/* A chunk of one number, or of nothing, if that is 0; nobody looks at its checksum here. */
static void put_chunk(const char *name, uint8_t number)
{
    const uint8_t head[4] = {0, 0, 0, number ? 4 : 0}, data[4] = {0, 0, 0, number};
    buffer_put(&file, head, 4);
    buffer_put(&file, name, 4);
    buffer_put(&file, data, head[3]);
    buffer_put(&file, "sum!", 4);
}

static void put_chunks(uint8_t frames, bool shown)
{
    begin();
    put_chunk("IHDR", 1);
    if (frames)
        put_chunk("acTL", frames);
    if (shown)
        put_chunk("fcTL", 1);
    put_chunk("IDAT", 9);
    put_chunk("acTL", 200); /* too late */
    put_chunk("IEND", 0);
}

Test(png_chunks, frames_are_told)
{
    static const struct {
        uint8_t frames;
        bool shown, more;
    } cases[] = {{0, false, false}, {1, true, false}, {1, false, true}, {3, true, true}, {3, false, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_chunks(cases[i].frames, cases[i].shown);
        cr_expect_eq(png_has_frames(file.data, file.size), cases[i].more, "case %zu", i);
    }
}

/* Each length is a file of its own, so that reading beyond it is seen. */
Test(png_chunks, files_may_end_anywhere)
{
    put_chunks(3, true);
    for (size_t size = 0; size < file.size; size++) {
        uint8_t *cut = malloc(size + !size);
        memcpy(cut, file.data, size);
        cr_assert_eq(png_has_frames(cut, size), size >= 8 + 16 + 16, "%zu bytes", size);
        free(cut);
    }
}

Test(png_chunks, lengths_may_lie)
{
    begin();
    buffer_put(&file,
               "\xff\xff\xff\xff"
               "IDAT",
               8);
    cr_assert(!png_has_frames(file.data, file.size));
}

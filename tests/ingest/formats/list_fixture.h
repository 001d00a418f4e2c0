/* What tests of tables share: a folder of images, tables written into it, and what is in the store. */
#ifndef LIST_FIXTURE_H
#define LIST_FIXTURE_H

#include "ingest_fixture.h"
#include "jpegs.h"

#include <sys/stat.h>

static inline void put_text(const char *name, const char *text)
{
    ix_put(name, text, strlen(text));
}

static inline void put_jpeg(const char *name, unsigned width, unsigned height)
{
    struct jpeg_bytes bytes = jpeg_draw(&(struct jpeg_case){
        .width = width, .height = height, .colour = JCS_YCbCr, .across = 2, .down = 2, .quality = 90});
    ix_put(name, bytes.data, bytes.size);
    free(bytes.data);
}

static inline void list_set_up(void)
{
    ix_set_up();
    cr_assert_eq(mkdir(fx_path("in"), 0777), 0);
    cr_assert_eq(mkdir(fx_path("in/deep"), 0777), 0);
    put_jpeg("in/a.jpg", 24, 16);
    put_jpeg("in/b.jpg", 17, 33);
    put_jpeg("in/deep/c.jpg", 8, 8);
    put_jpeg("out.jpg", 8, 8);
}

/* The text of a value of bytes or UTF-8. */
static inline const char *text_at(const apl_column *c, size_t row)
{
    static char text[256];
    size_t length = (size_t)(c->offsets[row + 1] - c->offsets[row]);
    cr_assert_lt(length, sizeof text);
    memcpy(text, (const char *)c->data + c->offsets[row], length);
    text[length] = 0;
    return text;
}

static inline const apl_field *field_of(const apl_store *s, const char *name)
{
    int i = apl_store_find_field(s, name);
    cr_assert_geq(i, 0, "no field %s", name);
    return apl_store_field(s, (unsigned)i);
}

#endif

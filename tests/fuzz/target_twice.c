/*
 * An indexed JPEG image taken apart, so that its two descriptions can be changed one by one: two bytes, what stands in front of what
 * restores its file, and the parts of that. It is put together with checksums that are right. Whatever is accepted when the file is
 * restored, as verify does, decodes to the pixels that libjpeg makes of the file; where the two differ, nobody accepts it.
 */
#include "plain_form.h"

#include "fuzz.h"
#include "hash.h"
#include "photo.h"

#define HEAD        2u
#define LONGEST     128u /* pixels of a side that are compared */
#define MOST_PIXELS (1u << 16)
#define MOST_FILE   (1u << 20)

static struct transcoder t;
static struct photo *photo;
static struct jpeg_decoder *libjpeg;

static void set_up(void)
{
    if (photo)
        return;
    MUST(transcoder_init(&t, NULL) == APL_OK);
    MUST((photo = photo_new()) != NULL && (libjpeg = jpeg_decoder_new()) != NULL);
}

/* false: there is no such image. */
static bool take_apart(const uint8_t *data, size_t size, struct plain_form *p)
{
    struct indexed x;
    size_t front = size >= HEAD + INDEXED_HEAD ? (size_t)load_le(data + HEAD + 8, 4) : 0;
    if (front < INDEXED_HEAD || front > size - HEAD ||
        indexed_parse(data + HEAD, front, &x, NULL) != APL_OK ||
        (uint64_t)x.rendering.frame.width * x.rendering.frame.height > MOST_PIXELS ||
        transcode_blocks(&t, &x, NULL) != APL_OK)
        return false;
    *p = (struct plain_form){.pads = data[1] % (PADS_LISTED + 1)};
    buffer_put(&p->front, data + HEAD, front);
    buffer_put(&p->parts, data + HEAD + front, size - HEAD - front);
    return true;
}

/* ------------------------------------------------------------------------------------------------- the file */

/* A header, and the scan behind it, whatever it says of the image, as long as there are as many blocks. */
static bool add_scan(struct stream *s, struct cursor *parts, size_t bytes, struct pads *pads,
                     struct buffer *file)
{
    const struct frame *f = &t.blocks.frame;
    struct buffer plain = {.failed = false};
    const uint8_t *header = cursor_take(parts, bytes);
    struct cursor c = cursor_over(header, header ? bytes : 0);
    if (!stream_next_scan(s, &c) || cursor_left(&c) > 0 || memcmp(&s->frame, f, sizeof *f) != 0)
        return false;
    buffer_put(file, header, bytes);
    bool ok = stream_encode(s, &t.blocks, pads, &plain, file, MOST_FILE);
    buffer_free(&plain);
    return ok;
}

/* The file that coefficients and parts make, and what its headers say. */
static bool make_file(const struct plain_form *p, struct buffer *file, struct rendering *says)
{
    struct cursor c = cursor_over(p->parts.data, p->parts.size);
    struct stream s = {.scans = 0};
    uint32_t lengths[256];
    unsigned scans = cursor_u8(&c);
    uint64_t headers = 0;
    for (unsigned i = 0; i < scans; i++)
        headers += lengths[i] = cursor_u32(&c);
    uint32_t listed = cursor_u32(&c);
    if (!cursor_ok(&c) || scans == 0 || headers > cursor_left(&c) || listed > cursor_left(&c) - headers)
        return false;
    struct pads pads = {.are_listed = p->pads == PADS_LISTED, .same = p->pads == PADS_ONES ? 0xff : 0};
    pads.list = cursor_over(c.at + headers, listed);
    for (unsigned i = 0; i < scans; i++)
        if (!add_scan(&s, &c, lengths[i], &pads, file))
            return false;
    *says = stream_rendering(&s);
    (void)cursor_take(&c, listed);
    buffer_put(file, c.at, cursor_left(&c));
    return !file->failed;
}

/* ------------------------------------------------------------------------------------------------- pixels */

/* What lies behind its scans is nobody's business, and may lack an end marker. */
static void same_pixels(const struct buffer *form, struct buffer *file, const struct frame *f, uint8_t how)
{
    static uint8_t a[3 * LONGEST * LONGEST], b[sizeof a];
    uint32_t width = 1 + (f->width - 1) / (1 + how % 4), height = 1 + (f->height - 1) / (1 + how / 4 % 4);
    const struct crop_plan plan = {.box = {0, 0, f->width, f->height},
                                   .width = width,
                                   .height = height,
                                   .window = {0, 0, width, height}};
    enum jpeg_chroma chroma = how & 16 ? JPEG_CHROMA_EXACT : JPEG_CHROMA_PLANES;
    struct jpeg_info info;
    apl_error err;
    if (f->width > LONGEST || f->height > LONGEST)
        return;
    MUST(photo_make_indexed(photo, form->data, form->size, &plan, chroma, a, &err) == APL_OK);
    buffer_put(file, "\xff\xd9", 2);
    /* libjpeg warns of some headers, such as a JFIF of a version that it does not know */
    if (jpeg_decoder_probe(libjpeg, file->data, file->size, &info, &err) != APL_OK)
        return;
    MUST(photo_make(photo, file->data, file->size, &plan, chroma, b, &err) == APL_OK);
    MUST(memcmp(a, b, (size_t)3 * width * height) == 0);
}

static void compare(const struct plain_form *p, struct buffer *file, const struct rendering *says,
                    uint8_t how)
{
    struct buffer form = plain_put(&t, p), back = {.failed = false};
    struct indexed x;
    apl_error err;
    MUST(!form.failed && indexed_parse(form.data, form.size, &x, &err) == APL_OK);
    bool same = memcmp(says, &x.rendering, sizeof *says) == 0;
    if (transcode_back(&t, form.data, form.size, file->size, &back, &err) == APL_OK) {
        MUST(same && back.size == file->size && memcmp(back.data, file->data, back.size) == 0);
        same_pixels(&form, file, &says->frame, how);
    } else if (!same) {
        static uint8_t rgb[3];
        const struct crop_plan plan = {.box = {0, 0, 1, 1}, .width = 1, .height = 1, .window = {0, 0, 1, 1}};
        MUST(photo_make_indexed(photo, form.data, form.size, &plan, JPEG_CHROMA_PLANES, rgb, &err) != APL_OK);
    }
    buffer_free(&form);
    buffer_free(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plain_form p;
    struct buffer file = {.failed = false};
    struct rendering says;
    set_up();
    if (!take_apart(data, size, &p))
        return 0;
    if (make_file(&p, &file, &says)) {
        p.sum = hash_xxh3_64(file.data, file.size);
        compare(&p, &file, &says, data[0]);
    }
    buffer_free(&file);
    plain_free(&p);
    return 0;
}

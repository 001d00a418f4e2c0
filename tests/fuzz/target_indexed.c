/*
 * An indexed JPEG image, or a file to make one of, behind eight bytes: what of it becomes a result of what size, and which of the two it is.
 * A file either has no indexed form or comes back from it to the byte, and crops of the form are those of the file. An image that came
 * out of nowhere is restored to what its checksum says, or not at all.
 */
#include "fuzz.h"
#include "photo.h"
#include "transcode.h"

#define HEAD 8u
#define SIDE 40u

static struct transcoder t;
static struct photo *photo;
static apl_error err;

static struct crop_plan plan_of(const uint8_t *head)
{
    return (struct crop_plan){.box = {.left = head[0], .top = head[1], .width = head[2], .height = head[3]},
                              .width = SIDE,
                              .height = SIDE,
                              .window = {0, 0, SIDE, SIDE}};
}

static void read_image(const uint8_t *head, const uint8_t *image, size_t size)
{
    static uint8_t rgb[3 * SIDE * SIDE];
    struct crop_plan plan = plan_of(head);
    struct buffer file = {0};
    size_t file_size = (size_t)head[4] << 8 | head[5];
    if (transcode_back(&t, image, size, file_size, &file, &err) == APL_OK)
        MUST(file.size == file_size);
    (void)photo_make_indexed(photo, image, size, &plan, head[7] & 1 ? JPEG_CHROMA_EXACT : JPEG_CHROMA_PLANES,
                             rgb, &err);
    buffer_free(&file);
}

/* libjpeg may refuse more than the form does, such as segments that it knows. */
static void same_crop(const uint8_t *head, const uint8_t *file, size_t size, const struct buffer *form)
{
    static uint8_t a[3 * SIDE * SIDE], b[3 * SIDE * SIDE];
    struct crop_plan plan = plan_of(head);
    enum jpeg_chroma chroma = head[7] & 1 ? JPEG_CHROMA_EXACT : JPEG_CHROMA_PLANES;
    if (photo_make(photo, file, size, &plan, chroma, a, &err) != APL_OK)
        return;
    MUST(photo_make_indexed(photo, form->data, form->size, &plan, chroma, b, &err) == APL_OK);
    MUST(memcmp(a, b, sizeof a) == 0);
}

static void read_file(const uint8_t *head, const uint8_t *file, size_t size)
{
    struct buffer form = {0}, back = {0};
    bool indexed;
    MUST(transcode(&t, file, size, &form, &indexed, &err) == APL_OK);
    if (indexed) {
        MUST(transcode_back(&t, form.data, form.size, size, &back, &err) == APL_OK);
        MUST(back.size == size && memcmp(back.data, file, size) == 0);
        same_crop(head, file, size, &form);
    }
    buffer_free(&form);
    buffer_free(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD)
        return 0;
    if (!photo) {
        MUST(transcoder_init(&t, &err) == APL_OK);
        MUST((photo = photo_new()) != NULL);
    }
    if (data[6] & 1)
        read_file(data, data + HEAD, size - HEAD);
    else
        read_image(data, data + HEAD, size - HEAD);
    return 0;
}

/* A JPEG image behind eight bytes, which say what of it becomes a result of what size. The plan of another image is refused; the
 * same bytes give the same pixels, whatever the decoder did before, and what is planned for an image is made. */
#include "fuzz.h"
#include "photo.h"

#define HEAD 8u
#define MOST 96u

static const struct crop_rules rules[] = {
    {.sizing = CROP_RANDOM_RESIZED, .height = 24, .width = 40, .scale = {0.08, 1}, .ratio = {0.75, 1.3}},
    {.sizing = CROP_RESIZE, .height = 33, .width = 20, .short_side = 40, .centre = true},
    {.sizing = CROP_RESIZE, .height = 16, .width = 17, .resize_height = 16, .resize_width = 17},
    {.height = 25, .width = 30, .pad = 3, .pad_if_needed = true}};

static struct crop_plan plan_of(const uint8_t *head)
{
    struct crop_plan plan = {
        .box = {head[0], head[1], head[2], head[3]}, .width = head[4] % MOST, .height = head[5] % MOST};
    plan.window.left = (int32_t)(head[6] % 8) - 2;
    plan.window.top = (int32_t)(head[7] % 8) - 2;
    plan.window.width = plan.width;
    plan.window.height = plan.height;
    return plan;
}

static apl_status make(struct photo *photo, const uint8_t *data, size_t size, bool planned, uint8_t *rgb)
{
    enum jpeg_chroma chroma = data[7] & 64 ? JPEG_CHROMA_EXACT : JPEG_CHROMA_PLANES;
    const struct crop_plan plan = plan_of(data);
    apl_error err;
    if (planned)
        return photo_make(photo, data + HEAD, size - HEAD, &plan, chroma, rgb, &err);
    return photo_draw(photo, data + HEAD, size - HEAD, &rules[data[7] & 3],
                      crop_draws(data[0], data[1], data[2], 0), chroma, rgb, &err);
}

static void read_header(const uint8_t *data, size_t size)
{
    static struct jpeg_decoder *d;
    struct jpeg_info info;
    apl_error err;
    if (!d)
        MUST((d = jpeg_decoder_new()) != NULL);
    if (jpeg_decoder_probe(d, data, size, &info, &err) != APL_OK)
        return;
    MUST((uint64_t)info.width * info.height <= JPEG_MAX_PIXELS && info.width > 0 && info.height > 0);
    MUST(info.orientation >= 1 && info.orientation <= 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct photo *used;
    static uint8_t a[3 * MOST * MOST], b[3 * MOST * MOST];
    if (size < HEAD)
        return 0;
    if (!used)
        MUST((used = photo_new()) != NULL);
    struct photo *fresh = photo_new();
    MUST(fresh);
    memset(a, 0, sizeof a);
    memset(b, 0, sizeof b);
    apl_status first = make(used, data, size, data[7] & 128, a),
               again = make(fresh, data, size, data[7] & 128, b);
    MUST(first == again && (first != APL_OK || memcmp(a, b, sizeof a) == 0));
    photo_free(fresh);
    read_header(data + HEAD, size - HEAD);
    return 0;
}

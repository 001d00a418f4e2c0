/*
 * Image files of all kinds but JPEG, which has a target of its own; the first byte says whether pixels are colours or numbers, and
 * whether warnings are allowed. A header
 * says what decoding gives, and the same bytes give the same samples, whatever the decoder did before.
 */
#include "decode.h"
#include "fuzz.h"

#define MOST_SAMPLES ((uint64_t)1 << 20) /* larger images show nothing that smaller ones don't */

static apl_error err;

static apl_status probe(struct image_decoder *d, bool numbers, const uint8_t *data, size_t size,
                        struct image_info *info)
{
    return numbers ? image_decoder_probe_numbers(d, data, size, info, &err)
                   : image_decoder_probe(d, data, size, info, &err);
}

static apl_status decode(struct image_decoder *d, bool numbers, const uint8_t *data, size_t size,
                         struct image_info *info, struct raster *samples)
{
    return numbers ? image_decoder_read_numbers(d, data, size, info, samples, &err)
                   : image_decoder_read(d, data, size, info, samples, &err);
}

static void check_info(const struct image_info *info, bool numbers)
{
    MUST(info->channels >= 1 && info->channels <= (numbers ? 1 : 4));
    MUST(info->bits == 8 || info->bits == 16);
    MUST(info->width >= 1 && info->width <= IMAGE_MAX_SIDE && info->height >= 1 &&
         info->height <= IMAGE_MAX_SIDE);
    MUST(info->orientation >= 1 && info->orientation <= 8);
}

static void check_samples(const struct image_info *info, const struct raster *s)
{
    MUST(s->channels == info->channels && s->height == info->height && s->width == info->width &&
         s->bits == info->bits);
}

static bool same(const struct image_info *a, const struct image_info *b)
{
    return a->channels == b->channels && a->height == b->height && a->width == b->width &&
           a->bits == b->bits && a->orientation == b->orientation;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct image_decoder *used;
    static struct raster a, b;
    struct image_info header = {0}, first, again;
    if (size < 2)
        return 0;
    if (!used)
        MUST((used = image_decoder_new()) != NULL);
    bool numbers = data[0] & 1, allow = data[0] & 2;
    image_decoder_allow_warnings(used, allow);
    if (probe(used, numbers, data + 1, size - 1, &header) != APL_OK)
        return 0;
    check_info(&header, numbers);
    if ((uint64_t)header.channels * header.height * header.width > MOST_SAMPLES)
        return 0;
    struct image_decoder *fresh = image_decoder_new();
    MUST(fresh);
    image_decoder_allow_warnings(fresh, allow);
    apl_status one = decode(used, numbers, data + 1, size - 1, &first, &a),
               two = decode(fresh, numbers, data + 1, size - 1, &again, &b);
    MUST(one == two);
    if (one == APL_OK) {
        MUST(same(&header, &first) && same(&first, &again));
        check_samples(&first, &a);
        check_samples(&again, &b);
        MUST(memcmp(a.data, b.data, raster_bytes(&first)) == 0);
    }
    image_decoder_free(fresh);
    raster_free(&b); /* so that memory beyond an image, and samples that were not written, are seen */
    return 0;
}

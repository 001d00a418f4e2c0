/* Files of which a library makes pixels though something is wrong with them, those of tests/ingest/images/warned.tar.xz: bad, unless
 * warnings are allowed; then decoded as Pillow does. */
#include "decode_case.h"

#include "inflate.h"

#define WARNED "warned.tar.xz"

TestSuite(warned, .init = fx_set_up, .fini = fx_tear_down, .timeout = 120);

/* What only ISA-L tells. */
static bool is_seen(const char *name)
{
    return inflate_exists() || !(strstr(name, "more-") || strstr(name, "no-sum") || strstr(name, "deflate"));
}

static void is_bad(const struct file *f)
{
    struct image_info info;
    struct raster s = {.data = NULL};
    apl_status status = image_decoder_read(decoder, f->bytes, f->size, &info, &s, &err);
    if (!is_absent(status) && is_seen(f->name))
        cr_assert_eq(status, APL_E_CORRUPT, "%s", f->name);
    raster_free(&s);
}

Test(warned, is_bad)
{
    each_file(WARNED, is_bad);
}

static void is_decoded(const struct file *f)
{
    struct image_info info;
    struct raster s = {.data = NULL};
    unsigned channels, height, width, bits, slack;
    int at = 0;
    image_decoder_allow_warnings(decoder, true);
    apl_status status = image_decoder_read(decoder, f->bytes, f->size, &info, &s, &err);
    if (is_absent(status))
        return;
    cr_assert_eq(status, APL_OK, "%s: %s", f->name, err.message);
    cr_assert(!is_seen(f->name) || (info.warnings.count > 0 && *info.warnings.first), "%s", f->name);
    cr_assert_eq(sscanf((char *)f->raw, "%u %u %u %u %u%n", &channels, &height, &width, &bits, &slack, &at),
                 5);
    cr_assert(info.channels == channels && info.height == height && info.width == width && info.bits == bits);
    for (size_t i = 0; i < raster_bytes(&info) / (bits / 8); i++)
        cr_assert_leq(difference(s.data, f->raw + at + 1, i, bits), slack, "%s: sample %zu", f->name, i);
    raster_free(&s);
}

Test(warned, is_decoded_where_that_is_allowed)
{
    each_file(WARNED, is_decoded);
}

/* Half of a file is bad in any case. */
static void half_is_bad(const struct file *f)
{
    struct image_info info;
    struct raster s = {.data = NULL};
    image_decoder_allow_warnings(decoder, true);
    cr_assert_neq(image_decoder_read(decoder, f->bytes, f->size / 2, &info, &s, &err), APL_OK, "%s", f->name);
    raster_free(&s);
}

Test(warned, half_a_file_is_bad_all_the_same)
{
    each_file(WARNED, half_is_bad);
}

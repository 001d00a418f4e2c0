/* What an indexed image says twice, in its own head and in the headers of the file that it restores, must be the same. */
#include "plain_form.h"

#include "hash.h"
#include "indexed_check.h"
#include "jpegs.h"

#include <criterion/criterion.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define OTHERS   "are not those of the file that it restores"

static struct transcoder t;
static struct indexed_checker *checker;
static apl_error err;

static void begin(void)
{
    cr_assert_eq(transcoder_init(&t, &err), APL_OK);
    cr_assert_not_null(checker = indexed_checker_new());
}

static void end(void)
{
    transcoder_free(&t);
    indexed_checker_free(checker);
}

TestSuite(said_twice, .init = begin, .fini = end);

static struct plain_form plain_of(struct jpeg_bytes file)
{
    struct buffer form = {0};
    struct plain_form p;
    bool indexed;
    cr_assert_eq(transcode(&t, file.data, file.size, &form, &indexed, &err), APL_OK);
    cr_assert(indexed && plain_take(&t, form.data, form.size, &p));
    buffer_free(&form);
    return p;
}

/* Of those who restore the file, and of those who only decode the image. */
static apl_status restores(const struct plain_form *p, size_t file_size)
{
    struct buffer form = plain_put(&t, p), back = {0};
    cr_assert_not(form.failed);
    apl_status status = transcode_back(&t, form.data, form.size, file_size, &back, &err);
    buffer_free(&form);
    buffer_free(&back);
    return status;
}

static apl_status passes(const struct plain_form *p)
{
    struct buffer form = plain_put(&t, p);
    struct indexed x;
    cr_assert_eq(indexed_parse(form.data, form.size, &x, &err), APL_OK, "%s", err.message);
    apl_status status = indexed_check(checker, &x, &err);
    buffer_free(&form);
    return status;
}

typedef void lie(struct plain_form *p);

static void refused(const struct jpeg_case *k, lie *tell, unsigned number)
{
    struct jpeg_bytes file = jpeg_draw(k);
    struct plain_form p = plain_of(file);
    cr_assert(restores(&p, file.size) == APL_OK && passes(&p) == APL_OK);
    tell(&p);
    cr_assert_eq(restores(&p, file.size), APL_E_CORRUPT, "lie %u", number);
    cr_assert(strstr(err.message, OTHERS), "lie %u: %s", number, err.message);
    cr_assert_eq(passes(&p), APL_E_CORRUPT, "lie %u", number);
    cr_assert(strstr(err.message, OTHERS), "lie %u: %s", number, err.message);
    plain_free(&p);
    free(file.data);
}

Test(said_twice, another_image_than_that_of_the_file_is_refused)
{
    static lie *const lies[] = {plain_other_entry, plain_other_last_entry, plain_other_tables,
                                plain_one_table,   plain_other_colours,    plain_less_height};
    struct jpeg_case k = {.width = 75, .height = 46, .colour = JCS_YCbCr, .quality = 60};
    for (unsigned i = 0; i < COUNT(lies); i++)
        for (unsigned way = 0; way < 8; way++) {
            k.across = 1 + (way & 1);
            k.down = 1 + (way >> 1 & 1);
            k.progressive = way >> 2;
            refused(&k, lies[i], i);
        }
}

Test(said_twice, another_sampling_is_refused)
{
    struct jpeg_case k = {.width = 16, .height = 16, .colour = JCS_YCbCr, .across = 2, .down = 1};
    refused(&k, plain_other_sampling, 0);
}

Test(said_twice, grey_and_red_green_and_blue_are_compared_too)
{
    struct jpeg_case k = {.width = 40, .height = 30, .colour = JCS_GRAYSCALE};
    refused(&k, plain_other_entry, 0);
    k.colour = JCS_RGB;
    refused(&k, plain_other_last_entry, 1);
    refused(&k, plain_other_colours, 2);
}

/* Tables that are alike may be said once or several times: that is no other image. */
Test(said_twice, the_same_image_may_be_said_in_another_way)
{
    struct jpeg_case k = {.width = 75, .height = 46, .colour = JCS_YCbCr, .across = 2, .down = 2};
    struct jpeg_bytes file = jpeg_draw(&k);
    struct plain_form p = plain_of(file);
    size_t at = INDEXED_HEAD + 2 * BLOCK_VALUES;
    cr_assert_eq(p.front.data[12], 2);
    cr_assert(buffer_reserve(&p.front, BLOCK_VALUES));
    memmove(p.front.data + at + BLOCK_VALUES, p.front.data + at, p.front.size - at);
    memcpy(p.front.data + at, p.front.data + at - BLOCK_VALUES, BLOCK_VALUES);
    p.front.size += BLOCK_VALUES;
    p.front.data[12] = 3;
    cr_assert(restores(&p, file.size) == APL_OK && passes(&p) == APL_OK, "%s", err.message);
    p.front.data[at] ^= 1;
    cr_assert(restores(&p, file.size) == APL_E_CORRUPT && passes(&p) == APL_E_CORRUPT);
    plain_free(&p);
    free(file.data);
}

/* --------------------------------------------------------------------------------------- what scans leave over */

/* A file in three scans, and its form. */
struct three {
    struct jpeg_bytes file;
    struct plain_form form;
    size_t headers;       /* bytes of those of the first two */
    const uint8_t *third; /* where its header stands in the file */
};

static struct three three_scans(void)
{
    static const jpeg_scan_info apart[] = {
        {1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}};
    const struct jpeg_case k = {.width = 40,
                                .height = 30,
                                .colour = JCS_YCbCr,
                                .across = 2,
                                .down = 2,
                                .scans = apart,
                                .scan_count = 3};
    struct three s = {.file = jpeg_draw(&k)};
    s.form = plain_of(s.file);
    const uint8_t *lengths = s.form.parts.data + 1, *headers = lengths + 16;
    s.headers = (size_t)(load_le(lengths, 4) + load_le(lengths + 4, 4));
    s.third = s.file.data;
    while (memcmp(s.third, headers + s.headers, (size_t)load_le(lengths + 8, 4)) != 0)
        s.third++;
    return s;
}

/* Its sum is that of the file that comes of it. */
static void refused_file(struct three *s, struct buffer *file)
{
    s->form.sum = hash_xxh3_64(file->data, file->size);
    cr_assert_eq(restores(&s->form, file->size), APL_E_CORRUPT);
    cr_assert(strstr(err.message, "what restores it is damaged"), "%s", err.message);
    buffer_free(file);
    plain_free(&s->form);
    free(s->file.data);
}

/* The third component has none: libjpeg makes a file of two of it. */
Test(said_twice, scans_give_all_components)
{
    struct three s = three_scans();
    struct buffer file = {0}, parts = {0};
    buffer_le(&parts, 2, 1);
    buffer_put(&parts, s.form.parts.data + 1, 8);
    buffer_le(&parts, 0, 4);
    buffer_put(&parts, s.form.parts.data + 17, s.headers);
    buffer_put(&parts, "\xff\xd9", 2);
    buffer_free(&s.form.parts);
    s.form.parts = parts;
    buffer_put(&file, s.file.data, (size_t)(s.third - s.file.data));
    buffer_put(&file, "\xff\xd9", 2);
    refused_file(&s, &file);
}

/* Behind the scans stands one more, of a component that had its own: decoders would take that. */
Test(said_twice, no_other_scan_follows)
{
    struct three s = three_scans();
    struct buffer file = {0};
    size_t more = (size_t)(s.file.data + s.file.size - s.third);
    s.form.parts.size -= 2; /* the marker at the end */
    buffer_put(&s.form.parts, s.third, more);
    buffer_put(&file, s.file.data, s.file.size - 2);
    buffer_put(&file, s.third, more);
    refused_file(&s, &file);
}

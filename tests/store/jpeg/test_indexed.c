/* Stores whose JPEG files are indexed: whoever asks for a value gets the file, and batches are those of a store that keeps files. */
#include "bytes.h"
#include "counts.h"
#include "indexed_store.h"

/* The time-out is for APL_LONG, which turns a bit of every byte; tests/runner/kinds.sh has a shorter one otherwise. */
TestSuite(indexed, .init = fx_set_up, .fini = fx_tear_down, .timeout = 3600);

Test(indexed, a_value_asked_for_is_the_file)
{
    draw_files();
    apl_store *s = store_of("db", true, false);
    const apl_field *f = apl_store_field(s, 0);
    apl_batch *b;
    cr_assert(f->indexed > IMAGES / 3 && f->indexed < IMAGES - 2, "%llu", (unsigned long long)f->indexed);
    for (unsigned i = 0; i < IMAGES; i++) {
        OK(apl_store_get(s, i, &b, &fx_err));
        is_file(apl_batch_column(b, 0), 0, i);
        apl_batch_release(b);
    }
    OK(apl_store_verify(s, NULL, &fx_err));
    apl_store_close(s);
    free_files();
}

Test(indexed, digests_are_those_of_the_files)
{
    draw_files();
    for (int shuffled = 0; shuffled < 2; shuffled++) {
        apl_store *a = store_of(shuffled ? "a1" : "a0", true, shuffled),
                  *b = store_of(shuffled ? "b1" : "b0", false, shuffled);
        cr_assert_eq(apl_store_field(b, 0)->indexed, 0);
        cr_assert_eq(apl_store_field(a, 0)->raw_bytes, apl_store_field(b, 0)->raw_bytes);
        cr_assert(memcmp(apl_store_info(a)->content_digest, apl_store_info(b)->content_digest, 32) == 0);
        OK(apl_store_verify(a, NULL, &fx_err));
        apl_store_close(a);
        apl_store_close(b);
    }
    free_files();
}

Test(indexed, a_reader_without_a_transform_gives_files)
{
    draw_files();
    apl_store *s = store_of("db", true, false);
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_reader *r;
    apl_batch *b;
    size_t rows = 0;
    o.batch_size = 4;
    o.threads = 2;
    OK(apl_reader_open(s, &o, &r, &fx_err));
    while (apl_reader_next(r, &b, &fx_err) == APL_OK) {
        for (size_t k = 0; k < apl_batch_rows(b); k++)
            is_file(apl_batch_column(b, 0), k, (unsigned)apl_batch_ids(b)[k]);
        rows += apl_batch_rows(b);
        apl_batch_release(b);
    }
    cr_assert_eq(rows, IMAGES);
    apl_reader_close(r);
    apl_store_close(s);
    free_files();
}

Test(indexed, batches_of_crops_are_those_of_the_files)
{
    draw_images();
    apl_store *a = store_of("a", true, false), *b = store_of("b", false, false);
    apl_reader *ra = open_crops(a), *rb = open_crops(b);
    apl_batch *x, *y;
    apl_status status;
    while ((status = apl_reader_next(ra, &x, &fx_err)) == APL_OK) {
        OK(apl_reader_next(rb, &y, &fx_err));
        const apl_column *c = apl_batch_column(x, 0), *d = apl_batch_column(y, 0);
        cr_assert(c->bytes == d->bytes && memcmp(c->data, d->data, c->bytes) == 0);
        apl_batch_release(x);
        apl_batch_release(y);
    }
    cr_assert_eq(status, APL_END);
    apl_reader_close(ra);
    apl_reader_close(rb);
    apl_store_close(a);
    apl_store_close(b);
    free_files();
}

#define CROP_BYTES (3 * SIDE * SIDE)

/* The crops of an epoch, by their ids. */
struct crops {
    uint8_t pixels[IMAGES][CROP_BYTES];
    unsigned times[IMAGES];
};

/* Takes up to `most` batches. */
static void take_crops(apl_reader *r, struct crops *c, size_t most)
{
    apl_batch *b;
    apl_status status = APL_OK;
    for (; most > 0 && (status = apl_reader_next(r, &b, &fx_err)) == APL_OK; most--) {
        for (size_t k = 0; k < apl_batch_rows(b); k++) {
            uint64_t id = apl_batch_ids(b)[k];
            memcpy(c->pixels[id], (const uint8_t *)apl_batch_column(b, 0)->data + k * CROP_BYTES, CROP_BYTES);
            c->times[id]++;
        }
        apl_batch_release(b);
    }
    cr_assert(status == APL_OK || status == APL_END, "%s", fx_err.message);
}

/* Each image once, with the crop that it has in `want`. */
static void same_crops(const struct crops *got, const struct crops *want)
{
    for (unsigned i = 0; i < IMAGES; i++)
        cr_assert(got->times[i] == 1 && memcmp(got->pixels[i], want->pixels[i], CROP_BYTES) == 0, "record %u",
                  i);
}

/* All that a reader with these options delivers. */
static void read_crops(apl_store *s, const apl_reader_options *o, struct crops *c)
{
    apl_reader *r = open_crops_as(s, o);
    take_crops(r, c, SIZE_MAX);
    apl_reader_close(r);
}

/* With other threads and other batches from there on. */
Test(indexed, crops_are_the_same_after_resuming_at_any_batch)
{
    static struct crops want, got;
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    draw_images();
    apl_store *s = store_of("db", true, false);
    o.batch_size = 4;
    o.threads = APL_NO_THREADS;
    read_crops(s, &o, &want);
    same_crops(&want, &want);
    for (unsigned k = 0; k <= (IMAGES + 3) / 4; k++) {
        uint8_t state[512];
        size_t size = sizeof state;
        memset(&got, 0, sizeof got);
        o = (apl_reader_options)APL_READER_OPTIONS_INIT;
        o.batch_size = 4;
        o.threads = 1 + k % 3;
        apl_reader *r = open_crops_as(s, &o);
        take_crops(r, &got, k);
        OK(apl_reader_state(r, state, &size, &fx_err));
        apl_reader_close(r);
        o.batch_size = 1 + 5 * (k % 4);
        o.threads = 1 + (k + 1) % 4;
        o.state = state, o.state_size = size;
        read_crops(s, &o, &got);
        same_crops(&got, &want);
    }
    apl_store_close(s);
    free_files();
}

Test(indexed, ranks_share_the_crops)
{
    static struct crops want, got;
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    draw_images();
    apl_store *s = store_of("db", true, false);
    read_crops(s, &o, &want);
    for (unsigned world = 2; world < 5; world++) {
        memset(&got, 0, sizeof got);
        for (unsigned rank = 0; rank < world; rank++) {
            o.batch_size = 3;
            o.threads = rank + 1;
            o.ranks.rank = rank, o.ranks.world = world;
            read_crops(s, &o, &got);
        }
        same_crops(&got, &want);
    }
    apl_store_close(s);
    free_files();
}

Test(indexed, only_jpeg_images_are_indexed)
{
    static const int64_t any[1] = {-1};
    apl_writer *w = NULL;
    OK(apl_writer_open(fx_path("db"), NULL, &w, &fx_err));
    OK(apl_writer_add_field(w, "plain", APL_U8, APL_INPUT, 1, any, &fx_err));
    OK(apl_writer_add_field(w, "sound", APL_U8, APL_INPUT, 1, any, &fx_err));
    OK(apl_writer_set_media(w, "sound", "audio/flac", &fx_err));
    FAILS(APL_E_INVALID, apl_writer_set_indexed(w, "plain", &fx_err));
    FAILS(APL_E_INVALID, apl_writer_set_indexed(w, "sound", &fx_err));
    FAILS(APL_E_NOTFOUND, apl_writer_set_indexed(w, "none", &fx_err));
    apl_writer_close(w);
}

/* Bits from one that is turned to the next: about `count` are, or a part of these, or with APL_LONG all bits of a kind. */
static size_t damage_step(size_t size, size_t count)
{
    return is_long() ? 9 : 8 * size / (is_repeated() ? count / 4 : count);
}

/* Reads image i: the file that went in, or, unless all are `whole`, an error. False: an error. */
static bool reads_file(apl_store *s, unsigned i, bool whole)
{
    apl_batch *b;
    if (apl_store_get(s, i, &b, &fx_err) != APL_OK) {
        cr_assert(!whole, "image %u", i);
        return false;
    }
    is_file(apl_batch_column(b, 0), 0, i);
    apl_batch_release(b);
    return true;
}

/* Reads all images where `all`; else those about *near, which the bits that were turned before have damaged: the file has one after
 * another, and to read all of them for each of its bytes takes an hour. How many could not be read. */
static unsigned read_files(apl_store *s, bool all, bool whole, unsigned *near)
{
    unsigned bad = 0, at = *near;
    for (unsigned i = 0; i < IMAGES; i++)
        if ((all || (i + 1 >= at && i <= at + 1)) && !reads_file(s, i, whole)) {
            bad++;
            *near = i;
        }
    return bad;
}

/* Some bits of the file, in turn, and with APL_LONG one of every byte: what comes out is what went in, or an error, of which verifying
 * (now and then) tells. */
Test(indexed, damage_is_found)
{
    draw_files();
    apl_store_close(store_of("db", true, false));
    char path[512];
    size_t size;
    snprintf(path, sizeof path, "%s", fx_path("db/data.mdb"));
    uint8_t *bytes = fx_read(path, &size);
    unsigned found = 0, flips = 0, near = 0;
    for (size_t bit = 8 * 5000; bit < 8 * size; bit += damage_step(size, 211)) {
        flips++;
        apl_store *s;
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        fx_write(path, bytes, size);
        if (apl_store_open(fx_path("db"), NULL, &s, &fx_err) == APL_OK) {
            bool all = damage_step(size, 211) > 9 || flips % 16 == 0;
            bool whole = all && flips % 4 == 0 && apl_store_verify(s, NULL, &fx_err) == APL_OK;
            found += read_files(s, all, whole, &near);
            apl_store_close(s);
        }
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    cr_assert_gt(found, flips / 4);
    free(bytes);
    free_files();
}

/* The rows of an epoch of crops, until there is an error. */
static apl_status crops_of(apl_store *s, struct buffer *rows)
{
    apl_batch *b;
    apl_status status;
    apl_reader *r = open_crops(s);
    rows->size = 0;
    while ((status = apl_reader_next(r, &b, &fx_err)) == APL_OK) {
        buffer_put(rows, apl_batch_column(b, 0)->data, apl_batch_column(b, 0)->bytes);
        apl_batch_release(b);
    }
    apl_reader_close(r);
    return status;
}

/* A reader of crops decodes segments, not files: what it gives of a damaged store is what was there, too. */
Test(indexed, damage_never_changes_a_crop)
{
    struct buffer good = {0}, rows = {0};
    size_t size;
    unsigned found = 0, flips = 0;
    draw_images();
    apl_store *s = store_of("db", true, false);
    cr_assert_eq(crops_of(s, &good), APL_END);
    apl_store_close(s);
    uint8_t *bytes = fx_read(fx_path("db/data.mdb"), &size);
    for (size_t bit = 8 * 5000; bit < 8 * size; bit += damage_step(size, 83)) {
        flips++;
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        fx_write(fx_path("db/data.mdb"), bytes, size);
        apl_status status = apl_store_open(fx_path("db"), NULL, &s, &fx_err);
        if (status == APL_OK) {
            status = crops_of(s, &rows);
            cr_assert(rows.size <= good.size &&
                          (rows.size == 0 || memcmp(rows.data, good.data, rows.size) == 0),
                      "bit %zu", bit);
            cr_assert(status != APL_END || rows.size == good.size);
            apl_store_close(s);
        }
        found += status != APL_END;
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    cr_assert_gt(found, flips / 4);
    buffer_free(&good);
    buffer_free(&rows);
    free(bytes);
    free_files();
}

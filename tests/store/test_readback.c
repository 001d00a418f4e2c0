/* Reading back what was written: whatever bit the compressor gets wrong, nothing is stored, and what was there stays. */
#include "counts.h"
#include "hash.h"
#include "store_fixture.h"

#include <limits.h>

TestSuite(readback, .init = fx_set_up, .fini = fx_tear_down, .timeout = 1800);

size_t __real_ZSTD_compress2(void *context, void *to, size_t room, const void *from, size_t size);
size_t __wrap_ZSTD_compress2(void *context, void *to, size_t room, const void *from, size_t size);

/* The call whose output gets a bit flipped, which one, and how many calls and bits there have been. */
static struct {
    unsigned call, calls;
    uint64_t bit, bits[64];
} flip = {.call = UINT_MAX};

size_t __wrap_ZSTD_compress2(void *context, void *to, size_t room, const void *from, size_t size)
{
    size_t n = __real_ZSTD_compress2(context, to, room, from, size);
    if (n > room) /* an error */
        return n;
    cr_assert_lt(flip.calls, COUNT(flip.bits));
    if (flip.calls == flip.call)
        ((uint8_t *)to)[flip.bit % (8 * n) / 8] ^= (uint8_t)(1u << flip.bit % 8);
    flip.bits[flip.calls++] = 8 * n;
    return n;
}

/* Pictures that become shorter. */
static const apl_field fields[] = {
    {.name = "label", .dtype = APL_U8, .role = APL_TARGET, .class_count = 3, .classes = fx_classes},
    {.name = "image", .dtype = APL_U8, .role = APL_INPUT, .ndim = 3, .shape = {3, 10, 10}},
};
static const struct fx_member members[] = {{"a", "train", 0, 40}, {"b", "test", 1, 20}};
static const struct fx_recipe few = {fields, COUNT(fields), members, COUNT(members)};

/* Makes the store again; the status of the commit. */
static apl_status make(const char *db)
{
    apl_writer_options o = fx_options(1, 20);
    apl_writer *w;
    o.replace = 1;
    o.codec = "zstd";
    o.level = 3;
    flip.calls = 0;
    OK(apl_writer_open(db, &o, &w, &fx_err));
    fx_add_fields(w, &few);
    fx_append_members(w, &few);
    apl_status status = apl_writer_commit(w, &fx_err);
    apl_writer_close(w);
    return status;
}

static void check(const char *db)
{
    apl_store *s = fx_open(db);
    fx_check(s, &few);
    apl_store_close(s);
}

static bool is_refused(const char *db)
{
    apl_status status = make(db);
    cr_assert(status == APL_OK || status == APL_E_CORRUPT, "call %u, bit %llu: %s", flip.call,
              (unsigned long long)flip.bit, fx_err.message);
    return status != APL_OK;
}

/* Is the output of that call stored? Others are tried, and found longer than what is stored. */
static bool is_stored(const char *db, unsigned call)
{
    flip.call = call;
    flip.bit = flip.bits[call] / 2;
    if (is_refused(db))
        return true;
    check(db);
    return false;
}

Test(readback, refuses_every_bit_that_the_compressor_gets_wrong)
{
    const char *db = fx_path("db");
    unsigned flips = times(400, 10000), stored[COUNT(flip.bits)], n = 0;
    size_t harmless = 0;
    OK(make(db));
    for (unsigned call = 0, calls = flip.calls; call < calls; call++)
        if (is_stored(db, call))
            stored[n++] = call;
    cr_assert_gt(n, 2, "%u of %u", n, flip.calls);
    for (unsigned i = 0; i < flips; i++) {
        flip.call = stored[i % n];
        flip.bit = i / n * 2654435761u;
        if (is_refused(db))
            continue;
        check(db); /* a few bits of a frame mean nothing */
        harmless++;
    }
    check(db); /* the last one that was not refused */
    cr_assert_str_eq(fx_list(db), "data.mdb ");
    cr_assert_lt(harmless, flips / 20);
    counted("%u bits that a compressor got wrong: %zu meant nothing, all others were refused", flips,
            harmless);
}

/* A field's digest is that of the digests of every 1,024 of its records, whatever blocks they lie in. */
Test(readback, digests_of_1024_records_each)
{
    static const struct fx_member long_members[] = {{"a", "train", 0, 2500}};
    static const struct fx_recipe recipe = {fields, 1, long_members, 1};
    apl_writer_options o = fx_options(2, 300);
    uint8_t leaves[3][32], digest[32];
    struct sha256 *sha = sha256_new();
    fx_make(fx_path("db"), &recipe, &o);
    for (uint64_t i = 0; i < 2500; i++) {
        static struct fx_value v;
        fx_draw(&fields[0], 0, 0, i, &v);
        sha256_add(sha, v.data, v.bytes);
        if (i % 1024 == 1023 || i == 2499)
            sha256_end(sha, leaves[i / 1024]);
    }
    sha256_add(sha, leaves, sizeof leaves);
    sha256_end(sha, digest);
    sha256_free(sha);
    apl_store *s = fx_open(fx_path("db"));
    cr_assert(memcmp(apl_store_field(s, 0)->digest, digest, 32) == 0);
    apl_store_close(s);
}

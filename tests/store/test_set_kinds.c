/* Saying what the fields of a sealed store are. */
#include "set_case.h"

#include <sys/file.h>

TestSuite(set_kinds, .init = set_set_up, .fini = fx_tear_down, .timeout = 120);

static const char *const said[] = {"track=keypoints", "image=image,chw", "label=label"};

static void make(const char *path, const char *const *kinds, size_t count, int shuffle)
{
    apl_writer_options o = fx_options(APL_NO_THREADS, 16);
    apl_writer *w = NULL;
    o.shuffle = shuffle;
    OK(apl_writer_open(path, &o, &w, &fx_err));
    fx_add_fields(w, &fx_small);
    for (size_t i = 0; i < count; i++) {
        char field[APL_MAX_NAME + 1];
        apl_kind kind;
        OK(apl_kind_parse(kinds[i], field, &kind, &fx_err));
        OK(apl_writer_set_kind(w, field, &kind, &fx_err));
    }
    fx_append_members(w, &fx_small);
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
}

static apl_status set(const char *path, const char *const *kinds, size_t count)
{
    return apl_store_set_kinds(path, kinds, count, NULL, NULL, &fx_err);
}

static apl_info info_of(const char *path)
{
    apl_store *s = fx_open(path);
    apl_info info = *apl_store_info(s);
    OK(apl_store_verify(s, NULL, &fx_err));
    fx_check(s, &fx_small);
    apl_store_close(s);
    return info;
}

/* The store is the one that a writer would have made, whether it had kinds before or not. */
Test(set_kinds, makes_the_store_that_a_writer_makes)
{
    for (int shuffle = 0; shuffle < 2; shuffle++) {
        char a[16], b[16];
        snprintf(a, sizeof a, "a%d", shuffle);
        snprintf(b, sizeof b, "b%d", shuffle);
        make(fx_path(a), NULL, 0, shuffle);
        make(fx_path(b), said, COUNT(said), shuffle);
        apl_info before = info_of(fx_path(a)), wanted = info_of(fx_path(b));
        OK(set(fx_path(a), (const char *const[]){"track=pinned", "label=plain"}, 2));
        OK(set(fx_path(a), said, COUNT(said)));
        apl_info after = info_of(fx_path(a));
        cr_assert(memcmp(after.content_digest, before.content_digest, 32) == 0);
        cr_assert(memcmp(after.digest, before.digest, 32) != 0);
        cr_assert(memcmp(after.digest, wanted.digest, 32) == 0, "the manifest is the same, byte for byte");
        cr_assert_str_eq(fx_list(fx_path(a)), "data.mdb ");
    }
}

/* Readers that have it open keep the old one; others see the new one; pins of the old one refuse it. */
Test(set_kinds, replaces_the_store)
{
    make(fx_path("db"), NULL, 0, 0);
    apl_store *old = fx_open(fx_path("db")), *s = NULL;
    OK(set(fx_path("db"), said, COUNT(said)));
    apl_store *new = fx_open(fx_path("db"));
    cr_assert_null(apl_store_field(old, 0)->kind);
    fx_check(old, &fx_small);
    cr_assert_eq(apl_store_field(new, 0)->kind->id, APL_KIND_IMAGE);
    apl_store_options pinned = APL_STORE_OPTIONS_INIT;
    pinned.expected_digest = apl_store_info(old)->digest;
    FAILS(APL_E_MISMATCH, apl_store_open(fx_path("db"), &pinned, &s, &fx_err));
    apl_store_close(old);
    apl_store_close(new);
}

static int after_three(void *user, uint64_t done, uint64_t of)
{
    *(uint64_t *)user = of;
    return done == 3;
}

Test(set_kinds, leaves_the_store_alone_where_it_fails)
{
    uint64_t blocks = 0;
    make(fx_path("db"), NULL, 0, 0);
    apl_info before = info_of(fx_path("db"));
    FAILS(APL_E_INVALID, set(fx_path("db"), (const char *const[]){"track=boxes"}, 1));
    SAYS("db: field track is f32[*,2], and boxes takes ");
    FAILS(APL_E_INVALID, set(fx_path("db"), (const char *const[]){"track=keypoint"}, 1));
    SAYS("did you mean keypoints?");
    FAILS(APL_E_INVALID,
          set(fx_path("db"), (const char *const[]){"track=keypoints,of=label", "label=label"}, 2));
    SAYS("db: field track: of=label, which is no image but label");
    FAILS(APL_E_NOTFOUND, set(fx_path("db"), (const char *const[]){"trock=keypoints"}, 1));
    SAYS("db: has no field trock");
    FAILS(APL_E_CANCELLED,
          apl_store_set_kinds(fx_path("db"), said, COUNT(said), after_three, &blocks, &fx_err));
    cr_assert_eq(blocks, before.blocks);
    FAILS(APL_E_NOTFOUND, set(fx_path("none"), said, COUNT(said)));
    cr_assert(!fx_exists(fx_path("none")), "no directory is made");
    FAILS(APL_E_INVALID, apl_store_set_kinds(NULL, said, 1, NULL, NULL, &fx_err));
    FAILS(APL_E_INVALID, apl_store_set_kinds("https://x.example/db?secret", said, 1, NULL, NULL, &fx_err));
    SAYS("https://x.example/db: is a URL");
    int fd = open(fx_path("db"), O_RDONLY | O_DIRECTORY);
    cr_assert(fd >= 0 && flock(fd, LOCK_EX) == 0);
    FAILS(APL_E_BUSY, set(fx_path("db"), said, COUNT(said)));
    close(fd);
    cr_assert_str_eq(fx_list(fx_path("db")), "data.mdb ");
    apl_info after = info_of(fx_path("db"));
    cr_assert(memcmp(after.digest, before.digest, 32) == 0);
}

/* A damaged block is not sealed anew. */
Test(set_kinds, refuses_damage)
{
    size_t size;
    make(fx_path("db"), NULL, 0, 0);
    uint8_t *bytes = fx_read(fx_path("db/data.mdb"), &size);
    bytes[size / 2] ^= 0x10;
    fx_shell("chmod u+w '%s/%s'", fx_place, "db/data.mdb");
    fx_write(fx_path("db/data.mdb"), bytes, size);
    FAILS(APL_E_CORRUPT, set(fx_path("db"), said, COUNT(said)));
    SAYS("its SHA-256 is not the one in the manifest");
    SAYS("block ");
    free(bytes);
}

Test(set_kinds, sets_are_told_of_their_shards)
{
    apl_store_close(made_set(0));
    FAILS(APL_E_INVALID, set(fx_path("set"), said, COUNT(said)));
    SAYS("set: is a set: say it of each shard");
    for (unsigned i = 0; i < SHARDS; i++)
        OK(set(shard_path(i), said, COUNT(said)));
    FAILS(APL_E_EXISTS, join(0, SHARDS, 0, 0));
    OK(join(0, SHARDS, 0, 1));
    apl_store *s = open_set(0);
    fx_check(s, &whole);
    cr_assert_eq(apl_store_field(s, 3)->kind->id, APL_KIND_KEYPOINTS);
    apl_store_close(s);
}

/* The list of a set, damaged or forged. */
#include "counts.h"
#include "hash.h"
#include "set_case.h"

TestSuite(set_list, .init = set_set_up, .fini = fx_tear_down, .timeout = 240);

static apl_status open_bytes(const uint8_t *bytes, size_t size)
{
    apl_store *s = NULL;
    fx_write(fx_path("set/set.apl"), bytes, size);
    apl_status status = apl_store_open(fx_path("set"), NULL, &s, &fx_err);
    if (status == APL_OK) {
        apl_batch *b = NULL;
        for (uint64_t id = 0; id < apl_store_info(s)->records; id += 17)
            if (apl_store_get(s, id, &b, &fx_err) == APL_OK)
                apl_batch_release(b);
        apl_store_close(s);
    }
    return status;
}

/* A list whose checksum is right. */
static apl_status open_sealed(uint8_t *bytes, size_t size)
{
    uint64_t sum = hash_xxh3_64(bytes + 24, size - 24), n = size;
    memcpy(bytes + 8, &n, 8);
    memcpy(bytes + 16, &sum, 8);
    return open_bytes(bytes, size);
}

Test(set_list, finds_every_changed_byte_of_its_list)
{
    size_t size;
    apl_store_close(made_set(0));
    uint8_t *list = fx_read(fx_path("set/set.apl"), &size);
    for (size_t i = 0; i < size; i++) {
        list[i] ^= 0x41;
        apl_status status = open_bytes(list, size);
        list[i] ^= 0x41;
        bool minor = i == 6 || i == 7; /* of the version: not for readers */
        cr_assert(status == (minor              ? APL_OK
                             : i == 4 || i == 5 ? APL_E_VERSION
                                                : APL_E_CORRUPT),
                  "byte %zu: %d", i, status);
        SAYS(minor ? "" : "set.apl: ");
    }
    for (size_t n = 0; n < size; n += n < 64 ? 1 : 7)
        cr_assert_eq(open_bytes(list, n), APL_E_CORRUPT, "%zu bytes", n);
    free(list);
}

/* Whatever a list says whose checksum is right, nothing breaks. */
Test(set_list, believes_nothing)
{
    size_t size;
    apl_store_close(made_set(0));
    uint8_t *list = fx_read(fx_path("set/set.apl"), &size);
    static const uint8_t values[] = {0x00, 0xff, 0x80, 0x01};
    for (size_t i = 24; i < size; i += sweep_step())
        for (unsigned v = 0; v < COUNT(values); v++) {
            uint8_t was = list[i];
            list[i] = values[v];
            open_sealed(list, size);
            list[i] = was;
        }
    for (size_t n = 24; n < size; n += 3 * sweep_step())
        cr_assert_neq(open_sealed(list, n), APL_OK);
    free(list);
}

static void forge_name(const char *from, const char *to)
{
    size_t size;
    uint8_t *list = fx_read(fx_path("set/set.apl"), &size);
    for (size_t i = 0; i + 2 < size; i++)
        if (list[i] == strlen(from) && list[i + 1] == 0 && memcmp(list + i + 2, from, strlen(from)) == 0)
            memcpy(list + i + 2, to, strlen(to));
    FAILS(APL_E_CORRUPT, open_sealed(list, size));
    free(list);
}

Test(set_list, follows_no_name_out_of_its_directory)
{
    static const char *const bad[] = {"..", "/x", "x/"};
    apl_store_close(made_set(0));
    fx_shell("cp '%s/set/set.apl' '%s/list'", fx_place, fx_place);
    for (unsigned i = 0; i < 3; i++) {
        fx_shell("cp -f '%s/list' '%s/set/set.apl'", fx_place, fx_place);
        forge_name("s1", bad[i]);
        SAYS("is not a path down from the list");
    }
    fx_shell("cp -f '%s/list' '%s/set/set.apl'", fx_place, fx_place);
    forge_name("s1", "s0");
    SAYS("shard s0 comes twice");
}

Test(set_list, is_not_made_of_what_is_no_list)
{
    apl_store *s = NULL;
    FAILS(APL_E_NOTFOUND, apl_store_open(fx_path("set"), NULL, &s, &fx_err));
    SAYS("is not a store");
    fx_shell("mkdir '%s/%s'", fx_place, "set/set.apl");
    FAILS(APL_E_CORRUPT, apl_store_open(fx_path("set"), NULL, &s, &fx_err));
    SAYS("not a regular file");
    fx_shell("rmdir '%s/set/set.apl' && ln -s set.apl '%s/set/set.apl'", fx_place, fx_place);
    FAILS(APL_E_IO, apl_store_open(fx_path("set"), NULL, &s, &fx_err));
    fx_shell("rm '%s/set/set.apl' && mkfifo '%s/set/set.apl'", fx_place, fx_place);
    FAILS(APL_E_CORRUPT, apl_store_open(fx_path("set"), NULL, &s, &fx_err));
}

/* The shards of a list are beside it, wherever a link to it may be. */
Test(set_list, is_found_over_a_link)
{
    apl_store *s = NULL, *again = NULL;
    apl_store_close(made_set(0));
    fx_shell("ln -s set/set.apl '%s/%s'", fx_place, "link.apl");
    OK(apl_store_open(fx_path("link.apl"), NULL, &s, &fx_err));
    fx_check(s, &whole);
    apl_split_options o = APL_SPLIT_OPTIONS_INIT;
    o.name = "val";
    o.ratio = 0.5;
    OK(apl_split_make(s, &o, &fx_err));
    cr_assert(fx_exists(fx_path("set/val.split")));
    apl_store_close(s);
    fx_shell("ln -s nowhere.apl '%s/%s'", fx_place, "broken.apl");
    FAILS(APL_E_NOTFOUND, apl_store_open(fx_path("broken.apl"), NULL, &again, &fx_err));
}

/* A store that cannot be opened leaves the descriptors of its caller alone. */
Test(set_list, closes_nothing_that_is_not_its_own)
{
    apl_store *s = NULL;
    struct stat st;
    cr_assert_eq(fstat(0, &st), 0);
    FAILS(APL_E_NOTFOUND, apl_store_open(fx_path("none"), NULL, &s, &fx_err));
    FAILS(APL_E_NOTFOUND, apl_store_open(fx_path("set"), NULL, &s, &fx_err));
    cr_assert_eq(fstat(0, &st), 0, "descriptor 0 was closed");
    apl_store_close(made_set(0));
    cr_assert_eq(fstat(0, &st), 0, "descriptor 0 was closed");
}

/*
 * Pinned stores: a store that is not the one of the digest that is trusted is refused, however right its checksums are. Forged ones have
 * the blocks of a black store, as a writer has made them, below the manifest of an honest one, byte by byte.
 */
#include "digests.h"
#include "lmdb_file.h"
#include "store.h"
#include "store_fixture.h"

TestSuite(pinned, .init = fx_set_up, .fini = fx_tear_down, .timeout = 60);

#define RECORDS 200u
#define BYTES   90u
#define BLOCK   16u

/* A store of pictures, or of kept files; each as large as any other. */
static void make(const char *name, bool kept, bool black)
{
    const int64_t shape[3] = {3, 6, 5}, varies[1] = {-1}, bytes[1] = {BYTES};
    apl_writer_options o = fx_options(1, BLOCK);
    apl_writer *w = NULL;
    uint8_t value[BYTES] = {0};
    o.codec = kept ? NULL : "raw";
    OK(apl_writer_open(fx_path(name), &o, &w, &fx_err));
    OK(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, kept ? 1 : 3, kept ? varies : shape, &fx_err));
    if (kept)
        OK(apl_writer_set_media(w, "image", "image/jpeg", &fx_err));
    OK(apl_writer_add_field(w, "label", APL_U8, APL_TARGET, 0, NULL, &fx_err));
    OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
    for (uint32_t i = 0; i < RECORDS; i++) {
        uint8_t label = (uint8_t)(i % 10);
        if (!black)
            sample_fill(value, sizeof value, SAMPLE_NOISY, 7, i);
        OK(apl_writer_append(w, (apl_value[]){{value, bytes}, {&label, NULL}}, &fx_err));
    }
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
}

static void put_entry(struct lmdb_writer *writer, const apl_store *s, size_t i)
{
    const struct entry *e = &s->lmdb.entries[i];
    OK(lmdb_writer_put(writer, e->key, s->lmdb.map + e->offset, e->size, &fx_err));
}

/* Puts the blocks of `blocks` below the manifest of `manifest`. */
static void forge(const char *manifest, const char *blocks, const char *name)
{
    char file[80];
    snprintf(file, sizeof file, "%s/data.mdb", name);
    apl_store *a = fx_open(fx_path(manifest)), *b = fx_open(fx_path(blocks));
    cr_assert_eq(a->lmdb.count, b->lmdb.count);
    cr_assert_eq(mkdir(fx_path(name), 0755), 0);
    struct lmdb_writer *writer = new_lmdb(fx_path(file));
    for (size_t i = 1; i < b->lmdb.count; i++)
        put_entry(writer, b, i);
    OK(lmdb_writer_commit(writer, &fx_err)); /* as writers do: so the file has the same size */
    put_entry(writer, a, 0);
    finish_lmdb(writer);
    apl_store_close(a);
    apl_store_close(b);
}

static void make_forged(bool kept)
{
    make("honest", kept, false);
    make("black", kept, true);
    forge("honest", "black", "forged");
}

static apl_status open_pinned(const char *name, const uint8_t digest[32], apl_io io, apl_store **s)
{
    apl_store_options o = APL_STORE_OPTIONS_INIT;
    o.expected_digest = digest;
    o.io = io;
    return apl_store_open(fx_path(name), &o, s, &fx_err);
}

static apl_store *pinned(const char *name, const uint8_t digest[32], apl_io io)
{
    apl_store *s = NULL;
    OK(open_pinned(name, digest, io, &s));
    return s;
}

static const uint8_t *digest_at(const char *name)
{
    static uint8_t digest[32];
    apl_store *s = fx_open(fx_path(name));
    cr_assert(apl_store_info(s)->has_digest);
    memcpy(digest, apl_store_info(s)->digest, 32);
    apl_store_close(s);
    return digest;
}

/* An epoch: APL_END, and *light is whether any byte of an image was not 0; or how it failed. */
static apl_status read_epoch(apl_store *s, unsigned threads, uint64_t window, bool *light)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_reader *r = NULL;
    apl_batch *b;
    apl_status status;
    o.threads = threads;
    o.batch_size = 8;
    o.window = window;
    *light = false;
    OK(apl_reader_open(s, &o, &r, &fx_err));
    while ((status = apl_reader_next(r, &b, &fx_err)) == APL_OK) {
        const apl_column *c = apl_batch_column(b, 0);
        for (size_t i = 0; i < c->bytes; i++)
            *light |= ((const uint8_t *)c->data)[i] != 0;
        apl_batch_release(b);
    }
    apl_reader_close(r);
    return status;
}

/* ------------------------------------------------------------------------------------------ who is honest */

Test(pinned, an_honest_store_is_read)
{
    for (int kept = 0; kept < 2; kept++) {
        make("honest", kept, false);
        for (int io = APL_IO_MAP; io <= APL_IO_READ; io++)
            for (unsigned window = 0; window < 64; window += 48) {
                bool light;
                apl_store *s = pinned("honest", digest_at("honest"), (apl_io)io);
                cr_assert_eq(read_epoch(s, io == APL_IO_MAP ? APL_NO_THREADS : 2, window, &light), APL_END);
                cr_assert(light);
                apl_batch *all = fx_get_all(s), *one;
                OK(apl_store_get(s, 77, &one, &fx_err));
                cr_assert_arr_eq(apl_batch_column(one, 0)->data,
                                 (const uint8_t *)apl_batch_column(all, 0)->data + 77 * BYTES, BYTES);
                apl_batch_release(all);
                apl_batch_release(one);
                OK(apl_store_verify(s, NULL, &fx_err));
                apl_store_close(s);
            }
        fx_shell("rm -r '%s%s'", fx_path("honest"), "");
    }
}

/* The digest of a store is the SHA-256 of its manifest; the digests in that are those of the blocks. */
Test(pinned, digests_are_of_the_bytes_that_are_stored)
{
    uint8_t digest[32];
    make("honest", false, false);
    apl_store *s = fx_open(fx_path("honest"));
    const struct entry *e = s->lmdb.entries;
    cr_assert_eq(s->manifest.digests.size, (s->lmdb.count - 1) * 32);
    hash_sha256(s->lmdb.map + e->offset, e->size, digest);
    cr_assert_arr_eq(digest, apl_store_info(s)->digest, 32);
    for (size_t i = 1; i < s->lmdb.count; i++) {
        hash_sha256(s->lmdb.map + e[i].offset, e[i].size, digest);
        cr_assert_arr_eq(digest, digest_of(&s->manifest.digests, i - 1), 32);
    }
    apl_store_close(s);
}

/* ------------------------------------------------------------------------------------------- who is forged */

static int keep_all(void *user, uint64_t id, const void *value, size_t bytes)
{
    (void)user, (void)id, (void)value, (void)bytes;
    return 1;
}

#define FORGED(call)                \
    do {                            \
        FAILS(APL_E_CORRUPT, call); \
        SAYS("SHA-256");            \
    } while (0)

static void refuses_all(apl_store *s)
{
    apl_batch *b;
    bool light;
    uint64_t ids[RECORDS], n = RECORDS;
    apl_get_options labels = APL_GET_OPTIONS_INIT;
    apl_split_options half = APL_SPLIT_OPTIONS_INIT;
    half.name = "half";
    half.ratio = 0.5;
    labels.fields = (const char *const[]){"label"};
    labels.field_count = 1;
    for (unsigned threads = 0; threads < 2; threads++)
        for (unsigned window = 0; window < 64; window += 48) {
            FORGED(read_epoch(s, threads ? 2 : APL_NO_THREADS, window, &light));
            cr_assert(!light && fx_err.records == BLOCK);
        }
    FORGED(apl_store_get(s, 3, &b, &fx_err));
    FORGED(apl_store_get_batch(s, (uint64_t[]){190, 3}, 2, &labels, &b, &fx_err));
    FORGED(apl_store_where(s, "train", "label", keep_all, NULL, ids, &n, &fx_err));
    FORGED(apl_split_make(s, &half, &fx_err));
}

Test(pinned, a_black_store_is_refused_at_its_first_block)
{
    for (int kept = 0; kept < 2; kept++) {
        make_forged(kept);
        for (int io = APL_IO_MAP; io <= APL_IO_READ; io++) {
            apl_store *s = pinned("forged", digest_at("honest"), (apl_io)io);
            refuses_all(s);
            apl_store_close(s);
        }
        fx_shell("rm -r '%s'/*%s", fx_place, "");
    }
}

/* A content digest is what a store says of itself, and says nothing until all of it has been verified. */
Test(pinned, a_black_store_may_say_any_content)
{
    apl_store_options o = APL_STORE_OPTIONS_INIT;
    uint8_t content[32];
    bool light;
    make_forged(false);
    apl_store *s = fx_open(fx_path("honest"));
    memcpy(content, apl_store_info(s)->content_digest, 32);
    apl_store_close(s);
    o.expected_content = content;
    OK(apl_store_open(fx_path("forged"), &o, &s, &fx_err));
    cr_assert_eq(read_epoch(s, APL_NO_THREADS, 0, &light), APL_END);
    cr_assert(!light);
    FAILS(APL_E_CORRUPT, apl_store_verify(s, NULL, &fx_err));
    apl_store_close(s);
}

static void count_bad(void *user, const apl_bad_block *block)
{
    *(uint64_t *)user += block->bad_count;
    cr_assert(strstr(block->message, "SHA-256"), "%s", block->message);
    for (size_t i = 0; i < block->bad_count; i++)
        cr_assert_eq(block->bad[i], block->first + i);
}

Test(pinned, verify_names_all_records_of_forged_blocks)
{
    apl_verify_options o = APL_VERIFY_OPTIONS_INIT;
    uint64_t bad = 0;
    make_forged(false);
    o.user = &bad;
    o.bad_block = count_bad;
    apl_store *s = fx_open(fx_path("forged"));
    FAILS(APL_E_CORRUPT, apl_store_verify(s, &o, &fx_err));
    cr_assert_eq(bad, RECORDS);
    apl_store_close(s);
}

/* Readers share what they have decoded; not with one that knows better. */
Test(pinned, what_others_have_decoded_is_not_trusted)
{
    bool light;
    apl_reader *r = NULL;
    apl_batch *b;
    make_forged(false);
    apl_store *any = fx_open(fx_path("forged")), *s = pinned("forged", digest_at("honest"), APL_IO_AUTO);
    OK(apl_reader_open(any, NULL, &r, &fx_err));
    OK(apl_reader_next(r, &b, &fx_err));
    FORGED(read_epoch(s, APL_NO_THREADS, 0, &light));
    apl_batch_release(b);
    apl_reader_close(r);
    apl_store_close(any);
    apl_store_close(s);
}

/* A value that is read by itself, long after its block: its checksum can be made right, its digest cannot. */
Test(pinned, late_values_have_digests)
{
    uint8_t value[] = "file", other[] = "fake", digest[32];
    struct kept_place place = {.bytes = sizeof value, .sum = hash_xxh3_64(other, sizeof other)};
    hash_sha256(value, sizeof value, digest);
    cr_assert(kept_value_ok(&place, other));
    place.digest = digest;
    cr_assert(!kept_value_ok(&place, other) && kept_value_ok(&place, value));
}

/* One bit of the file is changed after the store has been opened and all its blocks have been listed. */
Test(pinned, late_values_that_change_in_place)
{
    bool light;
    struct block_coder bc;
    struct block_view view;
    struct raw_column list = {0};
    uint8_t value[BYTES], *copy;
    size_t size;
    make("honest", true, false);
    OK(block_coder_init(&bc, &fx_err));
    apl_store *s = pinned("honest", digest_at("honest"), APL_IO_READ);
    OK(store_block_head(s, 0, &bc, &view, &fx_err));
    OK(store_list_kept(s, 0, &bc, &view, 0, &list, &fx_err));
    cr_assert_not_null(kept_listed(&list, 5).digest);
    OK(store_listed_value(s, 0, 0, &list, 5, value, &fx_err));
    copy = fx_read(fx_path("honest/data.mdb"), &size);
    copy[s->blocks[0].offset + kept_listed(&list, 5).offset + 7] ^= 4;
    cr_assert_eq(chmod(fx_path("honest/data.mdb"), 0600), 0);
    FILE *f = fopen(fx_path("honest/data.mdb"), "r+");
    cr_assert(fwrite(copy, 1, size, f) == size && fclose(f) == 0);
    free(copy);
    FAILS(APL_E_CORRUPT, store_listed_value(s, 0, 0, &list, 5, value, &fx_err));
    OK(store_listed_value(s, 0, 0, &list, 6, value, &fx_err));
    FORGED(read_epoch(s, APL_NO_THREADS, 0, &light));
    raw_column_free(&list);
    block_coder_free(&bc);
    apl_store_close(s);
}

/* --------------------------------------------------------------------------------------------- manifests */

static void none(struct manifest *m)
{
    m->digests.size = 0;
}

static void another(struct manifest *m)
{
    m->digests.data[40] ^= 1;
}

static void too_few(struct manifest *m)
{
    m->digests.size -= DIGEST_BYTES;
}

static void too_many(struct manifest *m)
{
    uint8_t more[DIGEST_BYTES] = {0};
    buffer_put(&m->digests, more, sizeof more);
}

/* The honest store with something else in its manifest. */
static void write_changed(void (*change)(struct manifest *m))
{
    struct manifest m;
    struct buffer coded = {0};
    apl_store *s = fx_open(fx_path("honest"));
    const struct entry *e = s->lmdb.entries;
    OK(manifest_decode(s->lmdb.map + e->offset, e->size, &m, &fx_err));
    change(&m);
    OK(manifest_encode(&m, &coded, &fx_err));
    if (fx_exists(fx_path("changed")))
        fx_shell("rm -r '%s%s'", fx_path("changed"), "");
    cr_assert_eq(mkdir(fx_path("changed"), 0755), 0);
    struct lmdb_writer *writer = new_lmdb(fx_path("changed/data.mdb"));
    for (size_t i = 1; i < s->lmdb.count; i++)
        put_entry(writer, s, i);
    OK(lmdb_writer_commit(writer, &fx_err));
    OK(lmdb_writer_put(writer, e->key, coded.data, coded.size, &fx_err));
    finish_lmdb(writer);
    buffer_free(&coded);
    manifest_free(&m);
    apl_store_close(s);
}

Test(pinned, a_manifest_with_other_digests_or_none)
{
    apl_store *s = NULL;
    make("honest", false, false);
    make("black", false, true);
    FAILS(APL_E_MISMATCH, open_pinned("black", digest_at("honest"), APL_IO_AUTO, &s));
    SAYS("the digest is not the one expected");
    write_changed(another);
    FAILS(APL_E_MISMATCH, open_pinned("changed", digest_at("honest"), APL_IO_AUTO, &s));
    s = fx_open(fx_path("changed"));
    FAILS(APL_E_CORRUPT, apl_store_verify(s, NULL, &fx_err));
    SAYS("1 of 13 blocks is damaged");
    apl_store_close(s);
    write_changed(none);
    FAILS(APL_E_MISMATCH, open_pinned("changed", digest_at("honest"), APL_IO_AUTO, &s));
    SAYS("has no digests of its blocks (DIGESTS)");
    s = fx_open(fx_path("changed"));
    cr_assert(!apl_store_info(s)->has_digest && apl_store_info(s)->format_minor == 0);
    OK(apl_store_verify(s, NULL, &fx_err));
    apl_store_close(s);
}

Test(pinned, digests_that_are_not_those_of_the_blocks)
{
    apl_store *s = NULL;
    make("honest", false, false);
    write_changed(too_few);
    FAILS(APL_E_CORRUPT, apl_store_open(fx_path("changed"), NULL, &s, &fx_err));
    SAYS("it has 12 digests where 13 are due");
    write_changed(too_many);
    FAILS(APL_E_CORRUPT, apl_store_open(fx_path("changed"), NULL, &s, &fx_err));
    SAYS("it has 14 digests where 13 are due");
}

Test(pinned, entries_of_digests)
{
    uint8_t payload[8 + 2 * DIGEST_BYTES] = {2};
    struct buffer digests = {0};
    for (size_t cut = 0; cut < sizeof payload; cut++) {
        struct cursor c = cursor_over(payload, cut);
        FAILS(APL_E_CORRUPT, digests_get(&c, &digests, &fx_err));
        SAYS("is cut");
    }
    struct cursor c = cursor_over(payload, sizeof payload), again = c;
    OK(digests_get(&c, &digests, &fx_err));
    cr_assert_eq(digests.size, 2 * DIGEST_BYTES);
    FAILS(APL_E_CORRUPT, digests_get(&again, &digests, &fx_err));
    SAYS("two entries");
    OK(digests_check(&digests, 2, &fx_err));
    FAILS(APL_E_CORRUPT, digests_check(&digests, 3, &fx_err));
    buffer_free(&digests);
    OK(digests_check(&digests, 3, &fx_err));
    memset(payload, 0xff, 8);
    c = cursor_over(payload, sizeof payload);
    FAILS(APL_E_CORRUPT, digests_get(&c, &digests, &fx_err));
    memset(payload, 0, 8);
    c = cursor_over(payload, sizeof payload);
    FAILS(APL_E_CORRUPT, digests_get(&c, &digests, &fx_err));
}

/* -------------------------------------------------------------------------------------------------- sets */

/* A set of two shards, the second of which is a copy of the store `second`. */
static apl_status join_with(const char *second, int replace, int append)
{
    apl_set_options o = {.size = sizeof o, .replace = replace, .append = append};
    const char *shards[2] = {fx_path("set/first"), fx_path("set/second")};
    if (fx_exists(shards[1]))
        fx_shell("rm -r '%s%s'", shards[1], "");
    fx_shell("cp -r '%s' '%s'", fx_path(second), shards[1]);
    return apl_set_join(fx_path("set"), shards + append, append ? 1 : 2, &o, &fx_err);
}

static void make_set(bool kept)
{
    make_forged(kept);
    cr_assert_eq(mkdir(fx_path("set"), 0755), 0);
    make("set/first", kept, false);
    OK(join_with("honest", 0, 0));
}

static void replace_second(const char *by)
{
    fx_shell("rm -r '%s%s'", fx_path("set/second"), "");
    fx_shell("cp -r '%s' '%s'", fx_path(by), fx_path("set/second"));
}

Test(pinned, a_forged_shard_of_a_set)
{
    for (int kept = 0; kept < 2; kept++) {
        bool light;
        apl_batch *b;
        make_set(kept);
        for (int forged = 0; forged < 2; forged++) {
            apl_store *s = pinned("set", digest_at("set"), APL_IO_AUTO);
            if (!forged) {
                cr_assert_eq(read_epoch(s, 2, 0, &light), APL_END);
                cr_assert(light);
                OK(apl_store_verify(s, NULL, &fx_err));
            } else {
                OK(apl_store_get(s, RECORDS - 1, &b, &fx_err));
                apl_batch_release(b);
                FORGED(apl_store_get(s, RECORDS, &b, &fx_err));
                SAYS("records 200 to 215");
                FORGED(read_epoch(s, 2, 48, &light));
            }
            apl_store_close(s);
            replace_second("forged");
        }
        fx_shell("rm -r '%s'/*%s", fx_place, "");
    }
}

Test(pinned, a_shard_or_a_list_with_another_manifest)
{
    apl_store *s = NULL;
    apl_batch *b;
    uint8_t digest[32];
    make_set(false);
    memcpy(digest, digest_at("set"), 32);
    write_changed(another);
    replace_second("changed");
    s = pinned("set", digest, APL_IO_AUTO);
    FAILS(APL_E_CORRUPT, apl_store_get(s, RECORDS, &b, &fx_err));
    SAYS("it is not as the list says");
    apl_store_close(s);
    OK(join_with("changed", 1, 0));
    FAILS(APL_E_MISMATCH, open_pinned("set", digest, APL_IO_AUTO, &s));
    SAYS("the digest is not the one expected");
}

/* A list has digests if all shards have some, also those that were in it before. */
Test(pinned, shards_without_digests)
{
    apl_store *s = NULL;
    make_set(false);
    write_changed(none);
    OK(join_with("changed", 1, 0));
    FAILS(APL_E_MISMATCH, open_pinned("set", digest_at("honest"), APL_IO_AUTO, &s));
    SAYS("has no digests of its shards (DIGESTS)");
    for (int old = 0; old < 2; old++) {
        fx_shell("rm '%s/set/'*.apl%s", fx_place, "");
        if (old)
            fx_shell("cp -f '%s/data.mdb' '%s/'", fx_path("changed"), fx_path("set/first"));
        OK(apl_set_join(fx_path("set"), (const char *const[]){fx_path("set/first")}, 1, NULL, &fx_err));
        OK(join_with("honest", 0, 1));
        s = fx_open(fx_path("set"));
        cr_assert_eq(apl_store_info(s)->has_digest, !old);
        cr_assert_eq(apl_store_info(s)->format_minor, (unsigned)!old);
        apl_store_close(s);
    }
}

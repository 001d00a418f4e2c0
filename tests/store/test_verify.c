/* Verifying: every byte of a store counts, and what is damaged is named. */
#include "counts.h"
#include "store_fixture.h"

/* The time-out is for APL_LONG, which turns a bit of every byte; tests/runner/kinds.sh has a shorter one otherwise. */
TestSuite(verify, .init = fx_set_up, .fini = fx_tear_down, .timeout = 3600);

/* What verify has told. */
struct told {
    unsigned blocks;
    char member[APL_MAX_NAME + 1];
    uint64_t block, first, count, bad[512];
    size_t bad_count;
    uint64_t records, of;
    int stop;
};

static void bad_block(void *user, const apl_bad_block *b)
{
    struct told *t = user;
    t->blocks++;
    snprintf(t->member, sizeof t->member, "%s", b->member);
    t->block = b->block;
    t->first = b->first;
    t->count = b->count;
    t->bad_count = b->bad_count;
    cr_assert(b->bad_count <= b->count && b->bad_count <= COUNT(t->bad) && b->message[0]);
    memcpy(t->bad, b->bad, b->bad_count * sizeof *b->bad);
}

static int progress(void *user, uint64_t records, uint64_t of)
{
    struct told *t = user;
    cr_assert(records >= t->records && records <= of);
    t->records = records;
    t->of = of;
    return t->stop;
}

static apl_status verify(const char *path, unsigned threads, struct told *t)
{
    apl_store *s = NULL;
    apl_verify_options o = APL_VERIFY_OPTIONS_INIT;
    apl_status status = apl_store_open(path, NULL, &s, &fx_err);
    if (status != APL_OK)
        return status;
    o.threads = threads;
    o.user = t;
    o.bad_block = bad_block;
    o.progress = progress;
    status = apl_store_verify(s, &o, &fx_err);
    apl_store_close(s);
    return status;
}

static const char *file_of(const char *store)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/data.mdb", store);
    return path;
}

/* A store of pictures and labels, few enough that every byte can be turned. */
static const struct fx_member few_members[] = {{"a", "train", 0, 40}, {"b", "test", 1, 9}};
static const struct fx_recipe few = {fx_fields, 2, few_members, COUNT(few_members)};
static const struct fx_recipe few_kept = {fx_kept_fields, COUNT(fx_kept_fields), few_members,
                                          COUNT(few_members)};

Test(verify, a_whole_store)
{
    for (unsigned threads = 0; threads <= 4; threads++) {
        struct told t = {0};
        apl_writer_options o = fx_options(2, 32);
        o.replace = 1;
        o.shuffle = threads & 1;
        fx_make(fx_path("db"), &fx_small, &o);
        OK(verify(fx_path("db"), threads, &t));
        cr_assert_eq(t.blocks, 0);
        cr_assert_eq(t.of, 510);
        t.stop = 1;
        t.records = 0;
        FAILS(APL_E_CANCELLED, verify(fx_path("db"), 1, &t));
    }
    apl_store *s = fx_open(fx_path("db"));
    OK(apl_store_verify(s, NULL, NULL));
    apl_verify_options bad = {0};
    FAILS(APL_E_INVALID, apl_store_verify(s, &bad, &fx_err));
    FAILS(APL_E_INVALID, apl_store_verify(NULL, NULL, &fx_err));
    apl_store_close(s);
}

/* Whatever byte is turned: it is found when the store is opened or verified, or it is padding and nothing is different. */
static void turn_every_byte(const struct fx_recipe *recipe)
{
    const char *db = fx_path("db");
    size_t size, unnoticed = 0;
    fx_make(db, recipe, NULL);
    uint8_t *bytes = fx_read(file_of(db), &size);
    cr_assert_leq(size, 100000);
    fx_shell("chmod u+w '%s%s'", file_of(db), "");
    unsigned bits = times(1, 8);
    for (size_t i = 0; i < bits * size; i += sweep_step()) {
        struct told t = {0};
        size_t at = i / bits;
        FILE *f = fopen(file_of(db), "r+b");
        cr_assert_not_null(f);
        fseek(f, (long)at, SEEK_SET);
        fputc(bytes[at] ^ (uint8_t)(1u << (bits == 1 ? at : i) % 8), f);
        fclose(f);
        apl_status status = verify(db, 1, &t);
        if (status == APL_OK) {
            apl_store *s = fx_open(db);
            fx_check(s, recipe);
            apl_store_close(s);
            unnoticed++;
        } else {
            cr_assert(status == APL_E_CORRUPT || status == APL_E_VERSION, "byte %zu: %d %s", at, status,
                      fx_err.message);
        }
        f = fopen(file_of(db), "r+b");
        fseek(f, (long)at, SEEK_SET);
        fputc(bytes[at], f);
        fclose(f);
    }
    counted("%zu bits of a store flipped, %zu of them in padding", bits * size, unnoticed);
    OK(verify(db, 1, &(struct told){0}));
    free(bytes);
}

/* Whichever thread is done last. */
Test(verify, progress_comes_to_its_end)
{
    static const struct fx_member members[] = {{"a", "train", 0, 1300}};
    static const struct fx_recipe recipe = {fx_fields, 2, members, COUNT(members)};
    apl_writer_options o = fx_options(2, 16);
    fx_make(fx_path("db"), &recipe, &o);
    for (unsigned round = 0; round < 100; round++) {
        struct told t = {0};
        OK(verify(fx_path("db"), 2 + round % 3, &t));
        cr_assert(t.records == 1300 && t.of == 1300, "round %u: %llu", round, (unsigned long long)t.records);
    }
    struct told t = {.stop = 1};
    for (unsigned round = 0; round < 20; round++, t.records = 0)
        FAILS(APL_E_CANCELLED, verify(fx_path("db"), 4, &t));
}

Test(verify, every_byte_counts)
{
    turn_every_byte(&few);
}

Test(verify, every_byte_of_kept_files_counts)
{
    turn_every_byte(&few_kept);
}

static void cut_to_every_length(const struct fx_recipe *recipe)
{
    const char *db = fx_path("db");
    size_t size;
    fx_make(db, recipe, NULL);
    uint8_t *bytes = fx_read(file_of(db), &size);
    fx_shell("rm -f '%s%s'", file_of(db), "");
    size_t cuts = 0, longer_ones = 0;
    for (size_t length = 0; length < size; length += length < 9000 ? sweep_step() : times(97, 1), cuts++) {
        struct told t = {0};
        fx_write(file_of(db), bytes, length);
        FAILS(APL_E_CORRUPT, verify(db, 1, &t));
        cr_assert_eq(t.blocks, 0);
    }
    uint8_t *longer = calloc(size + 4096, 1);
    memcpy(longer, bytes, size);
    for (size_t more = 1; more <= 4096; more += times(455, 1), longer_ones++) {
        fx_write(file_of(db), longer, size + more);
        FAILS(APL_E_CORRUPT, verify(db, 1, &(struct told){0}));
    }
    counted("a store of %zu bytes cut to %zu lengths and extended to %zu", size, cuts, longer_ones);
    free(longer);
    free(bytes);
}

Test(verify, every_length_counts)
{
    cut_to_every_length(&few);
}

Test(verify, every_length_of_kept_files_counts)
{
    cut_to_every_length(&few_kept);
}

/* Turns a bit in every place where the value stands: pages that LMDB has given up may hold it too. Returns how many. */
static size_t turn(uint8_t *bytes, size_t size, const struct fx_value *v)
{
    size_t places = 0;
    for (size_t i = 0; i + v->bytes <= size; i++)
        if (memcmp(bytes + i, v->data, v->bytes) == 0) {
            bytes[i + 3] ^= 4;
            places++;
        }
    return places;
}

/* Pictures stored as they are: a byte of one of them hurts that record and no other. */
Test(verify, names_the_records_that_are_hurt)
{
    static struct fx_value v;
    const char *db = fx_path("db");
    apl_writer_options o = fx_options(1, 16);
    o.codec = "raw";
    fx_make(db, &few, &o);
    size_t size;
    uint8_t *bytes = fx_read(file_of(db), &size);
    fx_shell("chmod u+w '%s%s'", file_of(db), "");
    for (uint64_t record = 0; record < 40; record += 13) {
        struct told t = {0};
        fx_draw(&fx_fields[0], 0, 0, record, &v);
        cr_assert_gt(turn(bytes, size, &v), 0);
        fx_write(file_of(db), bytes, size);
        FAILS(APL_E_CORRUPT, verify(db, 3, &t));
        SAYS("1 of 4 blocks");
        cr_assert(fx_err.first_record == record / 16 * 16 && fx_err.records == (record < 32 ? 16 : 8));
        cr_assert_eq(t.blocks, 1);
        cr_assert_str_eq(t.member, "a");
        cr_assert_eq(t.block, record / 16);
        cr_assert_eq(t.first, record / 16 * 16);
        cr_assert_eq(t.bad_count, 1);
        cr_assert_eq(t.bad[0], record);
        v.data[3] ^= 4;
        turn(bytes, size, &v); /* back */
    }
    free(bytes);
}

/* Hurts that record of the member's, which is number 0, and verifies. */
static struct told hurt(const struct fx_recipe *recipe, const apl_writer_options *options, uint64_t record)
{
    static struct fx_value v;
    struct told t = {0};
    const char *db = fx_path("db");
    size_t size;
    fx_make(db, recipe, options);
    uint8_t *bytes = fx_read(file_of(db), &size);
    fx_draw(&fx_fields[0], 0, 0, record, &v);
    cr_assert_gt(turn(bytes, size, &v), 0);
    fx_write(file_of(db), bytes, size);
    FAILS(APL_E_CORRUPT, verify(db, 3, &t));
    free(bytes);
    fx_shell("rm -r '%s%s'", db, "");
    return t;
}

/* Records of a shuffled store are of no member that is known: the split is named. */
Test(verify, names_the_split_of_a_shuffled_store)
{
    apl_writer_options o = fx_options(1, 16);
    o.codec = "raw";
    cr_assert_str_eq(hurt(&few, &o, 3).member, "a");
    o.shuffle = 1;
    cr_assert_str_eq(hurt(&few, &o, 3).member, "train");
}

/* A block in which one thread ends and another begins is decoded by both, and told once. */
Test(verify, tells_a_block_that_is_read_twice_once)
{
    static const struct fx_member many_members[] = {{"a", "train", 0, 3000}};
    static const struct fx_recipe many = {fx_fields, 1, many_members, 1};
    apl_writer_options o = fx_options(1, 100);
    o.codec = "raw";
    for (uint64_t record = 1020; record <= 1030; record += 10) {
        struct told t = hurt(&many, &o, record);
        SAYS("1 of 30 blocks");
        cr_assert(t.blocks == 1 && t.first == 1000 && t.bad_count == 1 && t.bad[0] == record);
    }
}

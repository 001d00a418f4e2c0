/* Buckets hand out all records in the order of their keys, however many there are of a bucket, and tell when the
 * scratch file fails them. */
#include "external_shuffle.h"

#include "store_fixture.h"

#define VALUE_BYTES 65536

struct case_ {
    struct schema schema;
    struct block_coder bc;
    struct random_key key;
    struct external_shuffle *shuffle;
    int fd;
    uint64_t end;
    /* what came out */
    uint64_t *positions;
    size_t count, stop_at;
};
static struct case_ c;

/* A field of positions and one of bytes that is easily coded. */
static void set_up(void)
{
    static const int64_t varying[1] = {-1};
    fx_set_up();
    OK(schema_add(&c.schema, "bytes", 5, APL_U8, APL_INPUT, 1, varying, &fx_err));
    OK(schema_add(&c.schema, "position", 8, APL_U64, APL_POSITION, 0, NULL, &fx_err));
    OK(block_coder_init(&c.bc, &fx_err));
    c.key = random_key(42, RANDOM_STORE_ORDER);
    c.fd = open(fx_path("scratch"), O_RDWR | O_CREAT | O_EXCL, 0600);
    cr_assert_geq(c.fd, 0);
    OK(external_shuffle_new(&c.schema, 1, c.key, c.fd, &c.end, &c.bc, &c.shuffle, &fx_err));
}

static void tear_down(void)
{
    external_shuffle_free(c.shuffle);
    block_coder_free(&c.bc);
    schema_free(&c.schema);
    free(c.positions);
    close(c.fd);
    fx_tear_down();
}

TestSuite(external_shuffle, .init = set_up, .fini = tear_down);

/* The value that goes with a position. */
static size_t value_of(uint64_t position, uint8_t *value, size_t bytes)
{
    bytes -= position % 3;
    memset(value, (int)(position * 31 + 7), bytes);
    if (bytes >= 8)
        memcpy(value, &position, 8);
    return bytes;
}

static size_t value_bytes = 40;

static apl_status add(uint64_t position)
{
    static uint8_t value[VALUE_BYTES];
    int64_t shape[1] = {(int64_t)value_of(position, value, value_bytes)};
    apl_value values[2] = {{value, shape}, {&position, NULL}};
    return external_shuffle_add(c.shuffle, values, &fx_err);
}

static apl_status take(void *context, const apl_value *values, apl_error *err)
{
    static uint8_t value[VALUE_BYTES];
    struct case_ *to = context;
    uint64_t position;
    memcpy(&position, values[1].data, 8);
    size_t bytes = value_of(position, value, value_bytes);
    cr_assert(values[0].shape[0] == (int64_t)bytes && memcmp(values[0].data, value, bytes) == 0);
    if (to->count == to->stop_at)
        return fail(err, APL_E_TIMEOUT, "enough");
    to->positions[to->count++] = position;
    return APL_OK;
}

static apl_status take_all(size_t expected)
{
    c.positions = calloc(expected + 1, sizeof *c.positions);
    c.stop_at = SIZE_MAX;
    return external_shuffle_take(c.shuffle, take, &c, &fx_err);
}

/* As many as were put, in the order of their keys, and of positions among equal keys. */
static void expect_order(size_t n)
{
    cr_assert_eq(c.count, n);
    for (size_t i = 1; i < n; i++) {
        uint64_t before = siphash(c.key, &c.positions[i - 1], 1), key = siphash(c.key, &c.positions[i], 1);
        cr_assert(before < key || (before == key && c.positions[i - 1] <= c.positions[i]), "record %zu", i);
    }
}

Test(external_shuffle, none)
{
    OK(take_all(0));
    expect_order(0);
    external_shuffle_free(NULL);
}

Test(external_shuffle, any_number_of_records)
{
    const size_t n = 20000; /* some hundred a bucket: several chunks of each, and what has not been spilled */
    for (size_t i = 0; i < n; i++)
        OK(add(i * 7919 % n));
    cr_assert_gt(c.end, 0);
    OK(take_all(n));
    expect_order(n);
    bool *seen = calloc(n, sizeof *seen);
    for (size_t i = 0; i < n; i++) {
        cr_assert(c.positions[i] < n && !seen[c.positions[i]]);
        seen[c.positions[i]] = true;
    }
    free(seen);
}

/* Positions whose keys begin with the same `bits` bits, one after another. */
static uint64_t next_of_pile(uint64_t position, unsigned bits)
{
    while (siphash(c.key, &position, 1) >> (64 - bits) != 5)
        position++;
    return position;
}

/* 40 MiB in one bucket are more than are sorted at once. With 6 bits shared they spread at the next level, with 12
 * bits at the one behind that. */
static void expect_finer_piles(unsigned bits)
{
    const size_t n = 640;
    uint64_t position = 0;
    value_bytes = VALUE_BYTES;
    for (size_t i = 0; i < n; i++, position++) {
        position = next_of_pile(position, bits);
        OK(add(position));
    }
    uint64_t end = c.end;
    OK(take_all(n));
    expect_order(n);
    cr_assert_gt(c.end, end, "the bucket was not split");
}

Test(external_shuffle, a_large_bucket_is_split)
{
    expect_finer_piles(6);
}

Test(external_shuffle, and_split_again)
{
    expect_finer_piles(12);
}

/* No bits of the key tell these apart: the end of the bits is the end of splitting. */
Test(external_shuffle, one_key_for_all)
{
    const size_t n = 520;
    value_bytes = VALUE_BYTES;
    for (size_t i = 0; i < n; i++)
        OK(add(77));
    OK(take_all(n));
    expect_order(n);
}

Test(external_shuffle, failure_of_the_taker)
{
    for (size_t i = 0; i < 500; i++)
        OK(add(i));
    c.positions = calloc(500, sizeof *c.positions);
    c.stop_at = 123;
    FAILS(APL_E_TIMEOUT, external_shuffle_take(c.shuffle, take, &c, &fx_err));
    cr_assert_eq(c.count, 123);
}

Test(external_shuffle, values_that_do_not_fit)
{
    int64_t shape[1] = {-5};
    uint64_t position = 0;
    apl_value values[2] = {{"x", shape}, {&position, NULL}};
    FAILS(APL_E_INVALID, external_shuffle_add(c.shuffle, values, &fx_err));
}

/* ----------------------------------------------------------------------------------------- the scratch file */

static void add_many(void)
{
    for (size_t i = 0; i < 20000; i++)
        OK(add(i));
}

Test(external_shuffle, scratch_that_cannot_be_written)
{
    close(c.fd);
    c.fd = -1;
    apl_status status = APL_OK;
    external_shuffle_free(c.shuffle);
    int fd = open("/dev/full", O_WRONLY);
    OK(external_shuffle_new(&c.schema, 1, c.key, fd, &c.end, &c.bc, &c.shuffle, &fx_err));
    for (size_t i = 0; i < 20000 && status == APL_OK; i++)
        status = add(i);
    cr_assert_eq(status, APL_E_NOSPACE);
    SAYS("scratch file");
    close(fd);
}

Test(external_shuffle, scratch_that_was_emptied)
{
    add_many();
    cr_assert_eq(ftruncate(c.fd, 0), 0);
    FAILS(APL_E_CORRUPT, take_all(20000));
}

Test(external_shuffle, scratch_that_cannot_be_read)
{
    add_many();
    int fd = open(fx_path("scratch"), O_WRONLY);
    cr_assert_eq(dup2(fd, c.fd), c.fd);
    close(fd);
    FAILS(APL_E_IO, take_all(20000));
    SAYS("scratch file");
}

Test(external_shuffle, scratch_that_was_changed)
{
    add_many();
    uint8_t byte = 0;
    off_t at = (off_t)c.end / 3;
    cr_assert_eq(pread(c.fd, &byte, 1, at), 1);
    byte ^= 16;
    cr_assert_eq(pwrite(c.fd, &byte, 1, at), 1);
    FAILS(APL_E_CORRUPT, take_all(20000));
}

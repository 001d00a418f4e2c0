/* Walking LMDB files that are as LMDB writes them. */
#include "lmdb_file.h"
#include "lmdb_walk.h"

#include <fcntl.h>

static struct key nth_key(uint32_t i)
{
    return (struct key){KEY_BLOCK, i >> 10, i & 1023};
}

/* A file that is read holds the same, in the same places. */
static void expect_same_read(const char *file, const struct lmdb_reader *mapped)
{
    struct lmdb_reader lmdb;
    struct buffer scratch = {0};
    apl_error err;
    int fd = open(file, O_RDONLY);
    cr_assert_eq(lmdb_reader_open(fd, APL_IO_READ, &lmdb, &err), APL_OK, "%s", err.message);
    close(fd);
    cr_assert(!lmdb.map && lmdb.count == mapped->count && lmdb.size == mapped->size);
    for (size_t i = 0; i < lmdb.count; i++) {
        const struct entry *e = &lmdb.entries[i];
        const uint8_t *bytes;
        cr_assert(e->offset == mapped->entries[i].offset && e->size == mapped->entries[i].size);
        cr_assert_eq(memcmp(&e->key, &mapped->entries[i].key, sizeof e->key), 0);
        cr_assert_eq(lmdb_reader_value(&lmdb, e, &scratch, &bytes, &err), APL_OK, "%s", err.message);
        cr_assert_eq(memcmp(bytes, mapped->map + e->offset, e->size), 0);
    }
    buffer_free(&scratch);
    lmdb_reader_close(&lmdb);
}

/* Puts `count` values, in an order that is stride apart, and finds them all again, in the order of their keys. */
static void expect_walk(uint32_t count, uint32_t stride, size_t (*size_of)(uint32_t), unsigned depth)
{
    struct place p;
    struct lmdb_reader lmdb;
    apl_error err;
    place_make(&p);
    struct lmdb_writer *writer = new_lmdb(p.file);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t n = (uint32_t)((uint64_t)i * stride % count);
        put_value(writer, nth_key(n), size_of(n));
    }
    finish_lmdb(writer);
    int fd = open(p.file, O_RDONLY);
    cr_assert_eq(lmdb_reader_open(fd, APL_IO_MAP, &lmdb, &err), APL_OK, "%s", err.message);
    close(fd);
    expect_same_read(p.file, &lmdb);
    cr_assert_eq(lmdb.count, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct key *key = &lmdb.entries[i].key, is = nth_key(i);
        cr_assert(key->kind == is.kind && key->segment == is.segment && key->block == is.block);
        expect_value(&lmdb, is, size_of(i));
    }
    cr_assert_null(lmdb_reader_find(&lmdb, (struct key){KEY_BLOCK, 0, 5000}));
    cr_assert_null(lmdb_reader_find(&lmdb, (struct key){KEY_BLOCK + 1, 0, 0}));
    cr_assert_null(lmdb_reader_find(&lmdb, (struct key){KEY_BLOCK, UINT32_MAX, 0}));
    uint64_t a = load_le(lmdb.map + 144, 8), b = load_le(lmdb.map + 4096 + 144, 8);
    cr_assert_eq(load_le(lmdb.map + (b > a ? 4096 : 0) + 88 + 6, 2), depth, "the tree has another depth");
    lmdb_reader_close(&lmdb);
    cr_assert(!lmdb.map && !lmdb.entries && !lmdb.count);
    lmdb_reader_close(&lmdb);
    place_remove(&p);
}

static size_t tiny(uint32_t i)
{
    return 1 + i % 3;
}

/* Around the size from which on a value has pages of its own, and the sizes that fill those. */
static size_t around(uint32_t i)
{
    static const size_t sizes[] = {1,    2000, 2020, 2022, 2023, 2024, 2025, 2026, 2030, 2040,  2048,
                                   4078, 4079, 4080, 4081, 4095, 4096, 4097, 8176, 8177, 12272, 12273};
    return sizes[i % (sizeof sizes / sizeof *sizes)];
}

static size_t big(uint32_t i)
{
    return 100000 + 77777 * i;
}

Test(lmdb_read, one_value)
{
    expect_walk(1, 1, tiny, 1);
}

Test(lmdb_read, one_page)
{
    expect_walk(50, 17, tiny, 1);
}

Test(lmdb_read, three_levels)
{
    expect_walk(40000, 1, tiny, 3);
    expect_walk(40000, 7919, tiny, 3);
}

Test(lmdb_read, values_around_a_page)
{
    expect_walk(220, 1, around, 2);
    expect_walk(220, 101, around, 2);
}

Test(lmdb_read, big_values)
{
    expect_walk(12, 5, big, 1);
}

/* AUTO does as the environment says, which may say nothing, but not what there is not. */
Test(lmdb_read, environment)
{
    static const struct {
        const char *said;
        bool mapped;
    } cases[] = {{"read", false}, {"map", true}, {"", true}};
    struct place p;
    apl_error err;
    place_make(&p);
    struct lmdb_writer *writer = new_lmdb(p.file);
    put_value(writer, nth_key(0), 10);
    finish_lmdb(writer);
    int fd = open(p.file, O_RDONLY);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lmdb_reader lmdb;
        setenv("APL_IO", cases[i].said, 1);
        cr_assert_eq(lmdb_reader_open(fd, APL_IO_AUTO, &lmdb, &err), APL_OK, "%s", err.message);
        cr_assert_eq(lmdb.map != NULL, cases[i].mapped, "%s", cases[i].said);
        lmdb_reader_close(&lmdb);
    }
    struct lmdb_reader lmdb;
    setenv("APL_IO", "other", 1);
    cr_assert_eq(lmdb_reader_open(fd, APL_IO_AUTO, &lmdb, &err), APL_E_INVALID);
    unsetenv("APL_IO");
    close(fd);
    place_remove(&p);
}

Test(lmdb_read, what_is_no_file)
{
    struct lmdb_reader lmdb;
    apl_error err;
    int fd = open("/", O_RDONLY);
    cr_assert_eq(lmdb_reader_open(fd, APL_IO_MAP, &lmdb, &err), APL_E_CORRUPT);
    cr_assert_str_eq(err.message, "it is not a regular file");
    close(fd);
    cr_assert_eq(lmdb_reader_open(fd, APL_IO_MAP, &lmdb, &err), APL_E_IO, "a descriptor that is closed");
    FILE *empty = tmpfile();
    cr_assert_eq(lmdb_reader_open(fileno(empty), APL_IO_MAP, &lmdb, &err), APL_E_CORRUPT);
    cr_assert_str_eq(err.message, "it is empty");
    fclose(empty);
}

/* A whole file is not one that has been cut. */
Test(lmdb_read, knows_a_file_that_has_been_cut)
{
    struct place p;
    size_t size;
    place_make(&p);
    struct lmdb_writer *writer = new_lmdb(p.file);
    for (uint32_t i = 0; i < 100; i++)
        put_value(writer, nth_key(i), 500);
    finish_lmdb(writer);
    uint8_t *bytes = read_all(p.file, &size);
    cr_assert_not(lmdb_is_cut(bytes, size, size));
    cr_assert(lmdb_is_cut(bytes, size, size - 1));
    cr_assert(lmdb_is_cut(bytes, size, 4096));
    cr_assert_not(lmdb_is_cut(bytes, 100, 100), "too little to tell");
    free(bytes);
    place_remove(&p);
}

/* Stores of indexed JPEG files in which something is not so, all checksums being right: nothing that reads them crashes, hangs or takes
 * memory without measure; and what is verified is right. */
#define IMAGES 14 /* in two blocks */

#include "bytes.h"
#include "counts.h"
#include "hash.h"
#include "indexed_store.h"
#include "kept.h"
#include "store.h"

#include <sys/resource.h>

#define ENTRY 40u /* where that of the only field begins, and its bytes */

TestSuite(indexed_lies, .init = fx_set_up, .fini = fx_tear_down, .timeout = 3600);

/* The store's file, and in it a block that can be changed. */
static struct {
    uint8_t *bytes, *block, *index, *values;
    size_t size, block_bytes;
    uint32_t records;
} lie;

static void take_block(unsigned number)
{
    draw_images();
    apl_store *s = store_of("db", true, false);
    lie.bytes = fx_read(fx_path("db/data.mdb"), &lie.size);
    lie.block = lie.bytes + s->blocks[number].offset;
    lie.block_bytes = s->blocks[number].size;
    apl_store_close(s);
    lie.records = (uint32_t)load_le(lie.block + 16, 4);
    lie.index = lie.block + load_le(lie.block + 4, 4);
    lie.values = lie.index + kept_index_bytes(CODEC_INDEXED, lie.records);
    cr_assert_eq(lie.block[ENTRY], CODEC_INDEXED);
}

static void drop_block(void)
{
    free(lie.bytes);
    free_files();
}

static uint32_t stored_bytes(uint32_t record)
{
    return (uint32_t)load_le(lie.index + 4 * record, 4);
}

static uint8_t *value_of(uint32_t record)
{
    uint8_t *value = lie.values;
    for (uint32_t i = 0; i < record; i++)
        value += stored_bytes(i);
    return value;
}

/* Makes all checksums right: of values, where they are within the block, of the index, and of the header. */
static void seal(void)
{
    uint8_t *value = lie.values, *end = lie.block + lie.block_bytes;
    for (uint32_t i = 0; i < lie.records && stored_bytes(i) <= (size_t)(end - value); i++) {
        store_le(lie.index + 8 * lie.records + 8 * i, hash_xxh3_64(value, stored_bytes(i)), 8);
        value += stored_bytes(i);
    }
    store_le(lie.block + ENTRY + 32, hash_xxh3_64(lie.index, (size_t)(lie.values - lie.index)), 8);
    store_le(lie.block + 8, hash_xxh3_64(lie.block + 16, (size_t)(lie.index - lie.block) - 16), 8);
}

static bool tolerable(apl_status status)
{
    return status == APL_OK || status == APL_END || status == APL_E_CORRUPT || status == APL_E_UNSUPPORTED;
}

/* Every record by itself; `is_right`: it must be what was written. */
static void get_all(apl_store *s, bool is_right)
{
    for (unsigned i = 0; i < IMAGES; i++) {
        apl_batch *b;
        apl_status status = apl_store_get(s, i, &b, &fx_err);
        cr_assert(tolerable(status) && (!is_right || status == APL_OK), "record %u: %s", i, fx_err.message);
        if (is_right)
            is_file(apl_batch_column(b, 0), 0, i);
        if (status == APL_OK)
            apl_batch_release(b);
    }
}

static void read_all(apl_reader *r)
{
    apl_batch *b;
    apl_status status;
    while ((status = apl_reader_next(r, &b, &fx_err)) == APL_OK)
        apl_batch_release(b);
    cr_assert(tolerable(status), "%s", fx_err.message);
    apl_reader_close(r);
}

/* All that reads a store. */
static void meet(void)
{
    apl_store *s;
    apl_reader *r;
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    seal();
    fx_write(fx_path("db/data.mdb"), lie.bytes, lie.size);
    apl_status status = apl_store_open(fx_path("db"), NULL, &s, &fx_err);
    cr_assert(tolerable(status), "%s", fx_err.message);
    if (status != APL_OK)
        return;
    read_all(open_crops(s));
    o.threads = APL_NO_THREADS;
    OK(apl_reader_open(s, &o, &r, &fx_err));
    read_all(r);
    status = apl_store_verify(s, NULL, &fx_err);
    cr_assert(tolerable(status), "%s", fx_err.message);
    get_all(s, status == APL_OK);
    apl_store_close(s);
}

/* Of the address sanitizer, where the library is linked with it. */
extern void __asan_init(void) __attribute__((weak));

/* Where frees are not held back, as the sanitizer does. */
static long peak_kib(void)
{
    struct rusage u;
    if (&__asan_init)
        return 0;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

/* Bytes of an indexed value: of its head, more than of its segments and of what restores its file. */
Test(indexed_lies, values)
{
    take_block(1);
    uint8_t *value = value_of(0);
    size_t bytes = stored_bytes(0), head = times(24, 1000), step = times(1 + (unsigned)bytes / 20, 1);
    for (size_t i = 0; i < bytes; i += i < head ? 1 : step) {
        uint8_t was = value[i];
        value[i] = (uint8_t)(i % 3 == 0 ? was ^ 1u << i % 8 : i % 3 == 1 ? 0xff : 0);
        meet();
        value[i] = was;
    }
    meet();
    drop_block();
}

/* Numbers of the index and of the column's entry. */
Test(indexed_lies, indexes)
{
    take_block(1);
    const struct {
        uint8_t *at;
        unsigned bytes;
    } numbers[] = {{lie.index, 4},
                   {lie.index + 4 * (lie.records - 1), 4},
                   {lie.index + 4 * lie.records, 4},
                   {lie.index + 8 * lie.records - 4, 4},
                   {lie.index + 16 * lie.records, 1},
                   {lie.values - 1, 1},
                   {lie.block + ENTRY + 8, 8},
                   {lie.block + ENTRY + 16, 8}};
    long before = peak_kib();
    for (size_t k = 0; k < COUNT(numbers); k++) {
        uint64_t was = load_le(numbers[k].at, numbers[k].bytes);
        const uint64_t instead[] = {0,       1,       2,          was - 1,           was + 1,
                                    was / 2, was * 2, UINT32_MAX, (uint64_t)1 << 31, UINT64_MAX};
        for (size_t i = 0; i < COUNT(instead); i++) {
            store_le(numbers[k].at, instead[i], numbers[k].bytes);
            meet();
        }
        store_le(numbers[k].at, was, numbers[k].bytes);
    }
    cr_assert_leq(peak_kib() - before, 64 << 10, "%ld KiB", peak_kib() - before);
    drop_block();
}

/* Values of progressive files, said to be of sequential ones, and the other way round: a reader that knows no progressive ones would
 * have refused the store. */
Test(indexed_lies, forms)
{
    take_block(0);
    apl_store *unchanged = fx_open(fx_path("db"));
    OK(apl_store_verify(unchanged, NULL, &fx_err));
    apl_store_close(unchanged);
    uint8_t *forms = lie.index + 16 * lie.records;
    for (unsigned i = 0; i < 3; i++) {
        uint8_t was = forms[i];
        cr_assert_eq(was, i == 2 ? KEPT_PROGRESSIVE : KEPT_INDEXED);
        forms[i] = KEPT_INDEXED + KEPT_PROGRESSIVE - was;
        seal();
        fx_write(fx_path("db/data.mdb"), lie.bytes, lie.size);
        apl_store *s = fx_open(fx_path("db"));
        cr_assert_eq(apl_store_verify(s, NULL, &fx_err), APL_E_CORRUPT);
        apl_store_close(s);
        forms[i] = was;
    }
    drop_block();
}

/* Two numbers that agree with each other: what one value takes, the next does not; and the files' bytes likewise. */
Test(indexed_lies, indexes_that_add_up)
{
    take_block(0);
    long before = peak_kib();
    for (unsigned of = 0; of < 2; of++) {
        uint8_t *first = lie.index + 4 * lie.records * of, *second = first + 4;
        uint32_t a = (uint32_t)load_le(first, 4), b = (uint32_t)load_le(second, 4);
        const uint32_t more[] = {1, b / 2, b, 0u - a, 0u - 1};
        for (size_t i = 0; i < COUNT(more); i++) {
            store_le(first, a + more[i], 4);
            store_le(second, b - more[i], 4);
            meet();
        }
        store_le(first, a, 4);
        store_le(second, b, 4);
    }
    /* A file of gigabytes, which the entry and the manifest's sizes would have to tell too. */
    uint8_t *file = lie.index + 4 * lie.records, *raw = lie.block + ENTRY + 8;
    uint64_t was = load_le(file, 4), all = load_le(raw, 8);
    store_le(file, UINT32_MAX, 4);
    store_le(raw, all - was + UINT32_MAX, 8);
    meet();
    cr_assert_leq(peak_kib() - before, 64 << 10, "%ld KiB", peak_kib() - before);
    drop_block();
}

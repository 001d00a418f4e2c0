/* What a reader tells the kernel of files on this machine: values that are read late, and blocks, before their turn. */
#define _GNU_SOURCE
#include "late.h"
#include "load.h"
#include "residence.h"

#include "apl.h"
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define VALUES 48
#define BYTES  200000 /* more than the kernel reads of its own accord beside what it is asked for */

static char place[] = "/tmp/test-reader-ahead-XXXXXX", db[64];

static void make_place(void)
{
    cr_assert_not_null(mkdtemp(place));
    snprintf(db, sizeof db, "%s/db", place);
}

static void remove_place(void)
{
    char command[128];
    snprintf(command, sizeof command, "chmod -R u+w %s; rm -rf %s", place, place);
    cr_assert_eq(system(command), 0);
}

TestSuite(reader_ahead, .init = make_place, .fini = remove_place, .timeout = 120);

/* Values that do not compress: of files that are kept, or of a column of blocks with one record each. */
static void make_store(bool kept)
{
    apl_writer *w;
    static uint8_t bytes[BYTES];
    static const int64_t any[1] = {-1};
    const int64_t size = BYTES;
    uint64_t x = 1;
    apl_writer_options options = APL_WRITER_OPTIONS_INIT;
    options.block_records = kept ? 0 : 1;
    cr_assert_eq(apl_writer_open(db, &options, &w, NULL), APL_OK);
    cr_assert_eq(apl_writer_add_field(w, "bytes", APL_U8, APL_INPUT, 1, any, NULL), APL_OK);
    if (kept)
        cr_assert_eq(apl_writer_set_media(w, "bytes", "application/octet-stream", NULL), APL_OK);
    cr_assert_eq(apl_writer_begin_member(w, "train", "train", 0, NULL), APL_OK);
    for (unsigned k = 0; k < VALUES; k++) {
        for (size_t i = 0; i < BYTES; i++)
            bytes[i] = (uint8_t)((x = x * 6364136223846793005u + 1442695040888963407u) >> 56);
        cr_assert_eq(apl_writer_append(w, &(apl_value){bytes, &size}, NULL), APL_OK);
    }
    cr_assert_eq(apl_writer_commit(w, NULL), APL_OK);
    apl_writer_close(w);
}

/* ------------------------------------------------------------------------------------------------ the page cache */

static char *file;
static size_t file_bytes;

/* Takes the file out of memory, as far as its file system does that, and maps it to look at. */
static void drop_pages(void)
{
    char path[80];
    struct stat st;
    snprintf(path, sizeof path, "%s/data.mdb", db);
    int fd = open(path, O_RDONLY);
    cr_assert(fd >= 0 && fstat(fd, &st) == 0);
    file_bytes = (size_t)st.st_size;
    cr_assert_eq(syscall(SYS_fsync, fd), 0); /* fsync() does nothing in tests */
    cr_assert_eq(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    file = mmap(NULL, file_bytes, PROT_READ, MAP_SHARED, fd, 0);
    cr_assert_neq(file, MAP_FAILED);
    close(fd);
}

static size_t bytes_in_memory(void)
{
    static unsigned char pages[(VALUES + 8) * BYTES / 4096];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = (file_bytes + page - 1) / page, in = 0;
    cr_assert(n <= sizeof pages && mincore(file, file_bytes, pages) == 0);
    for (size_t i = 0; i < n; i++)
        in += pages[i] & 1;
    return in * page;
}

static bool comes_into_memory(size_t bytes)
{
    for (unsigned i = 0; i < 3000 && bytes_in_memory() < bytes; i++)
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    return bytes_in_memory() >= bytes;
}

/* ---------------------------------------------------------------------------------------------------- reading */

static size_t wanted;
static unsigned calls;

/* Before the first value or block is read, others have come by themselves. */
static apl_status wait_for_others(void *user, uint64_t number, apl_error *err)
{
    (void)user;
    (void)number;
    (void)err;
    if (++calls == 1)
        cr_assert(comes_into_memory(wanted), "%zu of %zu bytes", bytes_in_memory(), wanted);
    return APL_OK;
}

static unsigned read_epoch(apl_io io)
{
    apl_store *store;
    apl_reader *r;
    apl_batch *b;
    unsigned rows = 0;
    apl_store_options how = APL_STORE_OPTIONS_INIT;
    apl_reader_options options = APL_READER_OPTIONS_INIT;
    how.io = io;
    options.split = "train";
    options.batch_size = VALUES;
    options.threads = 0;
    options.seed = 5;
    cr_assert_eq(apl_store_open(db, &how, &store, NULL), APL_OK);
    cr_assert_eq(apl_reader_open(store, &options, &r, NULL), APL_OK);
    while (apl_reader_next(r, &b, NULL) == APL_OK) {
        rows += (unsigned)apl_batch_rows(b);
        apl_batch_release(b);
    }
    apl_reader_close(r);
    apl_store_close(store);
    return rows;
}

/* Kept values come, but for probes and what a busy system has passed over; or twelve of the next sixteen blocks. */
static void come(bool kept, apl_io io)
{
    const struct load_hook hook = {wait_for_others, NULL};
    make_store(kept);
    drop_pages();
    wanted = (size_t)(kept ? VALUES - 4 : 12) * BYTES;
    (kept ? late_set_hook : load_set_hook)(&hook);
    cr_assert_eq(read_epoch(io), VALUES);
    (kept ? late_set_hook : load_set_hook)(NULL);
    cr_assert_gt(calls, 0);
    munmap(file, file_bytes);
}

Test(reader_ahead, values_of_a_mapped_file_come_before_their_turn)
{
    come(true, APL_IO_MAP);
}

Test(reader_ahead, values_of_a_file_that_is_read_come_before_their_turn)
{
    come(true, APL_IO_READ);
}

Test(reader_ahead, blocks_of_a_mapped_file_come_before_their_turn)
{
    come(false, APL_IO_MAP);
}

Test(reader_ahead, blocks_of_a_file_that_is_read_come_before_their_turn)
{
    come(false, APL_IO_READ);
}

/* ------------------------------------------------------------------------------------------------- residence */

Test(reader_ahead, after_probes_that_came_at_once_it_is_sure)
{
    struct residence r = {0};
    for (unsigned i = 0; i < 100; i++)
        residence_note(&r, false, true);
    cr_assert_not(residence_is_sure(&r), "what was asked for says nothing");
    for (unsigned i = 0; i < RESIDENCE_PROBES - 1; i++)
        residence_note(&r, true, true);
    residence_note(&r, true, false);
    for (unsigned i = 0; i < RESIDENCE_PROBES - 1; i++)
        residence_note(&r, true, true);
    cr_assert_not(residence_is_sure(&r));
    residence_note(&r, true, true);
    cr_assert(residence_is_sure(&r));
}

Test(reader_ahead, reads_that_take_their_time_end_it)
{
    struct residence r = {RESIDENCE_PROBES, 0};
    for (unsigned i = 0; i < 1000; i++) /* a thread that loses its processor now and then */
        residence_note(&r, false, i % (2 * RESIDENCE_SLOW) != 0);
    cr_assert(residence_is_sure(&r));
    for (unsigned i = 0; i < 4; i++)
        residence_note(&r, false, false);
    cr_assert_not(residence_is_sure(&r));
}

Test(reader_ahead, memory_is_faster_than_disks)
{
    cr_assert(residence_at_once(30000, 0));
    cr_assert(residence_at_once(90000, 110000));
    cr_assert_not(residence_at_once(150000, 110000));
    cr_assert(residence_at_once(2000000, 8 << 20));
}

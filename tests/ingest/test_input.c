/* The input: unpacking of every kind, pipes, cancelling, closing in any state. */
#include "archives.h"
#include "counts.h"
#include "gunzip.h"
#include "input.h"
#include "packed_window.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

static struct hasher *sha;
static int polls;

static int count_polls(void *user)
{
    polls++;
    return user && polls >= *(int *)user;
}

static struct input *open_input(int fd, bool archive, int *cancel_at)
{
    struct input *in = NULL;
    sha = hasher_new();
    struct input_options options = {
        .name = "x", .archive = archive, .sha = sha, .poll = count_polls, .user = cancel_at};
    cr_assert_eq(input_open(fd, &options, &in, NULL), APL_OK);
    return in;
}

static void done(struct input *in)
{
    input_close(in);
    hasher_free(sha);
}

/* A descriptor that gives these bytes. */
static int file_of(const struct buffer *data)
{
    const char *folder = temp_folder();
    const char *path = in_folder(folder, "f");
    write_file(path, data->data, data->size);
    int fd = open(path, O_RDONLY);
    temp_drop(folder);
    return fd;
}

static apl_status read_all(struct input *in, struct buffer *out, apl_error *err)
{
    const uint8_t *data;
    size_t size;
    apl_status status;
    out->size = 0;
    while ((status = input_next(in, &data, &size, err)) == APL_OK) {
        cr_assert(size > 0 && out->size % 512 == 0, "only the last block may be odd");
        buffer_put(out, data, size);
    }
    return status;
}

static void gives(const struct buffer *packed, const struct buffer *want, bool archive)
{
    struct input *in = open_input(file_of(packed), archive, NULL);
    struct buffer out = {0};
    apl_error err = {0};
    cr_assert_eq(read_all(in, &out, &err), APL_END, "%s", err.message);
    same_bytes(&out, want->data, want->size);
    cr_assert_eq(input_bytes(in), packed->size);
    uint8_t got[32], expected[32];
    hasher_end(sha, got);
    hasher_add(sha, packed->data, packed->size);
    hasher_end(sha, expected);
    cr_assert(memcmp(got, expected, 32) == 0);
    done(in);
    buffer_free(&out);
}

static void refuses(const struct buffer *packed, apl_status status, const char *words)
{
    struct input *in = open_input(file_of(packed), true, NULL);
    struct buffer out = {0};
    apl_error err = {0};
    apl_status got = read_all(in, &out, &err);
    cr_assert_eq(got, status, "%d %s instead of %s", (int)got, err.message, words);
    cr_assert(contains(err.message, words), "'%s' instead of '%s'", err.message, words);
    done(in);
    buffer_free(&out);
}

static const char *const filters[] = {"xz", "zstd", "bzip2"};

Test(input, plain_bytes_of_any_size)
{
    static const size_t sizes[] = {0, 1, 19, 20, 21, 511, 512, 513, 262143, 262144, 262145, 3000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct buffer data = content(4, sizes[i]);
        gives(&data, &data, false);
        if (data.size > 0)
            gives(&data, &data, true);
        buffer_free(&data);
    }
}

Test(input, gzip_by_both_inflaters)
{
    static const size_t sizes[] = {0, 1, 262144, 524288, 3000000};
    for (size_t i = 0; i < 10; i++) {
        setenv("APL_GUNZIP", i % 2 ? "zlib" : "", 1);
        struct buffer data = content((uint32_t)i, sizes[i / 2]), packed = gzip_of(&data);
        gives(&packed, &data, true);
        gives(&packed, &packed, false);
        buffer_free(&data);
        buffer_free(&packed);
    }
}

Test(input, inflater_that_is_not_there)
{
    setenv("APL_GUNZIP", "none", 1);
    struct buffer data = content(0, 100), packed = gzip_of(&data);
    refuses(&packed, APL_E_UNSUPPORTED, "APL_GUNZIP");
    buffer_free(&data);
    buffer_free(&packed);
}

Test(input, filters)
{
    for (size_t i = 0; i < 3; i++)
        for (uint32_t seed = 0; seed < 2; seed++) {
            struct buffer data = content(seed, (uint32_t)(1500000 / sweep_step())),
                          packed = packed_with(filters[i], &data);
            if (packed.size > 0)
                gives(&packed, &data, true);
            size_t once = packed.size;
            buffer_put(&packed, packed.data, once); /* two streams are one file */
            size_t half = data.size;
            cr_assert(buffer_reserve(&data, half));
            buffer_put(&data, data.data, half);
            if (once > 0)
                gives(&packed, &data, true);
            buffer_free(&data);
            buffer_free(&packed);
        }
}

Test(input, filters_cut_anywhere)
{
    struct buffer data = content(1, 2000);
    for (size_t i = 0; i < 3; i++) {
        struct buffer packed = packed_with(filters[i], &data);
        for (size_t cut = 20; cut < packed.size; cut += sweep_step()) {
            struct buffer part = {.data = packed.data, .size = cut};
            refuses(&part, APL_E_INCOMPLETE, "ends early at byte");
        }
        buffer_free(&packed);
    }
    buffer_free(&data);
}

Test(input, filters_with_garbage_behind)
{
    struct buffer data = content(1, 2000), garbage = content(1, 500000);
    for (size_t i = 0; i < 6; i++) {
        struct buffer packed = packed_with(filters[i / 2], &data);
        size_t size = packed.size;
        buffer_put(&packed, garbage.data, i % 2 ? garbage.size : 30);
        if (size > 0)
            refuses(&packed, APL_E_SOURCE, "byte");
        buffer_free(&packed);
    }
    buffer_free(&data);
    buffer_free(&garbage);
}

/* Also a few bytes are garbage, not an interrupted download; but for the beginning of another stream. */
Test(input, filters_with_little_behind)
{
    static const char *const behind[] = {"\n",
                                         "abc",
                                         "hello",
                                         "hello world",
                                         "BZh9",
                                         "YZ",
                                         "\xfd"
                                         "8"};
    struct buffer data = content(1, 2000);
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < sizeof behind / sizeof *behind; k++) {
            struct buffer packed = packed_with(i ? "xz" : "bzip2", &data);
            if (packed.size == 0)
                continue;
            char wanted[80];
            snprintf(wanted, sizeof wanted, "byte %zu: garbage after the end", packed.size);
            buffer_put(&packed, behind[k], strlen(behind[k]));
            refuses(&packed, APL_E_SOURCE, wanted);
            buffer_free(&packed);
        }
    }
    struct buffer cut = packed_with("xz", &data);
    if (cut.size > 0) {
        buffer_put(&cut,
                   "\xfd"
                   "7zX",
                   4);
        refuses(&cut, APL_E_INCOMPLETE, "ends early at byte");
    }
    buffer_free(&cut);
    buffer_free(&data);
}

/* ------------------------------------------------------------------------------------------------- windows */

/* Says in the first block header of an xz file that the window has 1.5 GiB; the file stays one that decompresses. */
static void widen_xz(struct buffer *packed)
{
    uint8_t *block = packed->data + 12;
    size_t size = (block[0] + 1u) * 4;
    cr_assert(block[2] == 0x21 && block[3] == 1);
    block[4] = 0x25;
    store_le(block + size - 4, gunzip_crc32(block, size - 4), 4);
}

/* Such a stream alone, and behind another: each block is looked at. */
Test(input, windows_of_xz)
{
    struct buffer data = content(1, 70000), packed = packed_with("xz", &data),
                  wide = packed_with("xz", &data);
    if (packed.size == 0)
        cr_skip_test("this libarchive has no xz");
    widen_xz(&wide);
    refuses(&wide, APL_E_UNSUPPORTED, "x: decompressing it takes a window of 1536 MiB; the limit is 128 MiB");
    buffer_put(&packed, "\0\0\0\0", 4);
    buffer_put(&packed, wide.data, wide.size);
    refuses(&packed, APL_E_UNSUPPORTED, "a window of 1536 MiB");
    buffer_free(&data);
    buffer_free(&packed);
    buffer_free(&wide);
}

Test(input, windows_of_zstd)
{
    struct buffer data = content(1, 70000), packed = packed_with("zstd", &data);
    buffer_put(&packed, "\x50\x2a\x4d\x18\3\0\0\0abc", 11);   /* to be passed over */
    buffer_put(&packed, "\x28\xb5\x2f\xfd\0\xa8\x01\0\0", 9); /* 2^31 bytes, an empty block */
    refuses(&packed, APL_E_UNSUPPORTED,
            "x: decompressing it takes a window of 2048 MiB; the limit is 128 MiB");
    buffer_free(&data);
    buffer_free(&packed);
}

/* Whatever lies in between: all of a stream is followed, in portions of any size. */
Test(input, windows_are_followed_to_the_end)
{
    static const size_t portions[] = {1, 3, 1000, SIZE_MAX};
    for (size_t i = 0; i < 8; i++) {
        struct buffer data = content((uint32_t)i, 300000), packed = packed_with(filters[i % 2], &data);
        struct packed_window w = {.kind = i % 2 ? UNFILTER_ZSTD : UNFILTER_XZ};
        for (size_t at = 0, n; at < 2 * packed.size; at += n) { /* two streams */
            size_t begin = at % packed.size, left = packed.size - begin;
            n = portions[i / 2] < left ? portions[i / 2] : left;
            packed_window_see(&w, packed.data + begin, n);
        }
        cr_assert(packed.size == 0 ||
                      (packed_window_at_end(&w) && w.most > 0 && w.most <= PACKED_WINDOW_MOST),
                  "%zu", i);
        buffer_free(&data);
        buffer_free(&packed);
    }
}

/* xz and bzip2 carry a checksum; zstd as it is written here does not. */
Test(input, filters_with_flipped_bits)
{
    struct buffer data = content(1, 3000), out = {0};
    for (size_t i = 0; i < 3; i += 2) {
        struct buffer packed = packed_with(filters[i], &data);
        for (size_t at = 10; at < packed.size; at += 7) {
            packed.data[at] ^= 16;
            struct input *in = open_input(file_of(&packed), true, NULL);
            apl_error err = {0};
            apl_status status = read_all(in, &out, &err);
            done(in);
            if (status == APL_END)
                same_bytes(&out, data.data, data.size);
            else
                cr_assert(status == APL_E_SOURCE || status == APL_E_INCOMPLETE, "%s", err.message);
            packed.data[at] ^= 16;
        }
        buffer_free(&packed);
    }
    buffer_free(&data);
    buffer_free(&out);
}

Test(input, packed_twice)
{
    struct buffer data = content(1, 20000), once = packed_with("bzip2", &data),
                  twice = packed_with("bzip2", &once);
    if (twice.size > 0)
        refuses(&twice, APL_E_SOURCE, "more than once");
    buffer_free(&data);
    buffer_free(&once);
    buffer_free(&twice);
}

Test(input, what_is_no_archive)
{
    struct buffer nothing = {0}, store = content(0, 4096);
    refuses(&nothing, APL_E_SOURCE, "is empty");
    memcpy(store.data + 16, "\xde\xc0\xef\xbe", 4);
    refuses(&store, APL_E_SOURCE, "LMDB file");
    gives(&store, &store, false);
    buffer_free(&store);
}

Test(input, pipes_in_portions, .timeout = 30)
{
    struct buffer data = content(1, 100000), packed = gzip_of(&data), out = {0};
    for (size_t portion = 1; portion < 5000; portion = portion * 3 + 1) {
        int ends[2];
        cr_assert_eq(pipe(ends), 0);
        pthread_t thread;
        struct pouring pouring = {ends[1], &packed, portion};
        struct input *in = open_input(ends[0], true, NULL);
        cr_assert_eq(pthread_create(&thread, NULL, pour, &pouring), 0);
        apl_error err = {0};
        cr_assert_eq(read_all(in, &out, &err), APL_END, "%s", err.message);
        same_bytes(&out, data.data, data.size);
        pthread_join(thread, NULL);
        done(in);
    }
    buffer_free(&data);
    buffer_free(&packed);
    buffer_free(&out);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

Test(input, cancelled_while_nothing_comes, .timeout = 20)
{
    int ends[2], at = 4;
    cr_assert_eq(pipe(ends), 0);
    double start = seconds();
    struct input *in = open_input(ends[0], true, &at);
    const uint8_t *data;
    size_t size;
    apl_error err;
    polls = 0;
    cr_assert_eq(input_next(in, &data, &size, &err), APL_E_CANCELLED);
    cr_assert_str_eq(err.message, "x: cancelled");
    cr_assert_eq(polls, 4);
    done(in);
    cr_assert_lt(seconds() - start, 5.0);
    close(ends[1]);
}

Test(input, closed_in_any_state, .timeout = 30)
{
    struct buffer data = content(0, 4000000), packed = gzip_of(&data);
    for (unsigned blocks = 0; blocks < 20; blocks++) {
        struct input *in = open_input(file_of(&packed), blocks % 2, NULL);
        const uint8_t *block;
        size_t size;
        for (unsigned i = 0; i < blocks; i++)
            if (input_next(in, &block, &size, NULL) != APL_OK)
                break;
        done(in);
    }
    buffer_free(&data);
    buffer_free(&packed);
}

Test(input, closed_while_nothing_comes, .timeout = 20)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    double start = seconds();
    struct input *in = open_input(ends[0], true, NULL);
    done(in);
    cr_assert_lt(seconds() - start, 5.0);
    close(ends[1]);
}

/* Threads of this process that block SIGINT. */
static unsigned blocking(void)
{
    unsigned count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
        char path[300], line[200];
        snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
        FILE *f = fopen(path, "r");
        while (f && fgets(line, sizeof line, f))
            if (strncmp(line, "SigBlk:", 7) == 0)
                count += strtoull(line + 7, NULL, 16) >> (SIGINT - 1) & 1;
        if (f)
            fclose(f);
    }
    if (tasks)
        closedir(tasks);
    return count;
}

/* Signals are for the caller's threads: the input's own, and its hasher's, block them. */
Test(input, its_threads_block_signals)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    unsigned before = blocking();
    struct input *in = open_input(ends[0], true, NULL);
    cr_assert_eq(blocking(), before + 2);
    done(in);
    cr_assert_eq(blocking(), before);
    close(ends[1]);
}

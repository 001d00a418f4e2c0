/* Whole sources: every packing, cuts and flips, standard input, cursors that straddle blocks, cancelling. */
#include "archives.h"
#include "counts.h"
#include "feed.h"

#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

static const char *folder;

static void setup(void)
{
    folder = temp_folder();
}

static void teardown(void)
{
    temp_drop(folder);
}

TestSuite(source, .init = setup, .fini = teardown);

static struct buffer first, second;

/* Two members that span several blocks each. */
static struct buffer big_tar(void)
{
    struct buffer tar = {0};
    unsigned part = is_repeated() ? 10 : 1;
    first = content(1, 1500001 / part);
    second = content(2, 900000 / part);
    tar_file(&tar, "set/data_1", &first);
    tar_file(&tar, "set/data_2", &second);
    tar_finish(&tar);
    return tar;
}

static void gives_both(const struct reading *r)
{
    expect(r, APL_END, "");
    cr_assert_eq(r->members, 2);
    same_bytes(&r->data[0], first.data, first.size);
    same_bytes(&r->data[1], second.data, second.size);
}

static void has_digest_of(const struct reading *r, const struct buffer *data)
{
    struct sha256 *sha = sha256_new();
    uint8_t digest[32];
    sha256_add(sha, data->data, data->size);
    sha256_end(sha, digest);
    sha256_free(sha);
    cr_assert(memcmp(digest, r->digest, 32) == 0);
    cr_assert_eq(r->bytes, data->size);
}

Test(source, every_packing, .timeout = 300)
{
    static const char *const filters[] = {"xz", "zstd", "bzip2"};
    struct buffer tar = big_tar();
    for (int i = 0; i < 6; i++) {
        setenv("APL_GUNZIP", i == 1 ? "zlib" : "", 1);
        struct buffer packed = {0};
        if (i == 0)
            buffer_put(&packed, tar.data, tar.size);
        else
            packed = i < 3 ? gzip_of(&tar) : packed_with(filters[i - 3], &tar);
        if (packed.size == 0)
            continue;
        for (size_t step = 1; step < 100000; step = step * 7 * sweep_step() + 1) {
            struct reading *r = read_bytes(folder, &packed, step);
            gives_both(r);
            has_digest_of(r, &packed);
            cr_assert_eq(r->size, packed.size);
        }
        has_digest_of(read_bytes(folder, &packed, 0), &packed); /* unread members are read all the same */
        buffer_free(&packed);
    }
    buffer_free(&tar);
}

Test(source, gzip_in_another_packing)
{
    struct buffer tar = big_tar(), gz = gzip_of(&tar), xz = packed_with("xz", &gz), xz_gz = gzip_of(&xz);
    if (xz.size > 0) {
        expect(read_bytes(folder, &xz, 1), APL_E_SOURCE, "compressed once");
        expect(read_bytes(folder, &xz_gz, 1), APL_E_SOURCE, "compressed once");
    }
    struct buffer gz_gz = gzip_of(&gz);
    expect(read_bytes(folder, &gz_gz, 1), APL_E_SOURCE, "compressed once");
    buffer_free(&tar);
    buffer_free(&gz);
    buffer_free(&xz);
    buffer_free(&xz_gz);
    buffer_free(&gz_gz);
}

Test(source, cut_gzip)
{
    struct buffer tar = big_tar(), gz = gzip_of(&tar);
    for (size_t cut = 3; cut < gz.size; cut += gz.size / 40 * sweep_step()) {
        setenv("APL_GUNZIP", cut % 2 ? "zlib" : "", 1);
        struct buffer part = {.data = gz.data, .size = cut};
        char words[100];
        snprintf(words, sizeof words, "source: ends early at byte %zu: the gzip stream is truncated", cut);
        expect(read_bytes(folder, &part, cut % 900), APL_E_INCOMPLETE, words);
    }
    buffer_free(&tar);
    buffer_free(&gz);
}

/* The content itself is checked: a flipped bit never passes. */
Test(source, flipped_bits_in_gzip)
{
    struct buffer tar = big_tar(), gz = gzip_of(&tar);
    for (size_t at = 11; at < gz.size; at += gz.size / 60) {
        setenv("APL_GUNZIP", at % 2 ? "zlib" : "", 1);
        gz.data[at] ^= 4;
        const struct reading *r = read_bytes(folder, &gz, 1000);
        cr_assert(r->status == APL_E_SOURCE || r->status == APL_E_INCOMPLETE, "%zu: %d", at, (int)r->status);
        cr_assert(contains(r->err.message, "source: "), "%s", r->err.message);
        gz.data[at] ^= 4;
    }
    buffer_free(&tar);
    buffer_free(&gz);
}

/* Damage behind the last member is found too. */
Test(source, gzip_trailer_and_what_follows)
{
    struct buffer tar = big_tar(), gz = gzip_of(&tar);
    gz.data[gz.size - 5] ^= 1;
    expect(read_bytes(folder, &gz, 1000), APL_E_SOURCE, "checksum or length");
    gz.data[gz.size - 5] ^= 1;
    gz.data[gz.size - 1] ^= 1;
    expect(read_bytes(folder, &gz, 1000), APL_E_SOURCE, "checksum or length");
    gz.data[gz.size - 1] ^= 1;
    static const uint8_t zeros[4096];
    buffer_put(&gz, zeros, sizeof zeros);
    gives_both(read_bytes(folder, &gz, 1000));
    buffer_put(&gz, "!", 1);
    expect(read_bytes(folder, &gz, 1000), APL_E_SOURCE, "garbage after the end");
    buffer_free(&tar);
    buffer_free(&gz);
}

/* Behind a packed stream NUL bytes may follow, as tapes pad; nothing else may. */
Test(source, what_follows_other_packings, .timeout = 300)
{
    static const char *const filters[] = {"xz", "zstd", "bzip2"};
    static const size_t zeros[] = {0, 40, 300000};
    struct buffer tar = big_tar();
    for (unsigned f = 0; f < 3; f++) {
        struct buffer packed = packed_with(filters[f], &tar);
        size_t whole = packed.size;
        for (unsigned z = 0; whole && z < 6; z++) {
            bool garbage = z % 2;
            packed.size = whole;
            for (size_t i = 0; i < zeros[z / 2]; i++)
                buffer_le(&packed, 0, 1);
            if (garbage)
                buffer_le(&packed, 'x', 1);
            struct reading *r = read_bytes(folder, &packed, 4096);
            bool sound = !garbage && (zeros[z / 2] == 0 || f != 1); /* zstd takes them for a frame */
            cr_assert_eq(r->status == APL_END, sound, "%s, %zu zeros: %s", filters[f], zeros[z / 2],
                         r->err.message);
            reading_free(r);
        }
        buffer_free(&packed);
    }
    buffer_free(&tar);
}

Test(source, gzip_of_two_members)
{
    struct buffer tar = big_tar(), gz = {0};
    size_t cut = tar.size / 3;
    struct buffer a = {.data = tar.data, .size = cut}, b = {.data = tar.data + cut, .size = tar.size - cut};
    gzip_add(&gz, &a, 6, Z_DEFAULT_STRATEGY, NULL);
    gzip_add(&gz, &b, 6, Z_DEFAULT_STRATEGY, NULL);
    gives_both(read_bytes(folder, &gz, 1000));
    buffer_free(&tar);
    buffer_free(&gz);
}

/* ---------------------------------------------------------------------------------------- standard input */

Test(source, standard_input_as_a_pipe, .timeout = 30)
{
    struct buffer tar = big_tar(), gz = gzip_of(&tar);
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(dup2(ends[0], 0), 0);
    close(ends[0]);
    pthread_t thread;
    struct pouring pouring = {ends[1], &gz, 5000};
    cr_assert_eq(pthread_create(&thread, NULL, pour, &pouring), 0);
    struct reading *r = read_source("-", 500);
    gives_both(r);
    has_digest_of(r, &gz);
    cr_assert_eq(r->size, 0);
    pthread_join(thread, NULL);
    buffer_free(&tar);
    buffer_free(&gz);
}

Test(source, standard_input_as_a_file)
{
    struct buffer tar = big_tar();
    const char *path = in_folder(folder, "source");
    write_file(path, tar.data, 100000);
    int fd = open(path, O_RDONLY);
    cr_assert_eq(dup2(fd, 0), 0);
    close(fd);
    expect(read_source("-", 500), APL_E_INCOMPLETE,
           "standard input: member set/data_1: ends early at byte 100000");
    cr_assert_geq(fcntl(0, F_GETFD), 0, "standard input is not ours to close");
    buffer_free(&tar);
}

Test(source, a_named_pipe, .timeout = 30)
{
    struct buffer tar = big_tar();
    const char *path = in_folder(folder, "pipe");
    cr_assert_eq(mkfifo(path, 0600), 0);
    pid_t child = fork();
    if (child == 0) {
        struct pouring pouring = {open(path, O_WRONLY), &tar, 5000};
        pour(&pouring);
        _exit(0);
    }
    gives_both(read_source(path, 500));
    buffer_free(&tar);
}

/* ------------------------------------------------------------------------------------- cancel and close */

static int after_some(void *user)
{
    return --*(int *)user < 0;
}

static bool wants_1(const char *name, void *user)
{
    (void)user;
    return strcmp(name, "data_1") == 0;
}

Test(source, cancelled_on_a_pipe_that_never_sends, .timeout = 20)
{
    int ends[2], left = 3;
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(dup2(ends[0], 0), 0);
    struct source *s;
    struct source_member m;
    apl_error err;
    cr_assert_eq(source_open("-", wants_1, after_some, &left, &s, &err), APL_OK);
    cr_assert_eq(source_next(s, &m, &err), APL_E_CANCELLED);
    cr_assert_str_eq(err.message, "standard input: cancelled");
    cr_assert_eq(source_next(s, &m, &err), APL_E_CANCELLED);
    source_close(s);
}

Test(source, cancelled_on_a_named_pipe_without_writer, .timeout = 20)
{
    int left = 3;
    const char *path = in_folder(folder, "pipe");
    cr_assert_eq(mkfifo(path, 0600), 0);
    struct source *s;
    struct source_member m;
    apl_error err;
    cr_assert_eq(source_open(path, wants_1, after_some, &left, &s, &err), APL_OK);
    cr_assert_eq(source_next(s, &m, &err), APL_E_CANCELLED);
    source_close(s);
}

Test(source, cancelled_and_closed_anywhere, .timeout = 60)
{
    struct buffer tar = big_tar(), gz = gzip_of(&tar);
    const char *path = in_folder(folder, "source");
    write_file(path, gz.data, gz.size);
    for (int calls = 0; calls < 14; calls++) {
        int left = calls;
        struct source *s;
        struct source_member m;
        struct buffer out = {0};
        apl_error err;
        cr_assert_eq(source_open(path, wants_1, after_some, &left, &s, &err), APL_OK);
        apl_status status = source_next(s, &m, &err);
        if (status == APL_OK)
            status = read_member(s, &m, 400, &out, &err);
        if (status == APL_OK)
            status = source_next(s, &m, &err);
        cr_assert(status == APL_E_CANCELLED || status == APL_END, "%d", (int)status);
        source_close(s);
        buffer_free(&out);
    }
    buffer_free(&tar);
    buffer_free(&gz);
}

/* ---------------------------------------------------------------------------------------------- cursors */

Test(source, cursor_gives_a_members_bytes_and_no_more)
{
    struct buffer tar = big_tar();
    const char *path = in_folder(folder, "source");
    write_file(path, tar.data, tar.size);
    struct source *s;
    struct source_member m;
    apl_error err = {0};
    cr_assert_eq(source_open(path, wants_1, NULL, NULL, &s, &err), APL_OK);
    cr_assert_str_eq(source_name(s), path);
    cr_assert_null(cursor_take(source_cursor(s), 1), "no member yet");
    cr_assert_eq(source_next(s, &m, &err), APL_OK);
    struct cursor *c = source_cursor(s);
    const uint8_t *p = cursor_take(c, first.size - 1);
    cr_assert(p && memcmp(p, first.data, first.size - 1) == 0, "one read over many blocks");
    cr_assert_null(cursor_take(c, 2));
    cr_assert_eq(source_failure(s, &err), APL_OK, "it just ended");
    cr_assert_eq(cursor_offset(c), first.size - 1);
    uint8_t digest[32];
    cr_assert_eq(source_digest(s, digest, &err), APL_E_INVALID);
    cr_assert_eq(source_next(s, &m, &err), APL_END);
    cr_assert_eq(source_next(s, &m, &err), APL_END);
    cr_assert_null(cursor_take(source_cursor(s), 1), "the member has ended");
    cr_assert_eq(source_digest(s, digest, &err), APL_OK);
    source_close(s);
    buffer_free(&tar);
}

/* Of an archive, and of a directory. */
Test(source, without_a_digest)
{
    struct buffer tar = big_tar();
    const char *archive = in_folder(folder, "source");
    write_file(archive, tar.data, tar.size);
    write_file(in_folder(folder, "data_1"), first.data, first.size);
    const char *const paths[] = {archive, folder};
    for (size_t i = 0; i < 2; i++) {
        struct source *s;
        struct source_member m;
        apl_error err = {0};
        uint8_t digest[32];
        const struct source_way way = {.tree = SOURCE_FLAT, .undigested = true};
        cr_assert_eq(source_open_tree(paths[i], wants_1, &way, NULL, NULL, &s, &err), APL_OK);
        cr_assert_eq(source_next(s, &m, &err), APL_OK);
        cr_assert_eq(source_next(s, &m, &err), APL_END);
        cr_assert_eq(source_digest(s, digest, &err), APL_E_INVALID);
        source_close(s);
    }
    buffer_free(&tar);
}

Test(source, reads_have_a_bound)
{
    struct buffer tar = {0}, data = content(1, FEED_TAKE_MAX + 100);
    tar_file(&tar, "data_1", &data);
    tar_finish(&tar);
    const char *path = in_folder(folder, "source");
    write_file(path, tar.data, tar.size);
    for (size_t over = 0; over < 2; over++) {
        struct source *s;
        struct source_member m;
        apl_error err = {0};
        cr_assert_eq(source_open(path, wants_1, NULL, NULL, &s, &err), APL_OK);
        cr_assert_eq(source_next(s, &m, &err), APL_OK);
        const uint8_t *p = cursor_take(source_cursor(s), FEED_TAKE_MAX + over);
        cr_assert_eq(p == NULL, over == 1);
        cr_assert_eq(source_failure(s, &err), over ? APL_E_INVALID : APL_OK);
        source_close(s);
    }
    buffer_free(&tar);
    buffer_free(&data);
}

/* -------------------------------------------------------------------------------------- what is no source */

Test(source, what_is_not_there_or_no_file)
{
    expect(read_source(in_folder(folder, "nowhere"), 1), APL_E_NOTFOUND, "nowhere: No such file");
    expect(read_source("/dev/null", 1), APL_E_SOURCE, "/dev/null: is a device");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = in_folder(folder, "socket");
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    expect(read_source(path, 1), APL_E_SOURCE, "is a socket");
    close(fd);
    path = in_folder(folder, "empty");
    write_file(path, "", 0);
    expect(read_source(path, 1), APL_E_SOURCE, "empty: is empty");
    path = in_folder(folder, "text");
    write_file(path, "hello", 5);
    expect(read_source(path, 1), APL_E_SOURCE, "text: is not a known archive");
}

Test(source, unreadable_file)
{
    const char *path = in_folder(folder, "secret");
    write_file(path, "x", 1);
    cr_assert_eq(chmod(path, 0), 0);
    if (access(path, R_OK) == 0)
        return; /* root reads everything */
    expect(read_source(path, 1), APL_E_IO, "secret: cannot be opened: Permission denied");
}

Test(source, names_are_made_safe_to_print)
{
    const char *path = in_folder(folder, "a\nb\033");
    expect(read_source(path, 1), APL_E_NOTFOUND, "a\\x0ab\\x1b: No such file");
}

/* -------------------------------------------------------------------------------------------- real files */

static const char *real(const char *name)
{
    const char *data = getenv("APL_DATA");
    const char *path = in_folder(data ? data : "../shared/data", name);
    if (access(path, R_OK) == 0)
        return path;
    printf("skipped: no %s\n", path);
    return NULL;
}

static bool wants_batches(const char *name, void *user)
{
    (void)user;
    return strncmp(name, "data_batch", 10) == 0 || strcmp(name, "test_batch.bin") == 0;
}

Test(source, an_interrupted_download)
{
    const char *path = real("cifar-10-python-truncated.tar.gz");
    for (int i = 0; path && i < 2; i++) {
        setenv("APL_GUNZIP", i ? "zlib" : "", 1);
        struct source *s;
        struct source_member m;
        apl_error err;
        cr_assert_eq(source_open(path, wants_batches, NULL, NULL, &s, &err), APL_OK);
        cr_assert_eq(source_next(s, &m, &err), APL_OK);
        cr_assert_eq(source_next(s, &m, &err), APL_E_INCOMPLETE);
        cr_assert(contains(err.message,
                           "cifar-10-python-truncated.tar.gz: ends early at byte 3670016: the gzip "
                           "stream is truncated (an interrupted download?)"));
        source_close(s);
    }
}

Test(source, a_genuine_sample)
{
    const char *path = real("cifar-10-binary-sample.tar.gz");
    for (int i = 0; path && i < 2; i++) {
        setenv("APL_GUNZIP", i ? "zlib" : "", 1);
        struct source *s;
        struct source_member m;
        apl_error err;
        uint64_t total = 0;
        cr_assert_eq(source_open(path, wants_batches, NULL, NULL, &s, &err), APL_OK);
        while (source_next(s, &m, &err) == APL_OK) {
            struct cursor *c = source_cursor(s);
            for (uint64_t row = 0; row < m.size / 3073; row++) {
                const uint8_t *p = cursor_take(c, 3073);
                cr_assert(p && p[0] < 10);
            }
            cr_assert(cursor_at_end(c));
            total += m.size;
        }
        cr_assert_eq(total, 6187 * 3073);
        source_close(s);
    }
}

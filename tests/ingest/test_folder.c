/* Directories as sources. */
#include "archives.h"
#include "folder.h"

static const char *folder;

static void setup(void)
{
    folder = temp_folder();
}

static void teardown(void)
{
    temp_drop(folder);
}

TestSuite(folder, .init = setup, .fini = teardown);

static void put(const char *name, const struct buffer *data)
{
    write_file(in_folder(folder, name), data->data, data->size);
}

static void make(const char *name)
{
    cr_assert_eq(mkdir(in_folder(folder, name), 0755), 0);
}

Test(folder, files_sorted_by_name_with_digest)
{
    struct buffer a = content(1, 700000), b = content(2, 13), none = {0};
    put("data_b", &b);
    put("data_a", &a);
    put("data_0", &none);
    put("readme", &b);
    for (size_t step = 0; step < 3; step++) {
        struct reading *r = read_source(folder, step);
        expect(r, APL_END, "");
        cr_assert_eq(r->members, 3);
        cr_assert_str_eq(r->names[0], "data_0");
        cr_assert_str_eq(r->paths[1], "data_a");
        cr_assert_str_eq(r->paths[2], "data_b");
        cr_assert(r->bytes == 700013 && r->size == 700013);
        struct sha256 *sha = sha256_new();
        uint8_t digest[32];
        sha256_add(sha, "data_0\0\0\0\0\0\0\0\0", 15);
        sha256_add(sha, "data_a\0\x60\xae\x0a\0\0\0\0\0", 15);
        sha256_add(sha, a.data, a.size);
        sha256_add(sha, "data_b\0\x0d\0\0\0\0\0\0\0", 15);
        sha256_add(sha, b.data, b.size);
        sha256_end(sha, digest);
        sha256_free(sha);
        cr_assert(memcmp(digest, r->digest, 32) == 0);
        if (step > 0)
            same_bytes(&r->data[1], a.data, a.size);
    }
    buffer_free(&a);
    buffer_free(&b);
}

Test(folder, first_subfolder_that_has_some)
{
    struct buffer a = content(1, 100), b = content(2, 100);
    make("1-empty");
    make("2-first");
    make("3-second");
    put("2-first/data", &a);
    put("3-second/data", &b);
    put("0-file", &b);
    struct reading *r = read_source(folder, 1);
    expect(r, APL_END, "");
    cr_assert_eq(r->members, 1);
    cr_assert_str_eq(r->names[0], "data");
    cr_assert_str_eq(r->paths[0], "2-first/data");
    same_bytes(&r->data[0], a.data, a.size);
    buffer_free(&a);
    buffer_free(&b);
}

Test(folder, nothing_wanted)
{
    expect(read_source(folder, 1), APL_E_SOURCE, "holds no file of a known dataset");
    make("deep");
    make("deep/deeper");
    struct buffer a = content(1, 100);
    put("deep/deeper/data", &a);
    expect(read_source(folder, 1), APL_E_SOURCE, "holds no file of a known dataset");
    buffer_free(&a);
}

Test(folder, wanted_names_that_are_no_files, .timeout = 20)
{
    const char *path = in_folder(folder, "data");
    cr_assert_eq(symlink("/etc/passwd", path), 0);
    expect(read_source(folder, 1), APL_E_SOURCE, "data is a symbolic link, which is not followed");
    cr_assert_eq(unlink(path), 0);
    cr_assert_eq(mkfifo(path, 0600), 0);
    expect(read_source(folder, 1), APL_E_SOURCE, "data is not a regular file");
    cr_assert_eq(unlink(path), 0);
    make("data"); /* a folder is none of a dataset's files, whatever it is called */
    expect(read_source(folder, 1), APL_E_SOURCE, "holds no file of a known dataset");
}

Test(folder, a_store_is_no_source)
{
    struct buffer a = content(1, 100);
    put("data.mdb", &a);
    put("data_a", &a);
    expect(read_source(folder, 1), APL_E_SOURCE, "is an APL store, not a source");
    buffer_free(&a);
}

/* Changes the file between opening it and reading it to its end. */
static void changes(off_t size, const char *words)
{
    struct buffer a = content(1, 8000000);
    put("data", &a);
    struct source *s;
    struct source_member m;
    apl_error err = {0};
    cr_assert_eq(source_open(folder, wants_data, NULL, NULL, &s, &err), APL_OK);
    cr_assert_eq(source_next(s, &m, &err), APL_OK);
    cr_assert_eq(truncate(in_folder(folder, "data"), size), 0);
    cr_assert_neq(source_next(s, &m, &err), APL_END);
    cr_assert(err.status == APL_E_SOURCE && contains(err.message, words), "%s", err.message);
    source_close(s);
    buffer_free(&a);
}

Test(folder, file_that_shrinks)
{
    changes(5000000, "data shrank while it was read");
}

Test(folder, file_that_grows)
{
    changes(8000001, "data grew while it was read");
}

Test(folder, file_that_vanishes)
{
    struct buffer a = content(1, 10);
    put("data", &a);
    struct source *s;
    struct source_member m;
    apl_error err = {0};
    cr_assert_eq(source_open(folder, wants_data, NULL, NULL, &s, &err), APL_OK);
    cr_assert_eq(unlink(in_folder(folder, "data")), 0);
    cr_assert_eq(source_next(s, &m, &err), APL_E_NOTFOUND);
    cr_assert(contains(err.message, "data cannot be opened: No such file"), "%s", err.message);
    source_close(s);
    buffer_free(&a);
}

/* Parts of a set, as a program makes them: what is kept, refused and sealed. tests/cli/cases/parts*.sh has the formats. */
#include "apl_ingest.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PARTS 3u

static char notes[1024];

static void on_notice(void *user, const char *message)
{
    (void)user;
    snprintf(notes, sizeof notes, "%s", message);
}

/* In a directory of its own: a table of 100 rows. */
static void begin(void)
{
    char path[] = "/tmp/apl-test-parts-XXXXXX";
    cr_assert(mkdtemp(path) && chdir(path) == 0);
    FILE *f = fopen("t.csv", "w");
    fprintf(f, "x,label\n");
    for (int i = 0; i < 100; i++)
        fprintf(f, "%d,c%d\n", i, i % 3);
    fclose(f);
    notes[0] = 0;
}

static void end(void)
{
    char path[256], command[300];
    cr_assert(getcwd(path, sizeof path));
    snprintf(command, sizeof command, "rm -rf %s", path);
    cr_assert(chdir("/") == 0 && system(command) == 0);
}

static apl_status make(unsigned part, unsigned parts, apl_writer_options *writer, apl_error *err)
{
    apl_ingest_options options = APL_INGEST_OPTIONS_INIT;
    options.part = part;
    options.parts = parts;
    options.writer = writer;
    options.notice = on_notice;
    return apl_ingest("t.csv", "set", &options, NULL, err);
}

static void make_all(apl_writer_options *writer)
{
    apl_error err;
    for (unsigned part = PARTS; part > 0; part--)
        cr_assert_eq(make(part, PARTS, writer, &err), APL_OK, "%s", err.message);
}

static void check_set(uint64_t records)
{
    apl_store *set;
    apl_error err;
    cr_assert_eq(apl_store_open("set", NULL, &set, &err), APL_OK, "%s", err.message);
    cr_assert_eq(apl_store_info(set)->records, records);
    cr_assert_eq(apl_store_info(set)->shards, PARTS);
    cr_assert_eq(apl_store_info(set)->has_source_digest, 0);
    apl_store_close(set);
}

Test(parts, make_a_set, .init = begin, .fini = end)
{
    apl_store *set;
    apl_error err;
    cr_assert_eq(make(1, PARTS, NULL, &err), APL_OK, "%s", err.message);
    cr_assert_eq(apl_store_open("set", NULL, &set, &err), APL_E_NOTFOUND);
    cr_assert(strstr(err.message, "1 of 3 parts are there, and part-0002-of-0003 is missing"), "%s",
              err.message);
    make_all(NULL);
    cr_assert(strstr(notes, "part 1 of 3 is there already"), "%s", notes);
    check_set(100);
}

Test(parts, are_sealed_by_whoever_comes_later, .init = begin, .fini = end)
{
    apl_store *set;
    apl_error err;
    make_all(NULL);
    cr_assert_eq(unlink("set/set.apl"), 0); /* as if the last had died before */
    cr_assert_eq(apl_store_open("set", NULL, &set, &err), APL_E_NOTFOUND);
    cr_assert(strstr(err.message, "all 3 parts are there, but the list is not"), "%s", err.message);
    cr_assert_eq(make(2, PARTS, NULL, &err), APL_OK, "%s", err.message);
    check_set(100);
}

Test(parts, refuse_what_does_not_belong, .init = begin, .fini = end)
{
    apl_error err;
    apl_writer_options raw = APL_WRITER_OPTIONS_INIT;
    raw.codec = "raw";
    cr_assert_eq(make(1, PARTS, NULL, &err), APL_OK, "%s", err.message);
    cr_assert_eq(make(1, PARTS, &raw, &err), APL_E_EXISTS, "%s", err.message);
    cr_assert_eq(make(2, PARTS, &raw, &err), APL_E_MISMATCH, "%s", err.message);
    cr_assert_eq(make(1, PARTS + 1, NULL, &err), APL_E_INVALID, "%s", err.message);
    cr_assert_eq(make(0, PARTS, NULL, &err), APL_E_INVALID);
    cr_assert_eq(make(4, PARTS, NULL, &err), APL_E_INVALID);
    cr_assert_eq(make(1, 100000, NULL, &err), APL_E_INVALID);
    cr_assert_eq(access("set/part-0002-of-0003", F_OK), -1);
}

Test(parts, leave_no_directory_behind, .init = begin, .fini = end)
{
    apl_error err;
    cr_assert_eq(make(1, 101, NULL, &err), APL_E_INVALID);
    cr_assert(strstr(err.message, "too few for 101 parts"), "%s", err.message);
    cr_assert_eq(access("set", F_OK), -1);
    cr_assert_eq(make(1, 0, NULL, &err), APL_E_INVALID);
}

Test(parts, replace_a_set, .init = begin, .fini = end)
{
    apl_error err;
    apl_writer_options raw = APL_WRITER_OPTIONS_INIT;
    make_all(NULL);
    raw.codec = "raw";
    raw.replace = 1;
    make_all(&raw);
    check_set(100);
    cr_assert_eq(make(1, PARTS, NULL, &err), APL_E_EXISTS);
}

Test(parts, of_another_set_are_told, .init = begin, .fini = end)
{
    apl_error err;
    make_all(NULL);
    const char *two[] = {"set/part-0001-of-0003", "set/part-0003-of-0003"};
    apl_set_options replace = APL_SET_OPTIONS_INIT;
    replace.replace = 1;
    cr_assert_eq(apl_set_join("set", two, 2, &replace, &err), APL_E_INCOMPLETE);
    cr_assert(strstr(err.message, "part 2 of 3 is missing"), "%s", err.message);
    const char *wrong[] = {"set/part-0003-of-0003", "set/part-0001-of-0003", "set/part-0002-of-0003"};
    cr_assert_eq(apl_set_join("set", wrong, 3, &replace, &err), APL_OK, "%s", err.message);
    cr_assert_eq(make(1, PARTS, NULL, &err), APL_E_EXISTS); /* a list in another order */
    cr_assert(strstr(err.message, "other shards"), "%s", err.message);
}

/* Somebody has forgotten --part: the other parts must not suffer. */
Test(parts, keep_stores_out_of_their_directory, .init = begin, .fini = end)
{
    apl_error err;
    apl_writer *writer;
    apl_ingest_options force = APL_INGEST_OPTIONS_INIT;
    apl_writer_options replace = APL_WRITER_OPTIONS_INIT;
    replace.replace = 1;
    force.writer = &replace;
    cr_assert_eq(make(1, PARTS, NULL, &err), APL_OK, "%s", err.message);
    for (int forced = 0; forced < 2; forced++) {
        cr_assert_eq(apl_ingest("t.csv", "set", forced ? &force : NULL, NULL, &err), APL_E_INVALID);
        cr_assert(strstr(err.message, "set: has parts of a set of 3, and cannot be a store too"), "%s",
                  err.message);
    }
    cr_assert_eq(access("set/data.mdb", F_OK), -1);
    make_all(NULL);
    cr_assert_eq(apl_writer_open("early", NULL, &writer, &err), APL_OK, "%s", err.message);
    cr_assert_eq(apl_writer_add_field(writer, "x", APL_U8, APL_INPUT, 0, NULL, &err), APL_OK);
    cr_assert_eq(apl_writer_begin_member(writer, "m", "train", 0, &err), APL_OK, "%s", err.message);
    cr_assert_eq(apl_writer_append(writer, &(apl_value){"1", NULL}, &err), APL_OK, "%s", err.message);
    cr_assert(mkdir("early/part-0001-of-0003", 0777) == 0); /* a part that has come since */
    cr_assert_eq(apl_writer_commit(writer, &err), APL_E_INVALID);
    apl_writer_close(writer);
    cr_assert_eq(access("early/data.mdb", F_OK), -1);
}

/* ... nor begin in one where a store is being made. */
Test(parts, wait_for_no_store, .init = begin, .fini = end)
{
    apl_error err;
    apl_writer *writer;
    cr_assert_eq(apl_writer_open("set", NULL, &writer, &err), APL_OK, "%s", err.message);
    cr_assert_eq(apl_writer_add_field(writer, "x", APL_U8, APL_INPUT, 0, NULL, &err), APL_OK);
    cr_assert_eq(apl_writer_begin_member(writer, "m", "train", 0, &err), APL_OK, "%s", err.message);
    cr_assert_eq(make(1, PARTS, NULL, &err), APL_E_INVALID);
    cr_assert(strstr(err.message, "set: a writer is making it a store"), "%s", err.message);
    apl_writer_close(writer);
    make_all(NULL);
    check_set(100);
}

/* Parts of one directory belong together, wherever the list of the set is to be. */
Test(parts, are_joined_all_or_none, .init = begin, .fini = end)
{
    apl_error err;
    const char *some[] = {"plain", "set/part-0001-of-0003", "set/part-0003-of-0003", "set/part-0002-of-0003"};
    const char *nested[] = {"plain", "set"};
    apl_set_options replace = APL_SET_OPTIONS_INIT, append = APL_SET_OPTIONS_INIT;
    replace.replace = append.append = 1;
    cr_assert_eq(apl_ingest("t.csv", "plain", NULL, NULL, &err), APL_OK, "%s", err.message);
    make_all(NULL);
    for (size_t count = 2; count < 4; count++) {
        cr_assert_eq(apl_set_join(".", some, count, NULL, &err), APL_E_INCOMPLETE);
        cr_assert_str_eq(err.message, ".: part 2 of 3 is missing: set/part-0002-of-0003");
    }
    cr_assert_eq(apl_set_join(".", some, 1, NULL, &err), APL_OK, "%s", err.message);
    cr_assert_eq(apl_set_join(".", some + 1, 1, &append, &err), APL_E_INCOMPLETE);
    cr_assert_eq(apl_set_join(".", some + 1, 3, &append, &err), APL_OK, "%s", err.message);
    cr_assert_eq(apl_set_join(".", nested, 2, &replace, &err), APL_E_INVALID);
    cr_assert_str_eq(err.message,
                     "./set: is a set, and the shards of a set are stores: name the shards of that set");
}

static void check_lacks(const char *const *stores, size_t count, const char *missing)
{
    apl_error err;
    char suffix[64];
    cr_assert_eq(apl_set_check_parts(stores, count, &err), APL_E_INCOMPLETE);
    snprintf(suffix, sizeof suffix, "/%s", missing);
    size_t length = strlen(err.message), n = strlen(suffix);
    cr_assert(length > n && strcmp(err.message + length - n, suffix) == 0, "%s", err.message);
}

/* The same of stores that are read as one without a list, however their paths are written. */
Test(parts, are_whole_without_a_list, .init = begin, .fini = end)
{
    apl_error err;
    const char *stores[] = {"plain", "set/part-0001-of-0003/", "./set//part-0003-of-0003",
                            "set/../set/part-0001-of-0003", "link/part-0002-of-0003"};
    const char *urls[] = {"https://u:p@host/a/part-0001-of-0002/?secret", "https://host/a/part-0002-of-0002",
                          "https://host/b/part-0002-of-0002", "https://host/b/part-0001-of-0002"};
    const char *null[] = {"plain", NULL}, *inside[] = {".", "../part-0002-of-0003", "../part-0003-of-0003"};
    make_all(NULL);
    cr_assert_eq(symlink("set", "link"), 0);
    for (size_t count = 2; count < 5; count++)
        check_lacks(stores, count, "set/part-0002-of-0003");
    cr_assert_eq(apl_set_check_parts(stores, 5, &err), APL_OK, "%s", err.message);
    cr_assert_eq(apl_set_check_parts(stores, 1, &err), APL_OK, "%s", err.message);
    cr_assert_eq(apl_set_check_parts(stores, 0, &err), APL_OK, "%s", err.message);
    cr_assert_eq(apl_set_check_parts(urls, 4, &err), APL_OK, "%s", err.message);
    check_lacks(urls, 3, "b/part-0001-of-0002");
    check_lacks(urls, 1, "a/part-0002-of-0002");
    cr_assert(!strstr(err.message, "secret"));
    cr_assert_eq(apl_set_check_parts(null, 2, &err), APL_E_INVALID);
    cr_assert_eq(chdir("set/part-0001-of-0003"), 0);
    check_lacks(inside, 2, "set/part-0003-of-0003");
    cr_assert_eq(apl_set_check_parts(inside, 3, &err), APL_OK, "%s", err.message);
    cr_assert_eq(chdir("../.."), 0);
}

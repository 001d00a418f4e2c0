/* Directories as sources: which of their files are read, and what is said of the others. */
#include "webdataset_case.h"

#include <sys/stat.h>

TestSuite(unread, .init = ix_set_up, .fini = fx_tear_down, .timeout = 60);

static const char array[] = "\x93NUMPY\1\0F\0{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }"
                            "            \n\1\0\0\0\2\0\0\0";
/* A tf.train.Example with the feature x, one byte, and its checksums. */
static const uint8_t example[] = {0x0e, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc5, 0xe5,
                                  0x69, 0x3f, 0x0a, 0x0c, 0x0a, 0x0a, 0x0a, 0x01, 0x78, 0x12,
                                  0x05, 0x1a, 0x03, 0x0a, 0x01, 0x07, 0x98, 0x99, 0x39, 0x25};

static void put_in(const char *path, const void *data, size_t size)
{
    char folder[96];
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        mkdir(fx_path(folder), 0777);
    }
    ix_put(path, data, size);
}

static void put_words(const char *path, const char *text)
{
    put_in(path, text, strlen(text));
}

static void put_array(const char *path)
{
    put_in(path, array, sizeof array - 1);
}

static void put_sample_shard(const char *path, const char *key)
{
    char member[32];
    put_words(path, "");
    snprintf(member, sizeof member, "%s.jpg", key);
    add_jpeg(member, 8);
    snprintf(member, sizeof member, "%s.cls", key);
    add(member, "1");
    put_shard(path);
}

static void has_splits(apl_store *s, unsigned splits, uint64_t records)
{
    cr_assert_eq(apl_store_info(s)->splits, splits);
    cr_assert_eq(apl_store_info(s)->records, records);
}

Test(unread, files_that_are_left_out_are_counted)
{
    put_array("in/x.npy");
    put_words("in/labels.csv", "label\n1\n2\n");
    put_words("in/deep/a.txt", "a");
    put_words("in/README.md", "what it is");
    put_words("in/.hidden", "a");
    is_said_of(IX_STORE("in"), "in: files left out: 2 (labels.csv, deep/a.txt)\n");
    put_array("in/deep/y.npy");
    put_words("in/deep/b.txt", "a");
    is_said_of(IX_STORE("in"), "in: files left out: 4 (labels.csv, deep/a.txt, deep/b.txt, ...)\n");
    is_said_of(IX_STORE("in/x.npy"), NULL);
}

/* What a store holds is no source, and files of a directory beside one of the same beginning are. */
Test(unread, stores_are_passed_over)
{
    put_array("in/x.npy");
    put_words("in/db/data.mdb", "a");
    put_words("in/db/notes.txt", "a");
    put_words("in/db/deep/notes.txt", "a");
    is_said_of(IX_STORE("in"), NULL);
    put_words("in/db2/notes.txt", "a");
    is_said_of(IX_STORE("in"), "in: files left out: 1 (db2/notes.txt)\n");
}

Test(unread, nothing_is_said_of_packed_copies_and_what_is_read)
{
    put_array("in/x.npy");
    ix_put_gzip("in/x.npy.gz", array, sizeof array - 1);
    put_words("in/SHA256SUMS", "a");
    is_said_of(IX_STORE("in"), NULL);
    is_said_of(IX_STORE("in/"), NULL);
    is_said_of(IX_STORE("in//"), NULL);
    is_said_of(IX_STORE("in/./"), NULL);
}

Test(unread, a_source_that_gives_nothing_is_an_error)
{
    put_array("a/x.npy");
    put_words("ab/t.txt", "");
    mkdir(fx_path("none"), 0777);
    IX_REFUSED(APL_E_SOURCE,
               "/ab: nothing of it is read: it has no files of the format npy, unlike others, but t.txt", "a",
               "ab");
    IX_REFUSED(APL_E_SOURCE, "/none: nothing of it is read: it has no files of the format npy, unlike others",
               "none", "a");
    IX_REFUSED(APL_E_SOURCE, "/ab/t.txt: nothing of it is read: it is not of the format npy, unlike others",
               "a", "ab/t.txt");
    ix_options.format = "raw";
    IX_REFUSED(APL_E_SOURCE, "/none: nothing of it is read: it has no files of the format raw", "ab", "none");
    IX_REFUSED(APL_E_SOURCE, "/none: nothing of it is read", "none", "ab");
}

/* In a directory, tables are only looked for if they are asked for. */
Test(unread, a_directory_of_tables_beside_a_table)
{
    static const char way_on[] = "/A: nothing of it is read, but it has a table, train.csv: --format list";
    put_words("A/train.csv", "x\n1\n");
    put_words("B/test.csv", "x\n2\n");
    IX_REFUSED(APL_E_SOURCE, way_on, "A", "B/test.csv");
    IX_REFUSED(APL_E_SOURCE, way_on, "B/test.csv", "A");
    IX_REFUSED(APL_E_SOURCE, way_on, "A", "A/train.csv");
    ix_put_gzip("A/train.csv.gz", "x\n1\n", 4);
    OK(remove(fx_path("A/train.csv")));
    IX_REFUSED(APL_E_SOURCE, "it has a table, train.csv.gz: --format list", "A", "B/test.csv");
    ix_options.format = "list";
    apl_store *s = IX_STORE("A", "B/test.csv");
    has_splits(s, 2, 2);
    is_said_of(s, NULL);
}

Test(unread, shards_below_others_and_images_beside_them)
{
    put_sample_shard("in/train/v/0.tar", "a");
    put_sample_shard("in/val/0.tar", "b");
    apl_store *s = IX_STORE("in");
    has_splits(s, 2, 2);
    is_said_of(s, NULL);
    put_words("in/cat/1.txt", "a");
    is_said_of(IX_STORE("in"), "in: files left out: 1 (cat/1.txt)\n");
    put_sample_shard("in/top.tar", "c");
    s = IX_STORE("in");
    has_splits(s, 1, 1);
    is_said_of(s, "in: files left out: 3 (cat/1.txt, train/v/0.tar, val/0.tar)\n");
}

/* ------------------------------------------------------------------------------------------------- what is read */

Test(unread, packed_tables_are_read_as_by_name)
{
    put_words("in/train.csv", "x\n1\n");
    ix_put_gzip("in/test.csv.gz", "x\n2\n", 4);
    ix_options.format = "list";
    apl_store *s = IX_STORE("in");
    has_splits(s, 2, 2);
    is_said_of(s, NULL);
    OK(remove(fx_path("in/train.csv")));
    has_splits(s = IX_STORE("in"), 1, 1);
    apl_store_close(s);
}

/* Of CIFAR, one folder is read. */
Test(unread, files_beside_those_of_cifar)
{
    static const uint8_t row[3073];
    put_in("in/a/data_batch_1.bin", row, sizeof row);
    put_words("in/a/readme.html", "what it is");
    ix_options.partial = 1;
    fx_shell("cp -r '%s/in/a' '%s/in/b'", fx_place, fx_place);
    put_words("in/x.txt", "a");
    apl_store *s = IX_STORE("in");
    cr_assert_eq(ix_sum.records, 1);
    is_said_of(s, "in: files left out: 2 (x.txt, b/data_batch_1.bin)\n");
}

/* Links lead to folders of which all, or some, is read. */
Test(unread, links_that_are_followed)
{
    put_words("A/a.csv", "x\n1\n");
    put_words("B/sub/b.csv", "x\n2\n");
    put_words("C/c.txt", "");
    mkdir(fx_path("in"), 0777);
    fx_shell("ln -s ../A '%s/in/train'; ln -s ../B '%s/in/test'", fx_place, fx_place);
    ix_options.format = "list";
    ix_options.follow_links = 1;
    apl_store *s = IX_STORE("in");
    has_splits(s, 2, 2);
    is_said_of(s, NULL);
    put_words("A/a.npy", "");
    put_words("B/b.txt", "");
    fx_shell("ln -s ../C '%s/in/t'; ln -s . '%s/in/train/here'", fx_place, fx_place);
    is_said_of(IX_STORE("in"), "in: files left out: 4 (t, test/b.txt, train/a.npy, ...)\n");
    put_words("in/z.csv", "x\n3\n");
    is_said_of(IX_STORE("in"), "in: files left out: 3 (t, test, train)\n");
}

/* There, what has been found would be found again and again, or nothing would for a long time. */
Test(unread, links_that_lead_back)
{
    put_words("in/a/x.csv", "x\n1\n");
    fx_shell("ln -s . '%s/in/b'; ln -s . '%s/in/c'", fx_place, fx_place);
    ix_options.format = "list";
    apl_store_close(IX_STORE("in"));
    ix_options.follow_links = 1;
    ix_writing.replace = 0;
    fx_shell("rm -r '%s%s'", ix_db, "");
    IX_REFUSED(APL_E_SOURCE, "/in/b: leads, by a symbolic link, back to a directory that it lies in", "in");
    fx_shell("rm '%s/in/a/x.csv%s'", fx_place, "");
    IX_REFUSED(APL_E_SOURCE, "/in/b: leads, by a symbolic link, back", "in");
}

/* Images that no table names, if none names any: which of many are named is not told. */
Test(unread, images_beside_tables)
{
    put_words("in/train.csv", "x\n1\n");
    put_words("in/a.jpg", "");
    ix_options.format = "list";
    is_said_of(IX_STORE("in"), "in: files left out: 1 (a.jpg)\n");
    put_sample_shard("in/0.tar", "k");
    fx_shell("tar -C '%s/in' -xf '%s/in/0.tar' k.jpg", fx_place, fx_place);
    put_words("in/train.csv", "image\nk.jpg\n");
    is_said_of(IX_STORE("in"), "in: files left out: 1 (0.tar)\n");
}

Test(unread, files_in_folders_are_read_where_a_directory_has_none)
{
    put_array("in/train/x.npy");
    put_array("in/sub/test/x.npy");
    apl_store *s = IX_STORE("in");
    has_splits(s, 2, 4);
    is_said_of(s, NULL);
    put_words("in/y.npy.txt", "a");
    is_said_of(IX_STORE("in"), "in: files left out: 1 (y.npy.txt)\n");
}

Test(unread, records_by_other_names)
{
    put_in("in/coco_train.record-00000-of-00001", example, sizeof example);
    put_in("in/validation-00000-of-00001", example, sizeof example);
    put_in("in/c.record", example, sizeof example);
    apl_store *s = IX_STORE("in");
    has_splits(s, 2, 3);
    apl_store_close(s);
}

Test(unread, errors_about_several_directories_name_the_way_on)
{
    put_words("in/train/deep/a.csv", "x\n1\n");
    put_words("in/test/b.csv", "x\n1\n");
    IX_REFUSED(APL_E_INVALID,
               "/in/train/deep/a.csv: --format list (format=\"list\" in Python) reads tables in dir",
               "in/train", "in/test");
    IX_REFUSED(APL_E_INVALID, "/in/test/b.csv: --format list", "in/test/", "in/train");
    put_words("images/train/cat/1.jpg", "");
    put_words("images/test/cat/2.jpg", "");
    IX_REFUSED(APL_E_INVALID,
               "cifar and folder take one. Give the directory that holds them as the one source, or",
               "images/train", "images/test");
    fx_shell("tar -C '%s/images' -cf '%s/images/a.tar' test", fx_place, fx_place);
    IX_REFUSED(APL_E_INVALID, "cifar and folder take one. Unpack them into one directory, or", "images/train",
               "images/a.tar");
    ix_options.format = "folder";
    IX_REFUSED(APL_E_INVALID, "takes one source, not 2. Give the directory that holds them", "images/train",
               "images/test");
}

Test(unread, errors_name_the_way_on)
{
    put_words("in/x/train/readme.txt", "a");
    IX_REFUSED(APL_E_SOURCE, "in: has no images (files called", "in");
    ix_put_gzip("in/x/t.csv.gz", "x\n1\n", 4);
    IX_REFUSED(APL_E_SOURCE, "but a table, x/t.csv.gz: --format list", "in");
    OK(remove(fx_path("in/x/t.csv.gz")));
    put_words("in/x/0.parquet", "PAR1");
    IX_REFUSED(APL_E_SOURCE, "but x/0.parquet, which python -m apldata ingest reads", "in");
    IX_REFUSED(APL_E_SOURCE, "a Parquet file (python -m apldata ingest and convert() read it)",
               "in/x/0.parquet");
    put_array("in/x.npy");
    put_words("in/a.tfrecord", "");
    IX_REFUSED(APL_E_SOURCE, "is of the format", "in");
}

/* Of which split files are, as their paths tell, and that all formats ask the same. */
#include "path_split.h"

#include "list_fixture.h"

TestSuite(path_split, .init = list_set_up, .fini = fx_tear_down, .timeout = 60);

static void tells(const char *path, const char *split, bool by_folder)
{
    const struct path_split is = split_of_path(path);
    cr_assert_str_eq(is.split, split, "%s: %s", path, is.split);
    cr_assert_eq(is.by_folder, by_folder, "%s", path);
}

Test(path_split, the_file_s_name_first_then_the_nearest_folder)
{
    tells("train/part-0.csv", "train", true);
    tells("TEST/part-0.csv", "test", true);
    tells("validation/0.tar", "val", true);
    tells("t10k/images", "test", true);
    tells("train/test.csv", "test", false);
    tells("test/x/train/y/0.npy", "train", true);
    tells("test/x/y/0.npy", "test", true);
    tells("test//./0.npy", "test", true);
    tells("./test/", "test", true);
    tells("0.npy", "train", false);
    tells("/0.npy", "train", false);
    tells("", "train", false);
}

Test(path_split, a_folder_must_be_called_so_and_no_more)
{
    tells("test_data/0.csv", "train", false);
    tells("test1/0.csv", "train", false);
    cr_assert_str_eq(split_of_path("test_data/0.csv").like, "test");
    cr_assert_null(split_of_path("tests/0.csv").like);
    cr_assert_null(split_of_path("val/my-test/0.csv").like);
}

Test(path_split, words_of_one_split_are_of_one_rank)
{
    cr_assert_eq(split_of_path("valid/0").rank, split_of_path("validation.csv").rank);
    cr_assert_eq(split_of_path("t10k/0").rank, split_of_path("test/0").rank);
    cr_assert_lt(split_of_path("training/0").rank, split_of_path("val/0").rank);
}

static void begins(const char *source, bool directory, const char *below)
{
    cr_assert_str_eq(source + path_split_from(source, directory), below, "%s", source);
}

Test(path_split, what_is_above_the_source_tells_nothing)
{
    begins("/data/test/csv", true, "csv");
    begins("/data/test/csv/.//", true, "csv/.//");
    begins(".", true, "");
    begins("/", true, "");
    begins("/test/data/a.csv", false, "data/a.csv");
    begins("data//a.csv", false, "data//a.csv");
    begins("./a.csv", false, "a.csv");
}

/* ---------------------------------------------------------------------------------------------------------- formats */

/* A folder train and a folder test with a file of that name each. */
static void put_both(const char *name, const void *data, size_t size)
{
    static const char *const folders[] = {"in/train", "in/test"};
    char path[64];
    for (unsigned i = 0; i < 2; i++) {
        mkdir(fx_path(folders[i]), 0777);
        snprintf(path, sizeof path, "%s/%s", folders[i], name);
        ix_put(path, data, size);
    }
}

static void has_both(const char *const *sources)
{
    apl_store *s = ix_store(sources);
    cr_assert_eq(apl_store_info(s)->splits, 2, "%s: %u", sources[0], apl_store_info(s)->splits);
    cr_assert_str_eq(apl_store_split(s, 0)->name, "train");
    cr_assert_str_eq(apl_store_split(s, 1)->name, "test");
    cr_assert_eq(apl_store_split(s, 0)->count, apl_store_split(s, 1)->count, "%s", sources[0]);
    is_said_of(s, NULL);
}

static const char two_numbers[] = "\x93NUMPY\1\0F\0{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }"
                                  "            \n\1\0\0\0\2\0\0\0";

Test(path_split, folders_tell_the_splits_of_tables)
{
    put_both("part-0.csv", "x\n1\n", 4);
    has_both(IX_NAMES("in/train/part-0.csv", "in/test/part-0.csv"));
    ix_options.format = "list";
    has_both(IX_NAMES("in/train", "in/test/"));
    ix_options.format = NULL;
    put_both("part-0.jsonl", "{\"x\": 1}\n", 9);
    has_both(IX_NAMES("in/test/part-0.jsonl", "in/train/part-0.jsonl"));
}

Test(path_split, folders_tell_the_splits_of_arrays)
{
    static const uint8_t idx[] = {0, 0, 8, 1, 0, 0, 0, 2, 5, 6};
    put_both("x.npy", two_numbers, sizeof two_numbers - 1);
    has_both(IX_NAMES("in/train/x.npy", "in/test/x.npy"));
    has_both(IX_NAMES("in/test", "in/train"));
    put_both("labels-idx1-ubyte", idx, sizeof idx);
    has_both(IX_NAMES("in/train/labels-idx1-ubyte", "in/test/labels-idx1-ubyte"));
}

Test(path_split, folders_tell_the_splits_of_tokens_and_bytes)
{
    put_both("a.bin", "\1\0\2\0", 4);
    ix_options.format = "raw";
    has_both(IX_NAMES("in/train/a.bin", "in/test/a.bin"));
    has_both(IX_NAMES("in/train", "in/test"));
    has_both(IX_NAMES("in/test", "in/train"));
    ix_options.format = "tokens";
    ix_options.tokens = APL_U16;
    has_both(IX_NAMES("in/train/a.bin", "in/test/a.bin"));
}

/* Two words for one split are of one split: no record comes twice. */
Test(path_split, words_of_one_split_may_differ)
{
    ix_put("val_x.npy", two_numbers, sizeof two_numbers - 1);
    ix_put("valid_y.npy", two_numbers, sizeof two_numbers - 1);
    apl_store *s = IX_STORE("val_x.npy", "valid_y.npy");
    cr_assert_eq(ix_sum.records, 2);
    apl_store_close(s);
}

/* --------------------------------------------------------------------------------------------------------- notes */

Test(path_split, folders_that_nearly_tell_are_worth_a_line)
{
    cr_assert_eq(mkdir(fx_path("in/train_data"), 0777) | mkdir(fx_path("in/test_data"), 0777), 0);
    put_text("in/train_data/0.csv", "x\n1\n");
    put_text("in/test_data/0.csv", "x\n2\n");
    is_said_of(
        IX_STORE("in/train_data/0.csv", "in/test_data/0.csv"),
        "in/test_data/0.csv: in the split 'train', as a folder tells the split 'test' only if that is all "
        "of its name\n");
    is_said_of(IX_STORE("in/test_data/0.csv"), NULL);
}

Test(path_split, a_folder_that_puts_all_elsewhere_is_worth_a_line)
{
    put_both("0.csv", "x\n1\n", 4);
    is_said_of(IX_STORE("in/test/0.csv"), "in/test/0.csv: in the split 'test', as its folder is called so\n");
    is_said_of(IX_STORE("in/train/0.csv"), NULL);
}

/* A file's own name is that of a record. */
Test(path_split, bytes_are_of_the_split_of_their_folder)
{
    put_both("tone.wav", "x", 1);
    put_text("in/test_tone.wav", "y");
    ix_options.format = "raw";
    apl_store *s = IX_STORE("in");
    cr_assert_eq(apl_store_info(s)->splits, 2);
    cr_assert_eq(apl_store_split(s, 1)->count, 1);
    is_said_of(s, ": in the split 'train', as its folders tell no split, and those of others do (and ");
}

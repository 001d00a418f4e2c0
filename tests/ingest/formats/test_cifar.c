/* The tables: which file belongs to what. */
#include "cifar_case.h"

Test(cifar, files_of_rows)
{
    static const struct {
        const char *file, *format;
        unsigned number;
        const char *split;
        uint64_t rows;
    } cases[] = {
        {"data_batch_1.bin", "cifar-10-binary", 0, "train", 10000},
        {"data_batch_5.bin", "cifar-10-binary", 4, "train", 10000},
        {"test_batch.bin", "cifar-10-binary", 5, "test", 10000},
        {"data_batch_1", "cifar-10-python", 0, "train", 10000},
        {"test_batch", "cifar-10-python", 5, "test", 10000},
        {"train.bin", "cifar-100-binary", 0, "train", 50000},
        {"test.bin", "cifar-100-binary", 1, "test", 10000},
        {"train", "cifar-100-python", 0, "train", 50000},
        {"test", "cifar-100-python", 1, "test", 10000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cifar_part part;
        char file[32];
        cr_assert(cifar_find(cases[i].file, &part));
        cr_assert_eq(part.kind, CIFAR_ROWS);
        cr_assert_str_eq(part.dataset->format, cases[i].format);
        cr_assert_eq(part.number, cases[i].number);
        cr_assert_str_eq(part.dataset->members[part.number].split, cases[i].split);
        cr_assert_eq(part.dataset->members[part.number].rows, cases[i].rows);
        cr_assert_str_eq(cifar_file_name(part.dataset, part.number, file), cases[i].file);
    }
}

Test(cifar, files_of_classes)
{
    static const char *const files[][2] = {{"batches.meta.txt", "cifar-10-binary"},
                                           {"batches.meta", "cifar-10-python"},
                                           {"fine_label_names.txt", "cifar-100-binary"},
                                           {"coarse_label_names.txt", "cifar-100-binary"},
                                           {"meta", "cifar-100-python"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct cifar_part part;
        cr_assert(cifar_find(files[i][0], &part));
        cr_assert_eq(part.kind, CIFAR_CLASSES);
        cr_assert_str_eq(part.dataset->format, files[i][1]);
    }
}

Test(cifar, other_files)
{
    static const char *const files[] = {"",
                                        "readme.html",
                                        "file.txt~",
                                        "data_batch_6.bin",
                                        "DATA",
                                        "data_batch_1.bin~",
                                        "Train",
                                        "train.bin.gz",
                                        "metadata",
                                        "data_batch_",
                                        "data_batch_1.BIN",
                                        "batches.meta.txt.bak"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct cifar_part part;
        cr_assert(!cifar_find(files[i], &part), "%s", files[i]);
    }
}

/* Input and target fields are the same in the binary and the python layout, or digests would differ. */
Test(cifar, layouts_agree)
{
    cr_assert_eq(dataset_of("data_batch_1")->labels, dataset_of("data_batch_1.bin")->labels);
    cr_assert_eq(dataset_of("train")->labels, dataset_of("train.bin")->labels);
    cr_assert_eq(dataset_of("train")->members, dataset_of("train.bin")->members);
    cr_assert_str_eq(dataset_of("train")->labels[0].field, "fine_label");
    cr_assert_str_eq(dataset_of("train")->labels[1].field, "coarse_label");
}

static apl_status add(const char *name, size_t size, unsigned at_most, apl_error *err)
{
    struct cifar_classes classes = {.count = 0};
    apl_status status = cifar_add_class(&classes, name, size, at_most, err);
    cifar_free_classes(&classes);
    return status;
}

Test(cifar, names_of_classes)
{
    char name[256];
    apl_error err;
    memset(name, 'n', sizeof name);
    cr_assert_eq(add(name, 1, 1, &err), APL_OK);
    cr_assert_eq(add(name, 255, 1, &err), APL_OK);
    cr_assert_eq(add(name, 256, 1, &err), APL_E_SOURCE);
    cr_assert_str_eq(err.message, "the name of class 0 is not 1 to 255 bytes of UTF-8");
    cr_assert_eq(add(name, 0, 1, &err), APL_E_SOURCE);
    cr_assert_eq(add("\xff", 1, 1, &err), APL_E_SOURCE);
    cr_assert_eq(add("a\0b", 3, 1, &err), APL_E_SOURCE);
    cr_assert_eq(add("a", 1, 0, &err), APL_E_SOURCE);
    cr_assert_str_eq(err.message, "there are names for more than 0 classes");
}

/* Rows and class names of the binary layouts. */
#include "cifar_case.h"

static apl_status read_rows(struct seen *s, const struct cifar_dataset *d, const struct buffer *b,
                            unsigned rows, size_t chunk, apl_error *err)
{
    struct trickle t;
    struct cursor c = trickle_over(&t, b->data, b->size, chunk);
    struct cifar_sink sink = {seen_begin, seen_row, s};
    s->dataset = d;
    apl_status status = cifar_binary_rows(d, &c, rows, &sink, err);
    free(t.block);
    return status;
}

Test(cifar_binary, rows)
{
    static const char *const files[] = {"test_batch.bin", "test.bin"};
    static const size_t chunks[] = {0, 1, 7, 4096};
    for (int f = 0; f < 2; f++) {
        const struct cifar_dataset *d = dataset_of(files[f]);
        struct buffer b = {0};
        binary_member(&b, d, 30);
        for (int i = 0; i < 4; i++) {
            struct seen s = {.rows = 0};
            apl_error err;
            cr_assert_eq(read_rows(&s, d, &b, 30, chunks[i], &err), APL_OK);
            cr_assert_eq(s.begun, 30);
            cr_assert_eq(s.rows, 30);
            cr_assert(!s.wrong && !s.names);
        }
        buffer_free(&b);
    }
}

Test(cifar_binary, labels_out_of_range)
{
    static const struct {
        const char *file;
        size_t at;
        uint8_t value;
        const char *words;
    } cases[] = {
        {"test_batch.bin", 3 * 3073, 10, "row 3 (byte 9219): label 10 is not below 10"},
        {"test_batch.bin", 0, 255, "row 0 (byte 0): label 255 is not below 10"},
        {"test.bin", 4 * 3074, 20, "row 4 (byte 12296): coarse_label 20 is not below 20"},
        {"test.bin", 4 * 3074 + 1, 100, "row 4 (byte 12297): fine_label 100 is not below 100"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct cifar_dataset *d = dataset_of(cases[i].file);
        struct buffer b = {0};
        struct seen s = {.rows = 0};
        apl_error err;
        binary_member(&b, d, 5);
        b.data[cases[i].at] = cases[i].value;
        cr_assert_eq(read_rows(&s, d, &b, 5, 0, &err), APL_E_SOURCE);
        cr_assert_str_eq(err.message, cases[i].words);
        buffer_free(&b);
    }
}

Test(cifar_binary, cut_row)
{
    const struct cifar_dataset *d = dataset_of("test.bin");
    struct buffer b = {0};
    struct seen s = {.rows = 0};
    apl_error err;
    binary_member(&b, d, 3);
    b.size--;
    cr_assert_eq(read_rows(&s, d, &b, 3, 4096, &err), APL_E_SOURCE);
    cr_assert_str_eq(err.message, "row 2 (byte 6148): cut off");
    cr_assert_eq(s.rows, 2);
    buffer_free(&b);
}

Test(cifar_binary, failing_sink)
{
    const struct cifar_dataset *d = dataset_of("test.bin");
    struct buffer b = {0};
    struct seen s = {.fail_at = 2};
    apl_error err;
    binary_member(&b, d, 3);
    cr_assert_eq(read_rows(&s, d, &b, 3, 0, &err), APL_E_NOSPACE);
    cr_assert_eq(s.rows, 2);
    buffer_free(&b);
}

Test(cifar_binary, sizes)
{
    static const struct {
        const char *file;
        uint64_t size;
        bool partial;
        apl_status status;
        const char *words; /* or the number of rows */
        uint64_t rows;
    } cases[] = {
        {"data_batch_1.bin", 30730000, false, APL_OK, NULL, 10000},
        {"data_batch_1.bin", 3073, true, APL_OK, NULL, 1},
        {"data_batch_1.bin", 0, true, APL_OK, NULL, 0},
        {"data_batch_1.bin", 0, false, APL_E_INCOMPLETE, "0 of 10000 rows", 0},
        {"data_batch_1.bin", 3073, false, APL_E_INCOMPLETE, "1 of 10000 rows", 0},
        {"data_batch_1.bin", 30730001, false, APL_E_SOURCE,
         "30730001 bytes, which is not a multiple of the 3073 of a row", 0},
        {"data_batch_1.bin", 3074, true, APL_E_SOURCE,
         "3074 bytes, which is not a multiple of the 3073 of a row", 0},
        {"data_batch_1.bin", 30733073, true, APL_E_SOURCE, "10001 rows, more than the 10000 published", 0},
        {"train.bin", 153700000, false, APL_OK, NULL, 50000},
        {"test.bin", 30740000, false, APL_OK, NULL, 10000},
        {"test.bin", 3073, true, APL_E_SOURCE, "3073 bytes, which is not a multiple of the 3074 of a row", 0},
        {"test.bin", 3073 * 3074, true, APL_OK, NULL, 3073}, /* divisible by both rows: the name decides */
        {"data_batch_1.bin", 3073 * 3074, true, APL_OK, NULL, 3074},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cifar_part part;
        uint64_t rows = 77;
        apl_error err;
        cr_assert(cifar_find(cases[i].file, &part));
        cr_assert_eq(
            cifar_binary_size(part.dataset, part.number, cases[i].size, cases[i].partial, &rows, &err),
            cases[i].status, "case %zu", i);
        if (cases[i].words)
            cr_assert_str_eq(err.message, cases[i].words);
        else
            cr_assert_eq(rows, cases[i].rows);
    }
}

static apl_status read_classes(const char *lines, struct cifar_classes *classes, apl_error *err)
{
    struct trickle t;
    struct cursor c = trickle_over(&t, lines, strlen(lines), 3);
    *classes = (struct cifar_classes){.count = 0};
    apl_status status =
        cifar_binary_classes(&dataset_of("test_batch.bin")->labels[0], &c, strlen(lines), classes, err);
    free(t.block);
    return status;
}

Test(cifar_binary, classes)
{
    static const char *const same[] = {"cat\ndog\n", "cat\ndog", "cat\ndog\n\n\n", "cat\r\ndog\r\n\r\n"};
    struct cifar_classes classes;
    apl_error err;
    for (int i = 0; i < 4; i++) {
        cr_assert_eq(read_classes(same[i], &classes, &err), APL_OK);
        cr_assert_eq(classes.count, 2);
        cr_assert_eq(memcmp(classes.text.data, "cat\0dog", 8), 0);
        cifar_free_classes(&classes);
    }
    cr_assert_eq(read_classes("", &classes, &err), APL_OK);
    cr_assert_eq(classes.count, 0);
}

Test(cifar_binary, bad_classes)
{
    struct cifar_classes classes;
    apl_error err;
    cr_assert_eq(read_classes("cat\n\ndog\n", &classes, &err), APL_E_SOURCE);
    cr_assert_str_eq(err.message, "line 2 is blank");
    cifar_free_classes(&classes);
    cr_assert_eq(read_classes("0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n", &classes, &err), APL_E_SOURCE);
    cr_assert_str_eq(err.message, "there are names for more than 10 classes");
    cifar_free_classes(&classes);
    cr_assert_eq(read_classes("c\xe9t\n", &classes, &err), APL_E_SOURCE);
    cifar_free_classes(&classes);
    struct cursor c = cursor_over("cat", 3);
    cr_assert_eq(cifar_binary_classes(&dataset_of("test.bin")->labels[0], &c, 4, &classes, &err),
                 APL_E_SOURCE);
    cr_assert_str_eq(err.message, "cut off");
    cr_assert_eq(cifar_binary_classes(&dataset_of("test.bin")->labels[0], &c, 1 << 20, &classes, &err),
                 APL_E_SOURCE);
    cr_assert_str_eq(err.message, "1048576 bytes are too many for names of classes");
}

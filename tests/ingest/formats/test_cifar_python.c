/* Rows and class names of the python layouts. */
#include "cifar_case.h"

static apl_status read_rows(struct seen *s, const char *file, struct maker *m, size_t chunk, bool partial,
                            apl_error *err)
{
    struct cifar_part part;
    struct trickle t;
    struct cursor c = trickle_over(&t, m->out.data, m->out.size, chunk);
    struct cifar_sink sink = {seen_begin, seen_row, s};
    struct pickle *p = pickle_new();
    cr_assert(cifar_find(file, &part));
    s->dataset = part.dataset;
    apl_status status = cifar_python_rows(p, part.dataset, part.number, &c, m->out.size, partial, &sink, err);
    free(t.block);
    pickle_free(p);
    return status;
}

Test(cifar_python, rows)
{
    static const char *const files[] = {"data_batch_2", "train"};
    static const size_t chunks[] = {0, 1, 7, 4096};
    for (int f = 0; f < 4; f++) {
        struct maker m;
        python_member(&m, dataset_of(files[f / 2]), 30, f % 2);
        for (int i = 0; i < 4; i++) {
            struct seen s = {.rows = 0};
            apl_error err;
            cr_assert_eq(read_rows(&s, files[f / 2], &m, chunks[i], true, &err), APL_OK, "%s", err.message);
            cr_assert_eq(s.begun, 30);
            cr_assert_eq(s.rows, 30);
            cr_assert(!s.wrong);
            cr_assert_eq(s.names, f % 2);
        }
        buffer_free(&m.out);
    }
}

Test(cifar_python, incomplete)
{
    struct seen s = {.rows = 0};
    struct maker m;
    apl_error err;
    python_member(&m, dataset_of("train"), 3, true);
    cr_assert_eq(read_rows(&s, "train", &m, 0, false, &err), APL_E_INCOMPLETE);
    cr_assert(strstr(err.message, "data has 3 of 50000 rows"), "%s", err.message);
    cr_assert_eq(s.rows, 0);
    buffer_free(&m.out);
}

/* A pickle of one data set under a name of the other. */
Test(cifar_python, other_data_set)
{
    struct seen s = {.rows = 0};
    struct maker m;
    apl_error err;
    python_member(&m, dataset_of("train"), 3, false);
    cr_assert_eq(read_rows(&s, "test_batch", &m, 0, true, &err), APL_E_SOURCE);
    cr_assert(strstr(err.message, "key 'fine_labels' does not belong in a batch of CIFAR-10"), "%s",
              err.message);
    buffer_free(&m.out);
    python_member(&m, dataset_of("test_batch"), 3, false);
    cr_assert_eq(read_rows(&s, "test", &m, 0, true, &err), APL_E_SOURCE);
    cr_assert(strstr(err.message, "key 'labels' does not belong in a batch of CIFAR-100"), "%s", err.message);
    buffer_free(&m.out);
}

Test(cifar_python, failing_sink)
{
    static const char *const files[] = {"data_batch_2", "train"}; /* held, streamed */
    for (int f = 0; f < 2; f++) {
        struct seen s = {.fail_at = 2};
        struct maker m;
        apl_error err;
        python_member(&m, dataset_of(files[f]), 5, true);
        cr_assert_eq(read_rows(&s, files[f], &m, 0, true, &err), APL_E_NOSPACE);
        cr_assert_str_eq(err.message, "full");
        cr_assert_eq(s.rows, 2);
        buffer_free(&m.out);
    }
}

static apl_status read_classes(const char *file, struct maker *m, struct cifar_classes classes[2],
                               apl_error *err)
{
    struct cursor c = cursor_over(m->out.data, m->out.size);
    struct pickle *p = pickle_new();
    memset(classes, 0, 2 * sizeof *classes);
    apl_status status = cifar_python_classes(p, dataset_of(file), &c, m->out.size, classes, err);
    pickle_free(p);
    return status;
}

Test(cifar_python, classes)
{
    struct cifar_classes classes[2];
    struct maker m;
    apl_error err;
    python_classes(&m, dataset_of("meta"));
    cr_assert_eq(read_classes("meta", &m, classes, &err), APL_OK, "%s", err.message);
    cr_assert_eq(classes[0].count, 100);
    cr_assert_eq(classes[1].count, 20);
    cr_assert_str_eq((char *)classes[0].text.data, "class 0");
    cifar_free_classes(&classes[0]);
    cifar_free_classes(&classes[1]);
    cr_assert_eq(read_classes("batches.meta", &m, classes, &err), APL_E_SOURCE);
    cr_assert(strstr(err.message, "'fine_label_names' does not belong in the class names of CIFAR-10"), "%s",
              err.message);
    buffer_free(&m.out);
}

Test(cifar_python, bad_classes)
{
    struct cifar_classes classes[2];
    struct maker m;
    apl_error err;
    open_dict(&m);
    class_list(&m, "label_names", 11);
    ops(&m, "u.");
    cr_assert_eq(read_classes("batches.meta", &m, classes, &err), APL_E_SOURCE);
    cr_assert_str_eq(err.message, "there are names for more than 10 classes");
    cifar_free_classes(&classes[0]);
    buffer_free(&m.out);
    open_dict(&m);
    text(&m, "label_names");
    op(&m, ']');
    text(&m, "");
    ops(&m, "au.");
    cr_assert_eq(read_classes("batches.meta", &m, classes, &err), APL_E_SOURCE);
    cr_assert_str_eq(err.message, "the name of class 0 is not 1 to 255 bytes of UTF-8");
    cifar_free_classes(&classes[0]);
    buffer_free(&m.out);
}

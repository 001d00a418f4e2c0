/* Rows and class names of CIFAR's binary layouts: the first byte says which, and how many bytes the stream
 * gives at a time. */
#include "cifar_rows.h"
#include "trickle.h"

static apl_status begin(void *user, uint64_t rows, bool names, apl_error *err)
{
    struct rows *r = user;
    (void)err;
    MUST(!names);
    r->announced = rows;
    return APL_OK;
}

static apl_status row(void *user, const struct cifar_row *row, apl_error *err)
{
    (void)err;
    MUST(!row->name);
    take_row(user, row);
    return APL_OK;
}

static void read_classes(const struct cifar_label *label, struct cursor *c, uint64_t size)
{
    struct cifar_classes classes = {.count = 0};
    apl_error err;
    if (cifar_binary_classes(label, c, size, &classes, &err) == APL_OK) {
        MUST(classes.count <= label->classes);
        size_t at = 0;
        for (unsigned i = 0; i < classes.count; i++) {
            MUST(at < classes.text.size);
            size_t length = strlen((const char *)classes.text.data + at);
            MUST(length > 0 && length <= APL_MAX_NAME);
            at += length + 1;
        }
    }
    cifar_free_classes(&classes);
}

static void read_rows(const struct cifar_dataset *dataset, struct cursor *c, uint64_t size, bool partial)
{
    struct rows rows = {.dataset = dataset};
    const struct cifar_sink sink = {begin, row, &rows};
    uint64_t count;
    apl_error err;
    if (cifar_binary_size(dataset, 0, size, partial, &count, &err) == APL_OK &&
        cifar_binary_rows(dataset, c, count, &sink, &err) == APL_OK)
        MUST(rows.seen == count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cifar_part part;
    struct trickle t;
    if (size == 0)
        return 0;
    MUST(cifar_find(data[0] & 1 ? "train.bin" : "data_batch_1.bin", &part));
    struct cursor c = trickle_over(&t, data + 1, size - 1, data[0] & 4 ? 1 + data[0] / 16 * 97 : 0);
    if (data[0] & 2)
        read_classes(&part.dataset->labels[data[0] >> 3 & (part.dataset->label_count - 1)], &c, size - 1);
    else
        read_rows(part.dataset, &c, size - 1, (data[0] & 8) == 0);
    free(t.block);
    return 0;
}

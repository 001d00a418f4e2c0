/* A pickle of CIFAR: the first byte says which kind, and how many bytes the stream gives at a time. Labels and
 * names that come out are what they may be. */
#include "cifar_rows.h"
#include "trickle.h"
#include "utf8.h"

static apl_status begin(void *user, uint64_t rows, bool names, apl_error *err)
{
    struct rows *r = user;
    (void)names, (void)err;
    MUST(r->announced == 0 && r->seen == 0);
    r->announced = rows;
    return APL_OK;
}

static apl_status row(void *user, const struct cifar_row *row, apl_error *err)
{
    (void)err;
    if (row->name)
        MUST(utf8_valid(row->name, row->name_size));
    take_row(user, row);
    return APL_OK;
}

static void read_classes(struct pickle *p, const struct cifar_dataset *dataset, struct cursor *c,
                         uint64_t size)
{
    struct cifar_classes classes[CIFAR_MAX_LABELS] = {{.count = 0}};
    apl_error err;
    if (cifar_python_classes(p, dataset, c, size, classes, &err) == APL_OK)
        for (unsigned l = 0; l < dataset->label_count; l++)
            MUST(classes[l].count <= dataset->labels[l].classes);
    for (unsigned l = 0; l < CIFAR_MAX_LABELS; l++)
        cifar_free_classes(&classes[l]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pickle *p;
    struct cifar_part part;
    struct trickle t;
    apl_error err;
    if (size == 0)
        return 0;
    if (!p)
        MUST((p = pickle_new()) != NULL);
    MUST(cifar_find(data[0] & 1 ? "train" : "data_batch_1", &part));
    struct cursor c = trickle_over(&t, data + 1, size - 1, data[0] & 4 ? 1 + data[0] / 16 : 0);
    struct rows rows = {.dataset = part.dataset};
    const struct cifar_sink sink = {begin, row, &rows};
    if (data[0] & 2)
        read_classes(p, part.dataset, &c, size - 1);
    else if (cifar_python_rows(p, part.dataset, 0, &c, size - 1, true, &sink, &err) == APL_OK)
        MUST(rows.seen == rows.announced);
    free(t.block);
    return 0;
}

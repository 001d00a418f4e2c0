/* The tables of the published layouts. */
#include "cifar.h"

#include "utf8.h"

#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct cifar_member members_10[] = {
    {"data_batch_1", "train", 10000}, {"data_batch_2", "train", 10000}, {"data_batch_3", "train", 10000},
    {"data_batch_4", "train", 10000}, {"data_batch_5", "train", 10000}, {"test_batch", "test", 10000},
};

static const struct cifar_member members_100[] = {
    {"train", "train", 50000},
    {"test", "test", 10000},
};

static const struct cifar_label labels_10[] = {
    {"label", 10, 0, "batches.meta.txt", KEY_LABELS, KEY_LABEL_NAMES},
};

static const struct cifar_label labels_100[] = {
    {"fine_label", 100, 1, "fine_label_names.txt", KEY_FINE_LABELS, KEY_FINE_LABEL_NAMES},
    {"coarse_label", 20, 0, "coarse_label_names.txt", KEY_COARSE_LABELS, KEY_COARSE_LABEL_NAMES},
};

static const struct cifar_dataset datasets[] = {
    {"cifar-10-binary", "CIFAR-10", false, members_10, COUNT(members_10), labels_10, COUNT(labels_10), NULL},
    {"cifar-10-python", "CIFAR-10", true, members_10, COUNT(members_10), labels_10, COUNT(labels_10),
     "batches.meta"},
    {"cifar-100-binary", "CIFAR-100", false, members_100, COUNT(members_100), labels_100, COUNT(labels_100),
     NULL},
    {"cifar-100-python", "CIFAR-100", true, members_100, COUNT(members_100), labels_100, COUNT(labels_100),
     "meta"},
};

char *cifar_file_name(const struct cifar_dataset *dataset, unsigned member, char out[32])
{
    snprintf(out, 32, "%s%s", dataset->members[member].name, dataset->python ? "" : ".bin");
    return out;
}

static bool find_rows(const char *name, struct cifar_part *part)
{
    char file[32];
    part->kind = CIFAR_ROWS;
    for (unsigned i = 0; i < part->dataset->member_count; i++) {
        part->number = i;
        if (strcmp(name, cifar_file_name(part->dataset, i, file)) == 0)
            return true;
    }
    return false;
}

static bool find_classes(const char *name, struct cifar_part *part)
{
    part->kind = CIFAR_CLASSES;
    part->number = 0;
    if (part->dataset->python)
        return strcmp(name, part->dataset->meta_file) == 0;
    for (unsigned i = 0; i < part->dataset->label_count; i++) {
        part->number = i;
        if (strcmp(name, part->dataset->labels[i].names_file) == 0)
            return true;
    }
    return false;
}

bool cifar_find(const char *name, struct cifar_part *part)
{
    for (size_t i = 0; i < COUNT(datasets); i++) {
        part->dataset = &datasets[i];
        if (find_rows(name, part) || find_classes(name, part))
            return true;
    }
    return false;
}

apl_status cifar_add_class(struct cifar_classes *classes, const char *name, size_t size, unsigned at_most,
                           apl_error *err)
{
    if (classes->count == at_most)
        return fail(err, APL_E_SOURCE, "there are names for more than %u classes", at_most);
    if (size == 0 || size > APL_MAX_NAME || !utf8_valid(name, size) || memchr(name, 0, size))
        return fail(err, APL_E_SOURCE, "the name of class %u is not 1 to %d bytes of UTF-8", classes->count,
                    APL_MAX_NAME);
    buffer_put(&classes->text, name, size);
    buffer_put(&classes->text, "", 1);
    if (classes->text.failed)
        return fail_nomem(err);
    classes->count++;
    return APL_OK;
}

void cifar_free_classes(struct cifar_classes *classes)
{
    buffer_free(&classes->text);
    classes->count = 0;
}

/* The python layouts: what their pickles must hold, and rows put together from it. */
#include "cifar.h"

#include <stdio.h>

/* What rows of the array are joined with. */
struct join {
    const struct pickle *p;
    const struct cifar_dataset *dataset;
    const struct cifar_sink *sink;
    bool names;
};

static apl_status begin_rows(void *user, uint64_t count, apl_error *err)
{
    struct join *j = user;
    j->names = pickle_has(j->p, KEY_FILENAMES);
    return j->sink->begin(j->sink->user, count, j->names, err);
}

static apl_status row(void *user, uint64_t number, const uint8_t *pixels, apl_error *err)
{
    const struct join *j = user;
    struct cifar_row r = {.image = pixels};
    for (unsigned l = 0; l < j->dataset->label_count; l++)
        r.label[l] = pickle_label(j->p, j->dataset->labels[l].key, number);
    if (j->names)
        r.name = pickle_text(j->p, KEY_FILENAMES, number, &r.name_size);
    return j->sink->row(j->sink->user, &r, err);
}

apl_status cifar_python_rows(struct pickle *p, const struct cifar_dataset *dataset, unsigned member,
                             struct cursor *c, uint64_t size, bool partial, const struct cifar_sink *sink,
                             apl_error *err)
{
    char what[32];
    snprintf(what, sizeof what, "a batch of %s", dataset->title);
    struct pickle_rules rules = {.what = what, .rows = dataset->members[member].rows, .partial = partial};
    rules.required = 1u << KEY_DATA;
    for (unsigned l = 0; l < dataset->label_count; l++)
        rules.required |= 1u << dataset->labels[l].key;
    rules.allowed = rules.required | 1u << KEY_FILENAMES | 1u << KEY_BATCH_LABEL;
    struct join join = {.p = p, .dataset = dataset, .sink = sink};
    struct pickle_rows rows = {begin_rows, row, &join};
    return pickle_read(p, c, size, &rules, &rows, err);
}

static apl_status add_class_names(const struct pickle *p, const struct cifar_label *label,
                                  struct cifar_classes *classes, apl_error *err)
{
    for (size_t i = 0; i < pickle_count(p, label->names_key); i++) {
        size_t size;
        const char *name = pickle_text(p, label->names_key, i, &size);
        TRY(cifar_add_class(classes, name, size, label->classes, err));
    }
    return APL_OK;
}

apl_status cifar_python_classes(struct pickle *p, const struct cifar_dataset *dataset, struct cursor *c,
                                uint64_t size, struct cifar_classes *classes, apl_error *err)
{
    char what[48];
    snprintf(what, sizeof what, "the class names of %s", dataset->title);
    struct pickle_rules rules = {.what = what};
    for (unsigned l = 0; l < dataset->label_count; l++)
        rules.required |= 1u << dataset->labels[l].names_key;
    rules.allowed = rules.required | 1u << KEY_NUM_CASES | 1u << KEY_NUM_VIS;
    TRY(pickle_read(p, c, size, &rules, NULL, err));
    for (unsigned l = 0; l < dataset->label_count; l++)
        TRY(add_class_names(p, &dataset->labels[l], &classes[l], err));
    return APL_OK;
}

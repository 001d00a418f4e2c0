/* Small members of CIFAR in both layouts, with the same rows: pixels of pixel(), labels counted up. */
#ifndef CIFAR_CASE_H
#define CIFAR_CASE_H

#include "cifar.h"
#include "pickle_case.h"

static inline const struct cifar_dataset *dataset_of(const char *file)
{
    struct cifar_part part;
    cr_assert(cifar_find(file, &part), "%s", file);
    return part.dataset;
}

static inline uint8_t label_of(const struct cifar_dataset *d, unsigned label, unsigned row)
{
    return (uint8_t)(row % d->labels[label].classes);
}

static inline void binary_member(struct buffer *b, const struct cifar_dataset *d, unsigned rows)
{
    for (unsigned i = 0; i < rows; i++) {
        uint8_t head[CIFAR_MAX_LABELS] = {0};
        for (unsigned l = 0; l < d->label_count; l++)
            head[d->labels[l].column] = label_of(d, l, i);
        buffer_put(b, head, d->label_count);
        for (unsigned j = 0; j < CIFAR_IMAGE; j++) {
            uint8_t p = pixel(i, j);
            buffer_put(b, &p, 1);
        }
    }
}

static inline void binary_classes(struct buffer *b, unsigned count)
{
    char line[32];
    for (unsigned i = 0; i < count; i++)
        buffer_put(b, line, (size_t)snprintf(line, sizeof line, "class %u\n", i));
    buffer_put(b, "\n", 1);
}

/* CIFAR-10 has its names behind the array, CIFAR-100 in front of it. */
static inline void python_member(struct maker *m, const struct cifar_dataset *d, unsigned rows, bool names)
{
    open_dict(m);
    if (names && d->label_count == 2)
        filenames(m, rows);
    text(m, "batch_label");
    text(m, "a title");
    if (d->label_count == 2) {
        labels(m, "fine_labels", rows, 100);
        labels(m, "coarse_labels", rows, 20);
    } else {
        labels(m, "labels", rows, 10);
    }
    text(m, "data");
    array(m, rows);
    if (names && d->label_count == 1)
        filenames(m, rows);
    ops(m, "u.");
}

static inline void class_list(struct maker *m, const char *key, unsigned count)
{
    char name[32];
    text(m, key);
    ops(m, "](");
    for (unsigned i = 0; i < count; i++) {
        snprintf(name, sizeof name, "class %u", i);
        text(m, name);
    }
    op(m, 'e');
}

static inline void python_classes(struct maker *m, const struct cifar_dataset *d)
{
    open_dict(m);
    if (d->label_count == 2) {
        class_list(m, "fine_label_names", 100);
        class_list(m, "coarse_label_names", 20);
    } else {
        text(m, "num_cases_per_batch");
        op_le(m, 'M', 10000, 2);
        class_list(m, "label_names", 10);
        text(m, "num_vis");
        op_le(m, 'M', 3072, 2);
    }
    ops(m, "u.");
}

/* A sink that checks what it is given. */
struct seen {
    const struct cifar_dataset *dataset;
    uint64_t begun, rows;
    bool names, wrong;
    uint64_t fail_at; /* the row at which to fail, counted from 1; 0: never */
};

static inline apl_status seen_begin(void *user, uint64_t rows, bool names, apl_error *err)
{
    struct seen *s = user;
    (void)err;
    s->begun = rows;
    s->names = names;
    return APL_OK;
}

static inline apl_status seen_row(void *user, const struct cifar_row *row, apl_error *err)
{
    struct seen *s = user;
    unsigned i = (unsigned)s->rows++;
    char name[32];
    for (unsigned j = 0; j < CIFAR_IMAGE; j++)
        s->wrong |= row->image[j] != pixel(i, j);
    for (unsigned l = 0; l < s->dataset->label_count; l++)
        s->wrong |= row->label[l] != label_of(s->dataset, l, i);
    snprintf(name, sizeof name, "row_%u.png", i);
    s->wrong |= s->names != (row->name != NULL);
    if (row->name)
        s->wrong |= row->name_size != strlen(name) || memcmp(row->name, name, row->name_size) != 0;
    if (s->rows == s->fail_at)
        return fail(err, APL_E_NOSPACE, "full");
    return APL_OK;
}

#endif

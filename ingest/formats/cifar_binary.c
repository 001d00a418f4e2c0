/* The binary layouts: rows of fixed size, and class names in text files. */
#include "cifar.h"

#include <inttypes.h>

#define MAX_CLASSES_FILE 65536 /* bytes of a file of class names */

apl_status cifar_binary_size(const struct cifar_dataset *dataset, unsigned member, uint64_t size,
                             bool partial, uint64_t *rows, apl_error *err)
{
    uint64_t row = CIFAR_IMAGE + dataset->label_count, published = dataset->members[member].rows;
    if (size % row)
        return fail(err, APL_E_SOURCE,
                    "%" PRIu64 " bytes, which is not a multiple of the %" PRIu64 " of a row", size, row);
    if (size / row > published)
        return fail(err, APL_E_SOURCE, "%" PRIu64 " rows, more than the %" PRIu64 " published", size / row,
                    published);
    if (size / row < published && !partial)
        return fail(err, APL_E_INCOMPLETE, "%" PRIu64 " of %" PRIu64 " rows", size / row, published);
    *rows = size / row;
    return APL_OK;
}

/* Takes the labels of row `number` out of its bytes. */
static apl_status read_label_bytes(const struct cifar_dataset *dataset, const uint8_t *bytes, uint64_t number,
                                   struct cifar_row *row, apl_error *err)
{
    for (unsigned l = 0; l < dataset->label_count; l++) {
        const struct cifar_label *label = &dataset->labels[l];
        row->label[l] = bytes[label->column];
        if (row->label[l] < label->classes)
            continue;
        uint64_t at = number * (CIFAR_IMAGE + dataset->label_count) + label->column;
        return fail(err, APL_E_SOURCE, "row %" PRIu64 " (byte %" PRIu64 "): %s %u is not below %u", number,
                    at, label->field, row->label[l], label->classes);
    }
    return APL_OK;
}

apl_status cifar_binary_rows(const struct cifar_dataset *dataset, struct cursor *c, uint64_t rows,
                             const struct cifar_sink *sink, apl_error *err)
{
    size_t size = CIFAR_IMAGE + dataset->label_count;
    TRY(sink->begin(sink->user, rows, false, err));
    for (uint64_t i = 0; i < rows; i++) {
        const uint8_t *bytes = cursor_take(c, size);
        if (!bytes)
            return fail(err, APL_E_SOURCE, "row %" PRIu64 " (byte %" PRIu64 "): cut off", i, i * size);
        struct cifar_row row = {.image = bytes + dataset->label_count};
        TRY(read_label_bytes(dataset, bytes, i, &row, err));
        TRY(sink->row(sink->user, &row, err));
    }
    return APL_OK;
}

/* The line at text[0 ... size-1], without its end; *next: where the one after it begins. */
static size_t line_size(const char *text, size_t size, size_t *next)
{
    const char *end = memchr(text, '\n', size);
    size_t length = end ? (size_t)(end - text) : size;
    *next = end ? length + 1 : length;
    return length && text[length - 1] == '\r' ? length - 1 : length;
}

apl_status cifar_binary_classes(const struct cifar_label *label, struct cursor *c, uint64_t size,
                                struct cifar_classes *classes, apl_error *err)
{
    if (size > MAX_CLASSES_FILE)
        return fail(err, APL_E_SOURCE, "%" PRIu64 " bytes are too many for names of classes", size);
    if (size == 0)
        return APL_OK;
    const char *text = (const char *)cursor_take(c, (size_t)size);
    if (!text)
        return fail(err, APL_E_SOURCE, "cut off");
    size_t left = (size_t)size, next;
    bool blank = false;
    for (; left; text += next, left -= next) {
        size_t length = line_size(text, left, &next);
        if (length && blank)
            return fail(err, APL_E_SOURCE, "line %u is blank", classes->count + 1);
        blank = length == 0;
        if (!blank)
            TRY(cifar_add_class(classes, text, length, label->classes, err));
    }
    return APL_OK;
}

/* Records as text: see record_text.h. */
#include "record_text.h"

#include "describe.h"
#include "report.h"
#include "value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_numbers(const struct value *v, size_t limit)
{
    for (size_t i = 0; i < v->elements && i < limit; i++)
        printf("%s%s", i ? " " : "", element_text(v, i));
    if (v->elements > limit)
        printf(" ... (%s values)", count_text(v->elements));
}

/* "image/jpeg, 110.2 kB" */
static void print_file(const apl_field *field, const struct value *v)
{
    printf("%s, %s", shown(field->media), size_text(v->bytes));
}

/* A value in a listing: short, and with the name of its class. */
static void print_value(const apl_field *field, const struct value *v)
{
    if (v->dtype == APL_UTF8) {
        fputs(shown_bytes(v->data, v->bytes), stdout);
        return;
    }
    print_numbers(v, 8);
    if (v->elements == 1 && field->class_count && dtype_is_unsigned(v->dtype)) {
        uint64_t cls = value_unsigned(v, 0);
        if (cls < field->class_count)
            printf(" (%s)", shown(field->classes[cls]));
    }
}

void record_list(const apl_store *store, const apl_batch *batch, size_t row, int only)
{
    unsigned fields = apl_store_info(store)->fields;
    int widest = 6; /* of "record" */
    for (unsigned i = 0; i < fields; i++) {
        int width = (int)strlen(shown(apl_store_field(store, i)->name));
        widest = width > widest ? width : widest;
    }
    printf("%s%-*s  %llu\n", row ? "\n" : "", widest, "record",
           (unsigned long long)apl_batch_ids(batch)[row]);
    for (unsigned i = 0; i < fields; i++) {
        const apl_column *column = apl_batch_column(batch, i);
        if (!column || (only >= 0 && (unsigned)only != i))
            continue;
        const apl_field *field = apl_store_field(store, i);
        struct value v = value_of(column, row, apl_batch_rows(batch));
        printf("%-*s  ", widest, shown(field->name));
        if (field->media)
            print_file(field, &v);
        else {
            if (field->ndim && field->dtype != APL_UTF8)
                printf("%s  ", type_text(field));
            print_value(field, &v);
        }
        putchar('\n');
    }
}

/* Text of any length with control bytes escaped; false: out of memory. */
static bool print_escaped(const uint8_t *text, size_t bytes, FILE *to)
{
    char *escaped = bytes < SIZE_MAX / 4 ? malloc(4 * bytes + 1) : NULL;
    if (escaped)
        fputs(apl_printable(escaped, 4 * bytes + 1, (const char *)text, bytes), to);
    free(escaped);
    return escaped != NULL;
}

/* A line per record: text with control bytes escaped, or all numbers. false: out of memory. */
static bool print_text(const apl_column *column, size_t rows, FILE *to)
{
    for (size_t r = 0; r < rows; r++) {
        struct value v = value_of(column, r, rows);
        if (v.dtype == APL_UTF8 && !print_escaped(v.data, v.bytes, to))
            return false;
        for (size_t i = 0; i < v.elements && v.dtype != APL_UTF8; i++)
            fprintf(to, "%s%s", i ? " " : "", element_text(&v, i));
        fputc('\n', to);
    }
    return true;
}

struct bytes records_text(const apl_column *column, size_t rows)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return (struct bytes){0};
    bool bad = !print_text(column, rows, memory);
    bad |= ferror(memory) != 0;
    bad |= fclose(memory) != 0;
    if (bad) {
        free(text);
        return (struct bytes){0};
    }
    return (struct bytes){(uint8_t *)text, size};
}

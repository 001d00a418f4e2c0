/* Stores to split: drawn records of ten classes, with equal inputs planted, some of them under different
 * labels. */
#ifndef SPLIT_FIXTURE_H
#define SPLIT_FIXTURE_H

#include "shell.h"
#include "split.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

#define VALUE   12
#define CLASSES 10

static char place[64], db[96];
static apl_error err;
static const char *second_split = "test"; /* its name */

static void set_up(void)
{
    strcpy(place, "/tmp/apl-split-XXXXXX");
    cr_assert_not_null(mkdtemp(place));
    snprintf(db, sizeof db, "%s/db", place);
}

static void tear_down(void)
{
    shell("chmod -R u+w '%s' && rm -r '%s'", place, place);
}

#define OK(call)                                                               \
    do {                                                                       \
        apl_status ok_ = (call);                                               \
        cr_assert_eq(ok_, APL_OK, "%s: %d: %s", #call, (int)ok_, err.message); \
    } while (0)

#define FAILS(status_, words, call)                                               \
    do {                                                                          \
        apl_status got_ = (call);                                                 \
        cr_assert_eq(got_, status_, "%s: %d: %s", #call, (int)got_, err.message); \
        cr_assert(strstr(err.message, words), "%s", err.message);                 \
    } while (0)

/* Record i has the inputs of number `input_of(i)`: of any twenty, three are alike, and of any hundred, two. */
static inline uint32_t input_of(uint32_t i)
{
    return i % 20 == 7 || i % 20 == 13 ? i - i % 20 : i % 100 == 99 ? i - 1 : i;
}

/* Equal inputs have different labels now and then. */
static inline uint8_t label_of(uint32_t i)
{
    return (uint8_t)(i % 100 == 99 ? (i / 100) % CLASSES : input_of(i) * 2654435761u >> 24) % CLASSES;
}

static inline void value_of(uint32_t i, uint8_t value[VALUE])
{
    uint32_t input = input_of(i), state = input * 747796405u + 1;
    memcpy(value, &input, 4);
    for (unsigned k = 4; k < VALUE; k++) {
        state = state * 1664525u + 1013904223u;
        value[k] = (uint8_t)(state >> 24);
    }
}

struct kind {
    uint32_t train, test; /* records; those of test go on where train ends */
    apl_writer_options options;
    bool backwards;
};

static inline void append_range(apl_writer *w, uint32_t from, uint32_t count, bool backwards)
{
    for (uint32_t k = 0; k < count; k++) {
        uint32_t i = from + (backwards ? count - 1 - k : k);
        uint8_t value[VALUE], label = label_of(i);
        value_of(i, value);
        char name[24];
        int64_t length = snprintf(name, sizeof name, "r%u", i);
        OK(apl_writer_append(w, (apl_value[]){{value, NULL}, {&label, NULL}, {name, &length}}, &err));
    }
}

static inline void make_store(const char *path, const struct kind *kind)
{
    static const char *const names[CLASSES] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    static const int64_t shape[1] = {VALUE}, text[1] = {-1};
    apl_writer *w;
    OK(apl_writer_open(path, &kind->options, &w, &err));
    OK(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 1, shape, &err));
    OK(apl_writer_add_field(w, "label", APL_U8, APL_TARGET, 0, NULL, &err));
    OK(apl_writer_add_field(w, "name", APL_UTF8, APL_NAME, 1, text, &err));
    OK(apl_writer_set_classes(w, "label", names, CLASSES, &err));
    OK(apl_writer_begin_member(w, "one", "train", 0, &err));
    append_range(w, 0, kind->train / 3, kind->backwards);
    OK(apl_writer_begin_member(w, "two", "train", 1, &err));
    append_range(w, kind->train / 3, kind->train - kind->train / 3, kind->backwards);
    OK(apl_writer_begin_member(w, "three", second_split, 2, &err));
    append_range(w, kind->train, kind->test, kind->backwards);
    OK(apl_writer_commit(w, &err));
    apl_writer_close(w);
}

static inline apl_store *plain_store(uint32_t train, uint32_t test)
{
    struct kind kind = {train, test, APL_WRITER_OPTIONS_INIT, false};
    kind.options.block_records = 64;
    make_store(db, &kind);
    apl_store *store;
    OK(apl_store_open(db, NULL, &store, &err));
    return store;
}

/* They may overlap: most tests divide one parent in several ways. */
static inline apl_split_options split_options(const char *name, double ratio, const char *parent)
{
    apl_split_options o = APL_SPLIT_OPTIONS_INIT;
    o.overlap = 1;
    o.name = name;
    o.ratio = ratio;
    o.parent = parent;
    return o;
}

static inline void make_split(apl_store *store, const char *name, double ratio, const char *parent,
                              const char *stratify)
{
    apl_split_options o = split_options(name, ratio, parent);
    o.stratify = stratify;
    OK(apl_split_make(store, &o, &err));
}

/* The ids of a split, which the caller frees. */
static inline uint64_t *ids_of(apl_store *store, const char *name, uint64_t *count)
{
    OK(apl_split_ids(store, name, NULL, count, &err));
    uint64_t *ids = malloc((*count + 1) * sizeof *ids);
    OK(apl_split_ids(store, name, ids, count, &err));
    return ids;
}

/* Which records (by the numbers in their names) a split has: one byte each. */
static inline uint8_t *records_of(apl_store *store, const char *name, uint32_t numbers)
{
    uint64_t n;
    uint64_t *ids = ids_of(store, name, &n);
    uint8_t *has = calloc(numbers, 1);
    apl_batch *batch;
    OK(apl_store_get_batch(store, ids, n, NULL, &batch, &err));
    const apl_column *names = apl_batch_column(batch, 2);
    for (uint64_t i = 0; i < n; i++) {
        char text[24] = {0};
        memcpy(text, (const char *)names->data + names->offsets[i],
               (size_t)(names->offsets[i + 1] - names->offsets[i]));
        uint32_t number = (uint32_t)strtoul(text + 1, NULL, 10);
        cr_assert(number < numbers && !has[number]);
        has[number] = 1;
    }
    apl_batch_release(batch);
    free(ids);
    return has;
}

#endif

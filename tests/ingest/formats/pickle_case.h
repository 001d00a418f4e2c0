/* Pickles put together by hand, and running the reader over them. */
#ifndef PICKLE_CASE_H
#define PICKLE_CASE_H

#include "pickle.h"
#include "trickle.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>

#define ROWS_MAX 64

/* ------------------------------------------------------------------------------------- putting together */

struct maker {
    struct buffer out;
    size_t op[4096]; /* where opcodes begin */
    size_t ops;
};

static inline void op(struct maker *m, uint8_t code)
{
    m->op[m->ops++] = m->out.size;
    buffer_put(&m->out, &code, 1);
}

static inline void raw(struct maker *m, const void *data, size_t size)
{
    buffer_put(&m->out, data, size);
}

/* An opcode with a little-endian argument. */
static inline void op_le(struct maker *m, uint8_t code, uint64_t value, unsigned bytes)
{
    op(m, code);
    buffer_le(&m->out, value, bytes);
}

static inline void op_text(struct maker *m, uint8_t code, const char *text)
{
    op_le(m, code, strlen(text), code == 'T' || code == 'B' || code == 'X' ? 4 : 1);
    raw(m, text, strlen(text));
}

/* Several opcodes without arguments, "_" standing for nothing. */
static inline void ops(struct maker *m, const char *codes)
{
    for (; *codes; codes++)
        op(m, (uint8_t)*codes);
}

static inline void global(struct maker *m, const char *lines)
{
    op(m, 'c');
    raw(m, lines, strlen(lines));
}

static inline void text(struct maker *m, const char *s)
{
    op_text(m, 'U', s);
}

static inline void put(struct maker *m, unsigned number)
{
    op_le(m, 'q', number, 1);
}

static inline uint8_t pixel(size_t row, size_t column)
{
    return (uint8_t)(row * 131 + column * 7 + (column >> 5));
}

static inline void pixels(struct maker *m, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < PICKLE_COLUMNS; j++) {
            uint8_t p = pixel(i, j);
            raw(m, &p, 1);
        }
}

static inline void dtype(struct maker *m)
{
    global(m, "numpy\ndtype\n");
    text(m, "u1");
    op_le(m, 'K', 0, 1);
    op_le(m, 'K', 1, 1);
    ops(m, "\x87R(");
    op_le(m, 'K', 3, 1);
    text(m, "|");
    ops(m, "NNN");
    op_le(m, 'J', 0xffffffff, 4);
    op_le(m, 'J', 0xffffffff, 4);
    op_le(m, 'K', 0, 1);
    ops(m, "tb");
}

static inline void shape(struct maker *m, unsigned rows, unsigned columns)
{
    op_le(m, 'M', rows, 2);
    op_le(m, 'M', columns, 2);
    op(m, 0x86);
}

/* An array up to its bytes. */
static inline void array_head(struct maker *m, const char *constructor, unsigned rows)
{
    global(m, constructor);
    global(m, "numpy\nndarray\n");
    op_le(m, 'K', 0, 1);
    op(m, 0x85);
    text(m, "b");
    ops(m, "\x87R(");
    op_le(m, 'K', 1, 1);
    shape(m, rows, PICKLE_COLUMNS);
    dtype(m);
    op(m, 0x89);
}

#define RECONSTRUCT "numpy.core.multiarray\n_reconstruct\n"

static inline void array(struct maker *m, unsigned rows)
{
    array_head(m, RECONSTRUCT, rows);
    op_le(m, 'T', (uint64_t)rows * PICKLE_COLUMNS, 4);
    pixels(m, rows);
    ops(m, "tb");
}

static inline void labels(struct maker *m, const char *key, unsigned rows, unsigned below)
{
    text(m, key);
    ops(m, "](");
    for (unsigned i = 0; i < rows; i++)
        op_le(m, 'K', i % below, 1);
    op(m, 'e');
}

static inline void filenames(struct maker *m, unsigned rows)
{
    char name[32];
    text(m, "filenames");
    ops(m, "](");
    for (unsigned i = 0; i < rows; i++) {
        snprintf(name, sizeof name, "row_%u.png", i);
        text(m, name);
    }
    op(m, 'e');
}

static inline void open_dict(struct maker *m)
{
    *m = (struct maker){.ops = 0};
    op_le(m, 0x80, 2, 1);
    ops(m, "}(");
}

/* A batch in the order of CIFAR-10's. */
static inline void batch(struct maker *m, unsigned rows)
{
    open_dict(m);
    text(m, "batch_label");
    text(m, "a title");
    labels(m, "labels", rows, 10);
    text(m, "data");
    array(m, rows);
    filenames(m, rows);
    ops(m, "u.");
}

/* ---------------------------------------------------------------------------------------------- reading it
 */

static const struct pickle_rules batch_rules = {
    .what = "a batch",
    .allowed = 1u << KEY_DATA | 1u << KEY_LABELS | 1u << KEY_FILENAMES | 1u << KEY_BATCH_LABEL,
    .required = 1u << KEY_DATA | 1u << KEY_LABELS,
    .rows = ROWS_MAX,
    .partial = true,
};

static const struct pickle_rules meta_rules = {
    .what = "the names",
    .allowed = 1u << KEY_NUM_CASES | 1u << KEY_NUM_VIS | 1u << KEY_LABEL_NAMES,
    .required = 1u << KEY_LABEL_NAMES,
};

/* What came of reading a pickle. */
struct got {
    struct pickle *p;
    apl_status status;
    apl_error err;
    uint64_t begun, rows; /* as announced; as handed out */
    bool wrong;           /* a row came out of turn, or with other pixels than pixel() gives */
};

static inline apl_status got_begin(void *user, uint64_t count, apl_error *err)
{
    struct got *g = user;
    (void)err;
    g->wrong |= g->begun != 0;
    g->begun = count;
    return APL_OK;
}

static inline apl_status got_row(void *user, uint64_t row, const uint8_t *bytes, apl_error *err)
{
    struct got *g = user;
    (void)err;
    g->wrong |= row != g->rows++ || g->rows > g->begun;
    for (size_t j = 0; j < PICKLE_COLUMNS; j++)
        g->wrong |= bytes[j] != pixel(row, j);
    return APL_OK;
}

static inline void read_into(struct got *g, const void *data, size_t size, size_t chunk,
                             const struct pickle_rules *rules)
{
    struct trickle t;
    struct cursor c = trickle_over(&t, data, size, chunk);
    struct pickle_rows rows = {got_begin, got_row, g};
    struct pickle *p = g->p;
    *g = (struct got){.p = p};
    g->status = pickle_read(p, &c, size, rules, &rows, &g->err);
    free(t.block);
}

static inline struct got got_new(void)
{
    struct got g = {.p = pickle_new()};
    cr_assert_not_null(g.p);
    return g;
}

/* The pickle is accepted, with as many rows, however its bytes come. Gives back the reader, to be freed. */
static inline struct got accept_rows(struct maker *m, const struct pickle_rules *rules, uint64_t rows)
{
    static const size_t chunks[] = {0, 1, 7, 4096};
    struct got g = got_new();
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        read_into(&g, m->out.data, m->out.size, chunks[i], rules);
        cr_assert_eq(g.status, APL_OK, "%s", g.err.message);
        cr_assert_eq(g.rows, rows);
        cr_assert(!g.wrong);
    }
    buffer_free(&m->out);
    return g;
}

static inline void accept(struct maker *m, uint64_t rows)
{
    pickle_free(accept_rows(m, &batch_rules, rows).p);
}

/* The pickle is refused with these words. */
static inline void refuse_with(struct maker *m, const struct pickle_rules *rules, const char *words)
{
    static const size_t chunks[] = {0, 1, 7, 4096};
    struct got g = got_new();
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        read_into(&g, m->out.data, m->out.size, chunks[i], rules);
        cr_assert_neq(g.status, APL_OK, "accepted, not: %s", words);
        cr_assert(strstr(g.err.message, words), "said: %s\nnot: %s", g.err.message, words);
    }
    buffer_free(&m->out);
    pickle_free(g.p);
}

static inline void refused(struct maker *m, const char *words)
{
    refuse_with(m, &batch_rules, words);
}

#endif

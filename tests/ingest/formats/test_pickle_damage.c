/* Pickles that are cut, or of which a byte is another: in every form in which one can be written. */
#include "counts.h"
#include "pickle_case.h"

static void in_the_published_order(struct maker *m)
{
    batch(m, 1);
}

/* By columns, with all entries, of dict and lists, one by one. */
static void entry_by_entry(struct maker *m)
{
    *m = (struct maker){.ops = 0};
    op_le(m, 0x80, 2, 1);
    op(m, '}');
    text(m, "data");
    array_head(m, RECONSTRUCT, 1);
    m->out.data[m->out.size - 1] = 0x88;
    op_le(m, 'B', PICKLE_COLUMNS, 4);
    pixels(m, 1);
    ops(m, "tbs");
    text(m, "filenames");
    op(m, ']');
    text(m, "a.png");
    ops(m, "as");
    text(m, "labels");
    op(m, ']');
    op_le(m, 'J', 7, 4);
    ops(m, "as.");
}

/* With frames and a memo of its own numbers. */
static void in_frames(struct maker *m)
{
    *m = (struct maker){.ops = 0};
    op_le(m, 0x80, 5, 1);
    op_le(m, 0x95, 20, 8);
    raw(m, "}\x94(", 3);
    text(m, "labels");
    raw(m, "\x94]\x94(K\1e", 7);
    op_text(m, 0x8c, "data");
    op(m, 0x94);
    op_text(m, 0x8c, "numpy.core.numeric");
    op_text(m, 0x8c, "_frombuffer");
    raw(m, "\x93\x94(", 3);
    op_le(m, 0x96, PICKLE_COLUMNS, 8);
    pixels(m, 1);
    op(m, 0x94);
    dtype(m);
    op(m, 0x94);
    shape(m, 1, PICKLE_COLUMNS);
    op(m, 0x94);
    op_text(m, 'X', "C");
    raw(m, "\x94t\x94R\x94u.", 7);
}

/* Bytes as Latin-1, of data and of a name; the rows can go at once. */
static void as_latin1(struct maker *m)
{
    static const uint8_t pair[2] = {0xc2, 0x80};
    struct buffer utf8 = {0};
    open_dict(m);
    labels(m, "labels", 1, 10);
    text(m, "filenames");
    raw(m, "](", 2);
    global(m, "_codecs\nencode\n");
    put(m, 0);
    op_text(m, 'X', "a.png");
    op_text(m, 'X', "latin1");
    put(m, 1);
    ops(m, "\x86Re");
    text(m, "data");
    array_head(m, RECONSTRUCT, 1);
    op_le(m, 'h', 0, 1);
    for (size_t j = 0; j < PICKLE_COLUMNS; j++) {
        uint8_t p = pixel(0, j), two[2] = {(uint8_t)(0xc0 | p >> 6), (uint8_t)(0x80 | (p & 0x3f))};
        buffer_put(&utf8, p < 0x80 ? &p : two, p < 0x80 ? 1 : sizeof pair);
    }
    op_le(m, 'X', utf8.size, 4);
    raw(m, utf8.data, utf8.size);
    buffer_free(&utf8);
    op_le(m, 'h', 1, 1);
    raw(m, "\x86Rtbu.", 6);
}

/* Everything goes into the memo, where it may be followed by the end. */
static void remembered(struct maker *m)
{
    static const char head[] = "}\x94(", names[] = "U\x9"
                                                   "filenames\x94]\x94U\1a\x94"
                                                   "aU\6labels\x94]\x94(K\1\x94"
                                                   "e";
    static const char state[] =
        "K\0\x94K\1\x94\x87\x94R\x94(K\3\x94U\1|\x94N\x94N\x94N\x94J\xff\xff\xff\xff\x94"
        "J\xff\xff\xff\xff\x94K\0\x94t\x94"
        "b";
    *m = (struct maker){.ops = 0};
    op_le(m, 0x80, 4, 1);
    raw(m, head, sizeof head - 1);
    raw(m, names, sizeof names - 1);
    text(m, "data");
    global(m, RECONSTRUCT);
    op(m, 0x94);
    global(m, "numpy\nndarray\n");
    raw(m, "\x94K\0\x94\x85\x94U\1b\x94\x87\x94R\x94(K\1\x94", 18);
    op_le(m, 'M', 1, 2);
    op(m, 0x94);
    op_le(m, 'M', PICKLE_COLUMNS, 2);
    raw(m, "\x94\x86\x94", 3);
    global(m, "numpy\ndtype\n");
    raw(m, "\x94U\2u1\x94", 6);
    raw(m, state, sizeof state - 1);
    raw(m, "\x94\x89\x94", 3);
    op_le(m, 'B', PICKLE_COLUMNS, 4);
    pixels(m, 1);
    raw(m,
        "\x94t\x94"
        "b\x94",
        5);
    op(m, 'u');
    raw(m,
        "U\xb"
        "batch_label\x94U\1x\x94s.",
        20);
}

static void (*const forms[])(struct maker *) = {in_the_published_order, entry_by_entry, in_frames, as_latin1,
                                                remembered};
#define FORMS (sizeof forms / sizeof *forms)

/* Inside the array the places are all alike. */
static bool alike(const struct maker *m, size_t at)
{
    return at > 450 && at + 400 < m->out.size && at % 97;
}

Test(pickle_damage, undamaged)
{
    for (size_t f = 0; f < FORMS; f++) {
        struct maker m;
        forms[f](&m);
        accept(&m, 1);
    }
}

/* A pickle of `size` bytes of which only `there` come. */
static void read_cut(struct got *g, const uint8_t *data, size_t there, size_t size, size_t chunk)
{
    struct trickle t;
    uint8_t *exact = malloc(there + !there);
    memcpy(exact, data, there);
    struct cursor c = trickle_over(&t, exact, there, chunk);
    struct pickle_rows rows = {got_begin, got_row, g};
    *g = (struct got){.p = g->p};
    g->status = pickle_read(g->p, &c, size, &batch_rules, &rows, &g->err);
    free(t.block);
    free(exact);
}

/* Refused, and nothing is read beyond the end; also where the source is shorter than it said. */
Test(pickle_damage, truncation_at_every_byte)
{
    static const size_t chunks[] = {0, 1, 7, 4096};
    for (size_t f = 0; f < FORMS; f++) {
        struct maker m;
        forms[f](&m);
        struct got g = got_new();
        for (size_t size = 0; size < m.out.size; size += sweep_step())
            for (int i = 0; i < 4 && !alike(&m, size); i++) {
                read_cut(&g, m.out.data, size, size, chunks[i]);
                cr_assert_eq(g.status, APL_E_SOURCE, "accepted %zu bytes", size);
                read_cut(&g, m.out.data, size, m.out.size, chunks[i]);
                cr_assert_eq(g.status, APL_E_SOURCE, "accepted %zu bytes", size);
            }
        buffer_free(&m.out);
        pickle_free(g.p);
    }
}

Test(pickle_damage, names_of_classes_cut)
{
    struct maker m;
    open_dict(&m);
    text(&m, "num_cases_per_batch");
    op_le(&m, 'M', 10000, 2);
    text(&m, "label_names");
    ops(&m, "](");
    text(&m, "cat");
    put(&m, 0);
    op(&m, 'e');
    text(&m, "num_vis");
    op_le(&m, 'M', 3072, 2);
    ops(&m, "u.");
    struct got g = got_new();
    for (size_t size = 0; size <= m.out.size; size++) {
        read_into(&g, m.out.data, size, 0, &meta_rules);
        cr_assert_eq(g.status, size < m.out.size ? APL_E_SOURCE : APL_OK, "%zu bytes: %s", size,
                     g.err.message);
    }
    buffer_free(&m.out);
    pickle_free(g.p);
}

/* An answer, whatever it is, and no crash. */
Test(pickle_damage, any_byte_changed)
{
    unsigned changes = 0;
    size_t step = sweep_step();
    for (size_t f = 0; f < FORMS; f++) {
        struct maker m;
        forms[f](&m);
        struct got g = got_new();
        for (size_t at = 0; at < m.out.size; at++) {
            uint8_t was = m.out.data[at];
            for (size_t value = at % step; value < 256 && !alike(&m, at); value += step) {
                m.out.data[at] = (uint8_t)value;
                read_into(&g, m.out.data, m.out.size, 0, &batch_rules);
                cr_assert(g.status == APL_OK || g.status == APL_E_SOURCE);
                changes++;
            }
            m.out.data[at] = was;
        }
        buffer_free(&m.out);
        pickle_free(g.p);
    }
    counted("%u changes of a byte of a pickle", changes);
}

/* Who takes the rows may refuse them. */
static apl_status refuse_begin(void *user, uint64_t count, apl_error *err)
{
    (void)user, (void)count;
    return fail(err, APL_E_NOSPACE, "no room");
}

static apl_status refuse_row(void *user, uint64_t row, const uint8_t *bytes, apl_error *err)
{
    (void)user, (void)bytes;
    return row ? fail(err, APL_E_NOSPACE, "no room") : APL_OK;
}

Test(pickle_damage, rows_that_are_not_taken)
{
    for (size_t f = 0; f < FORMS + 2; f++) {
        struct maker m;
        if (f < FORMS)
            forms[f](&m);
        else
            batch(&m, 2);
        struct got g = got_new();
        struct trickle t;
        struct cursor c = trickle_over(&t, m.out.data, m.out.size, 0);
        struct pickle_rows rows = {f < FORMS ? refuse_begin : got_begin, refuse_row, &g};
        struct pickle_rules rules = batch_rules;
        if (f > FORMS) /* nothing to wait for: rows stream */
            rules.allowed &= ~(1u << KEY_FILENAMES);
        cr_assert_neq(pickle_read(g.p, &c, m.out.size, &rules, &rows, &g.err), APL_OK);
        cr_assert(f > FORMS || g.err.status == APL_E_NOSPACE, "%s", g.err.message);
        free(t.block);
        buffer_free(&m.out);
        pickle_free(g.p);
    }
}

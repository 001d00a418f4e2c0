/* The array: both ways to build one, its dtype, shape, order and bytes. */
#include "pickle_case.h"

static void begin_array(struct maker *m)
{
    open_dict(m);
    labels(m, "labels", 2, 10);
    text(m, "data");
}

static void end_batch(struct maker *m)
{
    ops(m, "u.");
}

Test(pickle_array, constructors_of_all_generations)
{
    static const char *const names[] = {RECONSTRUCT, "numpy._core.multiarray\n_reconstruct\n",
                                        "numpy.core._multiarray_umath\n_reconstruct\n"};
    for (int i = 0; i < 3; i++) {
        struct maker m;
        begin_array(&m);
        array_head(&m, names[i], 2);
        op_le(&m, 'B', 2 * PICKLE_COLUMNS, 4);
        pixels(&m, 2);
        ops(&m, "tb");
        end_batch(&m);
        accept(&m, 2);
    }
}

/* All 2 * 3,072 bytes, by columns. */
static void pixels_by_columns(struct maker *m)
{
    for (size_t j = 0; j < PICKLE_COLUMNS; j++)
        for (size_t i = 0; i < 2; i++) {
            uint8_t p = pixel(i, j);
            raw(m, &p, 1);
        }
}

Test(pickle_array, by_columns)
{
    struct maker m;
    begin_array(&m);
    array_head(&m, RECONSTRUCT, 2);
    m.out.data[m.out.size - 1] = 0x88; /* True: order "F" */
    op_le(&m, 'B', 2 * PICKLE_COLUMNS, 4);
    pixels_by_columns(&m);
    ops(&m, "tb");
    end_batch(&m);
    accept(&m, 2);
}

/* More rows by columns than are put together at a time. */
Test(pickle_array, many_rows_by_columns)
{
    struct pickle_rules rules = batch_rules;
    struct maker m;
    rules.rows = 1000;
    rules.required = 1u << KEY_DATA;
    open_dict(&m);
    text(&m, "data");
    array_head(&m, RECONSTRUCT, 150);
    m.out.data[m.out.size - 1] = 0x88;
    op_le(&m, 'B', 150 * PICKLE_COLUMNS, 4);
    for (size_t j = 0; j < PICKLE_COLUMNS; j++)
        for (size_t i = 0; i < 150; i++) {
            uint8_t p = pixel(i, j);
            raw(&m, &p, 1);
        }
    ops(&m, "tb");
    end_batch(&m);
    pickle_free(accept_rows(&m, &rules, 150).p);
}

/* Protocol 5: numpy.core.numeric._frombuffer(bytes, dtype, shape, order). */
static void frombuffer(struct maker *m, const char *name, char order, size_t bytes)
{
    begin_array(m);
    global(m, name);
    op(m, '(');
    op_le(m, 0x96, bytes, 8);
    if (order == 'F')
        pixels_by_columns(m);
    else
        pixels(m, 2);
    dtype(m);
    shape(m, 2, PICKLE_COLUMNS);
    op_text(m, 0x8c, (char[2]){order, 0});
    ops(m, "tR");
    end_batch(m);
}

Test(pickle_array, from_a_buffer)
{
    static const char *const names[] = {"numpy.core.numeric\n_frombuffer\n",
                                        "numpy._core.numeric\n_frombuffer\n"};
    struct maker m;
    for (int i = 0; i < 2; i++) {
        frombuffer(&m, names[i], 'C', 2 * PICKLE_COLUMNS);
        accept(&m, 2);
        frombuffer(&m, names[i], 'F', 2 * PICKLE_COLUMNS);
        accept(&m, 2);
    }
    frombuffer(&m, names[0], 'K', 2 * PICKLE_COLUMNS);
    refused(&m, "opcode SHORT_BINUNICODE: \"C\" or \"F\" is expected here");
    frombuffer(&m, names[0], 'C', 2 * PICKLE_COLUMNS - 1);
    refused(&m, "opcode BYTEARRAY8: 6143 bytes, but 1 row needs 3072");
    frombuffer(&m, names[0], 'C', PICKLE_COLUMNS);
    refused(&m, "byte 3");
    frombuffer(&m, names[0], 'C', 3000);
    refused(&m, "opcode BYTEARRAY8: data has 0 rows");
    frombuffer(&m, names[0], 'C', UINT64_MAX);
    refused(&m, "opcode BYTEARRAY8: 18446744073709551615 bytes, but");
}

/* NumPy takes a bytearray for a buffer, but not for an array's state. */
Test(pickle_array, bytearray_in_a_state)
{
    struct maker m;
    begin_array(&m);
    array_head(&m, RECONSTRUCT, 1);
    op_le(&m, 0x96, PICKLE_COLUMNS, 8);
    pixels(&m, 1);
    refused(&m, "opcode BYTEARRAY8: the array's bytes must be bytes, not a bytearray");
}

Test(pickle_array, shape_must_fit_the_buffer)
{
    struct maker m;
    begin_array(&m);
    global(&m, "numpy.core.numeric\n_frombuffer\n");
    op(&m, '(');
    op_le(&m, 'B', 2 * PICKLE_COLUMNS, 4);
    pixels(&m, 2);
    dtype(&m);
    shape(&m, 3, PICKLE_COLUMNS);
    refused(&m, "data is said to have 3 rows, but has bytes for 2");
}

/* Bytes as Latin-1 in UTF-8. */
static void encoded_array(struct maker *m, unsigned rows, const char *last, size_t last_size)
{
    struct buffer utf8 = {0};
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < PICKLE_COLUMNS; j++) {
            uint8_t p = pixel(i, j), pair[2] = {(uint8_t)(0xc0 | p >> 6), (uint8_t)(0x80 | (p & 0x3f))};
            if (p < 0x80)
                buffer_put(&utf8, &p, 1);
            else
                buffer_put(&utf8, pair, 2);
        }
    buffer_put(&utf8, last, last_size);
    array_head(m, RECONSTRUCT, rows);
    global(m, "_codecs\nencode\n");
    op_le(m, 'X', utf8.size, 4);
    raw(m, utf8.data, utf8.size);
    op_text(m, 'X', "latin1");
    ops(m, "\x86Rtb");
    buffer_free(&utf8);
}

Test(pickle_array, bytes_of_python_3_in_protocol_2)
{
    struct maker m;
    begin_array(&m); /* held: there may be names behind it */
    encoded_array(&m, 2, "", 0);
    end_batch(&m);
    accept(&m, 2);
    open_dict(&m); /* streamed */
    filenames(&m, 2);
    labels(&m, "labels", 2, 10);
    text(&m, "data");
    encoded_array(&m, 2, "", 0);
    end_batch(&m);
    accept(&m, 2);
    begin_array(&m);
    encoded_array(&m, 2, "x", 1);
    refused(&m, "opcode BINUNICODE: more bytes than 2 rows need");
    begin_array(&m);
    encoded_array(&m, 2, "\xc3", 1);
    refused(&m, "opcode BINUNICODE: more bytes than 2 rows need");
}

Test(pickle_array, sizes_of_latin1)
{
    static const size_t sizes[] = {3071, 6145};
    for (int i = 0; i < 2; i++) {
        struct maker m;
        begin_array(&m);
        array_head(&m, RECONSTRUCT, 1);
        global(&m, "_codecs\nencode\n");
        op_le(&m, 'X', sizes[i], 4);
        for (size_t j = 0; j < sizes[i]; j++)
            raw(&m, "a", 1);
        refused(&m, "bytes, but 1 row needs 3072");
    }
}

/* Twice as many bytes as characters, and no more, are read as Latin-1: what follows is looked at. */
Test(pickle_array, latin1_of_two_bytes_each)
{
    struct maker m;
    begin_array(&m);
    array_head(&m, RECONSTRUCT, 1);
    global(&m, "_codecs\nencode\n");
    op_le(&m, 'X', 2 * PICKLE_COLUMNS, 4);
    for (size_t j = 0; j < PICKLE_COLUMNS; j++)
        raw(&m, "\xc3\xbf", 2);
    op_text(&m, 'X', "latin1");
    refused(&m, "the pickle ends too early");
}

Test(pickle_array, bytes_that_are_not_latin1)
{
    static const char bad[][3] = {"\xc4\x80", "\x80", "\xe2\x82", "\xc3\x41"};
    for (int i = 0; i < 4; i++) {
        struct maker m;
        begin_array(&m);
        array_head(&m, RECONSTRUCT, 1);
        global(&m, "_codecs\nencode\n");
        op_le(&m, 'X', 4000, 4);
        raw(&m, bad[i], 2);
        for (int j = 0; j < 4000; j++)
            raw(&m, "a", 1);
        refused(&m, "opcode BINUNICODE: the array's bytes are not Latin-1");
    }
    struct maker m;
    begin_array(&m);
    array_head(&m, RECONSTRUCT, 1);
    global(&m, "_codecs\nencode\n");
    op_le(&m, 'X', 3073, 4);
    for (int j = 0; j < 2000; j++)
        raw(&m, "\xc2\x80", 2);
    refused(&m, "opcode BINUNICODE: fewer bytes than 1 row needs");
}

Test(pickle_array, sizes_of_the_bytes)
{
    static const struct {
        uint8_t code;
        unsigned width;
        uint64_t size;
        const char *words;
    } cases[] = {
        {'T', 4, 0xffffffff, "opcode BINSTRING: its size is negative"},
        {'T', 4, 3071, "opcode BINSTRING: 3071 bytes, but 1 row needs 3072"},
        {'T', 4, 3073, "opcode BINSTRING: 3073 bytes, but 1 row needs 3072"},
        {'B', 4, 0, "opcode BINBYTES: 0 bytes, but 1 row needs 3072"},
        {'B', 4, 0xffffffff, "opcode BINBYTES: 4294967295 bytes, but 4000 are left"},
        {'C', 1, 255, "opcode SHORT_BINBYTES: 255 bytes, but 1 row needs 3072"},
        {0x96, 8, 1ull << 63, "opcode BYTEARRAY8: 9223372036854775808 bytes, but 4000 are left"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct maker m;
        begin_array(&m);
        array_head(&m, RECONSTRUCT, 1);
        op_le(&m, cases[i].code, cases[i].size, cases[i].width);
        for (int j = 0; j < 4000; j++)
            raw(&m, "x", 1);
        refused(&m, cases[i].words);
    }
}

/* One thing wrong at a time in the array's head. */
Test(pickle_array, other_arrays)
{
    static const struct {
        const char *from, *to; /* of the same size */
        size_t size;
        const char *words;
    } cases[] = {
        {"U\2u1", "U\2i4", 4, "'i4' where dtype 'u1' (unsigned bytes) is expected"},
        {"U\1b", "U\1c", 3, "'c' where 'b' is expected"},
        {"numpy\nndarray", "numpy\nndarraz", 13, "numpy.ndarraz is not a known constructor"},
        {"M\0\x0c\x86", "M\0\x0d\x86", 4, "3328 where 3072 columns is expected"},
        {"M\1\0M\0\x0c", "M\0\0M\0\x0c", 6, "data has 0 rows"},
        {"U\1|NNN", "U\1>NNN", 6, "'>' where byte order '|' is expected"},
        {"NNNJ", "NN\x88J", 4, "opcode NEWTRUE: None is expected here"},
        {"K\0K\1\x87", "K\1K\1\x87", 5, "numpy.dtype(\"u1\", False, True) is expected here"},
        {"K\0K\1\x87", "K\2K\1\x87", 5, "0 or 1 is expected here"},
        {"K\3U\1|", "K\4U\1|", 5, "4 where version 3 is expected"},
        {"tb\x89", "tb\x86", 3, "opcode TUPLE2: a bool is expected here"},
        {"\x85U\1b", "\x86U\1b", 4, "opcode TUPLE2: a tuple of one is expected here"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct maker m;
        begin_array(&m);
        array(&m, 1);
        bool found = false;
        for (size_t at = 0; at + cases[i].size < m.out.size && !found; at++)
            if (memcmp(m.out.data + at, cases[i].from, cases[i].size) == 0) {
                memcpy(m.out.data + at, cases[i].to, cases[i].size);
                found = true;
            }
        cr_assert(found, "case %zu", i);
        refused(&m, cases[i].words);
    }
}

Test(pickle_array, something_else_for_an_array)
{
    struct maker m;
    begin_array(&m);
    op(&m, ']');
    refused(&m, "opcode EMPTY_LIST: an array is expected here");
    begin_array(&m);
    global(&m, "numpy\nndarray\n");
    op(&m, 'R');
    refused(&m, "opcode GLOBAL: an array is expected here");
    begin_array(&m);
    op_le(&m, 'K', 1, 1);
    refused(&m, "opcode BININT1: an array is expected here");
}

/* Not everything that the memo has is a dtype. */
Test(pickle_array, dtype_must_be_named)
{
    struct maker m;
    begin_array(&m);
    global(&m, RECONSTRUCT);
    put(&m, 0);
    global(&m, "numpy\nndarray\n");
    put(&m, 1);
    op_le(&m, 'K', 0, 1);
    op(&m, 0x85);
    text(&m, "b");
    ops(&m, "\x87R");
    put(&m, 2);
    op(&m, '(');
    op_le(&m, 'K', 1, 1);
    shape(&m, 2, PICKLE_COLUMNS);
    op_le(&m, 'h', 2, 1);
    refused(&m, "opcode BINGET: a dtype is expected here");
}

Test(pickle_array, no_text_in_a_buffer)
{
    struct maker m;
    begin_array(&m);
    global(&m, "numpy.core.numeric\n_frombuffer\n");
    op(&m, '(');
    global(&m, "_codecs\nencode\n");
    op_le(&m, 'X', 3072, 4);
    pixels(&m, 1);
    refused(&m, "opcode BINUNICODE: a string of bytes is expected here");
}

Test(pickle_array, cut_while_rows_stream)
{
    struct maker m;
    open_dict(&m);
    filenames(&m, 2);
    labels(&m, "labels", 2, 10);
    text(&m, "data");
    array(&m, 2);
    struct got g = got_new();
    for (size_t cut = 1; cut < 2 * PICKLE_COLUMNS; cut += 100) {
        struct cursor c = cursor_over(m.out.data, m.out.size - cut);
        struct pickle_rows rows = {got_begin, got_row, &g};
        g = (struct got){.p = g.p};
        /* The member says that it has the bytes; the source breaks off. */
        cr_assert_eq(pickle_read(g.p, &c, m.out.size, &batch_rules, &rows, &g.err), APL_E_SOURCE);
        cr_assert(strstr(g.err.message, "the pickle ends too early"), "%s", g.err.message);
    }
    buffer_free(&m.out);
    pickle_free(g.p);
}

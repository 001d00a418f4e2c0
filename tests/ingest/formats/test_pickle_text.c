/* Texts in every form, and the names of constructors. */
#include "pickle_case.h"

#include "pickle_lex.h"

/* A batch of one row whose file has the name that the test writes. */
static void begin_name(struct maker *m)
{
    open_dict(m);
    labels(m, "labels", 1, 10);
    text(m, "data");
    array(m, 1);
    text(m, "filenames");
    op(m, ']');
}

static void name_is(struct maker *m, const char *name)
{
    ops(m, "au.");
    struct got g = accept_rows(m, &batch_rules, 1);
    size_t size;
    const char *found = pickle_text(g.p, KEY_FILENAMES, 0, &size);
    cr_assert_eq(size, strlen(name));
    cr_assert_eq(memcmp(found, name, size), 0);
    pickle_free(g.p);
}

Test(pickle_text, every_opcode)
{
    static const uint8_t codes[] = {'U', 'T', 'C', 'B', 0x8c, 'X'};
    for (size_t i = 0; i < sizeof codes; i++) {
        struct maker m;
        begin_name(&m);
        op_text(&m, codes[i], "a_s_000001.png");
        name_is(&m, "a_s_000001.png");
        begin_name(&m);
        op_text(&m, codes[i], "");
        name_is(&m, "");
    }
}

Test(pickle_text, sizes)
{
    struct maker m;
    char name[4097];
    memset(name, 'n', sizeof name);
    begin_name(&m);
    op_le(&m, 'T', 4096, 4);
    raw(&m, name, 4096);
    struct got g;
    ops(&m, "au.");
    g = accept_rows(&m, &batch_rules, 1);
    pickle_free(g.p);
    begin_name(&m);
    op_le(&m, 'X', 4097, 4);
    raw(&m, name, 4097);
    refused(&m, "opcode BINUNICODE: a text is expected, but this has more than 4096 bytes");
    begin_name(&m);
    op_le(&m, 'T', 0xffffffff, 4);
    refused(&m, "opcode BINSTRING: a text is expected, but this has more than 4096 bytes");
    begin_name(&m);
    op_le(&m, 'B', 0xffffffff, 4);
    refused(&m, "more than 4096 bytes");
    begin_name(&m);
    op_le(&m, 'U', 200, 1);
    raw(&m, name, 199);
    refused(&m, "the pickle ends too early");
}

/* 64 MiB of texts are too many. */
Test(pickle_text, all_texts_have_an_end)
{
    struct maker m;
    char name[4096];
    memset(name, 'n', sizeof name);
    begin_name(&m);
    op(&m, '(');
    for (unsigned i = 0; i <= 16384; i++) {
        raw(&m, "T\0\x10\0\0", 5);
        raw(&m, name, sizeof name);
    }
    struct got g = got_new();
    read_into(&g, m.out.data, m.out.size, 0, &batch_rules);
    cr_assert(strstr(g.err.message, "the texts have more than 67108864 bytes in all"), "%s", g.err.message);
    buffer_free(&m.out);
    pickle_free(g.p);
}

/* The text that is encoded fits, and its bytes do not. */
Test(pickle_text, all_texts_have_an_end_for_bytes_too)
{
    struct maker m;
    char name[4096];
    memset(name, 'n', sizeof name);
    begin_name(&m);
    op(&m, '(');
    for (unsigned i = 0; i < 16383; i++) {
        raw(&m, "T\0\x10\0\0", 5);
        raw(&m, name, sizeof name);
    }
    name[3900] = 0;
    global(&m, "_codecs\nencode\n");
    op_text(&m, 'X', name);
    op_text(&m, 'X', "latin1");
    ops(&m, "\x86R");
    struct got g = got_new();
    read_into(&g, m.out.data, m.out.size, 0, &batch_rules);
    cr_assert(strstr(g.err.message, "opcode REDUCE: the texts have more than"), "%s", g.err.message);
    buffer_free(&m.out);
    pickle_free(g.p);
}

/* _codecs.encode(text, "latin1"): bytes as Python 3 writes them in protocol 2. */
static void encoded(struct maker *m, const char *utf8)
{
    global(m, "_codecs\nencode\n");
    op_text(m, 'X', utf8);
    op_text(m, 'X', "latin1");
    ops(m, "\x86R");
}

Test(pickle_text, bytes_of_python_3_in_protocol_2)
{
    struct maker m;
    begin_name(&m);
    encoded(&m, "plain");
    name_is(&m, "plain");
    begin_name(&m);
    encoded(&m, "\xc3\x83\xc2\xa9"); /* C3 A9: the bytes of an e with an acute accent */
    name_is(&m, "\xc3\xa9");
    begin_name(&m);
    encoded(&m, "\xc4\x80");
    refused(&m, "opcode BINUNICODE: the text is not Latin-1");
    begin_name(&m);
    encoded(&m, "\xc3");
    refused(&m, "opcode BINUNICODE: the text is not UTF-8");
    begin_name(&m);
    global(&m, "_codecs\nencode\n");
    op_text(&m, 'C', "\xc3");
    op_text(&m, 'X', "latin1");
    refused(&m, "opcode SHORT_BINBYTES: the text is not Latin-1");
    begin_name(&m);
    global(&m, "_codecs\nencode\n");
    op_text(&m, 'C', "\xc3\x41");
    op_text(&m, 'X', "latin1");
    refused(&m, "opcode SHORT_BINBYTES: the text is not Latin-1");
    begin_name(&m);
    global(&m, "_codecs\nencode\n");
    op_text(&m, 'X', "x");
    op_text(&m, 'X', "rot13");
    op(&m, 0x86);
    refused(&m, "opcode BINUNICODE: the encoding \"latin1\" is expected here");
}

Test(pickle_text, encodings_and_constructors_from_the_memo)
{
    struct maker m;
    begin_name(&m);
    encoded(&m, "");
    name_is(&m, "");
    begin_name(&m);
    global(&m, "_codecs\nencode\n");
    put(&m, 0);
    op_text(&m, 'X', "x");
    op_le(&m, 'h', 0, 1);
    refused(&m, "opcode BINGET: the encoding \"latin1\" is expected here");
    open_dict(&m);
    text(&m, "data");
    global(&m, RECONSTRUCT);
    put(&m, 0);
    op_le(&m, 'h', 0, 1);
    refused(&m, "opcode BINGET: numpy.ndarray is expected here");
}

/* The constructor, its text and its encoding got back from the memo. */
Test(pickle_text, bytes_with_a_memo)
{
    struct maker m;
    begin_name(&m);
    global(&m, "_codecs\nencode\n");
    put(&m, 0);
    op_text(&m, 'X', "first");
    put(&m, 1);
    op_text(&m, 'X', "latin1");
    put(&m, 2);
    op(&m, 0x86);
    put(&m, 3);
    op(&m, 'R');
    put(&m, 4);
    op(&m, 'a');
    op_le(&m, 'h', 4, 1);
    op(&m, 'a');
    op_le(&m, 'h', 0, 1);
    op_le(&m, 'h', 1, 1);
    op_le(&m, 'h', 2, 1);
    ops(&m, "\x86Rau.");
    refused(&m, "filenames has 3 entries, but data has 1 row");
}

Test(pickle_text, stack_global)
{
    struct maker m;
    begin_name(&m);
    op_text(&m, 0x8c, "_codecs");
    op_text(&m, 0x8c, "encode");
    op(&m, 0x93);
    op_text(&m, 'X', "x");
    op_text(&m, 'X', "latin1");
    ops(&m, "\x86R");
    name_is(&m, "x");
    begin_name(&m);
    op_text(&m, 0x8c, "_codecs");
    op_text(&m, 0x8c, "decode");
    op(&m, 0x93);
    refused(&m, "opcode STACK_GLOBAL: _codecs.decode is not a known constructor");
    begin_name(&m);
    op_text(&m, 0x8c, "_codecs");
    op(&m, 'a');
    refused(&m, "the name of a constructor is expected here");
}

Test(pickle_text, constructors_where_texts_belong)
{
    struct maker m;
    begin_name(&m);
    op_text(&m, 0x8c, "_codecs");
    global(&m, "_codecs\nencode\n");
    op(&m, 0x93);
    refused(&m, "opcode GLOBAL: the name of a constructor is expected here");
    begin_name(&m);
    global(&m, "_codecs\nencode\n");
    global(&m, "_codecs\nencode\n");
    op(&m, 'X');
    refused(&m, "opcode GLOBAL: a text is expected here");
    begin_name(&m);
    global(&m, "numpy\ndtype\n");
    op(&m, 'X');
    refused(&m, "opcode GLOBAL: a text is expected here");
}

/* A text that only begins as the expected one does. */
Test(pickle_text, texts_that_go_on)
{
    static const char *const encodings[] = {"latin1", "latin12", "latin"};
    for (size_t i = 0; i < 3; i++) {
        struct maker m;
        begin_name(&m);
        global(&m, "_codecs\nencode\n");
        op_text(&m, 'X', "a name");
        op_text(&m, 'X', encodings[i]);
        ops(&m, "\x86R");
        if (i == 0)
            name_is(&m, "a name");
        else
            refused(&m, "is expected");
    }
}

Test(pickle_text, unknown_constructors)
{
    static const char *const names[] = {"os\nsystem\n",
                                        "posix\nsystem\n",
                                        "builtins\neval\n",
                                        "__builtin__\nexec\n",
                                        "numpy\nload\n",
                                        "numpy.core.multiarray\nscalar\n",
                                        "numpy\nndarray.tofile\n",
                                        "_codecs\nencode \n",
                                        "\n\n"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct maker m;
        open_dict(&m);
        text(&m, "data");
        global(&m, names[i]);
        refused(&m, "is not a known constructor");
        begin_name(&m);
        global(&m, names[i]);
        refused(&m, "is not a known constructor");
    }
    struct maker m;
    open_dict(&m);
    text(&m, "data");
    global(&m, "os\nsystem\n");
    refused(&m, "byte 10: opcode GLOBAL: os.system is not a known constructor");
    open_dict(&m);
    text(&m, "data");
    op_text(&m, 'U', "os");
    op_text(&m, 'U', "system");
    op(&m, 0x93);
    refused(&m, "byte 22: opcode STACK_GLOBAL: os.system is not a known constructor");
    open_dict(&m);
    text(&m, "data");
    global(&m, "o\x1bs\nsystem\n");
    refused(&m, "o\\x1bs.system is not a known constructor");
}

Test(pickle_text, names_of_constructors_are_short_lines)
{
    char name[100];
    memset(name, 'n', sizeof name);
    struct maker m;
    open_dict(&m);
    text(&m, "data");
    op(&m, 'c');
    raw(&m, name, sizeof name);
    refused(&m, "opcode GLOBAL: not a known constructor");
    open_dict(&m);
    text(&m, "data");
    op(&m, 'c');
    raw(&m, "numpy\0\nndarray\n", 15);
    refused(&m, "opcode GLOBAL: not a known constructor");
    open_dict(&m);
    text(&m, "data");
    op_le(&m, 'U', 6, 1);
    raw(&m, "numpy", 6);
    text(&m, "ndarray");
    op(&m, 0x93);
    refused(&m, "opcode STACK_GLOBAL: .ndarray is not a known constructor");
    open_dict(&m);
    text(&m, "data");
    raw(&m, "cnum", 4);
    refused(&m, "the pickle ends too early");
}

Test(pickle_text, latin1_in_pieces)
{
    static const uint8_t in[] = {'a', 0xc2, 0x80, 0xc3, 0xbf, 'z'};
    static const uint8_t want[] = {'a', 0x80, 0xff, 'z'};
    uint8_t out[6], lead = 0;
    size_t n, done = 0;
    for (size_t i = 0; i < sizeof in; i++) {
        cr_assert(decode_latin1(in + i, 1, &lead, out + done, &n));
        done += n;
    }
    cr_assert_eq(done, sizeof want);
    cr_assert_eq(memcmp(out, want, done), 0);
    cr_assert_eq(lead, 0);
}

/* Opcodes, frames and the memo. */
#include "counts.h"
#include "pickle_case.h"

/* The 32 opcodes that are refused, and what they are called. */
static const struct {
    uint8_t code;
    const char *name;
} refused_ops[] = {
    {'I', "INT"},       {'L', "LONG"},         {0x8a, "LONG1"},       {0x8b, "LONG4"},
    {'S', "STRING"},    {0x8e, "BINBYTES8"},   {0x97, "NEXT_BUFFER"}, {0x98, "READONLY_BUFFER"},
    {'V', "UNICODE"},   {0x8d, "BINUNICODE8"}, {'F', "FLOAT"},        {'G', "BINFLOAT"},
    {'l', "LIST"},      {')', "EMPTY_TUPLE"},  {'d', "DICT"},         {0x8f, "EMPTY_SET"},
    {0x90, "ADDITEMS"}, {0x91, "FROZENSET"},   {'0', "POP"},          {'2', "DUP"},
    {'1', "POP_MARK"},  {'g', "GET"},          {'p', "PUT"},          {0x82, "EXT1"},
    {0x83, "EXT2"},     {0x84, "EXT4"},        {'i', "INST"},         {'o', "OBJ"},
    {0x81, "NEWOBJ"},   {0x92, "NEWOBJ_EX"},   {'P', "PERSID"},       {'Q', "BINPERSID"},
};
#define REFUSED (sizeof refused_ops / sizeof *refused_ops)

/* Puts one byte in front of an opcode and reads the result. */
static void insert(struct got *g, const struct maker *m, size_t at, uint8_t code)
{
    struct buffer b = {0};
    buffer_put(&b, m->out.data, at);
    buffer_put(&b, &code, 1);
    buffer_put(&b, m->out.data + at, m->out.size - at);
    cr_assert(!b.failed);
    read_into(g, b.data, b.size, 0, &batch_rules);
    buffer_free(&b);
}

Test(pickle_lex, refused_opcodes_at_every_position)
{
    cr_assert_eq(REFUSED, 32);
    struct maker m;
    batch(&m, 12);
    struct got g = got_new();
    for (size_t i = 1; i < m.ops; i++)
        for (size_t r = 0; r < REFUSED; r++) {
            char words[64];
            insert(&g, &m, m.op[i], refused_ops[r].code);
            cr_assert_eq(g.status, APL_E_SOURCE);
            snprintf(words, sizeof words, "byte %zu: opcode %s: ", m.op[i], refused_ops[r].name);
            cr_assert(strncmp(g.err.message, words, strlen(words)) == 0, "%s\nnot: %s", g.err.message, words);
        }
    buffer_free(&m.out);
    pickle_free(g.p);
}

/* Bytes that are no opcodes: all but the 36 accepted and the 32 refused. */
Test(pickle_lex, no_opcode_at_every_position)
{
    static const char accepted[] = "\x80.(}]uet\x85\x86\x87N\x89KMJUTqrcRbhjX\x8c"
                                   "CB\x96\x88\x94\x95\x93"
                                   "as";
    cr_assert_eq(sizeof accepted - 1, 36);
    struct maker m;
    batch(&m, 2);
    struct got g = got_new();
    unsigned bytes = 0;
    for (unsigned code = 0; code < 256; code++) {
        bool known = memchr(accepted, (int)code, 36) != NULL;
        for (size_t r = 0; r < REFUSED; r++)
            known |= refused_ops[r].code == code;
        bytes += !known;
        for (size_t i = 1; i < m.ops && !known; i++) {
            char words[64];
            insert(&g, &m, m.op[i], (uint8_t)code);
            snprintf(words, sizeof words, "byte %zu: 0x%02x is not an opcode", m.op[i], code);
            cr_assert_str_eq(g.err.message, words);
        }
    }
    cr_assert_eq(bytes, 256 - 68);
    buffer_free(&m.out);
    pickle_free(g.p);
}

static void batch_of_one(struct maker *m)
{
    text(m, "data");
    array(m, 1);
    ops(m, "u.");
}

Test(pickle_lex, memo_from_one_and_from_zero)
{
    for (unsigned first = 0; first < 2; first++) {
        struct maker m;
        open_dict(&m);
        text(&m, "labels");
        put(&m, first);
        op(&m, ']');
        op_le(&m, 'r', first + 1, 4);
        op_le(&m, 'K', 5, 1);
        put(&m, first + 2);
        op(&m, 'a');
        text(&m, "filenames");
        put(&m, first + 3);
        op(&m, ']');
        put(&m, first + 4);
        op_le(&m, 'h', first, 1);
        op(&m, 'a');
        batch_of_one(&m);
        struct got g = accept_rows(&m, &batch_rules, 1);
        size_t size;
        cr_assert_eq(memcmp(pickle_text(g.p, KEY_FILENAMES, 0, &size), "labels", 6), 0);
        pickle_free(g.p);
    }
}

Test(pickle_lex, memo_numbers_are_dense)
{
    struct maker m;
    open_dict(&m);
    text(&m, "labels");
    put(&m, 2);
    refused(&m, "byte 12: opcode BINPUT: memo number 2 where 0 is next");
    open_dict(&m);
    text(&m, "labels");
    put(&m, 1);
    op(&m, ']');
    put(&m, 1);
    refused(&m, "opcode BINPUT: memo number 1 where 2 is next");
    open_dict(&m);
    text(&m, "labels");
    op_le(&m, 'r', 0xffffffff, 4);
    refused(&m, "opcode LONG_BINPUT: memo number 4294967295 where 0 is next");
}

Test(pickle_lex, memo_numbered_in_one_way)
{
    struct maker m;
    open_dict(&m);
    text(&m, "labels");
    put(&m, 0);
    op(&m, ']');
    op(&m, 0x94);
    refused(&m, "opcode MEMOIZE: the pickle numbers its memo in two ways");
    open_dict(&m);
    text(&m, "labels");
    op(&m, 0x94);
    op(&m, ']');
    put(&m, 1);
    refused(&m, "opcode BINPUT: the pickle numbers its memo in two ways");
}

Test(pickle_lex, gets)
{
    struct maker m;
    open_dict(&m);
    op_le(&m, 'h', 0, 1);
    refused(&m, "byte 4: opcode BINGET: the memo has no number 0");
    open_dict(&m);
    text(&m, "labels");
    put(&m, 1);
    op(&m, ']');
    op_le(&m, 'j', 0, 4);
    refused(&m, "opcode LONG_BINGET: the memo has no number 0");
    open_dict(&m);
    text(&m, "labels");
    op(&m, ']');
    put(&m, 0);
    op_le(&m, 'h', 0, 1);
    refused(&m, "byte 15: opcode BINGET: a key is expected here");
    open_dict(&m);
    text(&m, "labels");
    op_le(&m, 'j', 0xffffffff, 4);
    refused(&m, "labels must be a list of int");
}

static void frame(struct maker *m, uint64_t size)
{
    op_le(m, 0x95, size, 8);
}

Test(pickle_lex, frames)
{
    for (unsigned protocol = 2; protocol <= 5; protocol++) {
        struct maker m = {.ops = 0};
        op_le(&m, 0x80, protocol, 1);
        frame(&m, 100);
        ops(&m, "}");
        frame(&m, 0);
        frame(&m, 1);
        ops(&m, "(");
        text(&m, "labels");
        frame(&m, 9);
        op(&m, ']');
        frame(&m, 9);
        op_le(&m, 'K', 3, 1);
        frame(&m, 9);
        op(&m, 'a');
        batch_of_one(&m);
        if (protocol >= 4)
            accept(&m, 1);
        else
            refused(&m, "byte 2: opcode FRAME: not in protocol");
    }
    struct maker m = {.ops = 0};
    op_le(&m, 0x80, 4, 1);
    frame(&m, 3);
    ops(&m, "}(");
    refused(&m, "byte 2: opcode FRAME: 3 bytes, but 2 are left");
    m = (struct maker){.ops = 0};
    op_le(&m, 0x80, 4, 1);
    frame(&m, UINT64_MAX);
    refused(&m, "opcode FRAME: 18446744073709551615 bytes, but 0 are left");
}

/* The limit of the memo: 2^20 entries. */
Test(pickle_lex, memo_has_an_end)
{
    struct maker m = {.ops = 0};
    if (is_repeated())
        return;
    op_le(&m, 0x80, 4, 1);
    raw(&m, "}\x94(", 3);
    raw(&m, "U\6labels\x94]\x94(", 12);
    for (unsigned i = 0; i < 1000000; i++)
        raw(&m, "K\1\x94", 3);
    raw(&m,
        "eU\x9"
        "filenames\x94]\x94(",
        16);
    for (unsigned i = 0; i < 50000; i++)
        raw(&m, "U\1x\x94", 4);
    refused(&m, "opcode MEMOIZE: the memo has more than 1048576 entries");
}

Test(pickle_lex, lists_have_an_end)
{
    struct maker m;
    if (is_repeated())
        return;
    open_dict(&m);
    raw(&m, "U\6labels](", 10);
    for (unsigned i = 0; i <= 1000000; i++)
        raw(&m, "K\1", 2);
    refused(&m, "labels has more than 1000000 entries");
    open_dict(&m);
    raw(&m,
        "U\x9"
        "filenames](",
        13);
    for (unsigned i = 0; i <= 1000000; i++)
        raw(&m, "U\1x", 3);
    op(&m, 'e');
    refused(&m, "filenames has more than 1000000 entries");
}

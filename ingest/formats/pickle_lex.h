/* The opcodes, the memo and the small values of a pickle: what pickle.c and pickle_array.c are written in. */
#ifndef PICKLE_LEX_H
#define PICKLE_LEX_H

#include "pickle.h"

enum pickle_op {
    OP_MARK = 0x28,
    OP_STOP = 0x2e,
    OP_BINBYTES = 0x42,
    OP_SHORT_BINBYTES = 0x43,
    OP_BININT = 0x4a,
    OP_BININT1 = 0x4b,
    OP_BININT2 = 0x4d,
    OP_NONE = 0x4e,
    OP_REDUCE = 0x52,
    OP_BINSTRING = 0x54,
    OP_SHORT_BINSTRING = 0x55,
    OP_BINUNICODE = 0x58,
    OP_EMPTY_LIST = 0x5d,
    OP_APPEND = 0x61,
    OP_BUILD = 0x62,
    OP_GLOBAL = 0x63,
    OP_APPENDS = 0x65,
    OP_BINGET = 0x68,
    OP_LONG_BINGET = 0x6a,
    OP_BINPUT = 0x71,
    OP_LONG_BINPUT = 0x72,
    OP_SETITEM = 0x73,
    OP_TUPLE = 0x74,
    OP_SETITEMS = 0x75,
    OP_EMPTY_DICT = 0x7d,
    OP_PROTO = 0x80,
    OP_TUPLE1 = 0x85,
    OP_TUPLE2 = 0x86,
    OP_TUPLE3 = 0x87,
    OP_NEWTRUE = 0x88,
    OP_NEWFALSE = 0x89,
    OP_SHORT_BINUNICODE = 0x8c,
    OP_STACK_GLOBAL = 0x93,
    OP_MEMOIZE = 0x94,
    OP_FRAME = 0x95,
    OP_BYTEARRAY8 = 0x96
};

/* The names that may be looked up: marks for patterns, never called. */
enum pickle_global { GLOBAL_RECONSTRUCT, GLOBAL_FROMBUFFER, GLOBAL_NDARRAY, GLOBAL_DTYPE, GLOBAL_ENCODE };

#define PICKLE_STRIP 64 /* rows put together at a time */

struct text {
    uint32_t at, size; /* in pickle.texts */
};

/* What a memo remembers. Only texts and globals can be got back: there is one array, hence one dtype. */
struct memo {
    enum { MEMO_OTHER, MEMO_TEXT, MEMO_GLOBAL } kind;
    enum pickle_global global;
    struct text text;
};

struct pickle {
    struct cursor *c;
    const struct pickle_rules *rules;
    const struct pickle_rows *sink;
    apl_error *err;
    uint64_t start, size; /* where the pickle begins in the cursor's stream; its bytes */
    uint64_t op_at;       /* where the opcode last looked at stands */
    uint64_t item_at;     /* where the text or name last read begins */
    uint8_t op, item_op;  /* the opcodes there */
    uint8_t protocol;

    struct buffer memo; /* of struct memo */
    size_t memo_count;
    size_t memo_first; /* the number of the first: Python 2 counts from 1, Python 3 from 0 */
    bool memo_put, memo_memoize;

    struct buffer texts;             /* the bytes of all texts */
    struct buffer list[PICKLE_KEYS]; /* of uint8_t (labels) or struct text */
    uint32_t seen;                   /* bit k: key k has been read */
    bool have_ahead;                 /* a text has been read ahead: it is a key */
    struct text ahead;
    uint64_t ahead_at;

    uint64_t rows; /* of the array */
    uint8_t *held; /* the array, where its rows have to wait */
    size_t held_capacity;
    bool is_held, is_fortran;
    uint8_t *scratch; /* PICKLE_STRIP rows, put together here */
};

/* The name of an opcode; NULL: not an opcode. */
const char *op_name(uint8_t op);

/* Looks at the next opcode (p->op, p->op_at), skipping frames; takes it; takes it if it is `op`. `expected`
 * says in words what should have been there. */
apl_status peek_op(struct pickle *p);
apl_status next_op(struct pickle *p);

/* Takes the opcode that peek_op() has looked at. */
void take_op(struct pickle *p);
apl_status expect_op(struct pickle *p, enum pickle_op op, const char *expected);

/* Offset of the cursor in the pickle, and the bytes of it left. */
uint64_t here(const struct pickle *p);
uint64_t bytes_left(const struct pickle *p);

/* Failures: of the opcode last looked at; of it, as not the one expected; the same of the item last read; of
 * the pickle's ending too early. */
apl_status refuse(struct pickle *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
apl_status unexpected(struct pickle *p, const char *expected);
apl_status refuse_item(struct pickle *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
apl_status unexpected_item(struct pickle *p, const char *expected);
apl_status ended(struct pickle *p);

/* If a memo opcode comes next, remembers the value before it. */
apl_status put_memo(struct pickle *p, struct memo value);
apl_status put_other(struct pickle *p);

/* What the memo has under the number that follows the get opcode just taken. */
apl_status get_memo(struct pickle *p, struct memo *value);

/* Takes an opcode that makes a tuple or an object and remembers the result as something not to be got back.
 */
apl_status make(struct pickle *p, enum pickle_op op, const char *expected);

apl_status read_int(struct pickle *p, int64_t *value, const char *expected);
apl_status read_this_int(struct pickle *p, int64_t value, const char *expected);

/* A text, a constructor's name or what the memo gives: what several rules of the grammar begin with. */
apl_status read_item(struct pickle *p, struct memo *item, const char *expected);

/* The constructor that an item is, or whose module's name it is. */
apl_status global_of_item(struct pickle *p, struct memo item, enum pickle_global *global,
                          const char *expected);
apl_status read_this_global(struct pickle *p, enum pickle_global global, const char *expected);

/* A text, in any of the ways to write one. */
apl_status read_text(struct pickle *p, struct text *text, const char *expected);
apl_status read_this_text(struct pickle *p, const char *value, const char *expected);
bool text_is(const struct pickle *p, struct text text, const char *value);

/* What follows the text in _codecs.encode(text, "latin1"), as Python 3 writes bytes in protocol 2; the memo
 * opcode behind it is left to the caller. */
apl_status finish_encode(struct pickle *p);

/* Puts the bytes that Latin-1 characters in UTF-8 stand for to out, which has room for as many as there are
 * in `size`; a character may go on in the next call (*lead). False: there is a character beyond Latin-1. */
bool decode_latin1(const uint8_t *in, size_t size, uint8_t *lead, uint8_t *out, size_t *count);

/* One array of bytes with 3,072 columns; its rows go to p->sink or are held. And those that were held. */
apl_status read_array(struct pickle *p);
apl_status emit_held(struct pickle *p);

/* What stands under a key. */
enum value_kind { VALUE_ARRAY, VALUE_LABELS, VALUE_TEXTS, VALUE_TEXT, VALUE_INT };

struct pickle_key_rule {
    const char *name;
    enum value_kind kind;
    unsigned below; /* labels are */
};
extern const struct pickle_key_rule pickle_keys[PICKLE_KEYS];

/* Do the lists that have one element a row, as far as they are there, have as many as the array has rows? */
apl_status check_counts(struct pickle *p);

/* Keys whose lists have one element a row. */
#define PER_ROW (1u << KEY_LABELS | 1u << KEY_FINE_LABELS | 1u << KEY_COARSE_LABELS | 1u << KEY_FILENAMES)

#endif

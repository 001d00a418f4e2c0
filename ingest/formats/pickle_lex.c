/* Opcodes, frames, memo and ints of a pickle. */
#include "pickle_lex.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define MAX_MEMO (1u << 20) /* entries */

/* Every opcode there is, and whether the grammar has a use for it. */
static const struct {
    const char *name;
    bool accepted;
} opcodes[256] = {
    [OP_MARK] = {"MARK", true},
    [OP_STOP] = {"STOP", true},
    ['0'] = {"POP", false},
    ['1'] = {"POP_MARK", false},
    ['2'] = {"DUP", false},
    [OP_BINBYTES] = {"BINBYTES", true},
    [OP_SHORT_BINBYTES] = {"SHORT_BINBYTES", true},
    ['F'] = {"FLOAT", false},
    ['G'] = {"BINFLOAT", false},
    ['I'] = {"INT", false},
    [OP_BININT] = {"BININT", true},
    [OP_BININT1] = {"BININT1", true},
    ['L'] = {"LONG", false},
    [OP_BININT2] = {"BININT2", true},
    [OP_NONE] = {"NONE", true},
    ['P'] = {"PERSID", false},
    ['Q'] = {"BINPERSID", false},
    [OP_REDUCE] = {"REDUCE", true},
    ['S'] = {"STRING", false},
    [OP_BINSTRING] = {"BINSTRING", true},
    [OP_SHORT_BINSTRING] = {"SHORT_BINSTRING", true},
    ['V'] = {"UNICODE", false},
    [OP_BINUNICODE] = {"BINUNICODE", true},
    [OP_EMPTY_LIST] = {"EMPTY_LIST", true},
    [OP_APPEND] = {"APPEND", true},
    [OP_BUILD] = {"BUILD", true},
    [OP_GLOBAL] = {"GLOBAL", true},
    ['d'] = {"DICT", false},
    [OP_APPENDS] = {"APPENDS", true},
    ['g'] = {"GET", false},
    [OP_BINGET] = {"BINGET", true},
    ['i'] = {"INST", false},
    [OP_LONG_BINGET] = {"LONG_BINGET", true},
    ['l'] = {"LIST", false},
    ['o'] = {"OBJ", false},
    ['p'] = {"PUT", false},
    [OP_BINPUT] = {"BINPUT", true},
    [OP_LONG_BINPUT] = {"LONG_BINPUT", true},
    [OP_SETITEM] = {"SETITEM", true},
    [OP_TUPLE] = {"TUPLE", true},
    [OP_SETITEMS] = {"SETITEMS", true},
    [')'] = {"EMPTY_TUPLE", false},
    [OP_EMPTY_DICT] = {"EMPTY_DICT", true},
    [OP_PROTO] = {"PROTO", true},
    [0x81] = {"NEWOBJ", false},
    [0x82] = {"EXT1", false},
    [0x83] = {"EXT2", false},
    [0x84] = {"EXT4", false},
    [OP_TUPLE1] = {"TUPLE1", true},
    [OP_TUPLE2] = {"TUPLE2", true},
    [OP_TUPLE3] = {"TUPLE3", true},
    [OP_NEWTRUE] = {"NEWTRUE", true},
    [OP_NEWFALSE] = {"NEWFALSE", true},
    [0x8a] = {"LONG1", false},
    [0x8b] = {"LONG4", false},
    [OP_SHORT_BINUNICODE] = {"SHORT_BINUNICODE", true},
    [0x8d] = {"BINUNICODE8", false},
    [0x8e] = {"BINBYTES8", false},
    [0x8f] = {"EMPTY_SET", false},
    [0x90] = {"ADDITEMS", false},
    [0x91] = {"FROZENSET", false},
    [0x92] = {"NEWOBJ_EX", false},
    [OP_STACK_GLOBAL] = {"STACK_GLOBAL", true},
    [OP_MEMOIZE] = {"MEMOIZE", true},
    [OP_FRAME] = {"FRAME", true},
    [OP_BYTEARRAY8] = {"BYTEARRAY8", true},
    [0x97] = {"NEXT_BUFFER", false},
    [0x98] = {"READONLY_BUFFER", false},
};

const char *op_name(uint8_t op)
{
    return opcodes[op].name;
}

uint64_t here(const struct pickle *p)
{
    return cursor_offset(p->c) - p->start;
}

uint64_t bytes_left(const struct pickle *p)
{
    uint64_t at = here(p);
    return at < p->size ? p->size - at : 0;
}

static apl_status refuse_op(struct pickle *p, uint64_t at, uint8_t op, const char *format, va_list args)
{
    char reason[384];
    vsnprintf(reason, sizeof reason, format, args);
    if (!op_name(op))
        return fail(p->err, APL_E_SOURCE, "byte %" PRIu64 ": 0x%02x is not an opcode", at, op);
    return fail(p->err, APL_E_SOURCE, "byte %" PRIu64 ": opcode %s: %s", at, op_name(op), reason);
}

apl_status refuse(struct pickle *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    apl_status status = refuse_op(p, p->op_at, p->op, format, args);
    va_end(args);
    return status;
}

apl_status refuse_item(struct pickle *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    apl_status status = refuse_op(p, p->item_at, p->item_op, format, args);
    va_end(args);
    return status;
}

apl_status unexpected(struct pickle *p, const char *expected)
{
    if (!opcodes[p->op].accepted)
        return refuse(p, "not accepted");
    return refuse(p, "%s is expected here", expected);
}

apl_status unexpected_item(struct pickle *p, const char *expected)
{
    return refuse_item(p, "%s is expected here", expected);
}

apl_status ended(struct pickle *p)
{
    return fail(p->err, APL_E_SOURCE, "byte %" PRIu64 ": the pickle ends too early",
                here(p) + cursor_left(p->c));
}

/* A frame's header, which may stand before any opcode. Frames say nothing that is needed, and big values lie
 * between them. */
static apl_status skip_frame(struct pickle *p)
{
    if (p->protocol < 4)
        return refuse(p, "not in protocol %u", p->protocol);
    uint64_t size = cursor_u64(p->c);
    if (!cursor_ok(p->c))
        return ended(p);
    if (size > bytes_left(p))
        return refuse(p, "%" PRIu64 " bytes, but %" PRIu64 " are left", size, bytes_left(p));
    return APL_OK;
}

apl_status peek_op(struct pickle *p)
{
    for (;;) {
        const uint8_t *at = cursor_take(p->c, 1);
        if (!at)
            return ended(p);
        p->op = *at;
        p->op_at = here(p) - 1;
        if (p->op != OP_FRAME)
            break;
        TRY(skip_frame(p));
    }
    p->c->at--;
    return APL_OK;
}

void take_op(struct pickle *p)
{
    p->c->at++;
}

apl_status next_op(struct pickle *p)
{
    TRY(peek_op(p));
    take_op(p);
    return APL_OK;
}

apl_status expect_op(struct pickle *p, enum pickle_op op, const char *expected)
{
    TRY(next_op(p));
    return p->op == op ? APL_OK : unexpected(p, expected);
}

static apl_status remember(struct pickle *p, const struct memo *value)
{
    if (p->memo_put && p->memo_memoize)
        return refuse(p, "the pickle numbers its memo in two ways");
    if (p->memo_count == MAX_MEMO)
        return refuse(p, "the memo has more than %u entries", MAX_MEMO);
    buffer_put(&p->memo, value, sizeof *value);
    if (p->memo.failed)
        return fail_nomem(p->err);
    p->memo_count++;
    return APL_OK;
}

apl_status put_memo(struct pickle *p, struct memo value)
{
    TRY(peek_op(p));
    if (p->op == OP_MEMOIZE) {
        p->c->at++;
        p->memo_memoize = true;
        return remember(p, &value);
    }
    if (p->op != OP_BINPUT && p->op != OP_LONG_BINPUT)
        return APL_OK;
    p->c->at++;
    uint32_t number = (uint32_t)cursor_le(p->c, p->op == OP_BINPUT ? 1 : 4);
    if (!cursor_ok(p->c))
        return ended(p);
    if (p->memo_count == 0)
        p->memo_first = number == 1;
    if (number != p->memo_first + p->memo_count)
        return refuse(p, "memo number %" PRIu32 " where %zu is next", number, p->memo_first + p->memo_count);
    p->memo_put = true;
    return remember(p, &value);
}

apl_status put_other(struct pickle *p)
{
    return put_memo(p, (struct memo){.kind = MEMO_OTHER});
}

apl_status get_memo(struct pickle *p, struct memo *value)
{
    uint32_t number = (uint32_t)cursor_le(p->c, p->op == OP_BINGET ? 1 : 4);
    if (!cursor_ok(p->c))
        return ended(p);
    if (number < p->memo_first || number - p->memo_first >= p->memo_count)
        return refuse(p, "the memo has no number %" PRIu32, number);
    memcpy(value, p->memo.data + (number - p->memo_first) * sizeof *value, sizeof *value);
    return APL_OK;
}

apl_status make(struct pickle *p, enum pickle_op op, const char *expected)
{
    TRY(expect_op(p, op, expected));
    return put_other(p);
}

apl_status read_int(struct pickle *p, int64_t *value, const char *expected)
{
    TRY(next_op(p));
    switch (p->op) {
    case OP_BININT1:
        *value = cursor_u8(p->c);
        break;
    case OP_BININT2:
        *value = cursor_u16(p->c);
        break;
    case OP_BININT:
        *value = (int32_t)cursor_u32(p->c);
        break;
    default:
        return unexpected(p, expected);
    }
    return cursor_ok(p->c) ? APL_OK : ended(p);
}

apl_status read_this_int(struct pickle *p, int64_t value, const char *expected)
{
    int64_t found = 0;
    TRY(read_int(p, &found, expected));
    if (found != value)
        return refuse(p, "%" PRId64 " where %s is expected", found, expected);
    return put_other(p);
}

/* Texts of a pickle, and the names of constructors, which are made of them. */
#include "pickle_lex.h"

#include "utf8.h"

#define MAX_TEXT  4096        /* bytes of one text */
#define MAX_TEXTS (64u << 20) /* bytes of all texts */
#define MAX_NAME  64          /* bytes in the name of a module or of what is in it */

/* The only names that mean anything, with those of both generations of numpy. */
static const struct {
    const char *module, *name;
    enum pickle_global global;
} globals[] = {
    {"numpy.core.multiarray", "_reconstruct", GLOBAL_RECONSTRUCT},
    {"numpy._core.multiarray", "_reconstruct", GLOBAL_RECONSTRUCT},
    {"numpy.core._multiarray_umath", "_reconstruct", GLOBAL_RECONSTRUCT},
    {"numpy.core.numeric", "_frombuffer", GLOBAL_FROMBUFFER},
    {"numpy._core.numeric", "_frombuffer", GLOBAL_FROMBUFFER},
    {"numpy", "ndarray", GLOBAL_NDARRAY},
    {"numpy", "dtype", GLOBAL_DTYPE},
    {"_codecs", "encode", GLOBAL_ENCODE},
};

/* Bytes that the text opcode just taken says it has; -1 if it is no text opcode or the pickle has ended. */
static int64_t text_size(struct pickle *p)
{
    int64_t size = -1;
    switch (p->op) {
    case OP_SHORT_BINSTRING:
    case OP_SHORT_BINBYTES:
    case OP_SHORT_BINUNICODE:
        size = cursor_u8(p->c);
        break;
    case OP_BINSTRING:
        size = (int32_t)cursor_u32(p->c);
        if (cursor_ok(p->c) && size < 0)
            size = INT64_MAX;
        break;
    case OP_BINBYTES:
    case OP_BINUNICODE:
        size = cursor_u32(p->c);
        break;
    default:
        break;
    }
    return cursor_ok(p->c) ? size : -1;
}

static apl_status keep_text(struct pickle *p, const void *data, size_t size, struct text *text)
{
    if (size > MAX_TEXTS - p->texts.size)
        return refuse(p, "the texts have more than %u bytes in all", MAX_TEXTS);
    *text = (struct text){(uint32_t)p->texts.size, (uint32_t)size};
    buffer_put(&p->texts, data, size);
    return p->texts.failed ? fail_nomem(p->err) : APL_OK;
}

static apl_status read_literal(struct pickle *p, struct text *text, const char *expected)
{
    int64_t size = text_size(p);
    if (!cursor_ok(p->c))
        return ended(p);
    if (size < 0)
        return unexpected(p, expected);
    if (size > MAX_TEXT)
        return refuse(p, "%s is expected, but this has more than %d bytes", expected, MAX_TEXT);
    const uint8_t *data = cursor_take(p->c, (size_t)size);
    if (!data)
        return ended(p);
    if ((p->op == OP_BINUNICODE || p->op == OP_SHORT_BINUNICODE) && !utf8_valid(data, (size_t)size))
        return refuse(p, "the text is not UTF-8");
    return keep_text(p, data, (size_t)size, text);
}

/* A line of GLOBAL, without its end; false if it does not end within bounds. */
static bool read_line(struct pickle *p, char line[MAX_NAME + 1])
{
    for (size_t n = 0; n <= MAX_NAME; n++) {
        char c = (char)cursor_u8(p->c);
        if (!cursor_ok(p->c))
            return false;
        line[n] = (char)(c == '\n' ? 0 : c);
        if (line[n] == 0)
            return c == '\n';
    }
    line[MAX_NAME] = 0;
    return false;
}

static apl_status find_global(struct pickle *p, const char *module, const char *name,
                              enum pickle_global *global)
{
    for (size_t i = 0; i < sizeof globals / sizeof *globals; i++)
        if (strcmp(module, globals[i].module) == 0 && strcmp(name, globals[i].name) == 0) {
            *global = globals[i].global;
            return APL_OK;
        }
    char m[MAX_NAME * 2], n[MAX_NAME * 2];
    return refuse(p, "%s.%s is not a known constructor", printable(m, sizeof m, module, strlen(module)),
                  printable(n, sizeof n, name, strlen(name)));
}

static apl_status named_global(struct pickle *p, struct memo *item)
{
    char module[MAX_NAME + 1], name[MAX_NAME + 1];
    if (!read_line(p, module) || !read_line(p, name))
        return cursor_ok(p->c) ? refuse(p, "not a known constructor") : ended(p);
    item->kind = MEMO_GLOBAL;
    TRY(find_global(p, module, name, &item->global));
    return put_memo(p, *item);
}

apl_status read_item(struct pickle *p, struct memo *item, const char *expected)
{
    *item = (struct memo){.kind = MEMO_TEXT};
    TRY(next_op(p));
    p->item_at = p->op_at;
    p->item_op = p->op;
    switch (p->op) {
    case OP_GLOBAL:
        return named_global(p, item);
    case OP_BINGET:
    case OP_LONG_BINGET:
        TRY(get_memo(p, item));
        return item->kind == MEMO_OTHER ? unexpected(p, expected) : APL_OK;
    default:
        TRY(read_literal(p, &item->text, expected));
        return put_memo(p, *item);
    }
}

/* Copies a short text out; one that is longer than any name, or holds a NUL, becomes "". */
static const char *short_text(const struct pickle *p, struct text text, char out[MAX_NAME + 1])
{
    size_t size = text.size <= MAX_NAME ? text.size : 0;
    if (size && memchr(p->texts.data + text.at, 0, size))
        size = 0;
    if (size)
        memcpy(out, p->texts.data + text.at, size);
    out[size] = 0;
    return out;
}

apl_status global_of_item(struct pickle *p, struct memo item, enum pickle_global *global,
                          const char *expected)
{
    if (item.kind == MEMO_GLOBAL) {
        *global = item.global;
        return APL_OK;
    }
    struct memo second;
    TRY(read_item(p, &second, "the name of a constructor"));
    if (second.kind != MEMO_TEXT)
        return unexpected_item(p, "the name of a constructor");
    TRY(expect_op(p, OP_STACK_GLOBAL, expected));
    char module[MAX_NAME + 1], name[MAX_NAME + 1];
    TRY(find_global(p, short_text(p, item.text, module), short_text(p, second.text, name), global));
    return put_memo(p, (struct memo){.kind = MEMO_GLOBAL, .global = *global});
}

apl_status read_this_global(struct pickle *p, enum pickle_global global, const char *expected)
{
    struct memo item;
    enum pickle_global found = GLOBAL_ENCODE;
    TRY(read_item(p, &item, expected));
    TRY(global_of_item(p, item, &found, expected));
    return found == global ? APL_OK : unexpected_item(p, expected);
}

bool decode_latin1(const uint8_t *in, size_t size, uint8_t *lead, uint8_t *out, size_t *count)
{
    size_t n = 0;
    uint8_t first = *lead;
    for (size_t i = 0; i < size; i++) {
        uint8_t c = in[i];
        if (first) {
            if ((c & 0xc0) != 0x80)
                return false;
            out[n++] = (uint8_t)(first << 6 | (c & 0x3f));
            first = 0;
        } else if (c < 0x80) {
            out[n++] = c;
        } else if (c == 0xc2 || c == 0xc3) {
            first = c;
        } else {
            return false;
        }
    }
    *lead = first;
    *count = n;
    return true;
}

apl_status finish_encode(struct pickle *p)
{
    struct memo encoding;
    TRY(read_item(p, &encoding, "the encoding \"latin1\""));
    if (encoding.kind != MEMO_TEXT || !text_is(p, encoding.text, "latin1"))
        return unexpected_item(p, "the encoding \"latin1\"");
    TRY(make(p, OP_TUPLE2, "a tuple of two"));
    return expect_op(p, OP_REDUCE, "REDUCE");
}

/* The text in _codecs.encode(text, "latin1"), as bytes. */
static apl_status encoded_text(struct pickle *p, struct text *text)
{
    struct memo item;
    TRY(read_item(p, &item, "a text"));
    if (item.kind != MEMO_TEXT)
        return unexpected_item(p, "a text");
    uint8_t bytes[MAX_TEXT], lead = 0;
    size_t count = 0;
    if (item.text.size && !decode_latin1(p->texts.data + item.text.at, item.text.size, &lead, bytes, &count))
        lead = 1;
    if (lead)
        return refuse_item(p, "the text is not Latin-1");
    TRY(finish_encode(p));
    TRY(keep_text(p, bytes, count, text));
    return put_memo(p, (struct memo){.kind = MEMO_TEXT, .text = *text});
}

apl_status read_text(struct pickle *p, struct text *text, const char *expected)
{
    struct memo item;
    TRY(read_item(p, &item, expected));
    *text = item.text;
    if (item.kind == MEMO_TEXT && !text_is(p, item.text, "_codecs"))
        return APL_OK;
    enum pickle_global global = GLOBAL_ENCODE;
    TRY(global_of_item(p, item, &global, expected));
    if (global != GLOBAL_ENCODE)
        return unexpected_item(p, expected);
    return encoded_text(p, text);
}

apl_status read_this_text(struct pickle *p, const char *value, const char *expected)
{
    struct text text;
    TRY(read_text(p, &text, expected));
    if (text_is(p, text, value))
        return APL_OK;
    char found[MAX_NAME + 1], safe[MAX_NAME * 2];
    short_text(p, text, found);
    return refuse_item(p, "'%s' where %s is expected", printable(safe, sizeof safe, found, strlen(found)),
                       expected);
}

bool text_is(const struct pickle *p, struct text text, const char *value)
{
    size_t size = strlen(value);
    return text.size == size && memcmp(p->texts.data + text.at, value, size) == 0;
}

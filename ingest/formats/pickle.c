/* The pickle as a whole: a dict of known keys, and what its values are. */
#include "pickle.h"
#include "pickle_lex.h"

#include "utf8.h"

#include <inttypes.h>

#define MAX_LIST 1000000 /* elements */

struct pickle *pickle_new(void)
{
    struct pickle *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->scratch = malloc((size_t)PICKLE_STRIP * PICKLE_COLUMNS);
    if (!p->scratch) {
        free(p);
        return NULL;
    }
    return p;
}

void pickle_free(struct pickle *p)
{
    if (!p)
        return;
    buffer_free(&p->memo);
    buffer_free(&p->texts);
    for (int k = 0; k < PICKLE_KEYS; k++)
        buffer_free(&p->list[k]);
    free(p->held);
    free(p->scratch);
    free(p);
}

static void empty(struct buffer *b)
{
    b->size = 0;
    b->failed = false;
}

/* Forgets the pickle before, but keeps its memory. */
static void reset(struct pickle *p)
{
    empty(&p->memo);
    empty(&p->texts);
    for (int k = 0; k < PICKLE_KEYS; k++)
        empty(&p->list[k]);
    p->memo_count = 0;
    p->memo_first = 0;
    p->memo_put = p->memo_memoize = false;
    p->seen = 0;
    p->have_ahead = false;
    p->rows = 0;
    p->is_held = p->is_fortran = false;
    p->op = 0;
    p->op_at = 0;
    p->protocol = 0;
}

static apl_status read_label(struct pickle *p, enum pickle_key key)
{
    int64_t label;
    TRY(read_int(p, &label, "an int"));
    if (pickle_count(p, key) == MAX_LIST)
        return refuse(p, "%s has more than %d entries", pickle_keys[key].name, MAX_LIST);
    if (label < 0 || label >= pickle_keys[key].below)
        return refuse(p, "label %" PRId64 " of row %zu is not below %u", label, pickle_count(p, key),
                      pickle_keys[key].below);
    uint8_t byte = (uint8_t)label;
    buffer_put(&p->list[key], &byte, 1);
    if (p->list[key].failed)
        return fail_nomem(p->err);
    return put_other(p);
}

static apl_status open_list(struct pickle *p, enum pickle_key key, const char *elements)
{
    TRY(next_op(p));
    if (p->op != OP_EMPTY_LIST)
        return op_name(p->op) ? refuse(p, "%s must be a list of %s", pickle_keys[key].name, elements)
                              : unexpected(p, "a list");
    return put_other(p);
}

static bool is_int(uint8_t op)
{
    return op == OP_BININT1 || op == OP_BININT2 || op == OP_BININT;
}

static apl_status read_labels(struct pickle *p, enum pickle_key key)
{
    TRY(open_list(p, key, "int"));
    for (;;) {
        TRY(peek_op(p));
        if (p->op == OP_MARK) {
            take_op(p);
            do {
                TRY(read_label(p, key));
                TRY(peek_op(p));
            } while (p->op != OP_APPENDS);
            take_op(p);
        } else if (is_int(p->op)) {
            TRY(read_label(p, key));
            TRY(expect_op(p, OP_APPEND, "APPEND"));
        } else {
            return APL_OK;
        }
    }
}

static apl_status keep_in_list(struct pickle *p, enum pickle_key key, struct text text)
{
    if (pickle_count(p, key) == MAX_LIST)
        return refuse_item(p, "%s has more than %d entries", pickle_keys[key].name, MAX_LIST);
    if (!utf8_valid(p->texts.data + text.at, text.size))
        return refuse_item(p, "entry %zu of %s is not UTF-8", pickle_count(p, key), pickle_keys[key].name);
    buffer_put(&p->list[key], &text, sizeof text);
    return p->list[key].failed ? fail_nomem(p->err) : APL_OK;
}

static apl_status read_text_group(struct pickle *p, enum pickle_key key)
{
    struct text text;
    take_op(p);
    do {
        TRY(read_text(p, &text, "a text"));
        TRY(keep_in_list(p, key, text));
        TRY(peek_op(p));
    } while (p->op != OP_APPENDS);
    take_op(p);
    return APL_OK;
}

/* Does the opcode end the entries of a dict? */
static bool ends_entry(uint8_t op)
{
    return op == OP_SETITEM || op == OP_SETITEMS;
}

/* Behind a list a text is one more element if APPEND follows it, and else the next key, read ahead. */
static apl_status read_texts(struct pickle *p, enum pickle_key key)
{
    TRY(open_list(p, key, "texts"));
    for (;;) {
        TRY(peek_op(p));
        if (ends_entry(p->op))
            return APL_OK;
        if (p->op == OP_MARK) {
            TRY(read_text_group(p, key));
            continue;
        }
        struct text text;
        uint64_t at = p->op_at;
        TRY(read_text(p, &text, "a text"));
        TRY(peek_op(p));
        if (p->op != OP_APPEND) {
            p->have_ahead = true;
            p->ahead = text;
            p->ahead_at = at;
            return APL_OK;
        }
        take_op(p);
        TRY(keep_in_list(p, key, text));
    }
}

static apl_status read_number(struct pickle *p, enum pickle_key key)
{
    int64_t number;
    TRY(read_int(p, &number, "an int"));
    if (number < 0 || (key == KEY_NUM_VIS && number != PICKLE_COLUMNS))
        return refuse(p, "%s is %" PRId64, pickle_keys[key].name, number);
    return put_other(p);
}

static apl_status read_value(struct pickle *p, enum pickle_key key)
{
    struct text text;
    switch (pickle_keys[key].kind) {
    case VALUE_ARRAY:
        return read_array(p);
    case VALUE_LABELS:
        return read_labels(p, key);
    case VALUE_TEXTS:
        return read_texts(p, key);
    case VALUE_TEXT:
        return read_text(p, &text, "a text");
    case VALUE_INT:
    default:
        return read_number(p, key);
    }
}

static apl_status bad_key(struct pickle *p, uint64_t at, struct text text, const char *why)
{
    char safe[128];
    printable(safe, sizeof safe, text.size ? (const char *)p->texts.data + text.at : "", text.size);
    return fail(p->err, APL_E_SOURCE, "byte %" PRIu64 ": key '%s' %s %s", at, safe, why, p->rules->what);
}

static apl_status find_key(struct pickle *p, uint64_t at, struct text text, enum pickle_key *key)
{
    for (int k = 0; k < PICKLE_KEYS; k++) {
        if (!text_is(p, text, pickle_keys[k].name))
            continue;
        if (p->seen >> k & 1)
            return bad_key(p, at, text, "stands twice in");
        if (!(p->rules->allowed >> k & 1))
            return bad_key(p, at, text, "does not belong in");
        *key = (enum pickle_key)k;
        return APL_OK;
    }
    return bad_key(p, at, text, "does not belong in");
}

static apl_status read_entry(struct pickle *p)
{
    struct text text = p->ahead;
    uint64_t at = p->ahead_at;
    if (!p->have_ahead) {
        TRY(peek_op(p));
        at = p->op_at;
        TRY(read_text(p, &text, "a key"));
    }
    p->have_ahead = false;
    enum pickle_key key = KEY_DATA;
    TRY(find_key(p, at, text, &key));
    TRY(read_value(p, key));
    p->seen |= 1u << key;
    return APL_OK;
}

/* A dict's entries, all at once or one by one, up to STOP. */
static apl_status read_entries(struct pickle *p)
{
    do {
        TRY(peek_op(p));
        if (p->op == OP_MARK) {
            take_op(p);
            do {
                TRY(read_entry(p));
                TRY(peek_op(p));
            } while (p->have_ahead || p->op != OP_SETITEMS);
            take_op(p);
        } else {
            TRY(read_entry(p));
            TRY(next_op(p));
            if (p->have_ahead || p->op != OP_SETITEM)
                return unexpected(p, "SETITEM");
        }
        TRY(peek_op(p));
    } while (p->op != OP_STOP);
    take_op(p);
    return APL_OK;
}

static apl_status read_head(struct pickle *p)
{
    const uint8_t *at = cursor_take(p->c, 1);
    if (!at)
        return ended(p);
    /* How a dict begins without PROTO: MARK (protocol 0) or EMPTY_DICT (protocol 1). */
    if (*at == OP_MARK || *at == OP_EMPTY_DICT)
        return fail(p->err, APL_E_SOURCE,
                    "byte 0: ASCII or protocol-1 pickle; save it again with protocol 2 or higher");
    if (*at != OP_PROTO)
        return fail(p->err, APL_E_SOURCE, "byte 0: 0x%02x does not begin a pickle", *at);
    p->protocol = cursor_u8(p->c);
    if (!cursor_ok(p->c))
        return ended(p);
    if (p->protocol < 2)
        return fail(p->err, APL_E_SOURCE,
                    "byte 1: ASCII or protocol-1 pickle; save it again with protocol 2 or higher");
    if (p->protocol > 5)
        return fail(p->err, APL_E_SOURCE, "byte 1: protocol %u is not known (2 to 5 are)", p->protocol);
    return make(p, OP_EMPTY_DICT, "a dict");
}

static apl_status read_tail(struct pickle *p)
{
    if (bytes_left(p))
        return fail(p->err, APL_E_SOURCE, "byte %" PRIu64 ": %" PRIu64 " bytes after the end of the pickle",
                    here(p), bytes_left(p));
    for (int k = 0; k < PICKLE_KEYS; k++)
        if (p->rules->required & ~p->seen & 1u << k)
            return fail(p->err, APL_E_SOURCE, "byte %" PRIu64 ": the pickle ends without the key '%s'",
                        p->op_at, pickle_keys[k].name);
    if (!pickle_has(p, KEY_DATA))
        return APL_OK;
    TRY(check_counts(p));
    return p->is_held ? emit_held(p) : APL_OK;
}

apl_status pickle_read(struct pickle *p, struct cursor *c, uint64_t size, const struct pickle_rules *rules,
                       const struct pickle_rows *rows, apl_error *err)
{
    reset(p);
    p->c = c;
    p->start = cursor_offset(c);
    p->size = size;
    p->rules = rules;
    p->sink = rows;
    p->err = err;
    TRY(read_head(p));
    TRY(read_entries(p));
    return read_tail(p);
}

/* The array of a pickle: its constructors, its shape and its bytes. */
#include "pickle_lex.h"

#include <inttypes.h>

/* The bytes of an array in the pickle. */
struct payload {
    uint64_t left; /* bytes of the pickle not read yet */
    bool latin1;   /* each byte is a Latin-1 character in UTF-8 */
    uint8_t lead;  /* the first half of a character whose second has not come yet */
};

static apl_status check_row_count(struct pickle *p, int64_t rows)
{
    uint64_t published = p->rules->rows;
    if (rows < 1)
        return refuse(p, "data has %" PRId64 " rows", rows);
    if ((uint64_t)rows > published)
        return refuse(p, "data has %" PRId64 " rows, more than %" PRIu64, rows, published);
    if ((uint64_t)rows < published && !p->rules->partial)
        return fail(p->err, APL_E_INCOMPLETE, "byte %" PRIu64 ": data has %" PRId64 " of %" PRIu64 " rows",
                    p->op_at, rows, published);
    p->rows = (uint64_t)rows;
    return APL_OK;
}

static apl_status read_shape(struct pickle *p)
{
    int64_t rows;
    TRY(read_int(p, &rows, "the number of rows"));
    if (p->rows && (uint64_t)rows != p->rows)
        return refuse(p, "data is said to have %" PRId64 " rows, but has bytes for %" PRIu64, rows, p->rows);
    if (!p->rows)
        TRY(check_row_count(p, rows));
    TRY(put_other(p));
    TRY(read_this_int(p, PICKLE_COLUMNS, "3072 columns"));
    return make(p, OP_TUPLE2, "a shape of two numbers");
}

/* A bool, which may also be written as an int where ints_too. */
static apl_status read_bool(struct pickle *p, bool ints_too, bool *value)
{
    TRY(peek_op(p));
    int64_t number = 0;
    if (p->op == OP_NEWTRUE || p->op == OP_NEWFALSE) {
        number = p->op == OP_NEWTRUE;
        take_op(p);
    } else if (ints_too) {
        TRY(read_int(p, &number, "0 or 1"));
    } else {
        return unexpected(p, "a bool");
    }
    if (number != 0 && number != 1)
        return refuse(p, "0 or 1 is expected here");
    *value = number == 1;
    return put_other(p);
}

/* numpy.dtype("u1", False, True), with the state it is given. */
static apl_status read_dtype(struct pickle *p)
{
    bool align = true, copy = false;
    TRY(read_this_global(p, GLOBAL_DTYPE, "a dtype"));
    TRY(read_this_text(p, "u1", "dtype 'u1' (unsigned bytes)"));
    TRY(read_bool(p, true, &align));
    TRY(read_bool(p, true, &copy));
    if (align || !copy)
        return refuse(p, "numpy.dtype(\"u1\", False, True) is expected here");
    TRY(make(p, OP_TUPLE3, "a tuple of three"));
    TRY(make(p, OP_REDUCE, "REDUCE"));
    TRY(expect_op(p, OP_MARK, "the state of the dtype"));
    TRY(read_this_int(p, 3, "version 3"));
    TRY(read_this_text(p, "|", "byte order '|'"));
    for (int i = 0; i < 3; i++)
        TRY(make(p, OP_NONE, "None"));
    TRY(read_this_int(p, -1, "-1"));
    TRY(read_this_int(p, -1, "-1"));
    TRY(read_this_int(p, 0, "0"));
    TRY(make(p, OP_TUPLE, "the end of the dtype's state"));
    return make(p, OP_BUILD, "BUILD");
}

/* The head of bytes as they are; payload->latin1 where another form begins instead. */
static apl_status open_bytes(struct pickle *p, struct payload *payload)
{
    take_op(p);
    switch (p->op) {
    case OP_BINSTRING: {
        int32_t size = (int32_t)cursor_u32(p->c);
        if (size < 0)
            return refuse(p, "its size is negative");
        payload->left = (uint64_t)size;
        break;
    }
    case OP_SHORT_BINBYTES:
        payload->left = cursor_u8(p->c);
        break;
    case OP_BINBYTES:
        payload->left = cursor_u32(p->c);
        break;
    case OP_BYTEARRAY8:
        payload->left = cursor_u64(p->c);
        break;
    default:
        return unexpected(p, "a string of bytes");
    }
    return cursor_ok(p->c) ? APL_OK : ended(p);
}

/* The head of _codecs.encode(text, "latin1"), up to the text. */
static apl_status open_encoded(struct pickle *p, struct payload *payload)
{
    payload->latin1 = true;
    TRY(read_this_global(p, GLOBAL_ENCODE, "a string of bytes"));
    TRY(expect_op(p, OP_BINUNICODE, "a string of bytes"));
    payload->left = cursor_u32(p->c);
    return cursor_ok(p->c) ? APL_OK : ended(p);
}

static apl_status open_payload(struct pickle *p, struct payload *payload)
{
    *payload = (struct payload){0};
    TRY(peek_op(p));
    switch (p->op) {
    case OP_GLOBAL:
    case OP_BINGET:
    case OP_LONG_BINGET:
    case OP_SHORT_BINUNICODE:
    case OP_BINUNICODE:
        TRY(open_encoded(p, payload));
        break;
    default:
        TRY(open_bytes(p, payload));
    }
    if (payload->left > bytes_left(p))
        return refuse(p, "%" PRIu64 " bytes, but %" PRIu64 " are left", payload->left, bytes_left(p));
    return APL_OK;
}

/* Is the payload as big as the rows need? Of Latin-1 in UTF-8, could it be? */
static apl_status check_payload(struct pickle *p, const struct payload *payload)
{
    uint64_t need = p->rows * PICKLE_COLUMNS, have = payload->left;
    if (have == need || (payload->latin1 && have > need && have <= 2 * need))
        return APL_OK;
    return refuse(p, "%" PRIu64 " bytes, but %s %" PRIu64, have, number_of(p->rows, "row needs", "rows need"),
                  need);
}

static apl_status close_payload(struct pickle *p, const struct payload *payload)
{
    /* No half of a character is left: a chunk that ends with one leaves bytes of the array to come. */
    if (payload->left)
        return refuse(p, "more bytes than %s", number_of(p->rows, "row needs", "rows need"));
    if (payload->latin1) {
        TRY(put_other(p));
        TRY(finish_encode(p));
    }
    return put_other(p);
}

/* Some bytes of the payload, 1 ... at_most, wherever the cursor has them; NULL at its end. */
static const uint8_t *take_some(struct pickle *p, struct payload *payload, size_t at_most, size_t *count)
{
    if (cursor_left(p->c) == 0) {
        if (!cursor_take(p->c, 1))
            return NULL;
        p->c->at--;
    }
    *count = at_most < cursor_left(p->c) ? at_most : cursor_left(p->c);
    if (payload->left < *count)
        *count = (size_t)payload->left;
    payload->left -= *count;
    return cursor_take(p->c, *count);
}

/* The next `size` bytes of the array, copied to out. */
static apl_status copy_bytes(struct pickle *p, struct payload *payload, uint8_t *out, size_t size)
{
    while (size) {
        size_t count;
        if (payload->left == 0)
            return refuse(p, "fewer bytes than %s", number_of(p->rows, "row needs", "rows need"));
        const uint8_t *in = take_some(p, payload, size, &count);
        if (!in)
            return ended(p);
        if (!payload->latin1)
            memcpy(out, in, count);
        else if (!decode_latin1(in, count, &payload->lead, out, &count))
            return refuse(p, "the array's bytes are not Latin-1");
        out += count;
        size -= count;
    }
    return APL_OK;
}

static apl_status hold_rows(struct pickle *p, struct payload *payload)
{
    size_t size = (size_t)p->rows * PICKLE_COLUMNS;
    if (p->held_capacity < size) {
        free(p->held);
        p->held_capacity = 0;
        p->held = malloc(size);
        if (!p->held)
            return fail_nomem(p->err);
        p->held_capacity = size;
    }
    p->is_held = true;
    return copy_bytes(p, payload, p->held, size);
}

static apl_status stream_rows(struct pickle *p, struct payload *payload)
{
    const struct pickle_rows *sink = p->sink;
    TRY(check_counts(p));
    TRY(sink->begin(sink->user, p->rows, p->err));
    for (uint64_t row = 0; row < p->rows; row++) {
        const uint8_t *pixels = p->scratch;
        if (payload->latin1) {
            TRY(copy_bytes(p, payload, p->scratch, PICKLE_COLUMNS));
        } else {
            pixels = cursor_take(p->c, PICKLE_COLUMNS);
            if (!pixels)
                return ended(p);
            payload->left -= PICKLE_COLUMNS;
        }
        TRY(sink->row(sink->user, row, pixels, p->err));
    }
    return APL_OK;
}

/* Are labels and names known, so that rows need not wait? */
static bool rows_can_go(const struct pickle *p)
{
    uint32_t needed = p->rules->allowed & PER_ROW;
    return (p->seen & needed) == needed;
}

/* _reconstruct(ndarray, (0,), "b"), given the state (1, shape, dtype, by columns?, bytes). */
static apl_status reconstruct(struct pickle *p)
{
    struct payload payload;
    TRY(read_this_global(p, GLOBAL_NDARRAY, "numpy.ndarray"));
    TRY(read_this_int(p, 0, "0"));
    TRY(make(p, OP_TUPLE1, "a tuple of one"));
    TRY(read_this_text(p, "b", "'b'"));
    TRY(make(p, OP_TUPLE3, "a tuple of three"));
    TRY(make(p, OP_REDUCE, "REDUCE"));
    TRY(expect_op(p, OP_MARK, "the state of the array"));
    TRY(read_this_int(p, 1, "version 1"));
    TRY(read_shape(p));
    TRY(read_dtype(p));
    TRY(read_bool(p, false, &p->is_fortran));
    TRY(open_payload(p, &payload));
    if (p->op == OP_BYTEARRAY8) /* which _frombuffer() takes, and numpy.ndarray does not */
        return refuse(p, "the array's bytes must be bytes, not a bytearray");
    TRY(check_payload(p, &payload));
    if (!p->is_fortran && rows_can_go(p))
        TRY(stream_rows(p, &payload));
    else
        TRY(hold_rows(p, &payload));
    TRY(close_payload(p, &payload));
    TRY(make(p, OP_TUPLE, "the end of the array's state"));
    return make(p, OP_BUILD, "BUILD");
}

/* _frombuffer(bytes, dtype, shape, "C" or "F"). What the bytes mean is said after them, so they are held. */
static apl_status frombuffer(struct pickle *p)
{
    struct payload payload;
    struct text order;
    TRY(expect_op(p, OP_MARK, "the arguments of _frombuffer"));
    TRY(open_payload(p, &payload));
    if (payload.latin1)
        return unexpected(p, "a string of bytes");
    uint64_t rows = payload.left / PICKLE_COLUMNS;
    TRY(check_row_count(p, (int64_t)rows));
    TRY(check_payload(p, &payload));
    TRY(hold_rows(p, &payload));
    TRY(close_payload(p, &payload));
    TRY(read_dtype(p));
    TRY(read_shape(p));
    TRY(read_text(p, &order, "\"C\" or \"F\""));
    p->is_fortran = text_is(p, order, "F");
    if (!p->is_fortran && !text_is(p, order, "C"))
        return unexpected_item(p, "\"C\" or \"F\"");
    TRY(make(p, OP_TUPLE, "the end of the arguments of _frombuffer"));
    return make(p, OP_REDUCE, "REDUCE");
}

apl_status read_array(struct pickle *p)
{
    struct memo item;
    enum pickle_global global;
    TRY(read_item(p, &item, "an array"));
    TRY(global_of_item(p, item, &global, "an array"));
    switch (global) {
    case GLOBAL_RECONSTRUCT:
        return reconstruct(p);
    case GLOBAL_FROMBUFFER:
        return frombuffer(p);
    default:
        return unexpected_item(p, "an array");
    }
}

/* Rows first ... first+count-1 of an array that lies by columns, one after another to p->scratch. */
static void gather_columns(struct pickle *p, uint64_t first, uint64_t count)
{
    for (size_t column = 0; column < PICKLE_COLUMNS; column++) {
        const uint8_t *in = p->held + column * p->rows + first;
        uint8_t *out = p->scratch + column;
        for (uint64_t i = 0; i < count; i++)
            out[i * PICKLE_COLUMNS] = in[i];
    }
}

apl_status emit_held(struct pickle *p)
{
    const struct pickle_rows *sink = p->sink;
    TRY(sink->begin(sink->user, p->rows, p->err));
    for (uint64_t first = 0; first < p->rows; first += PICKLE_STRIP) {
        uint64_t count = p->rows - first < PICKLE_STRIP ? p->rows - first : PICKLE_STRIP;
        const uint8_t *rows = p->held + first * PICKLE_COLUMNS;
        if (p->is_fortran) {
            gather_columns(p, first, count);
            rows = p->scratch;
        }
        for (uint64_t i = 0; i < count; i++)
            TRY(sink->row(sink->user, first + i, rows + i * PICKLE_COLUMNS, p->err));
    }
    return APL_OK;
}

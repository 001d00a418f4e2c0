/* What a column is: see column.h. */
#include "column.h"

#include "cell.h"
#include "field_name.h"
#include "image_kind.h"
#include "text_list.h"
#include "wds_number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* ------------------------------------------------------------------------------------------------ counting */

static void take_list_cell(struct column *c, const struct cell *cell)
{
    if (!c->any_list) {
        c->length = cell->count;
        c->all_whole = true;
    }
    c->lengths_vary |= cell->count != c->length;
    c->all_whole &= cell->all_whole;
    if (cell->count > 0) { /* an empty one says nothing of inner ones */
        c->inner_varies |= c->any_filled && c->inner != cell->inner;
        c->inner = cell->inner;
        c->any_filled = true;
    }
    c->any_list = true;
}

static void take_text_cell(struct column *c, const struct cell *cell, const char *file)
{
    if (c->kinds[CELL_TEXT] > 1)
        return;
    c->first_file = file;
    printable(c->first_text, sizeof c->first_text, cell->text, cell->length);
}

/* Lists and objects have a text, but that is no name: it would be a class of its own. */
static bool is_nested(const struct cell *cell)
{
    return cell->nested || cell->kind == CELL_LIST;
}

static void note_first(uint64_t *first_row, const char **first_file, uint64_t row, const char *file)
{
    if (*first_row)
        return;
    *first_row = row;
    *first_file = file;
}

static apl_status count_name(struct column *c, const struct cell *cell, const char *file, uint64_t row,
                             apl_error *err)
{
    if (cell->length == 0)
        return APL_OK;
    if (is_nested(cell)) {
        note_first(&c->nested_row, &c->nested_file, row, file);
        return APL_OK;
    }
    if (!is_name(cell->text, cell->length)) {
        note_first(&c->unnamed_row, &c->unnamed_file, row, file);
        return APL_OK;
    }
    apl_status status = name_set_add(c->names, cell->text, cell->length, err);
    if (status != APL_E_UNSUPPORTED)
        return status;
    name_set_free(c->names);
    c->names = NULL;
    return APL_OK;
}

apl_status column_take(struct column *c, const struct cell *cell, const char *file, uint64_t row,
                       apl_error *err)
{
    if (cell->kind == CELL_LIST)
        take_list_cell(c, cell);
    if (c->kinds[cell->kind]++ == 0)
        c->first_row[cell->kind] = row;
    if (cell->kind == CELL_TEXT)
        take_text_cell(c, cell, file);
    if (cell->length == 0)
        note_first(&c->empty_row, &c->empty_file, row, file);
    if (cell->kind == CELL_WHOLE) {
        c->least = c->kinds[CELL_WHOLE] == 1 || cell->whole < c->least ? cell->whole : c->least;
        c->most = c->kinds[CELL_WHOLE] == 1 || cell->whole > c->most ? cell->whole : c->most;
    }
    if (cell->kind == CELL_WHOLE || cell->kind == CELL_LIST)
        c->inexact |= !cell->exact;
    c->images += cell->kind == CELL_TEXT && image_name(cell->text);
    split_cells_take(&c->splits, cell, file, row);
    return c->names ? count_name(c, cell, file, row, err) : APL_OK;
}

/* ------------------------------------------------------------------------------------------------ deciding */

static void decide(struct column *c, apl_dtype dtype, unsigned ndim, int64_t first, int64_t second)
{
    c->dtype = dtype;
    c->ndim = ndim;
    c->shape[0] = first;
    c->shape[1] = second;
}

bool column_give(struct column *c, const char *type)
{
    for (unsigned d = APL_U8; d <= APL_UTF8; d++) {
        const char *name = apl_dtype_name((apl_dtype)d);
        size_t length = strlen(name);
        int used = 0;
        long long first = 0, second = 0;
        if (strncmp(type, name, length) != 0)
            continue;
        const char *rest = type + length;
        c->given = true;
        if (!*rest && d != APL_F16 && d != APL_BF16) {
            decide(c, (apl_dtype)d, d == APL_UTF8, -1, 0);
            return true;
        }
        bool two = sscanf(rest, "[%lld,%lld]%n", &first, &second, &used) == 2 && used > 0 && !rest[used];
        if (!two && !(sscanf(rest, "[%lld]%n", &first, &used) == 1 && used > 0 && !rest[used]))
            continue;
        if (d == APL_UTF8 || d == APL_F16 || d == APL_BF16 || d == APL_BOOL || first == 0 || first < -1 ||
            first > INT32_MAX || (two && (second < 1 || second > INT32_MAX)))
            return false;
        decide(c, (apl_dtype)d, two ? 2 : 1, first, second);
        return true;
    }
    return false;
}

static bool only(const struct column *c, unsigned kinds)
{
    bool any = false;
    for (unsigned k = 0; k < CELL_KINDS; k++) {
        if (c->kinds[k] && !(kinds >> k & 1))
            return false;
        any |= c->kinds[k] && k != CELL_NONE;
    }
    return any;
}

#define BIT(kind) (1u << (kind))

void column_decide(struct column *c)
{
    if (c->given)
        return;
    if (only(c, BIT(CELL_BOOL)))
        decide(c, APL_BOOL, 0, 0, 0);
    else if (only(c, BIT(CELL_WHOLE)))
        decide(c, APL_I64, 0, 0, 0);
    else if (only(c, BIT(CELL_WHOLE) | BIT(CELL_REAL) | BIT(CELL_NONE)) && !c->inexact)
        decide(c, APL_F64, 0, 0, 0);
    else if (only(c, BIT(CELL_LIST) | BIT(CELL_NONE)) && !c->inner_varies && (c->all_whole || !c->inexact)) {
        bool fixed = !c->lengths_vary && !c->kinds[CELL_NONE] && c->length > 0 && c->length <= INT32_MAX;
        bool nested = c->inner > 0;
        decide(c,
               c->single      ? APL_F32
               : c->all_whole ? APL_I64
                              : APL_F64,
               nested ? 2 : 1, fixed ? (int64_t)c->length : -1, nested ? c->inner : 0);
    } else
        decide(c, APL_UTF8, c->texts ? 2 : 1, -1, -1);
}

static apl_status check_labels(const struct column *c, const char **file, apl_error *err)
{
    *file = c->nested_row ? c->nested_file : c->empty_row ? c->empty_file : c->unnamed_file;
    if (c->nested_row)
        return fail(err, APL_E_SOURCE,
                    "the label in row %" PRIu64 " is a list or an object, and a class has one name: --type "
                    "%s=utf8 keeps such labels as text; several labels of a record can be a list of numbers",
                    c->nested_row, c->name);
    if (c->empty_row)
        return fail(err, APL_E_SOURCE, "the label in row %" PRIu64 " is empty", c->empty_row);
    return fail(err, APL_E_SOURCE,
                "the label in row %" PRIu64
                " is not a valid class name: it has 1 to %d bytes of printable UTF-8",
                c->unnamed_row, APL_MAX_NAME);
}

apl_status column_decide_label(struct column *c, bool skip, const char **file, apl_error *err)
{
    size_t count;
    if (c->given)
        return APL_OK;
    column_decide(c);
    if (only(c, BIT(CELL_WHOLE)) && c->least >= 0 && c->most <= UINT32_MAX) {
        c->dtype = c->most <= UINT8_MAX ? APL_U8 : c->most <= UINT16_MAX ? APL_U16 : APL_U32;
        return APL_OK;
    }
    if (c->dtype != APL_UTF8)
        return APL_OK;
    if (c->names) {
        TRY(name_set_sort(c->names, err));
        name_set_names(c->names, &count);
    }
    bool bad = c->nested_row || c->empty_row || c->unnamed_row;
    if (bad && (!skip || (c->names && count == 0)))
        return check_labels(c, file, err);
    if (!c->names)
        return fail(err, APL_E_UNSUPPORTED, "the labels have more than a million names");
    decide(c, count <= 256 ? APL_U8 : count <= 65536 ? APL_U16 : APL_U32, 0, 0, 0);
    c->classes = true;
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------- values */

static apl_status unfit(const struct column *c, const struct cell *cell, apl_error *err)
{
    char shown[64];
    printable(shown, sizeof shown, cell->text, cell->length);
    if (cell->kind == CELL_NONE)
        return fail(err, APL_E_SOURCE, "is empty, and %s is needed%s", apl_dtype_name(c->dtype),
                    c->dtype == APL_BOOL ? "" : ": f64 stores NaN for it");
    return fail(err, APL_E_SOURCE, "'%s' is not a valid %s", shown, apl_dtype_name(c->dtype));
}

static bool whole_range(apl_dtype dtype, int64_t *least, int64_t *most)
{
    static const struct {
        int64_t least, most;
    } ranges[] = {[APL_U8] = {0, UINT8_MAX},   [APL_I8] = {INT8_MIN, INT8_MAX},
                  [APL_U16] = {0, UINT16_MAX}, [APL_I16] = {INT16_MIN, INT16_MAX},
                  [APL_U32] = {0, UINT32_MAX}, [APL_I32] = {INT32_MIN, INT32_MAX},
                  [APL_U64] = {0, INT64_MAX},  [APL_I64] = {INT64_MIN, INT64_MAX},
                  [APL_BOOL] = {0, 1}};
    if (dtype >= APL_F16 && dtype <= APL_F64)
        return false;
    *least = ranges[dtype].least;
    *most = ranges[dtype].most;
    return true;
}

/* One number as the column has them; false: it does not fit. */
static bool put_as(const struct column *c, bool is_whole, int64_t whole, double real, struct buffer *out)
{
    int64_t least, most;
    uint8_t bytes[8];
    size_t size = apl_dtype_size(c->dtype);
    if (whole_range(c->dtype, &least, &most)) {
        if (!is_whole || whole < least || whole > most)
            return false;
        store_le(bytes, (uint64_t)whole, (unsigned)size);
    } else if (c->dtype == APL_F64)
        memcpy(bytes, &real, size);
    else if (c->dtype == APL_F32) {
        const float narrow = (float)real;
        if (isinf(narrow) && !isinf(real))
            return false;
        memcpy(bytes, &narrow, size);
    } else
        return false;
    buffer_put(out, bytes, size);
    return true;
}

/* A number that is text where types are told from the cells: with leading zeros, blanks around it, or beyond i64. */
static bool put_spelled(const struct column *c, const struct cell *cell, struct buffer *out)
{
    bool negative;
    uint64_t magnitude;
    uint8_t bytes[8];
    double real;
    if (cell->kind != CELL_TEXT || c->dtype == APL_BOOL)
        return false;
    if (c->dtype == APL_F32 || c->dtype == APL_F64)
        return cell_decimal(cell->text, cell->length, &real) && put_as(c, false, 0, real, out);
    if (!wds_whole((const uint8_t *)cell->text, cell->length, &negative, &magnitude) ||
        !wds_number_fits(c->dtype, negative, magnitude))
        return false;
    store_le(bytes, negative ? 0 - magnitude : magnitude, 8);
    buffer_put(out, bytes, apl_dtype_size(c->dtype));
    return true;
}

static apl_status put_scalar(const struct column *c, const struct cell *cell, struct buffer *out,
                             apl_error *err)
{
    bool whole = cell->kind == CELL_WHOLE || (cell->kind == CELL_BOOL && c->dtype == APL_BOOL);
    bool missing = cell->kind == CELL_NONE && (c->dtype == APL_F32 || c->dtype == APL_F64);
    if (!whole && !missing && cell->kind != CELL_REAL)
        return put_spelled(c, cell, out) ? APL_OK : unfit(c, cell, err);
    return put_as(c, whole, cell->whole, missing ? NAN : cell->real, out) ? APL_OK : unfit(c, cell, err);
}

static apl_status put_list(const struct column *c, const struct cell *cell, struct buffer *out,
                           int64_t shape[2], apl_error *err)
{
    uint64_t count = cell->kind == CELL_LIST ? cell->count : 0;
    bool fits = cell->kind == CELL_LIST || cell->kind == CELL_NONE;
    if (!fits || (c->shape[0] >= 0 && count != (uint64_t)c->shape[0]) ||
        (count > 0 && cell->inner != (c->ndim == 2 ? (uint64_t)c->shape[1] : 0)))
        return fail(err, APL_E_SOURCE, "is not a list of %s of the required shape", apl_dtype_name(c->dtype));
    shape[0] = (int64_t)count;
    shape[1] = c->shape[1];
    for (uint64_t i = 0; i < count * (cell->inner ? cell->inner : 1); i++)
        if (!put_as(c, cell->all_whole, cell->wholes[i], cell->reals[i], out))
            return fail(err, APL_E_SOURCE, "holds %g, which is not a valid %s", cell->reals[i],
                        apl_dtype_name(c->dtype));
    return APL_OK;
}

static apl_status put_class(const struct column *c, const struct cell *cell, struct buffer *out,
                            apl_error *err)
{
    uint8_t bytes[8];
    int64_t class = name_set_find(c->names, cell->text);
    if (cell->length == 0)
        return fail(err, APL_E_SOURCE, "is empty, and the name of a class is needed");
    if (is_nested(cell))
        return fail(err, APL_E_SOURCE, "is a list or an object, and the name of a class is needed");
    if (!is_name(cell->text, cell->length))
        return fail(err, APL_E_SOURCE, "is not a valid class name: it has 1 to %d bytes of printable UTF-8",
                    APL_MAX_NAME);
    if (class < 0)
        return fail(err, APL_E_SOURCE, "has a class that was not there before: the table has changed");
    store_le(bytes, (uint64_t) class, 8);
    buffer_put(out, bytes, apl_dtype_size(c->dtype));
    return APL_OK;
}

apl_status column_value(const struct column *c, const struct cell *cell, struct buffer *out, int64_t shape[2],
                        apl_error *err)
{
    apl_status status = APL_OK;
    if (c->classes) {
        status = put_class(c, cell, out, err);
    } else if (c->dtype == APL_UTF8 && c->ndim == 2) {
        status = text_list_put(cell, out, shape, err);
    } else if (c->dtype == APL_UTF8) {
        shape[0] = (int64_t)cell->length;
        if (cell->length > 0)
            buffer_put(out, cell->text, cell->length);
    } else
        status = c->ndim == 0 ? put_scalar(c, cell, out, err) : put_list(c, cell, out, shape, err);
    return status == APL_OK && out->failed ? fail_nomem(err) : status;
}

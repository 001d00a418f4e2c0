/* Which cells are names of splits: see split_cells.h. */
#include "split_cells.h"

#include "field_name.h"
#include "file_name.h"

#include <string.h>
#include <strings.h>

#define NUMBER "0123456789.eE+-"

/* Without the blanks at its ends. */
static const char *trimmed(const char *text, size_t *length)
{
    while (*length > 0 && *text == ' ')
        text++, --*length;
    while (*length > 0 && text[*length - 1] == ' ')
        --*length;
    return text;
}

static bool has_letter(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z') ||
            (uint8_t)text[i] >= 0x80)
            return true;
    return false;
}

/* Such as 1e5; what has no letter at all is none's name anyway. */
static bool spells_number(const char *text, size_t length)
{
    size_t sign = length > 0 && (text[0] == '-' || text[0] == '+');
    return length > sign && (text[sign] == '.' || (text[sign] >= '0' && text[sign] <= '9')) &&
           strspn(text, NUMBER) >= length;
}

/* As tables of pandas, R, SQL and others have it; and values that are no words. */
static bool is_missing(const char *text, size_t length)
{
    static const char *const words[] = {"na",   "n/a", "#n/a",      "#na",  "<na>",  "nan", "nat",     "null",
                                        "none", "nil", "undefined", "true", "false", "inf", "infinity"};
    size_t sign = length > 0 && (text[0] == '-' || text[0] == '+');
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length - sign && strncasecmp(text + sign, words[i], length - sign) == 0)
            return true;
    return false;
}

bool split_cells_is_name(const char *text, size_t length)
{
    if (!is_name(text, length) || *text == '[' || *text == '{')
        return false;
    text = trimmed(text, &length);
    return has_letter(text, length) && !spells_number(text, length) && !is_missing(text, length);
}

static void take_odd_cell(struct split_cells *cells, const struct cell *cell, const char *file, uint64_t row)
{
    if (cells->odd_row || split_cells_is_name(cell->text, cell->length))
        return;
    cells->odd_row = row;
    cells->odd_file = file;
    printable(cells->odd_text, sizeof cells->odd_text, cell->text, cell->length);
}

void split_cells_take(struct split_cells *cells, const struct cell *cell, const char *file, uint64_t row)
{
    size_t length = cell->length;
    uint32_t rank;
    bool all_words = cells->words == cells->filled;
    if (length == 0 || !(all_words || cells->called))
        return;
    cells->filled++;
    const char *text = trimmed(cell->text, &length);
    if (split_of_word(text, length, &rank)) {
        cells->words++;
        cells->tells |= 1u << rank;
    }
    if (cells->called)
        take_odd_cell(cells, cell, file, row);
}

bool split_cells_lacks(const struct split_cells *cells, const struct cell *cell)
{
    return cell->length == 0 || (cells->words > 0 && !split_cells_is_name(cell->text, cell->length));
}

apl_status split_cells_refuse(const struct cell *cell, apl_error *err)
{
    char shown[64];
    if (cell->length == 0)
        return fail(err, APL_E_SOURCE, "is empty, and names no split");
    printable(shown, sizeof shown, cell->text, cell->length);
    return fail(err, APL_E_SOURCE, "'%s' names no split", shown);
}

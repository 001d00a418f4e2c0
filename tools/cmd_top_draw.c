/* The screen of apldata top: a row for each reader, and what one of them waits for. */
#include "characters.h"
#include "cmd_top.h"
#include "cmd_top_cells.h"
#include "report.h"
#include "wrapped.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINE        512u /* bytes of a line, escape sequences included */
#define NARROWEST   20u
#define WIDEST      240u
#define WIDEST_WORK 24u
#define WIDEST_RANK 11u
#define MOST_LINES  4500u
#define BESIDE      10u /* the column of what stands beside a name */

struct lines {
    char (*line)[LINE];
    unsigned count;
};

/* ------------------------------------------------------------------------------------------------- the table */

/* How wide each column should be: what has names in it, as wide as they are. True: some reader is one of several ranks. */
static bool wish_widths(const struct top *top, unsigned wanted[TOP_COLUMNS], size_t *longest)
{
    bool ranks = false;
    char cell[TOP_CELL];
    *longest = 0;
    for (unsigned c = 0; c < TOP_COLUMNS; c++)
        wanted[c] = top_columns[c].width;
    wanted[READER] = (unsigned)strlen(top_columns[READER].title);
    for (const struct top_reader *r = top->readers; r < top->readers + top->count; r++) {
        size_t n = strlen(r->store) + 1 + strlen(r->split);
        ranks = ranks || r->world > 1;
        *longest = n > *longest ? n : *longest;
        top_cell(cell, RANK, r, 0);
        wanted[RANK] = (unsigned)fmax(wanted[RANK], fmin(WIDEST_RANK, (double)strlen(cell)));
        wanted[READER] = (unsigned)fmax(wanted[READER], (double)strlen(r->name));
    }
    return ranks;
}

/* Which columns there are, and how wide: 0: not there. */
static void choose_columns(const struct top *top, unsigned room, unsigned width[TOP_COLUMNS])
{
    unsigned used = 0, wanted[TOP_COLUMNS];
    size_t longest;
    bool ranks = wish_widths(top, wanted, &longest);
    memset(width, 0, TOP_COLUMNS * sizeof *width);
    for (unsigned keep = 0; keep < TOP_COLUMNS; keep++)
        for (unsigned c = 0; c < TOP_COLUMNS; c++)
            if (top_columns[c].keep == keep && (c != RANK || ranks) &&
                (c == READER || used + wanted[c] + 1 <= room)) {
                width[c] = wanted[c];
                used += width[c] + (used > 0);
            }
    for (; width[STORE] && used < room && width[STORE] < longest && width[STORE] < TOP_CELL - 1; used++)
        width[STORE]++;
    for (; width[WORK] && used < room && width[WORK] < WIDEST_WORK; used++)
        width[WORK]++;
}

static void append(char line[LINE], const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(char line[LINE], const char *format, ...)
{
    size_t n = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + n, LINE - n, format, arguments);
    va_end(arguments);
}

/* A colour for each letter of the bar, and for a stall. */
static const char *colour_of(enum top_column c, char letter, const struct top_reader *r)
{
    static const char *const colours[TOP_WORKS] = {"34", "35", "32", "33", "36"};
    if (c == STALL)
        return r->stall < 0.02 ? "32" : r->stall < 0.2 ? "33" : "31;1";
    const char *at = c == WORK ? strchr(top_letters, letter) : NULL;
    return at && letter ? colours[at - top_letters] : "0";
}

static void append_cell(char line[LINE], enum top_column c, const char *text, unsigned width,
                        const struct top_reader *r, bool colour)
{
    int pad = (int)width - (int)strlen(text);
    append(line, "%*s", top_columns[c].left || pad < 0 ? 0 : pad, "");
    const char *now = "0";
    for (const char *t = text; *t; t++) {
        const char *wanted = colour && r && (c == WORK || c == STALL) ? colour_of(c, *t, r) : "0";
        if (strcmp(now, wanted) != 0)
            append(line, "\033[%sm", wanted);
        append(line, "%c", *t);
        now = wanted;
    }
    if (strcmp(now, "0") != 0)
        append(line, "\033[0m");
    append(line, "%*s", top_columns[c].left && pad > 0 ? pad : 0, "");
}

static void add_row(struct lines *out, const unsigned width[TOP_COLUMNS], const struct top_reader *r,
                    bool colour)
{
    char *line = out->line[out->count++], cell[TOP_CELL];
    for (unsigned c = 0; c < TOP_COLUMNS; c++) {
        if (!width[c])
            continue;
        append(line, "%s", c > READER ? " " : ""); /* which is always there */
        if (r)
            top_cell(cell, c, r, width[c]);
        else
            snprintf(cell, sizeof cell, "%s", top_columns[c].title);
        if (strlen(cell) > width[c]) {
            cell[width[c] - 1] = top_columns[c].left ? cell[width[c] - 1] : '+';
            cell[width[c]] = 0;
        }
        append_cell(line, c, cell, width[c], r, colour);
    }
}

/* Would there be `than` readers that wait more? Those that are left out of a short screen wait least. */
static bool waits_more(const struct top *top, size_t i, size_t than)
{
    size_t more = 0;
    for (size_t k = 0; k < top->count; k++)
        more += top->readers[k].stall > top->readers[i].stall ||
                (top->readers[k].stall >= top->readers[i].stall && k < i);
    return more < than;
}

static void add_table(struct lines *out, const struct top *top, const struct top_view *view,
                      const char *chosen, unsigned room)
{
    unsigned width[TOP_COLUMNS];
    bool all = top->count <= room;
    choose_columns(top, view->columns, width);
    if (view->colour)
        append(out->line[out->count], "\033[7m");
    add_row(out, width, NULL, false);
    if (view->colour)
        append(out->line[out->count - 1], "\033[0m");
    for (size_t i = 0; i < top->count; i++)
        if (all || waits_more(top, i, room - 1)) {
            const struct top_reader *r = &top->readers[i];
            bool bold =
                view->colour && view->rows && chosen && strcmp(chosen, r->name) == 0 && top->count > 1;
            if (bold)
                append(out->line[out->count], "\033[1m");
            add_row(out, width, r, view->colour);
            if (bold)
                append(out->line[out->count - 1], "\033[0m");
        }
    if (!all)
        append(out->line[out->count++], "and %zu more, which wait less", top->count - (room - 1));
}

/* --------------------------------------------------------------------------------------------- what it waits for */

/* At most this many bytes of a text: whole characters. */
static size_t cut_at(const char *text, size_t most)
{
    if (strlen(text) <= most)
        return strlen(text);
    while (most > 1 && continues_character(text[most]))
        most--;
    return most;
}

/* Figures after the first line stand beside their names, "waited    3.6 % of the time", and go on there. */
static unsigned indent_after(const char *from, const char *text, unsigned width)
{
    bool figures = false;
    for (; from < text && !figures; from++)
        figures = *from == '\n';
    return figures && width > 3 * BESIDE ? BESIDE : 0;
}

/* In lines of at most `width` columns, broken between words; at most `most` of them. */
static void add_wrapped(struct lines *out, const char *text, unsigned width, unsigned most)
{
    unsigned indent = 0;
    const char *from = text;
    for (unsigned n = 0; *text && n < most; n++) {
        size_t room = width - indent, bytes = line_bytes(text, room);
        if (count_characters(text, bytes) > room)
            bytes = cut_at(text, room);
        append(out->line[out->count++], "%*s%.*s", (int)indent, "", (int)bytes, text);
        text += bytes;
        indent = *text == '\n' ? 0 : indent_after(from, text, width);
        text += *text == '\n' ? 1 : strspn(text, " ");
    }
}

static void add_chosen(struct lines *out, const struct top_reader *r, unsigned width, unsigned most)
{
    char head[LINE];
    if (most < 2)
        return;
    out->count++;
    snprintf(head, sizeof head, "%s  %s", r->name, r->command);
    append(out->line[out->count++], "%.*s", (int)cut_at(head, width), head);
    if (r->state == TOP_SILENT)
        snprintf(head, sizeof head,
                 "no figures for %s: it is stopped, or cannot write them, or has ended elsewhere",
                 duration_text(r->age));
    add_wrapped(out, r->state == TOP_SILENT ? head : r->diagnosis, width, most - 2);
}

/* ------------------------------------------------------------------------------------------------ the screen */

static void add_title(struct lines *out, const struct top *top, const struct top_view *view)
{
    char right[64], left[LINE];
    time_t now = time(NULL);
    struct tm tm;
    strftime(right, sizeof right, "%H:%M:%S", localtime_r(&now, &tm));
    snprintf(left, sizeof left, "apldata top  %zu reader%s in %.200s", top->count, top->count == 1 ? "" : "s",
             shown(view->directory));
    unsigned room = view->columns > 10 ? view->columns - 10 : view->columns;
    append(out->line[out->count++], "%-*.*s  %s", (int)room, (int)room, left, right);
}

/* What the letters mean, as far as there is room. */
static void add_legend(struct lines *out, const struct top_view *view)
{
    static const char *const parts[] = {"R read",       "D decode", "A assemble",
                                        "C on_batch()", "P plan",   ". idle"};
    char *line = out->line[out->count++];
    const char *keys = view->keys ? "q quits, j k choose" : "Ctrl-C quits";
    append(line, "%s", keys);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strlen(line) + 2 + strlen(parts[i]) <= view->columns)
            append(line, "  %s", parts[i]);
}

static void add_foot(struct lines *out, const struct top *top, const struct top_view *view)
{
    if (view->rows)
        add_legend(out, view);
    if (top->gone)
        append(out->line[out->count++], "%s of processes that have ended", counted(top->gone, "file"));
    if (top->unread)
        append(out->line[out->count++], "%s not read: there are too many", counted(top->unread, "file"));
    for (size_t i = 0; i < top->refused_count && i < sizeof top->refused / sizeof *top->refused; i++)
        append(out->line[out->count++], "%s %s", top->refused[i].name, top->refused[i].why);
    if (top->refused_count > sizeof top->refused / sizeof *top->refused)
        append(out->line[out->count++], "and %s that no reader wrote",
               counted(top->refused_count - sizeof top->refused / sizeof *top->refused, "more file"));
}

static void add_all(struct lines *out, const struct top *top, const struct top_view *view)
{
    const struct top_reader *r = top_chosen(top, view->name);
    struct lines foot = {calloc(12, LINE), 0};
    if (foot.line)
        add_foot(&foot, top, view);
    unsigned rows = view->rows ? view->rows : MOST_LINES - 64, fixed = 2 + foot.count, told = r ? 8 : 0;
    if (view->rows)
        add_title(out, top, view);
    unsigned room = rows > fixed + told + 3 ? rows - fixed - told : 3;
    unsigned used = top->count < room ? (unsigned)top->count : room;
    if (r)
        add_table(out, top, view, r->name, room);
    else
        add_wrapped(
            out, "no reader writes its figures here: start programs with APL_MONITOR set to this directory",
            view->columns, 4);
    if (r)
        add_chosen(out, r, view->columns, rows > fixed + used ? rows - fixed - used : 0);
    while (view->rows && out->count + foot.count < rows)
        out->count++;
    for (unsigned i = 0; i < foot.count && (!view->rows || out->count < rows); i++)
        strcpy(out->line[out->count++], foot.line[i]);
    free(foot.line);
}

char *top_draw(const struct top *top, const struct top_view *given)
{
    struct top_view view = *given;
    view.columns = view.columns < NARROWEST ? NARROWEST : view.columns > WIDEST ? WIDEST : view.columns;
    struct lines out = {calloc(MOST_LINES, LINE), 0};
    char *text = out.line ? malloc((size_t)MOST_LINES * LINE) : NULL, *to = text;
    if (text)
        add_all(&out, top, &view);
    for (unsigned i = 0; text && i < out.count && (!view.rows || i < view.rows); i++)
        to += sprintf(to, "%s%s", i ? "\n" : "", out.line[i]);
    free(out.line);
    return text;
}

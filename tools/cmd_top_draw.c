/* The screen of apldata top: a row for each reader, and what one of them waits for. */
#include "cmd_top.h"
#include "report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINE        512u /* bytes of a line, escape sequences included */
#define CELL        160u
#define NARROWEST   20u
#define WIDEST      240u
#define WIDEST_WORK 24u
#define MOST_LINES  4500u

struct lines {
    char (*line)[LINE];
    unsigned count;
};

/* ------------------------------------------------------------------------------------------------- the cells */

enum column {
    READER,
    STORE,
    RANK,
    EPOCH,
    DONE,
    RECORDS,
    STALL,
    WORK,
    MEMORY,
    QUEUE,
    CPU,
    BATCHES,
    READS,
    RSS,
    COLUMNS
};

/* `keep`: the lower, the narrower a screen may be that still has it. */
static const struct {
    const char *title;
    unsigned width, keep;
    bool left;
} columns[COLUMNS] = {
    [READER] = {"READER", 9, 0, true},  [STORE] = {"STORE", 10, 7, true},
    [RANK] = {"RANK", 5, 5, false},     [EPOCH] = {"EPOCH", 5, 4, false},
    [DONE] = {"DONE", 4, 3, false},     [RECORDS] = {"RECORDS/S", 9, 1, false},
    [STALL] = {"STALL", 5, 2, false},   [WORK] = {"THREADS", 10, 6, true},
    [MEMORY] = {"MEMORY", 8, 8, false}, [QUEUE] = {"QUEUE", 5, 9, false},
    [CPU] = {"CORES", 5, 10, false},    [BATCHES] = {"BATCHES/S", 9, 11, false},
    [READS] = {"READ/S", 8, 12, false}, [RSS] = {"PROCESS", 8, 13, false},
};

static const char letters[TOP_WORKS + 1] = "RDACP";

/* What a count is in few characters. */
static void short_count(char *out, double n)
{
    if (n < 99999.5)
        snprintf(out, CELL, n < 9.95 ? "%.1f" : "%.0f", n);
    else
        snprintf(out, CELL,
                 n < 1e6   ? "%.0fk"
                 : n < 1e9 ? "%.2fM"
                           : "%.1fG",
                 n / (n < 1e6   ? 1e3
                      : n < 1e9 ? 1e6
                                : 1e9));
}

/* Of a path that is too long, the end counts. */
static void store_cell(char *out, const struct top_reader *r, unsigned width)
{
    char all[2 * CELL];
    snprintf(all, sizeof all, "%.200s %.60s",
             strlen(r->store) > 200 ? r->store + strlen(r->store) - 200 : r->store, r->split);
    size_t n = strlen(all);
    snprintf(out, CELL, "%s%.157s", n > width ? ".." : "", n > width ? all + n - (width - 2) : all);
    for (char *c = out; *c; c++)
        *c = (signed char)*c < 0 ? '?' : *c; /* letters that are wider than one column, or cut */
}

/* A letter for each part of the threads' time. */
static void work_cell(char *out, const struct top_reader *r, unsigned width)
{
    double sum = 0;
    unsigned at = 0;
    for (unsigned w = 0; w < TOP_WORKS; w++) {
        sum += r->work[w];
        while (at < width && at + 0.5 < fmin(sum, 1) * width)
            out[at++] = letters[w];
    }
    memset(out + at, '.', width - at);
    out[width] = 0;
}

static void make_cell(char *out, enum column c, const struct top_reader *r, unsigned width)
{
    const apl_stats *s = &r->stats;
    bool silent = r->state == TOP_SILENT;
    *out = 0;
    switch (c) {
    case READER:
        snprintf(out, CELL, "%s", r->name);
        return;
    case STORE:
        store_cell(out, r, width);
        return;
    case RANK:
        if (r->ranks > 1)
            snprintf(out, CELL, "%llu/%llu", (unsigned long long)r->ranks, (unsigned long long)r->world);
        else
            snprintf(out, CELL, "%llu", (unsigned long long)r->rank);
        return;
    case EPOCH:
        snprintf(out, CELL, "%llu", (unsigned long long)r->epoch);
        return;
    case DONE:
        if (r->length)
            snprintf(out, CELL, "%.0f%%", floor(100 * fmin(1, (double)r->position / (double)r->length)));
        return;
    case RECORDS:
        if (silent)
            snprintf(out, CELL, "silent");
        else
            short_count(out, r->rate);
        return;
    case STALL:
        snprintf(out, CELL, silent ? "-" : "%.0f%%", 100 * r->stall);
        return;
    case WORK:
        work_cell(out, r, width);
        return;
    case MEMORY:
        snprintf(out, CELL, "%s", size_text(s->memory));
        return;
    case QUEUE:
        snprintf(out, CELL, "%u/%u", s->queued, s->queue_depth);
        return;
    case CPU:
        snprintf(out, CELL, silent ? "-" : "%.1f", r->cores);
        return;
    case BATCHES:
        short_count(out, silent ? 0 : r->batches);
        return;
    case READS:
        snprintf(out, CELL, "%s", silent ? "-" : size_text((uint64_t)fmin(r->bytes_read, 1e18)));
        return;
    case RSS:
        snprintf(out, CELL, "%s", size_text(r->resident));
        return;
    case COLUMNS:
        return;
    }
}

/* ------------------------------------------------------------------------------------------------- the table */

/* Which columns there are, and how wide: 0: not there. */
static void choose_columns(const struct top *top, unsigned room, unsigned width[COLUMNS])
{
    bool ranks = false;
    size_t longest = 0, name = strlen(columns[READER].title);
    unsigned used = 0;
    for (size_t i = 0; i < top->count; i++) {
        size_t n = strlen(top->readers[i].store) + 1 + strlen(top->readers[i].split);
        ranks = ranks || top->readers[i].world > 1;
        longest = n > longest ? n : longest;
        name = strlen(top->readers[i].name) > name ? strlen(top->readers[i].name) : name;
    }
    memset(width, 0, COLUMNS * sizeof *width);
    for (unsigned keep = 0; keep < COLUMNS; keep++)
        for (unsigned c = 0; c < COLUMNS; c++)
            if (columns[c].keep == keep && (c != RANK || ranks) &&
                used + columns[c].width + (used > 0) <= room) {
                width[c] = c == READER ? (unsigned)name : columns[c].width;
                used += width[c] + (used > 0);
            }
    for (; width[STORE] && used < room && width[STORE] < longest && width[STORE] < CELL - 1; used++)
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
static const char *colour_of(enum column c, char letter, const struct top_reader *r)
{
    static const char *const colours[TOP_WORKS] = {"34", "35", "32", "33", "36"};
    if (c == STALL)
        return r->stall < 0.02 ? "32" : r->stall < 0.2 ? "33" : "31;1";
    const char *at = c == WORK ? strchr(letters, letter) : NULL;
    return at && letter ? colours[at - letters] : "0";
}

static void append_cell(char line[LINE], enum column c, const char *text, unsigned width,
                        const struct top_reader *r, bool colour)
{
    int pad = (int)width - (int)strlen(text);
    append(line, "%*s", columns[c].left || pad < 0 ? 0 : pad, "");
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
    append(line, "%*s", columns[c].left && pad > 0 ? pad : 0, "");
}

static void add_row(struct lines *out, const unsigned width[COLUMNS], const struct top_reader *r, bool colour)
{
    char *line = out->line[out->count++], cell[CELL];
    for (unsigned c = 0; c < COLUMNS; c++) {
        if (!width[c])
            continue;
        append(line, "%s", c > READER ? " " : ""); /* which is always there */
        if (r)
            make_cell(cell, c, r, width[c]);
        else
            snprintf(cell, sizeof cell, "%s", columns[c].title);
        if (strlen(cell) > width[c] && columns[c].left)
            cell[width[c]] = 0;
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
    unsigned width[COLUMNS];
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

/* In lines of at most `width` columns, broken between words; at most `most` of them. */
static void add_wrapped(struct lines *out, const char *text, unsigned width, unsigned most)
{
    for (unsigned n = 0; *text && n < most; n++) {
        size_t whole = strcspn(text, "\n"), fits = whole;
        if (fits > width) {
            for (fits = width; fits > 0 && text[fits] != ' '; fits--)
                ;
            fits = fits ? fits : width;
        }
        append(out->line[out->count++], "%.*s", (int)fits, text);
        text += fits;
        text += *text == ' ' || *text == '\n';
    }
}

static void add_chosen(struct lines *out, const struct top_reader *r, unsigned width, unsigned most)
{
    char head[LINE];
    if (most < 2)
        return;
    out->count++;
    snprintf(head, sizeof head, "%s  %.200s", r->name, r->command);
    add_wrapped(out, head, width, 1);
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
        append(out->line[out->count++], "%zu file%s of processes that have ended", top->gone,
               top->gone == 1 ? "" : "s");
    for (size_t i = 0; i < top->refused_count && i < sizeof top->refused / sizeof *top->refused; i++)
        append(out->line[out->count++], "%s %s", top->refused[i].name, top->refused[i].why);
    if (top->refused_count > sizeof top->refused / sizeof *top->refused)
        append(out->line[out->count++], "and %zu more files that are none of a reader",
               top->refused_count - sizeof top->refused / sizeof *top->refused);
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
        add_wrapped(out, "no reader is open: they offer their figures where APL_MONITOR names this directory",
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

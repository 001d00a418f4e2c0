/* What is in the table of apldata top, cell by cell: see cmd_top_cells.h. */
#include "cmd_top_cells.h"
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct top_column_form top_columns[TOP_COLUMNS] = {
    [READER] = {"READER", 9, 0, true},  [STORE] = {"STORE", 10, 7, true},
    [RANK] = {"RANK", 5, 5, false},     [EPOCH] = {"EPOCH", 5, 4, false},
    [DONE] = {"DONE", 4, 3, false},     [RECORDS] = {"RECORDS/S", 9, 1, false},
    [STALL] = {"STALL", 5, 2, false},   [WORK] = {"THREADS", 10, 6, true},
    [MEMORY] = {"MEMORY", 8, 8, false}, [QUEUE] = {"QUEUE", 5, 9, false},
    [CPU] = {"CORES", 5, 10, false},    [BATCHES] = {"BATCHES/S", 9, 11, false},
    [READS] = {"READ/S", 8, 12, false}, [RSS] = {"PROCESS", 8, 13, false},
};

const char top_letters[TOP_WORKS + 1] = "RDACP";

/* What a count is in few characters. */
static void short_count(char *out, double n)
{
    if (n < 99999.5)
        snprintf(out, TOP_CELL, n < 9.95 ? "%.1f" : "%.0f", n);
    else
        snprintf(out, TOP_CELL,
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
    char all[2 * TOP_CELL];
    snprintf(all, sizeof all, "%.200s %.60s",
             strlen(r->store) > 200 ? r->store + strlen(r->store) - 200 : r->store, r->split);
    size_t n = strlen(all);
    snprintf(out, TOP_CELL, "%s%.157s", n > width ? ".." : "", n > width ? all + n - (width - 2) : all);
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
            out[at++] = top_letters[w];
    }
    memset(out + at, '.', width - at);
    out[width] = 0;
}

static void rank_cell(char *out, const struct top_reader *r)
{
    if (r->ranks > 1)
        snprintf(out, TOP_CELL, "%llu/%llu", (unsigned long long)r->ranks, (unsigned long long)r->world);
    else
        snprintf(out, TOP_CELL, "%llu", (unsigned long long)r->rank);
}

/* What a reader does now; nothing is known of one that is silent. */
static void rate_cell(char *out, enum top_column c, const struct top_reader *r)
{
    bool silent = r->state == TOP_SILENT;
    if (c == RECORDS && silent)
        snprintf(out, TOP_CELL, "silent");
    else if (c == RECORDS)
        short_count(out, r->rate);
    else if (c == BATCHES)
        short_count(out, silent ? 0 : r->batches);
    else if (silent)
        snprintf(out, TOP_CELL, "-");
    else if (c == STALL)
        snprintf(out, TOP_CELL, "%.0f%%", 100 * r->stall);
    else if (c == CPU)
        snprintf(out, TOP_CELL, "%.1f", r->cores);
    else
        snprintf(out, TOP_CELL, "%s", size_text((uint64_t)fmin(r->bytes_read, 1e18)));
}

void top_cell(char out[TOP_CELL], enum top_column c, const struct top_reader *r, unsigned width)
{
    *out = 0;
    if (c == READER)
        snprintf(out, TOP_CELL, "%s", r->name);
    else if (c == STORE)
        store_cell(out, r, width);
    else if (c == RANK)
        rank_cell(out, r);
    else if (c == EPOCH)
        snprintf(out, TOP_CELL, "%llu", (unsigned long long)r->epoch);
    else if (c == DONE && r->length)
        snprintf(out, TOP_CELL, "%.0f%%", floor(100 * fmin(1, (double)r->position / (double)r->length)));
    else if (c == WORK)
        work_cell(out, r, width);
    else if (c == MEMORY)
        snprintf(out, TOP_CELL, "%s", size_text(r->stats.memory));
    else if (c == QUEUE)
        snprintf(out, TOP_CELL, "%u/%u", r->stats.queued, r->stats.queue_depth);
    else if (c == RSS)
        snprintf(out, TOP_CELL, "%s", size_text(r->resident));
    else if (c != DONE)
        rate_cell(out, c, r);
}

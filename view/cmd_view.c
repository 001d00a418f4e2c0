/* apldata view: a page to look at the records of a store. */
#include "cmd_view.h"

#include "args.h"
#include "cache_args.h"
#include "cmd.h"
#include "command_line.h"
#include "expect_args.h"
#include "interrupt.h"
#include "page.h"
#include "report.h"
#include "wrapped.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#define DEFAULT_OUTPUT  "view.html"
#define DEFAULT_BYTES   (20u << 20)
#define LEAST_BYTES     (1u << 20)
#define MOST_BYTES      ((uint64_t)1 << 30)
#define DEFAULT_RECORDS 20000u
#define MOST_RECORDS    1000000u

/* All that comes before the records; then as many of these as fit. */
static int make(struct view *view)
{
    int status = view_survey_begin(view);
    if (!status)
        status = view_fields(view);
    if (!status)
        status = view_survey_images(view);
    if (!status)
        status = view_pairs(view);
    if (!status)
        status = view_head(view);
    size_t taken = status ? 0 : page_size(view_page(), view->document);
    if (!status && taken > view->most_bytes / 2)
        status = failed("%s: statistics and names alone take %s: a larger --max-size is needed",
                        shown_db(view->path), size_text(taken));
    if (!status)
        status = view_records(view, (size_t)view->most_bytes - taken);
    progress_clear(&view->progress);
    return status;
}

static int view_store(struct view *view)
{
    apl_error err;
    if (expect_open(view->path, &view->store, &err) != APL_OK)
        return failed("%s", err.message);
    interrupt_catch();
    progress_begin(&view->progress, !view->quiet && !view->no_progress);
    view->info = apl_store_info(view->store);
    view->document = json_object();
    int status = page_check_path(view_page(), view->output);
    if (!status)
        status = make(view);
    size_t records = json_array_size(json_object_get(view->document, "records"));
    if (!status)
        status = view_save(view);
    if (!status && !view->quiet)
        print_line(0, "%s: %s of %s, %s of them on the page %s", shown_db(view->path), count_text(view->n),
                   counted(view->info->records, "record"), count_text(records), shown(view->output));
    if (!status && view->unread > 0)
        status = failed("%s: %s cannot be read; %s", shown_db(view->path), counted(view->unread, "image"),
                        view->why_unread);
    view_survey_end(view);
    apl_store_close(view->store);
    return status;
}

static int take_max_size(void *user, const char *text)
{
    struct view *view = user;
    return parse_size(text, LEAST_BYTES, MOST_BYTES, &view->most_bytes)
               ? 0
               : misuse("the size of the page must be 1M to 1G, not '%s'", shown(text));
}

static int take_sample(void *user, const char *text)
{
    struct view *view = user;
    return parse_number(text, 1, MOST_RECORDS, &view->most_records)
               ? 0
               : misuse("the records to look at must be 1 to %s, not '%s'", count_text(MOST_RECORDS),
                        shown(text));
}

static const struct option_row rows[] = {
    {'o', "output", "FILE", "write the page to FILE, replacing a page (default: " DEFAULT_OUTPUT ")",
     OPTION_TEXT, offsetof(struct view, output), NULL},
    {0, "max-size", "SIZE",
     "how large the page may become, such as 5M (default: 20M); it shows as many\nrecords as fit",
     OPTION_CALL, 0, take_max_size},
    {0, "sample", "N", "look at N records at most, spread evenly over the store (default: 20000)",
     OPTION_CALL, 0, take_sample},
    CACHE_ROWS,
    EXPECT_ROW,
    THREADS_ROW("decode", struct view, threads),
    NO_PROGRESS_ROW(struct view, no_progress),
    QUIET_ROW(struct view, quiet),
    HELP_ROW,
};

static const struct command_line line = {
    .head =
        "Usage: apldata view [OPTION]... DB\n"
        "Write a page to look at the records of the store DB: contact sheets by class and split, all fields\n"
        "of a record, histograms, mean images, missing and odd values, near-duplicates, labels that the "
        "most\n"
        "similar images do not have. The page is one file that needs no network.\n"
        "\n",
    .tail = NULL,
    .column = 25,
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
};

int cmd_view(int argc, char **argv)
{
    struct view view = {
        .output = DEFAULT_OUTPUT, .most_bytes = DEFAULT_BYTES, .most_records = DEFAULT_RECORDS};
    int status = options_read(&line, &view, argc, argv);
    if (!status)
        status = take_operands(argc - optind, argv + optind, (const char *const[]){"DB", NULL});
    if (!status) {
        view.path = argv[optind];
        status = view_store(&view);
    }
    return options_status(status);
}

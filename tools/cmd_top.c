/* apldata top: what the readers of running training processes do. */
#include "cmd_top.h"
#include "args.h"
#include "cmd.h"
#include "command_line.h"
#include "json.h"
#include "report.h"
#include "terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct top_job {
    const char *directory, *name, *listen;
    bool once, json, quiet;
    bool metrics;
    apl_metrics_format format;
};

static int take_metrics(void *user, const char *value)
{
    struct top_job *job = user;
    job->metrics = true;
    if (value && strcmp(value, "openmetrics") != 0)
        return misuse("--metrics is for Prometheus, --metrics=openmetrics is OpenMetrics; not '%s'",
                      shown(value));
    job->format = value ? APL_METRICS_OPEN : APL_METRICS_PROMETHEUS;
    return 0;
}

static const struct option_row rows[] = {
    {0, "once", NULL, "print a table and exit", OPTION_FLAG, offsetof(struct top_job, once), NULL},
    {0, "json", NULL, "print one JSON object and exit", OPTION_FLAG, offsetof(struct top_job, json), NULL},
    {0, "metrics", "[=FORMAT]", "print metrics for Prometheus and exit; FORMAT may be\nopenmetrics",
     OPTION_CALL, 0, take_metrics},
    {0, "listen", "ADDRESS",
     "serve metrics for Prometheus at HOST:PORT, or PORT of\nthis machine alone, as http://ADDRESS/metrics",
     OPTION_TEXT, offsetof(struct top_job, listen), NULL},
    {0, "reader", "NAME", "explain this reader instead of the one that waits most", OPTION_TEXT,
     offsetof(struct top_job, name), NULL},
    QUIET_ROW(struct top_job, quiet),
    HELP_ROW,
};

static const struct command_line line = {
    .head = "Usage: apldata top [OPTION]... [DIR]\n"
            "Show what running readers do: those that publish their figures in the directory DIR,\n"
            "because of APL_MONITOR=DIR or the option `monitor`. Default: $APL_MONITOR.\n"
            "\n",
    .tail = "\n"
            "Without options it updates a row for each reader every second until q or Ctrl-C; if\n"
            "the output is not a terminal, it prints them once.\n",
    .column = 26,
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
};

/* ---------------------------------------------------------------------------------------------------- once */

static json_t *state_json(const struct top_reader *r)
{
    json_t *of = json_incref(r->json);
    json_object_set_new(of, "name", json_text(r->name));
    json_object_set_new(of, "state", json_string(r->state == TOP_SILENT ? "silent" : "running"));
    json_object_set_new(of, "age", json_real(r->age));
    return of;
}

static int print_readers(const struct top *top)
{
    json_t *readers = json_array();
    for (size_t i = 0; i < top->count; i++)
        json_array_append_new(readers, state_json(&top->readers[i]));
    return print_json(json_pack("{s:o, s:I, s:I, s:I}", "readers", readers, "ended", (json_int_t)top->gone,
                                "refused", (json_int_t)top->refused_count, "unread", (json_int_t)top->unread),
                      0);
}

static int print_text(char *text, const char *end)
{
    if (!text)
        return failed("out of memory");
    fputs(text, stdout);
    fputs(end, stdout);
    free(text);
    return 0;
}

/* As wide as the terminal, or as all columns are. */
static unsigned table_width(void)
{
    struct terminal t;
    terminal_find(&t);
    return isatty(STDOUT_FILENO) ? t.columns : 240;
}

static int check_reader(const struct top *top, const char *name)
{
    const struct top_reader *r = top_chosen(top, name);
    return name && (!r || strcmp(r->name, name) != 0) ? failed("no reader is called %s", shown(name)) : 0;
}

static int print_once(const struct top_job *job)
{
    struct top top;
    const struct top_view view = {job->directory, job->name, table_width(), 0, false, false};
    int status = top_read(&top, job->directory);
    if (!status && !job->json && !job->metrics)
        status = check_reader(&top, job->name);
    if (!status && job->json)
        status = print_readers(&top);
    else if (!status && job->metrics)
        status = print_text(top_metrics(&top, job->format), "");
    else if (!status)
        status = print_text(top_draw(&top, &view), "\n");
    top_free(&top);
    return report_complete(status);
}

static int check(struct top_job *job, int count, char **operands)
{
    const char *said = getenv("APL_MONITOR");
    if (count > 1)
        return misuse("one directory, not %d", count);
    job->directory = count ? operands[0] : said;
    if (!job->directory || !*job->directory)
        return misuse(
            "which DIR? name the directory that readers write their figures into, or set APL_MONITOR to it");
    if (job->once + job->json + job->metrics + (job->listen != NULL) > 1)
        return misuse("--once, --json, --metrics and --listen exclude each other");
    return 0;
}

int cmd_top(int argc, char **argv)
{
    struct top_job job = {0};
    int status = options_read(&line, &job, argc, argv);
    if (!status)
        status = check(&job, argc - optind, argv + optind);
    if (status)
        return options_status(status);
    if (job.listen)
        return top_listen(job.directory, job.listen, job.quiet);
    if (job.once || job.json || job.metrics || !isatty(STDOUT_FILENO))
        return print_once(&job);
    return top_live(job.directory, job.name);
}

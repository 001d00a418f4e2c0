/* apldata audit: the page of a reader and of splits. */
#include "args.h"
#include "cmd_audit_page.h"
#include "cmd_audit_plots.h"
#include "report.h"

#include <string.h>

/* How the reader was opened, in words. */
static void page_reader(FILE *out, const struct audit_job *job)
{
    const apl_reader_options *o = &job->orders.options;
    fprintf(out, "%s order%s, ", o->order == APL_FREE ? "Free" : "Strict",
            o->fill ? " that waits for all of the split" : "");
    if (o->window)
        fprintf(out, "a window of %s records, ", count_text(o->window));
    else
        fputs("the default window, ", out);
    fprintf(out, "%u bins, ", o->bins ? o->bins : 64);
    if (o->threads == APL_NO_THREADS)
        fputs("no threads", out);
    else if (o->loaders)
        fprintf(out, "%u + %u threads", o->loaders, o->consumers);
    else if (o->threads)
        fprintf(out, "%u thread%s", o->threads, o->threads == 1 ? "" : "s");
    else
        fputs("the default number of threads", out);
    fprintf(out, ", %u rank%s", o->ranks.world, o->ranks.world == 1 ? "" : "s");
    if (o->ranks.lanes > 1)
        fprintf(out, ", %u lanes", o->ranks.lanes);
    fprintf(out, ".%s", job->orders.delay_us ? " Threads and caller were delayed at random." : "");
}

/* ------------------------------------------------------------------------------------------- sections */

static void page_head(FILE *out, const struct audit_job *job, const struct audit_result *r)
{
    char verdict[AUDIT_VERDICT];
    audit_verdict(job, r, verdict, sizeof verdict);
    page_begin(out, shown(job->path), "Does training see the data's own distribution?",
               audit_rejections(r)                                    ? "wrong"
               : r->has_order && !r->uniform && r->order.rejected > 0 ? "differs"
                                                                      : "good",
               verdict);
    fputs("<p class=\"facts\">Audit of ", out);
    html_text(out, shown(job->path));
    fprintf(
        out,
        ": %u hypotheses. A p-value is the chance of what was seen, or of something farther out, if all is "
        "right. What is rejected is so by Holm's procedure: the chance of any false alarm is at most %g, all "
        "tests together.</p>\n",
        audit_findings(r), job->level);
}

static const char *p_caption(bool judged)
{
    return judged ? "The chance of what was seen, or of something still farther out, if all is right. Then "
                    "dots lie "
                    "anywhere between 0 and 1 alike; what is rejected is red, and lies at 0. Tests that "
                    "leave nothing "
                    "to chance are exact."
                  : "The chance of what was seen, or of something still farther out, if the order were "
                    "uniform. What "
                    "differs from that is red, and lies at 0.";
}

static void page_order(FILE *out, const struct audit_job *job, const struct audit_result *r)
{
    const struct audit_sample *s = &job->sample;
    fprintf(out,
            "<h2>The order</h2>\n<p class=\"facts\">%s records in %s blocks; %s epochs of seed %llu, in "
            "batches of "
            "%s. ",
            count_text(s->n), count_text(s->blocks), count_text(s->epochs), (unsigned long long)s->seed,
            count_text(s->batch));
    page_reader(out, job);
    if (job->law.groups) {
        char law[200];
        audit_law_text(job, law, sizeof law);
        fputs(" Delivered are ", out);
        html_text(out, law);
        fputs(".", out);
    }
    fputs("</p>\n<div class=\"plots\">\n", out);
    plot_p_values(out, &r->order, p_caption(r->uniform));
    plot_map(out, &r->order.map, s);
    plot_lags(out, &r->order);
    plot_batches(out, &r->order.batches, s);
    plot_windows(out, &r->windows, s);
    fputs("</div>\n", out);
}

static void page_windows(FILE *out, const struct audit_result *r)
{
    if (r->windows.count == 0)
        return;
    fputs("<h2>Windows, in figures</h2>\n<p class=\"facts\">As multiples of what a uniform order gives.</p>\n"
          "<table class=\"windows\"><thead><tr><th></th><th colspan=\"2\">as stored</th><th "
          "colspan=\"2\">had it been "
          "shuffled at ingest</th></tr>\n<tr><th>window, records</th><th>neighbours</th><th>classes</th>"
          "<th>neighbours</th><th>classes</th></tr></thead><tbody>\n",
          out);
    for (unsigned i = 0; i < r->windows.count; i++) {
        const struct window_point *w = &r->windows.points[i];
        const double values[] = {w->stored.neighbours, w->stored.classes, w->shuffled.neighbours,
                                 w->shuffled.classes};
        fprintf(out, "<tr><td>%s</td>", count_text(w->window));
        for (unsigned k = 0; k < 4; k++)
            fprintf(out, "<td>%s</td>", audit_multiple_text(values[k]));
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table>\n", out);
}

static void page_split(FILE *out, const struct audited_split *split)
{
    char text[2500];
    fputs("<h2>The split ", out);
    html_text(out, shown(split->file->name));
    fputs("</h2>\n<p class=\"facts\">", out);
    audit_split_text(split->file, text, sizeof text);
    html_text(out, text);
    fputs("</p>\n", out);
    page_findings(out, split->report.findings, split->report.count, true);
}

static void page_shared(FILE *out, const struct splits_report *r)
{
    fputs("<h2>Equal inputs in the source's own splits</h2>\n<ul>\n", out);
    for (unsigned i = 0; i < r->shared_count; i++) {
        const struct shared_inputs *s = &r->shared[i];
        fputs("<li>", out);
        html_text(out, shown(s->other));
        fprintf(out, ": %s of %s records ", count_text(s->records), count_text(s->count));
        html_text(out,
                  s->name == s->other ? "repeat the inputs of an earlier one" : "have the inputs of one of ");
        html_text(out, s->name == s->other ? "" : shown(s->name));
        fputs("</li>\n", out);
    }
    fputs("</ul>\n", out);
    if (r->overlaps.pairs > OVERLAPS_ALL)
        fprintf(out, "<p class=\"facts\">Of %s pairs of splits; %s%s more share inputs.</p>\n",
                count_text(r->overlaps.pairs), r->overlaps.more_at_least ? "at least " : "",
                count_text(r->overlaps.more));
}

struct page {
    const struct audit_job *job;
    const struct audit_result *result;
};

static void fill(FILE *out, const void *what)
{
    const struct page *p = what;
    const struct audit_job *job = p->job;
    const struct audit_result *r = p->result;
    page_head(out, job, r);
    if (r->has_order) {
        page_order(out, job, r);
        fputs("<h2>The order, test by test</h2>\n", out);
        page_findings(out, r->order.findings, r->order.count, r->uniform);
        page_windows(out, r);
    }
    for (unsigned i = 0; r->has_splits && i < r->splits.count; i++)
        page_split(out, &r->splits.splits[i]);
    if (r->has_splits)
        page_shared(out, &r->splits);
    page_end(out);
}

int audit_write_page(const struct audit_job *job, const struct audit_result *result)
{
    return page_write(job->html, fill, &(struct page){job, result});
}

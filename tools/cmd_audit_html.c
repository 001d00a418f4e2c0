/* apldata audit: the page. It needs no network, no script, and no other file. */
#include "args.h"
#include "cmd_audit_plots.h"
#include "outfile.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char style[] =
    ":root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--soft:#5b6570;--line:#d5dae0;--panel:#f6f8fa;"
    "--good:#176639;--bad:#b3261e;--data:#1f5fae;--law:#a14a00;--band:#dfe9f5;"
    "--n:#2166ac;--p:#b2182b;--none:#f2f2f2}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#12161b;--ink:#e5e9ee;--soft:#9da7b3;--line:#343c46;"
    "--panel:#1a2027;--good:#6cc58f;--bad:#ff8a80;--data:#7db3f0;--law:#f0a35e;--band:#22324a;"
    "--n:#5aa2e8;--p:#f2726b;--none:#222932}}\n"
    "body{margin:0 auto;padding:16px;max-width:1160px;background:var(--paper);color:var(--ink);"
    "font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}\n"
    "h1{font-size:1.5rem;line-height:1.25;margin:.5rem 0}h2{font-size:1.2rem;margin:2rem 0 .5rem}"
    "h3{font-size:1rem;margin:0 0 .5rem}\n"
    ".verdict{font-size:1.15rem;padding:12px 16px;border-left:5px solid var(--good);background:var(--panel)}"
    ".verdict.wrong{border-color:var(--bad)}.verdict.differs{border-color:var(--law)}.facts,figcaption,.more{"
    "color:var(--soft)}\n"
    "table{border-collapse:collapse;width:100%;max-width:60rem}th,td{text-align:left;padding:6px 10px 2px 0;"
    "vertical-align:top}tbody tr:not(.more),.windows tr{border-top:1px solid var(--line)}tbody "
    "th{font-weight:600}"
    "tr.more td{padding:0 0 8px}td.p,.windows td,.windows "
    "th{text-align:right;font-variant-numeric:tabular-nums}"
    ".windows{max-width:40rem}.no{color:var(--bad);font-weight:700}summary{cursor:pointer}"
    "dl{margin:.25rem 0 0}dt{font-weight:600}dd{margin:0 0 .25rem}\n"
    ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,330px),1fr));gap:16px}"
    "figure{margin:0;padding:12px;background:var(--panel);border-radius:8px}figcaption{font-size:.875rem;"
    "margin-top:6px}\n"
    "svg{display:block;width:100%;height:auto;font:11px system-ui,sans-serif}svg text{fill:var(--soft)}"
    ".tick,.grid{stroke:var(--line);stroke-width:1}.data{stroke:var(--data);stroke-width:2.5}"
    "line.bad{stroke:var(--bad);stroke-width:2.5}.band{fill:var(--band)}.bar{fill:var(--data);opacity:.75}"
    ".law,.curve{fill:none;stroke:var(--law);stroke-width:2}.law{stroke-dasharray:5 "
    "3}.curve{stroke:var(--data)}"
    ".dot{fill:var(--data)}circle.bad{fill:var(--bad)}path{shape-rendering:crispEdges}.p0{fill:var(--none)}"
    ".p1,.p2,.p3,.p4,.p5{fill:var(--p)}.n1,.n2,.n3,.n4,.n5{fill:var(--n)}"
    ".p1,.n1{opacity:.3}.p2,.n2{opacity:.45}.p3,.n3{opacity:.6}.p4,.n4{opacity:.8}\n";

/* ------------------------------------------------------------------------------------------- findings */

static void entry(FILE *out, const char *term, const char *text)
{
    fprintf(out, "<dt>%s</dt><dd>", term);
    html_text(out, text);
    fputs("</dd>", out);
}

static void page_finding(FILE *out, const struct finding *f, bool judged)
{
    char text[400];
    bool counts = f->rejected && (judged || f->certain);
    fputs("<tr><th scope=\"row\">", out);
    html_text(out, f->name);
    fprintf(out, "</th><td%s>%s</td><td class=\"p\">%s</td></tr>\n", counts ? " class=\"no\"" : "",
            counts ? "rejected" : audit_word(f, judged), audit_p_text(f->p));
    fputs("<tr class=\"more\"><td colspan=\"3\"><details><summary>", out);
    html_text(out, f->detail[0] ? f->detail : "no more to tell");
    fputs("</summary><dl>", out);
    entry(out, "If all is right", f->hypothesis);
    snprintf(text, sizeof text, f->df ? "%s = %.5g, with %.0f degrees of freedom" : "%s = %.5g", f->statistic,
             f->value, f->df);
    entry(out, "Statistic", text);
    snprintf(text, sizeof text, "%.2g %s", f->effect, f->unit);
    if (f->effect > 0 && isfinite(f->effect))
        entry(out, "Would be found, nine times in ten", text);
    fputs("</dl></details></td></tr>\n", out);
}

static void page_findings(FILE *out, const struct finding *findings, unsigned count, bool judged)
{
    fputs("<table><thead><tr><th>test</th><th>result</th><th>p</th></tr></thead><tbody>\n", out);
    for (unsigned i = 0; i < count; i++)
        page_finding(out, &findings[i], judged);
    fputs("</tbody></table>\n", out);
}

/* ------------------------------------------------------------------------------------------- sections */

static void page_head(FILE *out, const struct audit_job *job, const struct audit_result *r)
{
    char verdict[400];
    audit_verdict(job, r, verdict, sizeof verdict);
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>Audit of ",
          out);
    html_text(out, shown(job->path));
    fprintf(out,
            "</title>\n<style>\n%s</style></head>\n<body>\n<h1>Does training see the data's own "
            "distribution?</h1>\n",
            style);
    fprintf(out, "<p class=\"verdict%s\">",
            audit_rejections(r)                                    ? " wrong"
            : r->has_order && !r->uniform && r->order.rejected > 0 ? " differs"
                                                                   : "");
    html_text(out, verdict);
    fputs("</p>\n<p class=\"facts\">Audit of ", out);
    html_text(out, shown(job->path));
    fprintf(out,
            ". %u hypotheses were tested; the chance of a false alarm is at most %g, all of them together. A "
            "p-value is the chance of what was seen, or of something farther out, if all is right.</p>\n",
            audit_findings(r), job->level);
}

static void page_order(FILE *out, const struct audit_job *job, const struct audit_result *r)
{
    const struct audit_sample *s = &job->sample;
    fprintf(out,
            "<h2>The order</h2>\n<p class=\"facts\">%s records in %s blocks; %s epochs of seed %llu, in "
            "batches of "
            "%s.</p>\n<div class=\"plots\">\n",
            count_text(s->n), count_text(s->blocks), count_text(s->epochs), (unsigned long long)s->seed,
            count_text(s->batch));
    plot_p_values(out, &r->order, r->uniform);
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
    fputs(
        "<h2>Windows, in figures</h2>\n<table class=\"windows\"><thead><tr><th>window</th><th>neighbours</th>"
        "<th>classes</th><th>shuffled: neighbours</th><th>classes</th></tr></thead><tbody>\n",
        out);
    for (unsigned i = 0; i < r->windows.count; i++) {
        const struct window_point *w = &r->windows.points[i];
        fprintf(out, "<tr><td>%s</td><td>%.3g</td><td>%.3g</td><td>%.3g</td><td>%.3g</td></tr>\n",
                count_text(w->window), w->stored.neighbours, w->stored.classes, w->shuffled.neighbours,
                w->shuffled.classes);
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
}

static void page(FILE *out, const struct audit_job *job, const struct audit_result *r)
{
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
    fputs("</body></html>\n", out);
}

/* ------------------------------------------------------------------------------------------- the file */

static int write_page(const char *path, const char *text, size_t size)
{
    char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;
    struct outset set = {0};
    if (!folder)
        return failed("out of memory");
    const char *name = slash ? path + (slash - folder) + 1 : path;
    if (slash)
        slash[slash == folder] = 0; /* "/" stays */
    int status = outset_open(&set, slash ? folder : ".", false, true);
    int file = status ? -1 : outset_add(&set, name);
    if (file < 0 || outset_write(&set, file, text, size) || outset_commit(&set))
        status = EXIT_FAILURE;
    outset_close(&set);
    free(folder);
    return status;
}

int audit_write_page(const struct audit_job *job, const struct audit_result *result)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return failed("out of memory");
    page(out, job, result);
    bool bad = ferror(out) != 0;
    bad |= fclose(out) != 0;
    int status = bad ? failed("out of memory") : write_page(job->html, text, size);
    free(text);
    return status;
}

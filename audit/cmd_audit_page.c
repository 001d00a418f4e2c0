/* The parts of the audit's pages: see cmd_audit_page.h. */
#include "cmd_audit_page.h"
#include "args.h"
#include "cmd_audit.h"
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
    "tr.more td{padding:0 0 8px}td.p,th.p,.windows td,.windows "
    "th{text-align:right;font-variant-numeric:tabular-nums}"
    ".brief "
    "figcaption{display:none}.what::first-letter{text-transform:uppercase}.windows{max-width:44rem;font-size:"
    ".875rem}.windows th{overflow-wrap:normal;font-size:.75rem;padding-right:6px}.yes{"
    "color:var(--good)}.no{color:var(--bad);font-weight:700}summary{cursor:"
    "pointer}"
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

void html_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        const char *name = *text == '&'    ? "&amp;"
                           : *text == '<'  ? "&lt;"
                           : *text == '>'  ? "&gt;"
                           : *text == '"'  ? "&quot;"
                           : *text == '\'' ? "&#39;"
                                           : NULL;
        if (name)
            fputs(name, out);
        else
            fputc(*text, out);
    }
}

void page_begin(FILE *out, const char *subject, const char *heading, const char *kind, const char *verdict)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>Audit of ",
          out);
    html_text(out, subject);
    fprintf(out, "</title>\n<style>\n%s</style></head>\n<body>\n<h1>%s</h1>\n<p class=\"verdict %s\">", style,
            heading, kind);
    html_text(out, verdict);
    fputs("</p>\n", out);
}

void page_end(FILE *out)
{
    fputs("</body></html>\n", out);
}

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
            counts ? "rejected" : audit_word(f, judged), audit_p_text(f));
    fputs("<tr class=\"more\"><td colspan=\"3\">If all is right, ", out);
    html_text(out, f->hypothesis);
    fputs(".<details><summary>", out);
    html_text(out, f->detail[0] ? f->detail : "the statistic");
    fputs("</summary><dl>", out);
    snprintf(text, sizeof text, f->df ? "%s = %.5g, with %.0f degrees of freedom" : "%s = %.5g", f->statistic,
             f->value, f->df);
    entry(out, "Statistic", text);
    snprintf(text, sizeof text, "%.2g %s", f->effect, f->unit);
    if (f->effect > 0 && isfinite(f->effect))
        entry(out, "Would be found, nine times in ten", text);
    fputs("</dl></details></td></tr>\n", out);
}

void page_findings(FILE *out, const struct finding *findings, unsigned count, bool judged)
{
    fputs("<table><thead><tr><th>test</th><th>result</th><th class=\"p\">p</th></tr></thead><tbody>\n", out);
    for (unsigned i = 0; i < count; i++)
        page_finding(out, &findings[i], judged);
    fputs("</tbody></table>\n", out);
}

/* ------------------------------------------------------------------------------------------- the file */

static int write_text(const char *path, const char *text, size_t size)
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

int page_write(const char *path, void (*fill)(FILE *out, const void *what), const void *what)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return failed("out of memory");
    fill(out, what);
    bool bad = ferror(out) != 0;
    bad |= fclose(out) != 0;
    int status = bad ? failed("out of memory") : write_text(path, text, size);
    free(text);
    return status;
}

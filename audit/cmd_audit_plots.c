/* apldata audit: plots. Colours are classes of the page's style, which has a light and a dark set of them. */
#include "cmd_audit_plots.h"
#include "cmd_audit_page.h"
#include "distributions.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The drawing, in units of about a pixel on a telephone, and its plot area. */
#define WIDTH  360.0
#define HEIGHT 240.0
#define LEFT   54.0
#define RIGHT  350.0
#define TOP    20.0
#define BOTTOM 204.0

/* ------------------------------------------------------------------------------------------------ axes */

/* Where values lie in the plot area; by their logarithms if `log` says so. */
struct axis {
    double low, high;
    bool log;
};

static double along(const struct axis *a, double v)
{
    if (a->log)
        return (log(v) - log(a->low)) / (log(a->high) - log(a->low));
    return (v - a->low) / (a->high - a->low);
}

static double x_of(const struct axis *a, double v)
{
    return LEFT + (RIGHT - LEFT) * along(a, v);
}

static double y_of(const struct axis *a, double v)
{
    return BOTTOM - (BOTTOM - TOP) * along(a, v);
}

static void begin_figure(FILE *out, const char *title, double height)
{
    fprintf(out, "<figure><h3>%s</h3>\n<svg viewBox=\"0 0 %g %g\" role=\"img\" aria-label=\"%s\">\n", title,
            WIDTH, height, title);
}

static void end_figure(FILE *out, const char *caption)
{
    fprintf(out, "</svg>\n<figcaption>%s</figcaption></figure>\n", caption);
}

static void text_at(FILE *out, double x, double y, const char *anchor, const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    html_text(out, text);
    fputs("</text>\n", out);
}

static void line(FILE *out, const char *kind, double x1, double y1, double x2, double y2)
{
    fprintf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", kind, x1, y1, x2,
            y2);
}

static void x_tick(FILE *out, const struct axis *a, double v, const char *text)
{
    line(out, "tick", x_of(a, v), BOTTOM, x_of(a, v), BOTTOM + 4);
    text_at(out, x_of(a, v), BOTTOM + 15, "middle", text);
}

static void y_tick(FILE *out, const struct axis *a, double v, const char *text)
{
    line(out, "grid", LEFT, y_of(a, v), RIGHT, y_of(a, v));
    text_at(out, LEFT - 5, y_of(a, v) + 3.5, "end", text);
}

/* The least of 1, 2 and 5 times powers of ten that is no less: a distance of ticks. */
static double round_up(double v)
{
    double power = pow(10, floor(log10(v))), times = v / power;
    return power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

/* Above the axis: what its ticks count. */
static void y_title(FILE *out, const char *text)
{
    text_at(out, LEFT, TOP - 8, "start", text);
}

static void x_title(FILE *out, const char *text)
{
    text_at(out, (LEFT + RIGHT) / 2, BOTTOM + 30, "middle", text);
}

/* ------------------------------------------------------------------------------------------------- map */

#define SHADES 5 /* to either side of none */

/* The cells of one shade, as one path: rows and columns are one unit large. */
static void shade(FILE *out, const struct audit_map *map, double deviation, int which)
{
    fprintf(out, "<path class=\"%c%d\" d=\"", which < 0 ? 'n' : 'p', abs(which));
    for (unsigned r = 0; r < map->rows; r++)
        for (unsigned c = 0; c < map->columns; c++) {
            double off = (map->share[r * map->columns + c] - 1) / deviation;
            int is = (int)fmax(-SHADES, fmin(SHADES, trunc(off)));
            if (is == which)
                fprintf(out, "M%u %uh1v1h-1z", c, r);
        }
    fputs("\"/>\n", out);
}

/* The shades, from fewest to most, above the map. */
static void legend(FILE *out)
{
    double side = 11, x = LEFT + 16, y = TOP - 16;
    text_at(out, LEFT, y + 9.5, "start", "-5");
    for (int which = -SHADES; which <= SHADES; which++)
        fprintf(out, "<rect class=\"%c%d\" x=\"%.1f\" y=\"%.1f\" width=\"%g\" height=\"%g\"/>\n",
                which < 0 ? 'n' : 'p', abs(which), x + side * (which + SHADES), y, side, side);
    text_at(out, x + side * (2 * SHADES + 1) + 4, y + 9.5, "start", "+5 standard deviations");
}

void plot_map(FILE *out, const struct audit_map *map, const struct audit_sample *s)
{
    double due = (double)s->epochs * s->n / map->rows / map->columns, size = BOTTOM - TOP;
    char caption[700];
    if (!map->share)
        return;
    begin_figure(out, "Where blocks come", HEIGHT);
    legend(out);
    fprintf(out, "<g transform=\"translate(%g %g) scale(%g %g)\">\n", LEFT, TOP,
            (RIGHT - LEFT) / map->columns, size / map->rows);
    for (int which = -SHADES; which <= SHADES; which++)
        shade(out, map, sqrt(1 / due), which);
    fputs("</g>\n", out);
    text_at(out, LEFT, BOTTOM + 15, "start", "start of the epoch");
    text_at(out, RIGHT, BOTTOM + 15, "end", "its end");
    fprintf(
        out,
        "<text transform=\"translate(%g %g) rotate(-90)\" text-anchor=\"middle\">blocks, as stored</text>\n",
        LEFT - 10, (TOP + BOTTOM) / 2);
    snprintf(caption, sizeof caption,
             "A row is a stretch of the store, a column a stretch of an epoch; a cell is the redder the "
             "more, and the bluer the fewer, of these records came there than were due (%s). If the order is "
             "uniform this is noise, of few dark cells, without bands or diagonals.",
             count_text((uint64_t)(due + 0.5)));
    end_figure(out, caption);
}

/* ------------------------------------------------------------------------------------------------ lags */

void plot_lags(FILE *out, const struct audit_report *r)
{
    double band = 3.2905 * r->lag_deviation, most = band;
    char text[40];
    if (!(r->lag_deviation > 0))
        return;
    for (unsigned i = 0; i < AUDIT_LAGS; i++)
        most = fmax(most, fabs(r->lags[i]));
    struct axis x = {0, AUDIT_LAGS + 1, false}, y = {-1.1 * most, 1.1 * most, false};
    double step = round_up(most / 2.5);
    begin_figure(out, "Serial correlation", HEIGHT);
    y_title(out, "correlation");
    fprintf(out, "<rect class=\"band\" x=\"%g\" y=\"%.1f\" width=\"%g\" height=\"%.1f\"/>\n", LEFT,
            y_of(&y, band), RIGHT - LEFT, y_of(&y, -band) - y_of(&y, band));
    for (int i = -2; i <= 2; i++) {
        snprintf(text, sizeof text, i ? "%+.2g" : "%.2g", i * step);
        if (fabs(i * step) < y.high)
            y_tick(out, &y, i * step, text);
    }
    for (unsigned i = 0; i < AUDIT_LAGS; i++) {
        const char *kind = fabs(r->lags[i]) > band ? "bad" : "data";
        line(out, kind, x_of(&x, i + 1), y_of(&y, 0), x_of(&x, i + 1), y_of(&y, r->lags[i]));
    }
    for (unsigned lag = 1; lag <= AUDIT_LAGS; lag = lag == 1 ? 16 : lag + 16) {
        snprintf(text, sizeof text, "%u", lag);
        x_tick(out, &x, lag, text);
    }
    x_title(out, "lag, in positions");
    end_figure(
        out,
        "How much the place in the store of a record tells of that of the record so many positions later. If "
        "the order is uniform, 999 lines of 1,000 end in the shaded band; one outside of it now and then is "
        "no "
        "sign of anything, and the test judges all of them together.");
}

/* --------------------------------------------------------------------------------------------- batches */

static double due_of(const struct audit_batches *b, const struct audit_sample *s, unsigned k)
{
    return hypergeometric_at(k, b->marked, b->drawn, s->n);
}

/* The counts worth drawing: those seen, and those not too unlikely. */
static void range_of(const struct audit_batches *b, const struct audit_sample *s, unsigned *from,
                     unsigned *to, double *most)
{
    *from = b->drawn;
    *to = 0;
    for (unsigned k = 0; k <= b->drawn; k++) {
        double seen = (double)b->count[k] / (double)b->looked_at, due = due_of(b, s, k);
        if (b->count[k] == 0 && due < 1e-5)
            continue;
        *from = k < *from ? k : *from;
        *to = k;
        *most = fmax(*most, fmax(seen, due));
    }
}

void plot_batches(FILE *out, const struct audit_batches *b, const struct audit_sample *s)
{
    unsigned from, to;
    double most = 0;
    char text[600];
    if (!b->count || b->looked_at == 0)
        return;
    range_of(b, s, &from, &to, &most);
    struct axis x = {from - 1.0, to + 1.0, false}, y = {0, 1.1 * most, false};
    double width = (RIGHT - LEFT) / (x.high - x.low);
    begin_figure(out, "Classes in batches", HEIGHT);
    y_title(out, "share of all batches and classes");
    double step = round_up(most / 5);
    for (unsigned i = 0; i * step < y.high; i++) {
        snprintf(text, sizeof text, "%.2g%%", 100 * i * step);
        y_tick(out, &y, i * step, text);
    }
    for (unsigned k = from; k <= to; k++) {
        double seen = (double)b->count[k] / (double)b->looked_at;
        fprintf(out, "<rect class=\"bar\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>\n",
                x_of(&x, k) - 0.45 * width, y_of(&y, seen), 0.9 * width, BOTTOM - y_of(&y, seen));
    }
    fputs("<polyline class=\"law\" points=\"", out);
    for (unsigned k = from; k <= to; k++)
        fprintf(out, "%.2f,%.2f ", x_of(&x, k), y_of(&y, due_of(b, s, k)));
    fputs("\"/>\n", out);
    unsigned every = (unsigned)fmax(1, round_up((to - from + 1) / 6.0));
    for (unsigned k = (from + every - 1) / every * every; k <= to; k += every) {
        snprintf(text, sizeof text, "%u", k);
        x_tick(out, &x, k, text);
    }
    x_title(out, "records of a class in a batch");
    snprintf(text, sizeof text,
             "Bars: how many of a batch's %s records are of one class, over %s batches and classes (those "
             "with %s records "
             "each). Line: what drawing without replacement gives, the hypergeometric law. If the order is "
             "uniform the "
             "bars keep to the line; wider or higher ones mean batches that are too uneven or too even.",
             count_text(b->drawn), count_text(b->looked_at), count_text(b->marked));
    end_figure(out, text);
}

/* -------------------------------------------------------------------------------------------- p-values */

void plot_p_values(FILE *out, const struct audit_report *r, const char *caption)
{
    double row = 17, top = 8, left = 150, right = 345, bottom = top + row * r->count;
    begin_figure(out, "p-values", bottom + 36);
    for (unsigned i = 0; i <= 2; i++) {
        line(out, "grid", left + (right - left) * i / 2, top, left + (right - left) * i / 2, bottom);
        text_at(out, left + (right - left) * i / 2, bottom + 14, "middle",
                i == 0   ? "0"
                : i == 1 ? "0.5"
                         : "1");
    }
    for (unsigned i = 0; i < r->count; i++) {
        const struct finding *f = &r->findings[i];
        double y = top + row * (i + 0.5);
        text_at(out, left - 8, y + 3.5, "end", f->name);
        if (f->certain && !f->rejected) { /* it has no place between 0 and 1 */
            text_at(out, right, y + 3.5, "end", "exact");
            continue;
        }
        fprintf(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>",
                f->rejected ? "bad" : "dot", left + (right - left) * f->p, y);
        html_text(out, f->name);
        fprintf(out, ": p = %s</title></circle>\n", audit_p_text(f));
    }
    text_at(out, (left + right) / 2, bottom + 30, "middle", "p-value");
    end_figure(out, caption);
}

/* --------------------------------------------------------------------------------------------- windows */

static double value_of(const struct mixing *m, bool classes)
{
    return classes ? m->classes : m->neighbours;
}

static void curve(FILE *out, const struct windows *w, const struct axis *x, const struct axis *y,
                  bool classes, bool shuffled)
{
    const char *kind = shuffled ? "law" : "curve";
    fprintf(out, "<polyline class=\"%s\" points=\"", kind);
    for (unsigned i = 0; i < w->count; i++) {
        const struct mixing *m = shuffled ? &w->points[i].shuffled : &w->points[i].stored;
        double v = fmax(y->low, value_of(m, classes));
        fprintf(out, "%.1f,%.1f ", x_of(x, (double)w->points[i].window), y_of(y, v));
    }
    fputs("\"/>\n", out);
}

static void window_axis(FILE *out, const struct axis *x, double n)
{
    static const double shares[] = {1, 0.1, 0.01, 0.001, 0.0001};
    static const char *const names[] = {"all", "1/10", "1/100", "1/1,000", "1/10,000"};
    for (unsigned i = 0; i < sizeof shares / sizeof *shares; i++)
        if (shares[i] * n >= x->low)
            x_tick(out, x, shares[i] * n, names[i]);
    x_title(out, "window, as a part of the split");
}

static void plot_curves(FILE *out, const struct windows *w, double n, bool classes, const char *title,
                        const char *caption)
{
    double most = 2;
    for (unsigned i = 0; i < w->count; i++)
        most = fmax(most, value_of(&w->points[i].stored, classes));
    struct axis x = {fmin((double)w->points[0].window, n / 2), n, true}, y = {0.8, 1.2 * most, true};
    begin_figure(out, title, HEIGHT);
    y_title(out, "times what is due");
    /* NOLINTNEXTLINE(cert-flp30-c,clang-analyzer-security.FloatLoopCounter): the steps are exact */
    for (double v = 1; v <= y.high; v *= most > 40 ? 10 : most > 8 ? 4 : 2)
        y_tick(out, &y, v, number_text("%g", v));
    curve(out, w, &x, &y, classes, false);
    curve(out, w, &x, &y, classes, true);
    window_axis(out, &x, n);
    end_figure(out, caption);
}

void plot_windows(FILE *out, const struct windows *w, const struct audit_sample *s)
{
    if (w->count == 0)
        return;
    plot_curves(out, w, s->n, false, "Windows: neighbours",
                "How often two records that were neighbours at the source (in one block) follow each other, "
                "as a multiple of "
                "what chance gives, for windows of different sizes. Solid: this store; dashed: had its "
                "records been shuffled "
                "when they were ingested. At 1, the window mixes as well as one of the whole split.");
    if (s->cls)
        plot_curves(out, w, s->n, true, "Windows: classes",
                    "Variance of the number of records of a class in a batch, as a multiple of what a "
                    "uniform order gives. Far "
                    "above 1, batches are one-sided: choose a larger window, or shuffle at ingest (dashed).");
}

/* apldata audit: what it says, in words. */
#include "args.h"
#include "cmd_audit.h"
#include "json.h"
#include "report.h"
#include "splits.h"
#include "table.h"
#include "terminal.h"
#include "wrapped.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS   100
#define NARROWEST 20u /* columns that words are worth breaking for */
#define SEEN      44u /* the column of what a test saw */

/* --------------------------------------------------------------------------------------------- verdict */

static bool counts(const struct finding *f, bool judged)
{
    return judged || f->certain || f->any_order;
}

unsigned audit_rejections(const struct audit_result *r)
{
    unsigned n = r->has_splits ? r->splits.rejected : 0;
    for (unsigned i = 0; r->has_order && i < r->order.count; i++)
        n += r->order.findings[i].rejected && counts(&r->order.findings[i], r->uniform);
    return n;
}

unsigned audit_failures(const struct audit_result *r)
{
    return audit_rejections(r) + (r->has_splits ? r->splits.unusable : 0);
}

const char *audit_word(const struct finding *f, bool judged)
{
    return !f->rejected ? "stands" : counts(f, judged) ? "REJECTED" : "differs";
}

unsigned audit_findings(const struct audit_result *r)
{
    return (r->has_order ? r->order.count : 0) + (r->has_splits ? r->splits.findings : 0);
}

/* Appends "; " and the names of what is rejected, as long as there is room. */
static void name_rejected(const struct finding *findings, unsigned count, bool judged, const char *of,
                          char *text, size_t size)
{
    for (unsigned i = 0; i < count; i++) {
        size_t at = strlen(text);
        if (findings[i].rejected && counts(&findings[i], judged))
            snprintf(text + at, size - at, "%s%s%s%s", text[at - 1] == ':' ? " " : "; ", of, *of ? ": " : "",
                     findings[i].name);
    }
}

static void tell_rejected(const struct audit_result *r, char *text, size_t size)
{
    unsigned n = audit_rejections(r);
    snprintf(text, size, "%u of %u hypotheses %s rejected, so this is not what it should be:", n,
             audit_findings(r), n == 1 ? "is" : "are");
    if (r->has_order)
        name_rejected(r->order.findings, r->order.count, r->uniform, "", text, size);
    for (unsigned i = 0; r->has_splits && i < r->splits.count; i++) {
        const struct audited_split *s = &r->splits.splits[i];
        name_rejected(s->report.findings, s->report.count, true, shown(s->file->name), text, size);
    }
}

/* Where the next sentence goes. */
static size_t end_sentence(char *text, size_t size)
{
    size_t at = strlen(text);
    if (at > 0)
        at += (size_t)snprintf(text + at, size - at, text[at - 1] == '.' ? " " : ". ");
    return at < size ? at : size;
}

static void tell_refused(const struct audit_result *r, char *text, size_t size)
{
    bool one = r->splits.unusable == 1;
    if (!r->has_splits || r->splits.unusable == 0)
        return;
    size_t at = end_sentence(text, size);
    snprintf(text + at, size - at, "%u split %s refused, and %s not tested: make %s again, or remove %s.",
             r->splits.unusable, one ? "file is" : "files are", one ? "was" : "were", one ? "it" : "them",
             one ? "it" : "them");
}

static void tell_not_tested(const struct audit_job *job, char *text, size_t size)
{
    unsigned count = job->not_tested_count;
    for (unsigned i = 0; i < count; i++) {
        size_t at = i ? strlen(text) : end_sentence(text, size);
        snprintf(text + at, size - at, "%s%s%s", i ? ", " : "Not tested: ", job->not_tested[i],
                 i + 1 < count ? "" : ".");
    }
}

static void tell_stands(const struct audit_job *job, const struct audit_result *r, char *text, size_t size)
{
    unsigned long long epochs = job->sample.epochs;
    const char *splits = r->has_splits && r->splits.count ? " The splits are what they should be." : "";
    if (!r->has_order)
        snprintf(text, size, "%s",
                 r->splits.count      ? splits + 1
                 : r->splits.unusable ? ""
                                      : "There are no split files to test.");
    else if (job->law.groups)
        snprintf(
            text, size,
            "Nothing is rejected: what training sees are samples by their law%s, as far as %llu epochs can "
            "tell.%s%s",
            job->law.ordered ? ", in uniform order" : "", epochs,
            job->law.ordered ? "" : " Their order is not meant to be uniform, and was not tested.", splits);
    else if (r->uniform)
        snprintf(text, size,
                 "Nothing is rejected: what training sees is a uniform permutation of the split, as far as "
                 "%llu epochs can tell.%s",
                 epochs, splits);
    else
        snprintf(text, size,
                 "Each record comes exactly once. This order is not meant to be uniform over the split; the "
                 "findings %s.%s",
                 r->order.rejected ? "show how far it is from that"
                                   : "do not distinguish it from that, in this number of epochs",
                 splits);
}

void audit_verdict(const struct audit_job *job, const struct audit_result *r, char *text, size_t size)
{
    if (audit_rejections(r) > 0)
        tell_rejected(r, text, size);
    else
        tell_stands(job, r, text, size);
    tell_refused(r, text, size);
    tell_not_tested(job, text, size);
}

static const char *p_text(double p)
{
    return p < 1e-99 ? "0" : number_text(p < 0.001 ? "%.0e" : "%.3f", p);
}

const char *audit_p_text(const struct finding *f)
{
    return f->certain ? "exact" : p_text(f->p);
}

/* ----------------------------------------------------------------------------------------- for people */

/* Prints words, and breaks lines before COLUMNS, or where a window ends; the text has no newlines. */
void audit_print_wrapped(unsigned indent, const char *text)
{
    unsigned room = terminal_room(), columns = room > indent + NARROWEST && room < COLUMNS ? room : COLUMNS;
    while (*text) {
        size_t bytes = line_bytes(text, columns - indent);
        printf("%*s%.*s\n", (int)indent, "", (int)bytes, text);
        text += bytes + strspn(text + bytes, " ");
    }
}

static void print_more(const struct finding *f)
{
    char text[400];
    snprintf(text, sizeof text, "if right: %s", f->hypothesis);
    audit_print_wrapped(4, text);
    snprintf(text, sizeof text, f->df ? "statistic: %s = %.5g, df %.0f" : "statistic: %s = %.5g",
             f->statistic, f->value, f->df);
    audit_print_wrapped(4, text);
    snprintf(text, sizeof text, "would find, 9 times in 10: %.2g %s", f->effect, f->unit);
    if (f->effect > 0 && isfinite(f->effect))
        audit_print_wrapped(4, text);
}

/* A window without room for the four columns has what a test saw on a line of its own. */
static bool is_narrow(void)
{
    unsigned room = terminal_room();
    return room && room < SEEN + NARROWEST;
}

/* `judged`: a rejection counts against the reader, or a split. */
static void print_finding(const struct audit_job *job, const struct finding *f, bool judged)
{
    bool narrow = is_narrow();
    unsigned at = narrow ? 4 : SEEN;
    if (narrow)
        printf("%s  %s  %s\n    ", f->name, audit_word(f, judged), audit_p_text(f));
    else
        printf("%-25s  %-8s  %5s  ", f->name, audit_word(f, judged), audit_p_text(f));
    print_wrapped(f->detail, at, at);
    putchar('\n');
    if (job->verbose)
        print_more(f);
}

static void print_head(void)
{
    if (is_narrow())
        printf("test, result, p\n    seen\n");
    else
        printf("%-25s  %-8s  %5s  %s\n", "test", "", "p", "seen");
}

static void print_order(const struct audit_job *job, const struct audit_result *r)
{
    const struct audit_sample *s = &job->sample;
    print_head();
    for (unsigned i = 0; i < r->order.count; i++)
        print_finding(job, &r->order.findings[i], r->uniform);
    char text[400], law[200] = "";
    if (job->law.groups)
        audit_law_text(job, law, sizeof law);
    snprintf(text, sizeof text, "(%s%s%s records in %s blocks%s; %s epochs of seed %llu%s)", law,
             *law ? "; " : "", count_text(s->n), count_text(s->blocks),
             s->cls ? number_text(", %.0f classes", s->classes) : "", count_text(s->epochs),
             (unsigned long long)s->seed,
             job->orders.delay_us ? ", threads and caller delayed at random" : "");
    audit_print_wrapped(0, text);
}

/* Of many parts, each that passes takes one line. */
static bool print_part(const struct audited_split *split)
{
    double least = 1;
    for (unsigned i = 0; i < split->report.count; i++) {
        if (split->report.findings[i].rejected)
            return false;
        least = fmin(least, split->report.findings[i].p);
    }
    char text[600];
    snprintf(text, sizeof text, "split %s: %s records; %u tests stand, the least p is %s",
             shown(split->file->name), count_text(split->file->records), split->report.count, p_text(least));
    audit_print_wrapped(0, text);
    return true;
}

/* "by a hash of the inputs", "by label, groups of patient" */
static void rule_text(const apl_split_file *f, char *text, size_t size)
{
    static const char *const hashed[] = {"the inputs", "the places in the source", "the ids"};
    const char *what = f->group ? shown(f->group) : (unsigned)f->by < APL_BY_GROUP ? hashed[f->by] : "?";
    if (!f->stratify)
        snprintf(text, size, "by a hash of %s", what);
    else if (f->by == APL_BY_CONTENT)
        snprintf(text, size, "by %s", shown(f->stratify));
    else
        snprintf(text, size, "by %s, %s%s", shown(f->stratify), f->group ? "groups of " : "by a hash of ",
                 what);
}

void audit_split_text(const apl_split_file *f, char *text, size_t size)
{
    char part[80] = "", rule[600];
    rule_text(f, rule, sizeof rule);
    if (f->parts)
        snprintf(part, sizeof part, "; part %u of 0 to %u", f->part, f->parts - 1);
    int at = snprintf(text, size, "%s of the %s records of %s, the rest is %s; ratio %.4g, %s%s",
                      count_text(f->records), count_text(f->records + f->rest_records), shown(f->parent),
                      shown(f->rest), f->ratio, rule, part);
    if (f->concentration > 0 && (size_t)at < size)
        snprintf(text + at, size - (size_t)at, ", of shares from Dirichlet(%g)", f->concentration);
}

static void print_split(const struct audit_job *job, const struct audited_split *split)
{
    char text[2600];
    putchar('\n');
    if (split->file->parts && !job->verbose && print_part(split))
        return;
    int at = snprintf(text, sizeof text, "split %s: ", shown(split->file->name));
    audit_split_text(split->file, text + at, sizeof text - (size_t)at);
    audit_print_wrapped(0, text);
    print_head();
    for (unsigned i = 0; i < split->report.count; i++)
        print_finding(job, &split->report.findings[i], true);
}

/* Why each file is refused. */
static void print_refused(const struct splits_report *r)
{
    const apl_split_file *f;
    char text[1000];
    for (size_t i = 0; r->unusable && (f = apl_split_list_file(r->list, i)) != NULL; i++) {
        if (f->status == APL_OK || f->list)
            continue;
        snprintf(text, sizeof text, "split %s is refused: %s", shown(f->name), f->message);
        putchar('\n');
        audit_print_wrapped(0, text);
    }
}

static void print_shared(const struct splits_report *r)
{
    printf("\nequal inputs in the source's own splits:\n");
    for (unsigned i = 0; i < r->shared_count; i++) {
        const struct shared_inputs *s = &r->shared[i];
        printf("  %s: %s of %s records %s%s\n", shown(s->other), count_text(s->records), count_text(s->count),
               s->name == s->other ? "repeat the inputs of an earlier one" : "have the inputs of one of ",
               s->name == s->other ? "" : shown(s->name));
    }
    if (r->overlaps.pairs > OVERLAPS_ALL)
        printf("  of %s pairs of splits; %s%s more share inputs\n", count_text(r->overlaps.pairs),
               r->overlaps.more_at_least ? "at least " : "", count_text(r->overlaps.more));
}

static const char *multiple_text(double v)
{
    return number_text(v < 10 ? "%.2f" : v < 100 ? "%.1f" : "%.0f", v);
}

static int print_windows(const struct windows *w)
{
    struct table table = TABLE("rrrrr");
    printf("\nwindows: neighbours of one block, and variance of a class's number in a batch, as multiples of "
           "what "
           "is\nexpected (1: uniform); then the same if the records had been shuffled at ingest\n");
    for (unsigned i = 0; i < 5; i++)
        table_add(&table,
                  (const char *[]){"window", "neighbours", "classes", "shuffled: neighbours", "classes"}[i]);
    for (unsigned i = 0; i < w->count; i++) {
        const struct window_point *p = &w->points[i];
        table_add(&table, count_text(p->window));
        table_add(&table, multiple_text(p->stored.neighbours));
        table_add(&table, multiple_text(p->stored.classes));
        table_add(&table, multiple_text(p->shuffled.neighbours));
        table_add(&table, multiple_text(p->shuffled.classes));
    }
    return table_print(&table);
}

int audit_print(const struct audit_job *job, const struct audit_result *r)
{
    char verdict[AUDIT_VERDICT];
    printf("%s, %s\n%s", shown_db(job->path), duration_text(r->seconds), r->has_order ? "\n" : "");
    if (r->has_order)
        print_order(job, r);
    if (r->windows.count > 0 && print_windows(&r->windows))
        return EXIT_FAILURE;
    for (unsigned i = 0; r->has_splits && i < r->splits.count; i++)
        print_split(job, &r->splits.splits[i]);
    if (r->has_splits) {
        print_refused(&r->splits);
        split_tell_others(0, r->splits.of_other_lists);
        print_shared(&r->splits);
    }
    putchar('\n');
    audit_verdict(job, r, verdict, sizeof verdict);
    audit_print_wrapped(0, verdict);
    print_line(0, "The chance of any false alarm is at most %g, over all tests together (Holm's procedure).",
               job->level);
    return audit_failures(r) ? EXIT_FAILURE : EXIT_SUCCESS;
}

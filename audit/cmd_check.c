/* apldata check: do splits leak into each other, and are their classes balanced? */
#include "cmd_check.h"
#include "args.h"
#include "cmd.h"
#include "command_line.h"
#include "report.h"
#include "splits.h"
#include "table.h"
#include "wrapped.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_NEAR 12
#define SHOWN_PAIRS  5

/* ------------------------------------------------------------------------------------------- for people */

static void print_findings(const struct audited_split *s, bool verbose)
{
    double least = 1;
    unsigned rejected = 0, chances = 0;
    for (unsigned i = 0; i < s->report.count; i++) {
        const struct finding *f = &s->report.findings[i];
        rejected += f->rejected;
        chances += !f->certain;
        least = !f->certain && f->p < least ? f->p : least;
    }
    if (rejected == 0)
        printf("  its rule: %u tests stand", s->report.count);
    if (rejected == 0 && chances)
        printf(", the least p is %s", number_text("%.3f", least));
    if (rejected == 0)
        putchar('\n');
    for (unsigned i = 0; i < s->report.count; i++) {
        const struct finding *f = &s->report.findings[i];
        if (f->rejected || verbose)
            printf("  %s: %s; %s\n", f->name, f->rejected ? "REJECTED" : "stands", f->detail);
    }
}

static void print_split(const struct audited_split *s, bool verbose)
{
    const apl_split_file *f = s->file;
    print_line(0, "\nsplit %s, %s of the %s records of %s, by %s%s%s%s%s", shown(f->name),
               count_text(f->records), count_text(f->records + f->rest_records), shown(f->parent),
               split_by_name(f->by), f->group ? " " : "", f->group ? shown(f->group) : "",
               f->stratify ? ", stratified by " : "", f->stratify ? shown(f->stratify) : "");
    print_findings(s, verbose);
}

static const char *percent(double share)
{
    return number_text("%.2f %%", 100 * share);
}

static int print_classes(const struct balance *b, const apl_field *field, bool all)
{
    struct table table = TABLE("lrrrl");
    for (unsigned i = 0; i < 5; i++)
        table_add(&table, (const char *[]){"  class", "records", "share", "expected", "interval"}[i]);
    for (uint64_t k = 0; k < b->count; k++) {
        const struct class_share *s = &b->classes[k];
        char name[300], interval[80];
        if (!s->outside && !all)
            continue;
        snprintf(name, sizeof name, "  %s", shown(field->classes[k]));
        snprintf(interval, sizeof interval, "%.2f - %.2f %%%s", 100 * s->low, 100 * s->high,
                 s->outside ? ", outside" : "");
        table_add(&table, name);
        table_add(&table, count_text(s->records));
        table_add(&table, percent(s->share));
        table_add(&table, percent(s->expected));
        table_add(&table, interval);
    }
    return table_print(&table);
}

static int print_balance(const struct check_job *job, const struct check_report *r, const struct balance *b)
{
    const apl_field *field = apl_store_field(job->store, (unsigned)r->class_field);
    char whole[300] = "the whole store";
    if (b->whole)
        snprintf(whole, sizeof whole, "%s", shown(b->whole));
    print_line(0, "%s of %s: %s of %s classes have their share of %s, within the intervals",
               shown(field->name), shown(b->split), count_text(b->count - b->outside), count_text(b->count),
               whole);
    return b->outside || job->verbose ? print_classes(b, field, job->verbose) : 0;
}

static void print_count(uint64_t wrong, uint64_t of, const char *what, const char *other)
{
    printf("  %s %s: %s of %s%s\n", what, shown(other), count_text(wrong), count_text(of),
           wrong ? ": LEAK" : "");
}

static void print_near(const struct check_job *job, const struct checked_pair *p)
{
    uint64_t most = job->verbose ? p->near : SHOWN_PAIRS;
    printf("  that look like one of %s: %s of %s\n", shown(p->other), count_text(p->near),
           count_text(p->records));
    for (uint64_t i = 0; i < p->near && i < most; i++)
        printf("    %u like %u, %u bits apart\n", p->nearest[i].id, p->nearest[i].other,
               p->nearest[i].distance);
    if (p->near > most)
        printf("    and %s more (-v)\n", count_text(p->near - most));
}

static void print_pair(const struct check_job *job, const struct check_report *r,
                       const struct checked_pair *p)
{
    char what[300];
    printf("\nrecords of %s\n", shown(p->split));
    print_count(p->in_both, p->records, "that are in", p->other);
    print_count(p->equal, p->records, "with the inputs of one of", p->other);
    if (p->group) {
        snprintf(what, sizeof what, "with the %s of one of", shown(p->group));
        print_count(p->grouped, p->records, what, p->other);
    }
    if (r->image_field >= 0)
        print_near(job, p);
}

/* As where a store has been merged with one that has some of its records. Data may well be so, so it is no failure. */
static void print_repeats(const struct check_job *job, const struct repeats *r)
{
    size_t most = job->verbose ? r->count : SHOWN_PAIRS;
    printf("\nrecords of %s\n  with the inputs of one before them in it: %s of %s\n", shown(r->split),
           count_text(r->count), count_text(r->records));
    for (size_t i = 0; i < r->count && i < most; i++)
        printf("    %u has those of %u\n", r->list[i].id, r->list[i].first);
    if (r->count > most)
        printf("    and %s more (-v)\n", count_text(r->count - most));
}

/* Of a source with very many splits, only some pairs are listed. */
static void print_unlisted(const struct check_report *r)
{
    uint64_t listed = 0;
    if (r->own_pairs <= OVERLAPS_ALL)
        return;
    for (size_t i = 0; i < r->pair_count; i++)
        listed += r->pairs[i].own;
    printf("\nof %s pairs of the source's splits, %s are listed, which share something; ",
           count_text(r->own_pairs), count_text(listed));
    if (r->more)
        printf("%s%s more do: LEAK\n", r->more_at_least ? "at least " : "", count_text(r->more));
    else
        puts("the others share nothing");
    puts("(images have been compared of those listed; name two splits to compare theirs)");
}

/* Why the images of a store cannot be compared. */
static const char *why_not_compared(const apl_store *store)
{
    static char text[600];
    const apl_field *f;
    int at =
        snprintf(text, sizeof text, "no input holds pixels (bytes, 1 or 3 channels), or JPEG or PNG files");
    for (unsigned i = 0; (f = apl_store_field(store, i)) != NULL; i++)
        if (f->role == APL_INPUT && f->media) {
            snprintf(text + at, sizeof text - (size_t)at, "; %s holds %s", shown(f->name), shown(f->media));
            break;
        }
    return text;
}

static void print_images(const struct check_job *job, const struct check_report *r)
{
    const struct looks *l = &r->looks;
    if (r->image_field < 0 && job->options.images)
        print_line(0, "\nImages have not been compared: %s.", why_not_compared(job->store));
    if (!l->index)
        return;
    const apl_field *f = apl_store_field(job->store, (unsigned)r->image_field);
    print_line(0, "\n%s of %s (%s) %s been compared; those at most %u of %u bits apart look alike",
               counted(l->images, "image"), shown(f->name), f->media ? shown(f->media) : "pixels",
               l->images == 1 ? "has" : "have", job->options.near, PICTURE_BITS);
    if (l->unread)
        print_line(0, "%s could not be decoded and %s not been compared; the first is that of record %s: %s",
                   counted(l->unread, "file"), l->unread == 1 ? "has" : "have", count_text(l->first_unread),
                   shown(l->why_unread));
}

static void print_end(const struct check_job *job, const struct check_report *r)
{
    unsigned failures = check_failures(r);
    if (failures)
        printf("\n%u %s wrong with these splits.\n", failures, failures == 1 ? "thing is" : "things are");
    else
        print_line(0, "\nNothing is wrong with these splits%s%s.",
                   job->options.images ? "" : "; images have not been compared",
                   job->options.statistics ? "" : "; what is left to chance has not been tested");
}

static int print_report(const struct check_job *job, const struct check_report *r)
{
    int status = 0;
    printf("%s, %s\n", shown_db(job->path), duration_text(job->seconds));
    for (unsigned i = 0; i < r->splits.count; i++)
        print_split(&r->splits.splits[i], job->verbose);
    split_tell_others(r->splits.unusable, r->splits.of_other_lists);
    if (r->balance_count)
        putchar('\n');
    for (size_t i = 0; i < r->balance_count && !status; i++)
        status = print_balance(job, r, &r->balances[i]);
    for (size_t i = 0; i < r->pair_count; i++)
        print_pair(job, r, &r->pairs[i]);
    print_unlisted(r);
    for (size_t i = 0; i < r->repeats.count; i++)
        print_repeats(job, &r->repeats.splits[i]);
    print_images(job, r);
    print_end(job, r);
    return check_failures(r) ? EXIT_FAILURE : status;
}

/* -------------------------------------------------------------------------------------------- the command */

static int failed_with(const struct check_job *job, const apl_error *err)
{
    const char *path = shown_db(job->path);
    bool named = strstr(err->message, path) != NULL;
    failed("%s%s%s", named ? "" : path, named ? "" : ": ", err->message);
    return job->json ? print_json(json_failure(err), EXIT_FAILURE) : EXIT_FAILURE;
}

static int run(struct check_job *job)
{
    struct check_report report = {.image_field = -1};
    apl_error err;
    if (apl_store_open(job->path, NULL, &job->store, &err) != APL_OK)
        return failed_with(job, &err);
    double began = now_seconds();
    int status;
    if (job->near_given && looks_field(job->store, job->options.decoder) < 0) {
        err = (apl_error){.status = APL_E_UNSUPPORTED};
        snprintf(err.message, sizeof err.message, "--near: no images can be compared: %s",
                 why_not_compared(job->store));
        status = failed_with(job, &err);
    } else if (check_splits(job->store, &job->options, &report, &err) != APL_OK) {
        status = failed_with(job, &err);
    } else {
        job->seconds = now_seconds() - began;
        status = job->json    ? check_print_json(job, &report)
                 : job->quiet ? (check_failures(&report) ? EXIT_FAILURE : EXIT_SUCCESS)
                              : print_report(job, &report);
    }
    check_report_free(&report);
    apl_store_close(job->store);
    return status;
}

static int take_near(void *job, const char *value)
{
    struct check_options *o = &((struct check_job *)job)->options;
    uint64_t bits = 0;
    o->images = ((struct check_job *)job)->near_given = strcmp(value, "none") != 0;
    if (o->images && !parse_number(value, 0, NEAR_MOST, &bits))
        return misuse("--near: 0 to %d bits or 'none', not '%s'", NEAR_MOST, shown(value));
    o->near = (unsigned)bits;
    return 0;
}

static const struct option_row rows[] = {
    {0, "group", "FIELD",
     "no two splits should share a value of FIELD (default: for a split made\n"
     "with --group, that field)",
     OPTION_TEXT, offsetof(struct check_job, options.group), NULL},
    {0, "near", "BITS",
     "images look alike if their hashes differ in at most BITS of 128 bits, 0\n"
     "to 31 (default: 12); 'none': do not compare them",
     OPTION_CALL, 0, take_near},
    {0, "leaks", NULL, "look only for what is shared and for broken rules: no statistics", OPTION_FLAG,
     offsetof(struct check_job, leaks), NULL},
    {0, "level", "P", "chance of a false alarm, of all tests together (default: 0.01)", OPTION_CHANCE,
     offsetof(struct check_job, options.level), NULL},
    JSON_ROW(struct check_job, json),
    {'v', "verbose", NULL, "print every class, near-duplicate and repeated record", OPTION_FLAG,
     offsetof(struct check_job, verbose), NULL},
    QUIET_ROW(struct check_job, quiet),
    HELP_ROW,
};

static const struct command_line line = {
    .head =
        "Usage: apldata check [OPTION]... DB [NAME]...\n"
        "Test whether splits follow their rules, how their classes are balanced, and what they share:\n"
        "records, equal inputs, groups, and images that look alike. Each split is compared with its rest,\n"
        "and the splits of the source with each other; one NAME checks that split alone, two or more\n"
        "compare these with each other.\n"
        "\n",
    .tail = "\n"
            "Classes, near-duplicates and records repeated in a split are reported, not\n"
            "tested. A build without Boost.Math has no statistics: it looks only for leaks.\n"
            "Exit status: 0 if nothing is wrong, 1 if something is, 2 for wrong use.\n",
    .column = 23,
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
};

/* Statistics are computed if this build has them, unless declined. */
static int set_statistics(struct check_job *job)
{
    if (job->leaks && job->options.level > 0)
        return misuse("--leaks has no use for --level");
#ifdef HAVE_AUDIT
    job->options.statistics = job->leaks ? NULL : &split_statistics;
#else
    if (job->options.level > 0)
        return failed(
            "--level: this build has no statistics: they need a C++ compiler and Boost.Math (Debian: "
            "libboost-math-dev)");
#endif
    if (!(job->options.level > 0))
        job->options.level = AUDIT_LEVEL;
    return 0;
}

int cmd_check(int argc, char **argv)
{
    struct check_job job = {.options = {.images = true, .near = DEFAULT_NEAR, .decoder = &kept_images}};
    int status = options_read(&line, &job, argc, argv);
    if (!status && (optind == argc || !*argv[optind]))
        status = misuse("which DB?");
    if (!status)
        status = set_statistics(&job);
    if (status)
        return options_status(status);
    job.path = argv[optind];
    job.options.names = (const char *const *)(argv + optind + 1);
    job.options.count = (size_t)(argc - optind - 1);
    return run(&job);
}

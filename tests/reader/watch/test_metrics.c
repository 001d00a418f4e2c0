/* Statistics for Prometheus: a family of lines for each metric, in two formats, with labels that nothing escapes from. */
#include "apl.h"

#include "locale_case.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

TestSuite(metrics, .timeout = 120);

static char text[1 << 16];

static size_t written(const apl_measured *m, size_t count, apl_metrics_format format)
{
    size_t n = apl_stats_metrics(m, count, sizeof *m->stats, format, text, sizeof text);
    cr_assert(n < sizeof text && n == strlen(text));
    return n;
}

static void has(const char *words, bool wanted)
{
    cr_assert_eq(strstr(text, words) != NULL, wanted, "%s: %s", words, text);
}

Test(metrics, are_families_of_lines)
{
    apl_stats one = {.elapsed = 1.5, .records = UINT64_MAX, .queued = 3, .memory = 7}, two = {.records = 2};
    apl_measured both[] = {{&one, "train", "db", "train"}, {&two, "val", "db", "val"}};
    written(both, 2, APL_METRICS_PROMETHEUS);
    has("# HELP apl_loader_records_total Records handed out.\n# TYPE apl_loader_records_total counter\n"
        "apl_loader_records_total{loader=\"train\",store=\"db\",split=\"train\"} 18446744073709551615\n"
        "apl_loader_records_total{loader=\"val\",store=\"db\",split=\"val\"} 2\n# HELP ",
        true);
    has("apl_loader_elapsed_seconds_total{loader=\"train\",store=\"db\",split=\"train\"} 1.500000\n", true);
    has("# TYPE apl_loader_queued_batches "
        "gauge\napl_loader_queued_batches{loader=\"train\",store=\"db\",split=\"train\"} 3\n",
        true);
    has("apl_loader_memory_bytes{loader=\"train\",store=\"db\",split=\"train\"} 7\n", true);
    has("# EOF", false);
    written(both, 2, APL_METRICS_OPEN);
    has("# TYPE apl_loader_records counter\napl_loader_records_total{", true);
    has("# TYPE apl_loader_queued_batches gauge\n", true);
    cr_assert_str_eq(text + strlen(text) - 6, "# EOF\n");
}

Test(metrics, of_none_are_none)
{
    apl_measured none = {0};
    cr_assert_eq(apl_stats_metrics(&none, 0, sizeof(apl_stats), APL_METRICS_PROMETHEUS, text, sizeof text),
                 0);
    cr_assert_str_eq(text, "");
    cr_assert_eq(apl_stats_metrics(&none, 0, sizeof(apl_stats), APL_METRICS_OPEN, text, sizeof text), 6);
}

Test(metrics, have_labels_that_nothing_escapes_from)
{
    apl_stats s = {0};
    apl_measured m = {&s, "a \"b\"\\\nc", "\x1b[31m\xff", "t\xc3\xa9"};
    written(&m, 1, APL_METRICS_PROMETHEUS);
    has("{loader=\"a \\\"b\\\"\\\\\\nc\",store=\"\\\\x1b[31m\\\\xff\",split=\"t\xc3\xa9\"} 0\n", true);
}

Test(metrics, are_cut_and_counted)
{
    apl_stats s = {0};
    apl_measured m = {&s, "a", "b", "c"};
    char cut[64];
    size_t n = written(&m, 1, APL_METRICS_PROMETHEUS);
    cr_assert_eq(apl_stats_metrics(&m, 1, sizeof s, APL_METRICS_PROMETHEUS, NULL, 0), n);
    memset(cut, 'x', sizeof cut);
    cr_assert_eq(apl_stats_metrics(&m, 1, sizeof s, APL_METRICS_PROMETHEUS, cut, sizeof cut - 1), n);
    cr_assert(strlen(cut) == sizeof cut - 2 && memcmp(cut, text, sizeof cut - 2) == 0 &&
              cut[sizeof cut - 1] == 'x');
    /* an older caller's */
    cr_assert_eq(apl_stats_metrics(&m, 1, offsetof(apl_stats, starved), APL_METRICS_PROMETHEUS, NULL, 0), n);
}

Test(metrics, want_all_that_they_need)
{
    apl_stats s = {0};
    apl_measured m = {&s, "a", "b", "c"},
                 bad[] = {
                     {NULL, "a", "b", "c"}, {&s, NULL, "b", "c"}, {&s, "a", NULL, "c"}, {&s, "a", "b", NULL}};
    for (unsigned i = 0; i < 4; i++)
        cr_assert_eq(apl_stats_metrics(&bad[i], 1, sizeof s, APL_METRICS_PROMETHEUS, text, sizeof text), 0);
    cr_assert_eq(apl_stats_metrics(NULL, 1, sizeof s, APL_METRICS_PROMETHEUS, text, sizeof text), 0);
    cr_assert_eq(apl_stats_metrics(&m, 1, 0, APL_METRICS_PROMETHEUS, text, sizeof text), 0);
    cr_assert_eq(apl_stats_metrics(&m, 1, sizeof s, (apl_metrics_format)2, text, sizeof text), 0);
    cr_assert_eq(apl_stats_metrics(&m, 1, sizeof s, APL_METRICS_PROMETHEUS, NULL, 8), 0);
}

/* All that programs read: JSON, metrics, the diagnosis. */
Test(metrics, are_the_same_in_a_locale_with_decimal_commas)
{
    static char before[3][1 << 16], after[3][1 << 16];
    apl_stats s = {.elapsed = 10.5,
                   .wait = 4.25,
                   .stall = 0.4,
                   .first_batch = 0.5,
                   .loading = 1.5,
                   .batches = 900,
                   .records = 9000,
                   .starved = 3.5,
                   .wait_loading = 3,
                   .threads = 2,
                   .cores = 2,
                   .ranks = 1};
    apl_measured m = {&s, "train", "db", "train"};
    for (unsigned i = 0; i < 2; i++) {
        char(*out)[1 << 16] = i ? after : before;
        if (i && !locale_has_commas())
            return;
        cr_assert_gt(apl_stats_json_all(&s, sizeof s, out[0], sizeof out[0]), 0);
        cr_assert_gt(apl_stats_metrics(&m, 1, sizeof s, APL_METRICS_PROMETHEUS, out[1], sizeof out[1]), 0);
        cr_assert_gt(apl_stats_explain(&s, NULL, sizeof s, NULL, out[2], sizeof out[2]), 0);
    }
    for (unsigned k = 0; k < 3; k++)
        cr_assert_str_eq(after[k], before[k]);
}

/* Statistics as Prometheus reads them. */
#include "buffer_text.h"
#include "sized.h"

#include <inttypes.h>

enum metric_kind { SECONDS, COUNT, LEVEL, LEVEL_UNSIGNED };

struct metric {
    const char *name, *help;
    enum metric_kind kind; /* SECONDS and COUNT only grow */
    size_t at;             /* in apl_stats */
};

#define METRIC(name, member, kind, help)              \
    {                                                 \
        name, help, kind, offsetof(apl_stats, member) \
    }

static const struct metric metrics[] = {
    METRIC("elapsed_seconds", elapsed, SECONDS, "Seconds since the loader was opened."),
    METRIC("starved_seconds", starved, SECONDS, "Seconds in which the loop waited, after the first batch."),
    METRIC("loading_seconds", loading, SECONDS, "Seconds threads spent loading blocks."),
    METRIC("reading_seconds", reading, SECONDS, "Seconds of these, getting them from the file or URL."),
    METRIC("assembling_seconds", assembling, SECONDS, "Seconds threads spent assembling batches."),
    METRIC("images_seconds", images, SECONDS, "Seconds of these, decoding and resizing images."),
    METRIC("planning_seconds", planning, SECONDS, "Seconds threads spent drawing the order."),
    METRIC("blocked_seconds", blocked, SECONDS, "Seconds threads had nothing to do."),
    METRIC("cpu_seconds", cpu, SECONDS, "Seconds of processor time that the process has used."),
    METRIC("batches", batches, COUNT, "Batches handed out."),
    METRIC("records", records, COUNT, "Records handed out."),
    METRIC("blocks", blocks, COUNT, "Blocks loaded."),
    METRIC("read_bytes", bytes_read, COUNT,
           "Bytes read, of blocks, and of values that were read with their batch."),
    METRIC("decoded_bytes", bytes_decoded, COUNT, "Bytes decoded, of blocks."),
    METRIC("assembled_bytes", bytes_assembled, COUNT, "Bytes assembled, of batches."),
    METRIC("remote_requests", requests, COUNT, "Requests for parts of stores at URLs."),
    METRIC("remote_bytes", bytes_fetched, COUNT, "Bytes that came from URLs."),
    METRIC("remote_retries", retries, COUNT, "Requests that repeated one that had failed."),
    METRIC("cache_hits", cache_hits, COUNT, "Parts of stores at URLs read from the cache."),
    METRIC("cache_bytes", bytes_cached, COUNT, "Bytes read from the cache."),
    METRIC("memory_bytes", memory, LEVEL, "Bytes that the loader holds."),
    METRIC("memory_budget_bytes", memory_budget, LEVEL, "Bytes that the loader may hold."),
    METRIC("queued_batches", queued, LEVEL_UNSIGNED, "Finished batches that wait."),
    METRIC("lent_batches", lent, LEVEL_UNSIGNED, "Batches that the loop holds."),
    METRIC("threads", threads, LEVEL_UNSIGNED, "Threads that load and assemble."),
};

static void tell_value(struct buffer *b, const struct metric *m, const apl_stats *s)
{
    const char *at = (const char *)s + m->at;
    unsigned small;
    uint64_t large;
    double seconds;
    if (m->kind == SECONDS) {
        memcpy(&seconds, at, sizeof seconds);
        buffer_printf(b, "%.6f\n", seconds);
    } else if (m->kind == LEVEL_UNSIGNED) {
        memcpy(&small, at, sizeof small);
        buffer_printf(b, "%u\n", small);
    } else {
        memcpy(&large, at, sizeof large);
        buffer_printf(b, "%" PRIu64 "\n", large);
    }
}

/* Where the text formats differ: to OpenMetrics, a counter's name does not end as that of its samples. */
static void tell_metric(struct buffer *b, const struct metric *m, apl_metrics_format format,
                        const apl_measured *measured, size_t count, size_t stats_size)
{
    bool grows = m->kind == SECONDS || m->kind == COUNT;
    const char *total = grows ? "_total" : "", *of_family = format == APL_METRICS_OPEN ? "" : total;
    buffer_printf(b, "# HELP apl_loader_%s%s %s\n# TYPE apl_loader_%s%s %s\n", m->name, of_family, m->help,
                  m->name, of_family, grows ? "counter" : "gauge");
    for (size_t i = 0; i < count; i++) {
        apl_stats s = {0};
        options_give(&s, sizeof s, measured[i].stats, stats_size);
        buffer_printf(b, "apl_loader_%s%s{loader=", m->name, total);
        buffer_quoted(b, measured[i].loader);
        buffer_printf(b, ",store=");
        buffer_quoted(b, measured[i].store);
        buffer_printf(b, ",split=");
        buffer_quoted(b, measured[i].split);
        buffer_printf(b, "} ");
        tell_value(b, m, &s);
    }
}

static bool is_whole(const apl_measured *m)
{
    return m->stats && m->loader && m->store && m->split;
}

size_t apl_stats_metrics(const apl_measured *measured, size_t count, size_t stats_size,
                         apl_metrics_format format, char *text, size_t size)
{
    struct buffer b = {0};
    if ((count && !measured) || !room_ok(stats_size) || (size && !text) ||
        (unsigned)format > APL_METRICS_OPEN)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (!is_whole(&measured[i]))
            return 0;
    for (size_t i = 0; count > 0 && i < sizeof metrics / sizeof *metrics; i++)
        tell_metric(&b, &metrics[i], format, measured, count, stats_size);
    buffer_printf(&b, "%s", format == APL_METRICS_OPEN ? "# EOF\n" : "");
    size_t length = b.failed ? 0 : b.size, fits = length < size ? length : size ? size - 1 : 0;
    if (fits)
        memcpy(text, b.data, fits);
    if (size)
        text[fits] = 0;
    buffer_free(&b);
    return length;
}

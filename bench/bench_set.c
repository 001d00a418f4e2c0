/*
 * What a large set costs before its first record is read:
 *
 *     bench_set DIRECTORY [SHARDS [RECORDS]]
 *
 * Makes SHARDS stores (10,000) of RECORDS records (100,000) of 8 bytes, joins them, and measures opening the set, listing
 * its records, and planning the beginning of an epoch whose window is all of it, and of one whose window is 2^20 records. A set
 * that is in the directory already is measured as it is.
 */
#include "bins.h"
#include "measure.h"
#include "subset.h"

#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BATCH 512u

static char **make_names(const char *directory, unsigned shards)
{
    char **names = must_have(calloc(shards, sizeof *names));
    for (unsigned i = 0; i < shards; i++) {
        size_t room = strlen(directory) + 24;
        names[i] = must_have(malloc(room));
        snprintf(names[i], room, "%s/s%05u", directory, i);
    }
    return names;
}

/* Shards differ in their records, as no set has one shard twice. */
static void make_shard(const char *path, unsigned number, unsigned records)
{
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    apl_writer *writer;
    apl_error err;
    uint64_t value = number;
    apl_value values[1] = {{&value, NULL}};
    o.codec = "zstd";
    o.level = 1;
    o.block_records = 4096;
    o.threads = APL_NO_THREADS;
    must(apl_writer_open(path, &o, &writer, &err), &err);
    must(apl_writer_add_field(writer, "x", APL_U64, APL_INPUT, 0, NULL, &err), &err);
    must(apl_writer_begin_member(writer, "m", "train", 0, &err), &err);
    for (unsigned i = 0; i < records; i++)
        must(apl_writer_append(writer, values, &err), &err);
    must(apl_writer_commit(writer, &err), &err);
    apl_writer_close(writer);
}

static void make_set(const char *directory, unsigned shards, unsigned records)
{
    apl_error err;
    char **names = make_names(directory, shards);
    if (mkdir(directory, 0777) != 0) {
        perror(directory);
        exit(1);
    }
    for (unsigned i = 0; i < shards; i++)
        make_shard(names[i], i, records);
    must(apl_set_join(directory, (const char *const *)names, shards, NULL, &err), &err);
    for (unsigned i = 0; i < shards; i++)
        free(names[i]);
    free(names);
}

/* Plans up to `most` records; nanoseconds for each. */
static double plan_some(const struct subset *s, uint64_t window, uint64_t most)
{
    static uint32_t deliveries[BATCH];
    struct plan_options options = {.seed = 1, .window = window, .bins = 64, .reuse = 1};
    struct bins *plan;
    apl_error err;
    bool failed;
    uint64_t done = 0;
    must(bins_new(&options, s, &plan, &err), &err);
    double begin = thread_cpu();
    bins_begin(plan, 1);
    double began = thread_cpu();
    for (size_t n; done < most && (n = bins_take(plan, deliveries, BATCH, &failed)) > 0;)
        done += n;
    double took = thread_cpu() - begin;
    printf("  begin %.3f s, %.1f M records planned in %.3f s\n", began - begin, (double)done * 1e-6, took);
    bins_free(plan);
    return took * 1e9 / (double)done;
}

int main(int argc, char **argv)
{
    apl_store *store;
    apl_error err;
    struct subset s;
    if (argc < 2) {
        fprintf(stderr, "usage: bench_set DIRECTORY [SHARDS [RECORDS]]\n");
        return 2;
    }
    if (access(argv[1], F_OK) != 0)
        make_set(argv[1], argc > 2 ? (unsigned)atoi(argv[2]) : 10000,
                 argc > 3 ? (unsigned)atoi(argv[3]) : 100000);
    double before = anonymous_memory(), begin = now();
    must(apl_store_open(argv[1], NULL, &store, &err), &err);
    double opened = now();
    must(subset_open(store, NULL, &s, &err), &err);
    double listed = now();
    printf("%llu records, %u blocks\n", (unsigned long long)s.records, s.blocks);
    tell("set: open", opened - begin, "s", AT_MOST, 1);
    tell("set: list", (listed - opened) * 1e9 / (double)s.records, "ns", NO_BAR, 0);
    tell("set: memory so far", (anonymous_memory() - before) * 1e-6, "MB", NO_BAR, 0);
    tell("set: plan, window 1 M", plan_some(&s, 1 << 20, 20000000), "ns", AT_MOST, 14);
    tell("set: plan, all", plan_some(&s, s.records, UINT64_MAX), "ns", AT_MOST, 14);
    subset_close(&s);
    apl_store_close(store);
    return 0;
}

/*
 * Does a record cost the same in a large store as in a small one?  bench_growth FOLDER
 *
 * Makes stores of plain images in FOLDER and removes them again: 50 thousand and 1.3 million of 32 x 32
 * pixels, read warm, which takes 8 GB of memory, and 50 thousand and 6 million of 16 x 16, read with a window
 * of a tenth. What counts is CPU time for a record, in turns, best of some. Beside it stands a plain loop that
 * copies records out of as much memory in random order, and when streaming into it, too: what that grows by
 * is the machine's caches, and is taken off.
 */
#include "assemble.h"
#include "measure.h"
#include "random.h"
#include "slab.h"

#include <string.h>
#include <unistd.h>

#define BATCH   512u
#define SKIPPED 16
#define ROUNDS  3
#define LARGE   ((uint64_t)4 << 30) /* bytes, beyond which caches no longer help */

static apl_error err;

/* Of this process, all threads. */
static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---------------------------------------------------------------------------------------------- stores */

static void remove_store(const char *folder, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s/data.mdb", folder, name);
    unlink(path);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    rmdir(path);
}

static apl_store *make_store(const char *folder, const char *name, uint64_t records, unsigned side)
{
    static uint8_t record[4096];
    char path[1024];
    apl_writer_options options = APL_WRITER_OPTIONS_INIT;
    apl_writer *writer;
    apl_store *store;
    int64_t shape[3] = {3, side, side};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    options.replace = 1;
    options.codec = "picture";
    must(apl_writer_open(path, &options, &writer, &err), &err);
    must(apl_writer_add_field(writer, "value", APL_U8, APL_INPUT, 3, shape, &err), &err);
    must(apl_writer_begin_member(writer, "made", "train", 0, &err), &err);
    for (uint64_t i = 0; i < records; i++) {
        apl_value value = {record, NULL};
        memset(record, (int)(i % 251), 3 * side * side);
        must(apl_writer_append(writer, &value, &err), &err);
    }
    must(apl_writer_commit(writer, &err), &err);
    apl_writer_close(writer);
    must(apl_store_open(path, NULL, &store, &err), &err);
    return store;
}

/* --------------------------------------------------------------------------------------------- readers */

static apl_reader *open_reader(apl_store *store, uint64_t window)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_reader *reader;
    o.batch_size = BATCH;
    o.threads = 1;
    o.ranks.world = 1;
    o.window = window;
    must(apl_reader_open(store, &o, &reader, &err), &err);
    return reader;
}

/* CPU nanoseconds for a record over some epochs. */
static double cost(apl_reader *reader, unsigned epochs)
{
    uint64_t records = 0;
    unsigned batches = 0;
    double begin = 0;
    for (unsigned i = 0; i < epochs; i++) {
        apl_batch *batch;
        apl_status status;
        while ((status = apl_reader_next(reader, &batch, &err)) == APL_OK) {
            if (batches++ < SKIPPED)
                begin = cpu();
            else
                records += apl_batch_rows(batch);
            apl_batch_release(batch);
        }
        if (status != APL_END)
            must(status, &err);
        must(apl_reader_next_epoch(reader, &err), &err);
    }
    return (cpu() - begin) * 1e9 / (double)records;
}

/* The same of copying out of as much memory. */
static double plain(struct slab *slab, uint64_t copies, bool both_ways)
{
    static const uint8_t *sources[BATCH];
    static uint8_t batch[BATCH * 4096];
    struct random_stream stream;
    random_stream_init(&stream, random_key(1, RANDOM_SHUFFLE));
    double took = 0;
    for (uint64_t done = 0; done < copies; done += BATCH) {
        for (unsigned k = 0; k < BATCH; k++)
            sources[k] = slab_value(slab, 0, random_below(&stream, slab->slots));
        double begin = cpu();
        gather(sources, slab->value_bytes[0], BATCH, batch);
        took += cpu() - begin;
        for (unsigned k = 0; both_ways && k < BATCH; k++)
            sources[k] = slab_value(slab, 0, random_below(&stream, slab->slots));
        begin = cpu();
        for (unsigned k = 0; both_ways && k < BATCH; k++)
            memcpy((void *)sources[k], batch + k * slab->value_bytes[0], slab->value_bytes[0]);
        took += cpu() - begin;
    }
    return took * 1e9 / (double)copies;
}

static struct slab fill_slab(uint64_t records, size_t bytes)
{
    struct slab slab;
    records = records < LARGE / bytes ? records : LARGE / bytes;
    must(slab_init(&slab, (uint32_t)records, 1, &bytes, &err), &err);
    memset(slab.values[0], 1, records * bytes);
    return slab;
}

/* ------------------------------------------------------------------------------------------------ rows */

struct growth {
    const char *name;
    uint64_t small, large;
    unsigned side;
    uint64_t part; /* the window is this part of the records; 1: all of them */
};

static void bench(const char *folder, const struct growth *g)
{
    const uint64_t sizes[2] = {g->small, g->large};
    double ours[2] = {1e9, 1e9}, loop[2] = {1e9, 1e9};
    apl_reader *readers[2];
    struct slab slabs[2];
    char name[2][48], text[128];
    for (int i = 0; i < 2; i++) {
        snprintf(name[i], sizeof name[i], "growth-%llu.db", (unsigned long long)sizes[i]);
        apl_store *store = make_store(folder, name[i], sizes[i], g->side);
        readers[i] = open_reader(store, sizes[i] / g->part);
        apl_store_close(store);
        slabs[i] = fill_slab(sizes[i] / g->part, 3 * g->side * g->side);
        cost(readers[i], 1);
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < 2; i++) {
            ours[i] = least(ours[i], cost(readers[i], (unsigned)(1 + 1000000 / sizes[i])));
            loop[i] = least(loop[i], plain(&slabs[i], 1000000, g->part > 1));
        }
    for (int i = 0; i < 2; i++) {
        apl_reader_close(readers[i]);
        slab_free(&slabs[i]);
        remove_store(folder, name[i]);
    }
    snprintf(text, sizeof text, "%s, %.2f M to %.1f M records: %.0f ns, then %.0f ns", g->name,
             (double)g->small * 1e-6, (double)g->large * 1e-6, ours[0], ours[1]);
    tell(text, ours[1] / ours[0], "", NO_BAR, 0);
    snprintf(text, sizeof text, "  copying alone: %.0f ns, then %.0f ns", loop[0], loop[1]);
    tell(text, loop[1] / loop[0], "", NO_BAR, 0);
    tell("  without what copying grows by", (ours[1] - (loop[1] - loop[0])) / ours[0], "", AT_MOST, 1.1);
}

int main(int argc, char **argv)
{
    static const struct growth growths[] = {{"warm", 50000, 1300000, 32, 1},
                                            {"streaming", 50000, 6000000, 16, 10}};
    if (argc != 2) {
        fprintf(stderr, "usage: bench_growth FOLDER\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof growths / sizeof *growths; i++)
        bench(argv[1], &growths[i]);
    return 0;
}

/*
 * What planning costs:  bench_plan [ROUNDS]
 *
 * Nanoseconds to draw a record of a strict epoch, for several windows, beside a plain loop that draws from 64
 * arrays: it looks for the array of a random number from the first one on.
 */
#include "measure.h"
#include "bins.h"
#include "random.h"

#define BLOCK 128u
#define BINS  64u
#define BATCH 512u

static struct subset make_subset(uint64_t records)
{
    struct subset s = {
        .records = records, .blocks = (uint32_t)((records + BLOCK - 1) / BLOCK), .stride = BLOCK};
    s.block = must_have(calloc(s.blocks, sizeof *s.block));
    for (uint32_t i = 0; i < s.blocks; i++) {
        uint64_t first = (uint64_t)i * BLOCK, left = records - first;
        uint32_t count = left < BLOCK ? (uint32_t)left : BLOCK;
        s.block[i] = (struct subset_block){
            .number = i, .first_id = first, .records = count, .count = count, .before = first};
    }
    return s;
}

static double planned(const struct subset *s, uint64_t window, unsigned epoch, uint64_t *check)
{
    static uint32_t deliveries[BATCH];
    struct plan_options options = {.seed = 1, .window = window, .bins = BINS, .reuse = 1};
    struct bins *plan;
    apl_error err;
    bool failed;
    must(bins_new(&options, s, &plan, &err), &err);
    double begin = now();
    bins_begin(plan, epoch);
    for (size_t n; (n = bins_take(plan, deliveries, BATCH, &failed)) > 0;)
        *check += deliveries[n - 1];
    double took = now() - begin;
    bins_free(plan);
    return took * 1e9 / (double)s->records;
}

/* The same draws by the simplest means; the arrays are filled beforehand, a window after the other. */
static double plain(uint64_t records, uint64_t window, uint64_t *check)
{
    static uint32_t counts[BINS];
    uint32_t *items = must_have(calloc(window + BINS, sizeof *items));
    struct random_stream stream;
    size_t room = window / BINS + 1;
    double took = 0;
    random_stream_init(&stream, random_key(1, RANDOM_SHUFFLE));
    for (uint64_t done = 0; done < records;) {
        uint64_t left = records - done, n = left < window ? left : window;
        for (unsigned i = 0; i < BINS; i++)
            counts[i] = (uint32_t)((n + BINS - 1 - i) / BINS);
        for (uint64_t i = 0; i < n; i++)
            items[i % BINS * room + i / BINS] = (uint32_t)(done + i);
        double begin = now();
        for (uint64_t standing = n; standing > 0; standing--) {
            uint32_t r = random_below(&stream, (uint32_t)standing);
            unsigned bin = 0;
            for (; r >= counts[bin]; bin++)
                r -= counts[bin];
            uint32_t *of = items + bin * room;
            *check += of[r];
            of[r] = of[--counts[bin]];
        }
        took += now() - begin;
        done += n;
    }
    free(items);
    return took * 1e9 / (double)records;
}

int main(int argc, char **argv)
{
    static const struct {
        uint64_t records, window;
    } cases[] = {{50000, 50000},    {130000, 130000},  {1300000, 1300000},
                 {1300000, 130000}, {6000000, 600000}, {10000000, 10000000}};
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 3;
    uint64_t check = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct subset s = make_subset(cases[i].records);
        struct plan_options o = {.window = cases[i].window, .bins = BINS, .reuse = 1};
        double ours = 1e9, loop = 1e9;
        char what[96];
        for (unsigned k = 0; k < rounds; k++) {
            loop = least(loop, plain(cases[i].records, cases[i].window, &check));
            ours = least(ours, planned(&s, cases[i].window, k, &check));
        }
        snprintf(what, sizeof what, "planning %.1f M records, window %.2f M (plain loop %.1f)",
                 (double)cases[i].records * 1e-6, (double)cases[i].window * 1e-6, loop);
        tell(what, ours, "ns", AT_MOST, 30);
        snprintf(what, sizeof what, "  memory for each record of the window");
        tell(what, (double)plan_bytes(&o, &s) / (double)cases[i].window, "B", NO_BAR, 0);
        subset_close(&s);
    }
    return check == 0; /* so that nothing is left out */
}

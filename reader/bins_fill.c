/* Filling bins where the window covers the split, and shuffling them, by any number of threads: see bins.h. */
#include "bins_parts.h"
#include "trace.h"

#include <string.h>

#define GATHER_AHEAD 8u /* runs that are on their way from memory */

/* ---------------------------------------------------------------------------------------------- cutting */

/* The i-th block of those that are sorted by lane. */
static uint32_t block_of_lane(const struct bins *b, uint32_t i)
{
    return b->by_lane ? b->by_lane[i] : i;
}

static void sort_by_lane(struct bins *b)
{
    uint32_t at = 0;
    for (unsigned l = 0; l < b->shape.lanes; l++) {
        b->lanes[l].from = at;
        at += (b->subset->blocks - l + b->shape.lanes - 1) / b->shape.lanes;
        b->lanes[l].to = b->lanes[l].from; /* here goes the next one */
    }
    for (uint32_t i = 0; i < b->subset->blocks; i++) {
        struct lane *lane = &b->lanes[b->lane_of ? b->lane_of[i] : 0];
        if (b->by_lane)
            b->by_lane[lane->to] = i;
        lane->to++;
    }
}

/* Cuts the blocks from ... to-1, which are those of a lane. Returns what the next chunk's number is. */
static uint32_t cut_lane(struct bins *b, uint32_t chunk, uint32_t from, uint32_t to, uint64_t *offset)
{
    for (uint32_t i = from, n = 0; i < to; i++) {
        uint32_t more = bins_of_block(b, block_of_lane(b, i));
        if (i == from || n + more > plan_chunk(&b->shape)) {
            b->chunks[chunk++] = (struct chunk){.from = i, .to = i, .offset = *offset};
            n = 0;
        }
        b->chunks[chunk - 1].to = i + 1;
        n += more;
        *offset += more;
    }
    return chunk;
}

void bins_cut(struct bins *b)
{
    uint32_t count = 0;
    uint64_t offset = 0;
    sort_by_lane(b);
    for (unsigned l = 0; l < b->shape.lanes; l++) {
        struct lane *lane = &b->lanes[l];
        uint32_t first = count;
        count = cut_lane(b, count, lane->from, lane->to, &offset);
        lane->from = first;
        lane->to = count;
    }
    pthread_mutex_lock(&b->lock);
    b->chunk_count = count;
    pthread_mutex_unlock(&b->lock);
}

/* ---------------------------------------------------------------------------------------------- filling */

static uint32_t *starts_of(const struct bins *b, uint32_t chunk)
{
    return b->starts + (uint64_t)chunk * (b->shape.bins + 2);
}

/* Some blocks of a chunk that follow each other, from its `from` on: their deliveries are hashed at once. */
struct stretch {
    uint32_t block, to, n;
    uint64_t first; /* number of the first delivery */
};

static struct stretch next_stretch(const struct bins *b, const struct chunk *c, uint32_t from)
{
    uint32_t block = block_of_lane(b, from);
    struct stretch s = {.block = block, .to = block};
    s.first = deliveries_before(b->cumulative, b->subset->block[block].before, b->options.reuse);
    for (; from < c->to && block_of_lane(b, from) == s.to; from++)
        s.n += bins_of_block(b, s.to++);
    return s;
}

/* The bins of a chunk's deliveries. */
static uint32_t place_chunk(const struct bins *b, const struct chunk *c, uint16_t *places)
{
    uint32_t n = 0;
    for (uint32_t i = c->from; i < c->to;) {
        struct stretch s = next_stretch(b, c, i);
        places_hash(b->place, s.first, s.n, b->shape.bins, places + n);
        n += s.n;
        i += s.to - s.block;
    }
    return n;
}

void bins_count_lane(const struct bins *b, const struct lane *lane, uint32_t *counts)
{
    for (uint32_t k = lane->from; k < lane->to; k++)
        for (uint32_t i = b->chunks[k].from; i < b->chunks[k].to;) {
            struct stretch s = next_stretch(b, &b->chunks[k], i);
            places_count(b->place, s.first, s.n, b->shape.bins, counts);
            i += s.to - s.block;
        }
}

/* Puts a block's deliveries where the runs of their bins go on. */
static void scatter_block(const struct bins *b, uint32_t block, const uint16_t *places, uint32_t *next,
                          uint32_t *runs)
{
    const struct subset_block *s = &b->subset->block[block];
    uint32_t reuse = b->options.reuse, first = block * b->subset->stride * reuse;
    if (!b->cumulative) {
        for (uint32_t i = 0; i < s->count * reuse; i++)
            runs[next[places[i]]++] = first + i;
        return;
    }
    for (uint32_t i = 0; i < s->count; i++, first += reuse)
        for (uint32_t copy = 0, n = deliveries_of_record(b->cumulative, s->before + i, reuse); copy < n;
             copy++)
            runs[next[*places++]++] = first + copy;
}

/* Sorts a chunk by bin, by counting: bin i's run is from starts[i] to starts[i + 1]. */
static void sort_chunk(const struct bins *b, uint32_t number, uint16_t *places)
{
    const struct chunk *c = &b->chunks[number];
    uint32_t *starts = starts_of(b, number), bins = b->shape.bins, n = place_chunk(b, c, places);
    memset(starts, 0, (bins + 2) * sizeof *starts);
    for (uint32_t i = 0; i < n; i++)
        starts[places[i] + 2]++;
    for (uint32_t i = 2; i <= bins; i++)
        starts[i + 1] += starts[i];
    for (uint32_t i = c->from; i < c->to; i++) { /* which moves each start to the next one's place */
        uint32_t block = block_of_lane(b, i);
        scatter_block(b, block, places, starts + 1, b->runs + c->offset);
        places += bins_of_block(b, block);
    }
}

/* Who has claimed work has done it. */
static void finish_work(struct bins *b, const struct bins_work *work)
{
    pthread_mutex_lock(&b->lock);
    if (work->what == BINS_FILL) {
        b->scratch[b->scratch_count++] = work->places;
        b->filled++;
    }
    b->helping--;
    pthread_cond_broadcast(&b->idle);
    pthread_mutex_unlock(&b->lock);
}

static bool claim_chunk(struct bins *b, struct bins_work *work)
{
    if (b->next_chunk == b->chunk_count || b->scratch_count == 0)
        return false;
    *work = (struct bins_work){.what = BINS_FILL, .number = b->next_chunk++};
    work->places = b->scratch[--b->scratch_count];
    b->helping++;
    return true;
}

static void fill_chunk(struct bins *b, const struct bins_work *work)
{
    uint64_t begin = trace_is_on() ? now_ns() : 0;
    sort_chunk(b, work->number, work->places);
    if (begin)
        trace_span("fill", begin, now_ns(), "chunk", work->number);
    finish_work(b, work);
}

void bins_fill_all(struct bins *b)
{
    struct bins_work work;
    pthread_mutex_lock(&b->lock);
    while (b->filled < b->chunk_count) {
        if (!claim_chunk(b, &work)) {
            pthread_cond_wait(&b->idle, &b->lock);
            continue;
        }
        pthread_mutex_unlock(&b->lock);
        fill_chunk(b, &work);
        pthread_mutex_lock(&b->lock);
    }
    pthread_mutex_unlock(&b->lock);
}

/* ------------------------------------------------------------------------------------------ shuffling */

static uint32_t count_gathered(const struct bins *b, const struct lane *lane, uint64_t turn)
{
    uint32_t n = 0;
    for (uint32_t c = lane->from; c < lane->to; c++)
        n += starts_of(b, c)[turn + 1] - starts_of(b, c)[turn];
    return n;
}

/* Copies a bin's runs into it. False: out of memory. */
static bool gather_runs(const struct bins *b, const struct lane *lane, uint64_t turn, struct bin *bin)
{
    bin->count = 0;
    if (!bin_reserve(bin, count_gathered(b, lane, turn)))
        return false;
    for (uint32_t c = lane->from; c < lane->to; c++) {
        const uint32_t *starts = starts_of(b, c) + turn;
        if (c + GATHER_AHEAD < lane->to)
            __builtin_prefetch(b->runs + b->chunks[c + GATHER_AHEAD].offset +
                               starts_of(b, c + GATHER_AHEAD)[turn]);
        if (starts[1] == starts[0])
            continue;
        memcpy(bin->deliveries + bin->count, b->runs + b->chunks[c].offset + starts[0],
               (starts[1] - starts[0]) * sizeof *bin->deliveries);
        bin->count += starts[1] - starts[0];
    }
    return true;
}

/* The n deliveries of a stretch, by their places in it, ascending, as deliveries. */
static void name_deliveries(const struct bins *b, const struct stretch *s, uint32_t *found, uint32_t n)
{
    uint32_t block = s->block, before = 0, reuse = b->options.reuse;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t in = bins_of_block(b, block);
        for (; found[i] - before >= in; in = bins_of_block(b, ++block))
            before += in;
        found[i] = b->cumulative ? bins_nth(b, block, found[i] - before)
                                 : block * b->subset->stride * reuse + found[i] - before;
    }
}

/* The same bin before all is filled. */
static bool find_bin(const struct bins *b, const struct lane *lane, uint64_t turn, struct bin *bin)
{
    bin->count = 0;
    for (uint32_t k = lane->from; k < lane->to; k++)
        for (uint32_t i = b->chunks[k].from; i < b->chunks[k].to;) {
            struct stretch s = next_stretch(b, &b->chunks[k], i);
            if (!bin_reserve(bin, s.n + 1))
                return false;
            uint32_t *found = bin->deliveries + bin->count;
            uint32_t n = places_find(b->place, s.first, s.n, b->shape.bins, (uint32_t)turn, found);
            name_deliveries(b, &s, found, n);
            bin->count += n;
            i += s.to - s.block;
        }
    return true;
}

static bool all_filled(struct bins *b)
{
    pthread_mutex_lock(&b->lock);
    bool filled = b->filled == b->chunk_count;
    pthread_mutex_unlock(&b->lock);
    return filled;
}

bool bins_ready(struct bins *b, unsigned l, uint64_t turn)
{
    struct lane *lane = &b->lanes[l];
    struct bin *bin = bins_at(b, lane, turn);
    struct gate *gate = gate_at(b, lane, turn);
    bool ok = true;
    pthread_mutex_lock(&gate->lock);
    if (gate->done <= turn) {
        uint64_t begin = trace_is_on() ? now_ns() : 0;
        if (b->shape.whole)
            ok = all_filled(b) ? gather_runs(b, lane, turn, bin) : find_bin(b, lane, turn, bin);
        if (ok && bin->count > 1)
            places_shuffle(places_key(b->shuffle, l, turn), bin->deliveries, bin->count);
        gate->done = ok ? turn + 1 : gate->done;
        if (begin)
            trace_span("shuffle", begin, now_ns(), "bin", turn);
    }
    pthread_mutex_unlock(&gate->lock);
    return ok;
}

void bins_help_until(struct bins *b, unsigned l, uint64_t turn)
{
    struct bins_work work;
    pthread_mutex_lock(&b->lock);
    bool begun = b->lanes[l].begun > turn;
    pthread_mutex_unlock(&b->lock);
    while (begun && gate_at(b, &b->lanes[l], turn)->done <= turn && bins_claim(b, &work))
        bins_do(b, &work);
}

/* The next bin of a lane that is ripe, that nobody has begun, and that has a place. */
static bool claim_bin(struct bins *b, unsigned l, struct bins_work *work)
{
    struct lane *lane = &b->lanes[l];
    uint64_t turn = lane->begun > lane->turns ? lane->begun : lane->turns;
    if (turn >= lane->ripe || turn + 1 >= lane->turns + b->slots)
        return false;
    lane->begun = turn + 1;
    *work = (struct bins_work){.what = BINS_SHUFFLE, .number = l, .turn = turn};
    b->helping++;
    return true;
}

bool bins_claim(struct bins *b, struct bins_work *work)
{
    if (b->options.sequential || b->options.arriving)
        return false;
    pthread_mutex_lock(&b->lock);
    bool claimed = claim_chunk(b, work);
    for (unsigned i = 0; !claimed && i < b->shape.lanes && i <= b->options.helpers; i++) {
        claimed = claim_bin(b, b->looked_at, work);
        b->looked_at = (b->looked_at + 1) % b->shape.lanes;
    }
    pthread_mutex_unlock(&b->lock);
    return claimed;
}

void bins_do(struct bins *b, const struct bins_work *work)
{
    if (work->what == BINS_FILL) {
        fill_chunk(b, work);
        return;
    }
    (void)bins_ready(b, work->number,
                     work->turn); /* out of memory: whoever takes it tries again, and says so */
    finish_work(b, work);
}

/* The part of an epoch's receipt that a batch is: see receipt.h. */
#include "receipt.h"

#include "random.h"

/* Adds the hashes of n deliveries, at most PHILOX_LANES. */
static void add_hashes(struct tally *t, uint64_t key, const uint64_t *ids, const uint32_t *copies, size_t n)
{
    uint32_t x[4][PHILOX_LANES] = {{0}};
    for (size_t i = 0; i < n; i++) {
        x[0][i] = (uint32_t)ids[i];
        x[1][i] = (uint32_t)(ids[i] >> 32);
        x[2][i] = copies[i];
    }
    philox_lanes(key, x);
    for (size_t i = 0; i < n; i++) {
        uint64_t low = (uint64_t)x[1][i] << 32 | x[0][i], high = (uint64_t)x[3][i] << 32 | x[2][i];
        t->sum[0] += low;
        t->sum[1] += high + (t->sum[0] < low);
    }
}

void receipt_take(const struct spec *spec, struct job *job)
{
    const struct batch_buffer *b = job->buffer;
    const uint64_t *ids = b->ended ? b->ended : b->batch.ids;
    const uint32_t *copies = b->ended ? b->ended_copies : b->batch.copies;
    size_t delivered = b->finished - b->batch.skipped_count;
    struct tally t = {.delivered = delivered, .skipped = b->batch.skipped_count};
    uint64_t key = random_key(spec->options.plan.seed, RANDOM_RECEIPT).low;
    for (size_t k = 0; k < delivered; k += PHILOX_LANES) {
        size_t left = delivered - k;
        add_hashes(&t, key, ids + k, copies + k, left < PHILOX_LANES ? left : PHILOX_LANES);
    }
    job->buffer->tally = t;
}

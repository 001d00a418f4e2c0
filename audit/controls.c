/* Orders that are known to be wrong: see controls.h. */
#include "controls.h"
#include "generator.h"

#include <stdlib.h>

static void identity(uint32_t *order, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
}

static bool right_order(void *user, uint64_t seed, uint64_t epoch, uint32_t *order)
{
    const struct audit_sample *s = user;
    struct generator g = generator_keyed(seed, epoch);
    identity(order, s->n);
    generator_shuffle(&g, order, s->n);
    return true;
}

const struct control audit_right = {"Fisher-Yates", "a uniform permutation", right_order, NULL};

/* ------------------------------------------------------------------------------------------------- bins */

#define BINS 64u

/* Lists of records, of which some are taken out again. */
struct bins {
    uint32_t *items[BINS], size[BINS];
};

static bool fill_bins(struct bins *b, uint32_t n, uint32_t *memory, uint64_t key)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++)
        b->size[generator_mix(i + key) % BINS]++;
    for (unsigned k = 0; k < BINS; k++) {
        b->items[k] = memory + at;
        at += b->size[k];
        b->size[k] = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        unsigned k = generator_mix(i + key) % BINS;
        b->items[k][b->size[k]++] = i;
    }
    return true;
}

static uint32_t take(struct bins *b, unsigned bin, struct generator *g)
{
    uint32_t at = generator_below(g, b->size[bin]), item = b->items[bin][at];
    b->items[bin][at] = b->items[bin][--b->size[bin]];
    return item;
}

/* A uniform bin, then a uniform element of it: records of short bins come early. */
static bool uniform_bin(void *user, uint64_t seed, uint64_t epoch, uint32_t *order)
{
    const struct audit_sample *s = user;
    struct generator g = generator_keyed(seed, epoch);
    struct bins b = {.size = {0}};
    uint32_t *memory = malloc(s->n * sizeof *memory), filled[BINS], left = 0;
    if (!memory || !fill_bins(&b, s->n, memory, 12345)) {
        free(memory);
        return false;
    }
    for (unsigned k = 0; k < BINS; k++)
        if (b.size[k])
            filled[left++] = k;
    for (uint32_t k = 0; k < s->n; k++) {
        uint32_t choice = generator_below(&g, left);
        order[k] = take(&b, filled[choice], &g);
        if (b.size[filled[choice]] == 0)
            filled[choice] = filled[--left];
    }
    free(memory);
    return true;
}

/* ---------------------------------------------------------------------------------------------- windows */

/* A buffer of a tenth of the records, from which a random one is taken and replaced by the next in storage order. */
static bool shuffle_buffer(void *user, uint64_t seed, uint64_t epoch, uint32_t *order)
{
    const struct audit_sample *s = user;
    struct generator g = generator_keyed(seed, epoch);
    uint32_t size = s->n / 10, next = size, *buffer = malloc(((size_t)size + 1) * sizeof *buffer);
    if (!buffer)
        return false;
    identity(buffer, size);
    for (uint32_t k = 0; k < s->n; k++) {
        uint32_t at = generator_below(&g, size);
        order[k] = buffer[at];
        buffer[at] = next < s->n ? next++ : buffer[--size];
    }
    free(buffer);
    return true;
}

#define PAGES 32u /* of which this many are open at once */

/* Pages in random order; of the open ones a uniform page, then its next record: pages that are nearly empty get as much as
 * full ones. */
static bool page_window(void *user, uint64_t seed, uint64_t epoch, uint32_t *order)
{
    const struct audit_sample *s = user;
    struct generator g = generator_keyed(seed, epoch);
    uint32_t *first = calloc((size_t)s->blocks + 1, sizeof *first),
             *pages = malloc((size_t)s->blocks * sizeof *pages);
    uint32_t *within = malloc((size_t)s->n * sizeof *within), *used = calloc(s->blocks, sizeof *used);
    bool ok = first && pages && within && used;
    for (uint32_t i = 0; ok && i < s->n; i++)
        first[s->block[i] + 1]++;
    for (uint32_t b = 0; ok && b < s->blocks; b++)
        first[b + 1] += first[b];
    if (ok) {
        identity(within, s->n);
        identity(pages, s->blocks);
        generator_shuffle(&g, pages, s->blocks);
        for (uint32_t b = 0; b < s->blocks; b++)
            generator_shuffle(&g, within + first[b], first[b + 1] - first[b]);
    }
    uint32_t open = s->blocks < PAGES ? s->blocks : PAGES, next = open;
    for (uint32_t k = 0; ok && k < s->n; k++) {
        uint32_t at = generator_below(&g, open), page = pages[at];
        order[k] = within[first[page] + used[page]++];
        if (first[page] + used[page] == first[page + 1])
            pages[at] = next < s->blocks ? pages[next++] : pages[--open];
    }
    free(first);
    free(pages);
    free(within);
    free(used);
    return ok;
}

static const char *one_page(const struct audit_sample *s)
{
    return s->blocks < 2 ? "with one block it is a uniform permutation" : NULL;
}

/* --------------------------------------------------------------------------------------------- generators */

/* x -> a x + c modulo a power of two, skipping what is too large: a permutation, but hardly a random one. */
static bool congruential(void *user, uint64_t seed, uint64_t epoch, uint32_t *order)
{
    const struct audit_sample *s = user;
    struct generator g = generator_keyed(seed, epoch);
    uint64_t size = 1;
    while (size < s->n)
        size *= 2;
    uint64_t a = (generator_draw(&g) & ~(uint64_t)7) | 5, c = generator_draw(&g) | 1,
             x = generator_draw(&g) & (size - 1);
    for (uint32_t k = 0; k < s->n; x = (a * x + c) & (size - 1))
        if (x < s->n)
            order[k++] = (uint32_t)x;
    return true;
}

/* A good permutation, keyed by seed + epoch, so that seeds share epochs. */
static bool added_seeds(void *user, uint64_t seed, uint64_t epoch, uint32_t *order)
{
    return right_order(user, seed + epoch, 0, order);
}

const struct control audit_controls[] = {
    {"uniform bin", "a uniform bin of 64, then a uniform element of it: records of short bins come early",
     uniform_bin, NULL},
    {"shuffle buffer", "a buffer of a tenth of the records: no record comes much before its turn",
     shuffle_buffer, NULL},
    {"page window", "of 32 open pages a uniform one, whatever is left in it", page_window, one_page},
    {"congruential", "from each x to a x + c modulo a power of two", congruential, NULL},
    {"seed + epoch", "a uniform permutation, keyed by the sum of seed and epoch", added_seeds, NULL},
};
const unsigned audit_control_count = sizeof audit_controls / sizeof *audit_controls;

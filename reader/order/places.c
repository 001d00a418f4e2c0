/* To which bin a delivery goes: see places.h. */
#include "places.h"

#define GROUP (4 * PHILOX_LANES) /* numbers whose hashes come at once */

/* The words of a whole group, which begins at a multiple of GROUP. */
static void draw_group(struct random_key key, uint64_t first, uint32_t words[GROUP])
{
    philox_run(key, first / 4, (uint32_t(*)[PHILOX_LANES])words);
}

/* Of the number that is the ith of its group. */
static uint32_t word_of(const uint32_t words[GROUP], uint32_t i)
{
    return words[i % 4 * PHILOX_LANES + i / 4];
}

static uint32_t bin_of_word(uint32_t word, uint32_t bins)
{
    return (uint32_t)((uint64_t)word * bins >> 32);
}

static void hash_group(struct random_key key, uint64_t first, uint32_t bins, uint16_t place[GROUP])
{
    uint32_t words[GROUP];
    draw_group(key, first, words);
    for (unsigned i = 0; i < GROUP; i++)
        place[i] = (uint16_t)bin_of_word(word_of(words, i), bins);
}

void places_hash(struct random_key key, uint64_t first, uint32_t n, uint32_t bins, uint16_t *place)
{
    uint16_t group[GROUP];
    uint32_t done = 0;
    while (done < n) {
        uint32_t before = (uint32_t)((first + done) % GROUP), take = GROUP - before;
        take = take < n - done ? take : n - done;
        hash_group(key, first + done - before, bins, take == GROUP ? place + done : group);
        for (uint32_t i = 0; take < GROUP && i < take; i++)
            place[done + i] = group[before + i];
        done += take;
    }
}

/* The group of number `at`: its words. Returns how many of the `left` numbers from `at` on are in it, and in *from where they begin. */
static uint32_t draw_some(struct random_key key, uint64_t at, uint32_t left, uint32_t words[GROUP],
                          uint32_t *from)
{
    *from = (uint32_t)(at % GROUP);
    draw_group(key, at - *from, words);
    return left < GROUP - *from ? left : GROUP - *from;
}

void places_count(struct random_key key, uint64_t first, uint32_t n, uint32_t bins, uint32_t *count)
{
    uint32_t words[GROUP];
    for (uint32_t done = 0, some, from; done < n; done += some) {
        some = draw_some(key, first + done, n - done, words, &from);
        if (some == GROUP) /* whose order does not matter */
            for (uint32_t i = 0; i < GROUP; i++)
                count[bin_of_word(words[i], bins)]++;
        else
            for (uint32_t i = from; i < from + some; i++)
                count[bin_of_word(word_of(words, i), bins)]++;
    }
}

/* The words of a bin: `least`, and `more` after it. */
struct words {
    uint32_t least, more;
};

static struct words words_of_bin(uint32_t bin, uint32_t bins)
{
    uint64_t least = (((uint64_t)bin << 32) + bins - 1) / bins,
             above = (((uint64_t)bin + 1) << 32) / bins + ((((uint64_t)bin + 1) << 32) % bins > 0);
    return (struct words){(uint32_t)least, (uint32_t)(above - 1 - least)};
}

static bool any_word(const uint32_t words[GROUP], struct words of)
{
    uint32_t any = 0;
    for (unsigned i = 0; i < GROUP; i++)
        any |= words[i] - of.least <= of.more;
    return any != 0;
}

uint32_t places_find(struct random_key key, uint64_t first, uint32_t n, uint32_t bins, uint32_t bin,
                     uint32_t *found)
{
    uint32_t words[GROUP], count = 0;
    struct words of = words_of_bin(bin, bins);
    for (uint32_t done = 0, some, from; done < n; done += some) {
        some = draw_some(key, first + done, n - done, words, &from);
        for (uint32_t i = from, to = any_word(words, of) ? from + some : 0; i < to; i++) {
            found[count] = done + i - from;
            count += word_of(words, i) - of.least <= of.more;
        }
    }
    return count;
}

struct random_key places_key(struct random_key key, uint64_t lane, uint64_t number)
{
    return (struct random_key){key.low + lane, key.high + number};
}

/* As random_below(), from numbers that are kept where no store to `numbers` can change them: in registers. */
static void shuffle(struct random_stream *restrict stream, uint32_t *restrict numbers, uint32_t n)
{
    unsigned used = stream->used;
    for (uint32_t i = n; i > 1; i--) {
        uint64_t m;
        do {
            if (used == RANDOM_AHEAD) {
                random_stream_refill(stream);
                used = 0;
            }
            m = (uint64_t)stream->ahead[used++] * i;
        } while ((uint32_t)m < i && (uint32_t)m < -i % i); /* the second is seldom asked, and divides */
        uint32_t k = (uint32_t)(m >> 32), t = numbers[k];
        numbers[k] = numbers[i - 1];
        numbers[i - 1] = t;
    }
    stream->used = used;
}

void places_shuffle(struct random_key key, uint32_t *numbers, uint32_t n)
{
    struct random_stream stream;
    random_stream_init(&stream, key);
    shuffle(&stream, numbers, n);
}

/* The delays of n deliveries that are spread by v, a fraction of 2^32, ascending: floor(bins x (k + v) / n) of the k-th, plus 1. */
static void spread_sorted(uint64_t v, uint32_t n, uint64_t bins, uint32_t *delay)
{
    uint64_t step = (bins << 32) / n, from = v * bins / n; /* in 2^-32 of a bin */
    for (uint32_t k = 0; k < n; k++)
        delay[k] = 1 + (uint32_t)((from + step * k) >> 32);
}

static void start_sorted(uint64_t v, uint32_t n, uint64_t bins, uint32_t *delay)
{
    uint64_t all = bins + bins * (bins + 1) / 2;           /* what stands, times bins */
    uint64_t step = ((uint64_t)1 << 32) / n, from = v / n; /* in 2^-32 of that */
    uint64_t below = bins;                                 /* what stands in bins up to d; times bins */
    for (uint32_t k = 0, d = 0; k < n; k++) {
        for (uint64_t at = (from + step * k) * all >> 32; at >= below; below += bins - d + 1)
            d++;
        delay[k] = d;
    }
}

/* v is the first number of a block's stream. */
static void sort_block(struct random_stream *stream, uint32_t n, uint32_t bins, bool start, uint32_t *delay)
{
    uint32_t v = random_u32(stream);
    if (n > 0 && start)
        start_sorted(v, n, bins, delay);
    else if (n > 0)
        spread_sorted(v, n, bins, delay);
}

void places_sorted(struct random_key key, uint32_t n, uint32_t bins, bool start, uint32_t *delay)
{
    struct random_stream stream;
    random_stream_init(&stream, key);
    sort_block(&stream, n, bins, start, delay);
}

void places_block(struct random_key key, uint32_t n, uint32_t bins, bool start, uint32_t *delay)
{
    struct random_stream stream;
    random_stream_init(&stream, key);
    sort_block(&stream, n, bins, start, delay);
    shuffle(&stream, delay, n);
}

#include "bitset.h"

#include "hash.h"

static uint64_t word_count(uint64_t count)
{
    return count / 64 + (count % 64 != 0);
}

apl_status bitset_init(struct bitset *m, uint64_t count, apl_error *err)
{
    *m = (struct bitset){.count = count};
    m->words = calloc((size_t)word_count(count) + 1, sizeof *m->words);
    return m->words ? APL_OK : fail_nomem(err);
}

void bitset_free(struct bitset *m)
{
    free((void *)m->words);
    *m = (struct bitset){0};
}

static uint64_t word(const struct bitset *m, uint64_t w)
{
    return atomic_load_explicit(&m->words[w], memory_order_relaxed);
}

static unsigned bits_of(uint64_t w)
{
    unsigned n = 0;
    for (; w; w &= w - 1)
        n++;
    return n;
}

uint64_t bitset_count(const struct bitset *m)
{
    return bitset_count_both(m, m);
}

uint64_t bitset_count_both(const struct bitset *a, const struct bitset *b)
{
    uint64_t n = 0;
    for (uint64_t w = 0; w < word_count(a->count); w++)
        n += bits_of(word(a, w) & word(b, w));
    return n;
}

uint64_t bitset_hash(const struct bitset *m, uint64_t hash)
{
    uint64_t part[64];
    for (uint64_t w = 0; w < word_count(m->count);) {
        size_t n = 0;
        for (part[n++] = hash; n < 64 && w < word_count(m->count); w++)
            part[n++] = word(m, w);
        hash = hash_xxh3_64(part, n * sizeof *part);
    }
    return hash;
}

/* Word w of a bitset with every bit set. */
static uint64_t full_word(uint64_t count, uint64_t w)
{
    return w == count / 64 ? ((uint64_t)1 << count % 64) - 1 : UINT64_MAX;
}

void bitset_difference(struct bitset *bits, const struct bitset *all, const struct bitset *but)
{
    for (uint64_t w = 0; w < word_count(bits->count); w++) {
        uint64_t of = all->words ? word(all, w) : full_word(bits->count, w);
        atomic_store_explicit(&bits->words[w], of & ~word(but, w), memory_order_relaxed);
    }
}

void bitset_store(const struct bitset *m, uint8_t *bytes)
{
    for (size_t i = 0, n = bitset_bytes(m->count); i < n; i++)
        bytes[i] = (uint8_t)(word(m, i / 8) >> 8 * (i % 8));
}

bool bitset_load(struct bitset *m, const uint8_t *bytes)
{
    size_t n = bitset_bytes(m->count);
    for (uint64_t w = 0; w < word_count(m->count); w++) {
        size_t left = n - (size_t)w * 8;
        atomic_store_explicit(&m->words[w], load_le(bytes + w * 8, left < 8 ? (unsigned)left : 8),
                              memory_order_relaxed);
    }
    return m->count % 8 == 0 || bytes[n - 1] >> m->count % 8 == 0;
}

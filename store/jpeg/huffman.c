/* Making codes and tables: see huffman.h. */
#include "huffman.h"

#define MOST_BITS 64 /* of a code whose length has no limit, of fewer than 2^40 symbols */

static bool symbol_ok(uint8_t symbol, enum huffman_kind kind)
{
    unsigned run = symbol >> 4, size = symbol & 15;
    if (kind == HUFFMAN_DC)
        return symbol <= 11;
    return size > 0 ? size <= 10 : run == 0 || run == 15 || kind == HUFFMAN_PROGRESSIVE;
}

bool huffman_ok(const struct huffman *code, enum huffman_kind kind)
{
    bool seen[256] = {false};
    uint32_t next = 0, size = 0;
    for (unsigned n = 1; n <= HUFFMAN_LONGEST; n++) {
        next = (next << 1) + code->counts[n - 1];
        size += code->counts[n - 1];
        if (next >= 1u << n)
            return false;
    }
    if (size != code->size || size == 0 || size > 256)
        return false;
    for (unsigned i = 0; i < size; i++) {
        if (seen[code->symbols[i]] || !symbol_ok(code->symbols[i], kind))
            return false;
        seen[code->symbols[i]] = true;
    }
    return true;
}

bool huffman_take(struct cursor *c, enum huffman_kind kind, struct huffman *code)
{
    const uint8_t *counts = cursor_take(c, HUFFMAN_LONGEST);
    *code = (struct huffman){.size = 0};
    for (unsigned i = 0; counts && i < HUFFMAN_LONGEST; i++)
        code->size += code->counts[i] = counts[i];
    const uint8_t *symbols = counts && code->size <= 256 ? cursor_take(c, code->size) : NULL;
    if (!symbols)
        return false;
    memcpy(code->symbols, symbols, code->size);
    return huffman_ok(code, kind);
}

/* -------------------------------------------------------------------------------------------- tables */

void huffman_decoder_make(const struct huffman *code, struct huffman_decoder *d)
{
    uint32_t next = 0, place = 0, *fast = d->fast;
    memset(d->fast, 0, sizeof d->fast);
    memcpy(d->symbols, code->symbols, sizeof d->symbols);
    for (unsigned n = 1; n <= HUFFMAN_LONGEST; n++) {
        d->first[n] = (int32_t)place - (int32_t)next;
        for (unsigned i = 0; i < code->counts[n - 1]; i++, next++, place++)
            for (unsigned k = 0; n <= HUFFMAN_FAST && k < 1u << (HUFFMAN_FAST - n); k++)
                *fast++ = huffman_entry(n, code->symbols[place]);
        d->end[n] = next << (HUFFMAN_LONGEST - n);
        next <<= 1;
    }
}

void huffman_encoder_make(const struct huffman *code, struct huffman_encoder *e)
{
    uint32_t next = 0, place = 0;
    memset(e->code, 0, sizeof e->code);
    for (unsigned n = 1; n <= HUFFMAN_LONGEST; n++, next <<= 1)
        for (unsigned i = 0; i < code->counts[n - 1]; i++, next++, place++) {
            unsigned symbol = code->symbols[place], size = symbol & 15;
            e->code[symbol] = (n + size) << HUFFMAN_CODED | next << size;
        }
}

/* ------------------------------------------------------------------------------------------ best code */

struct weighed {
    uint64_t weight;
    unsigned symbol; /* 256: stands for the code of all ones, which none may have */
};

static int compare_weights(const void *a, const void *b)
{
    const struct weighed *p = a, *q = b;
    if (p->weight != q->weight)
        return p->weight < q->weight ? -1 : 1;
    return p->symbol > q->symbol ? -1 : p->symbol < q->symbol;
}

/* How many of n symbols, the lightest first, have codes of that many bits, if these may be of any length. Nodes are made in the order
 * of their weights, so that the two lightest are always at the front of one of two rows. */
static void count_lengths(const struct weighed *leaves, unsigned n, unsigned counts[MOST_BITS + 1])
{
    uint64_t weight[257];
    unsigned parent_of_leaf[257], parent[257], depth[257], leaf = 0, node = 0;
    for (unsigned made = 0; made + 1 < n; made++) {
        weight[made] = 0;
        for (unsigned i = 0; i < 2; i++) {
            bool take_leaf = leaf < n && (node == made || leaves[leaf].weight <= weight[node]);
            weight[made] += take_leaf ? leaves[leaf].weight : weight[node];
            if (take_leaf)
                parent_of_leaf[leaf++] = made;
            else
                parent[node++] = made;
        }
    }
    for (unsigned i = n - 1; i-- > 0;)
        depth[i] = i == n - 2 ? 0 : depth[parent[i]] + 1;
    for (unsigned i = 0; i < n; i++)
        counts[depth[parent_of_leaf[i]] + 1]++;
}

/* Shortens codes of more than 16 bits: of a pair one takes the place of what is above both, the other that below a shorter code. */
static void limit_lengths(unsigned counts[MOST_BITS + 1])
{
    for (unsigned n = MOST_BITS; n > HUFFMAN_LONGEST; n--)
        while (counts[n] > 0) {
            unsigned shorter = n - 2;
            while (counts[shorter] == 0)
                shorter--;
            counts[n] -= 2;
            counts[n - 1]++;
            counts[shorter + 1] += 2;
            counts[shorter]--;
        }
}

void huffman_best(const uint32_t frequencies[256], struct huffman *code)
{
    struct weighed leaves[257];
    unsigned n = 0, counts[MOST_BITS + 1] = {0}, longest = HUFFMAN_LONGEST;
    for (unsigned s = 0; s < 256; s++)
        if (frequencies[s])
            leaves[n++] = (struct weighed){frequencies[s], s};
    *code = (struct huffman){.size = n};
    if (n == 0) /* a code must have a symbol */
        leaves[n++] = (struct weighed){1, 0};
    code->size = n;
    leaves[n++] = (struct weighed){0, 256};
    qsort(leaves, n, sizeof *leaves, compare_weights);
    count_lengths(leaves, n, counts);
    limit_lengths(counts);
    while (counts[longest] == 0)
        longest--;
    counts[longest]--;
    for (unsigned i = 0; i < HUFFMAN_LONGEST; i++)
        code->counts[i] = (uint8_t)counts[i + 1];
    for (unsigned i = 0; i < code->size;
         i++) /* the heaviest first; at the end the one that stands for all ones */
        code->symbols[i] = (uint8_t)leaves[n - 1 - i].symbol;
}

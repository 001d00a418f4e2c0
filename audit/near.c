/*
 * Finding near hashes: see near.h.
 *
 * The bits are dealt to eight bands of sixteen. Hashes that differ in at most b bits differ in some band in at most b / 8, rounded
 * down: so it is enough to look, band by band, at the hashes whose sixteen bits are those or differ from them in so few.
 */
#include "near.h"

#include <stdlib.h>

#define BANDS     8
#define BAND_BITS 16
#define BUCKETS   ((uint32_t)1 << BAND_BITS)

struct near_index {
    const struct image_hash *hashes;
    uint32_t n, distinct;
    uint32_t *ids;           /* in the order of their hashes, those of one hash ascending */
    uint32_t *first;         /* of each distinct hash, where its ids begin; and the end */
    uint32_t *start[BANDS];  /* of each bucket, where its hashes begin; and the end */
    uint32_t *member[BANDS]; /* distinct hashes, bucket by bucket */
    const uint8_t *is_image;
};

unsigned near_distance(struct image_hash a, struct image_hash b)
{
    return (unsigned)(__builtin_popcountll(a.across ^ b.across) + __builtin_popcountll(a.down ^ b.down));
}

/* Neighbouring bits are correlated, so they go into different bands. */
static uint32_t band_key(struct image_hash h, unsigned band)
{
    uint32_t key = 0;
    for (unsigned k = 0; k < BAND_BITS / 2; k++) {
        unsigned bit = 8 * k + (band + 3 * k) % 8;
        key = key << 2 | (uint32_t)((h.across >> bit & 1) << 1 | (h.down >> (63 - bit) & 1));
    }
    return key;
}

/* ---------------------------------------------------------------------------------------------- building */

struct sortable {
    struct image_hash hash;
    uint32_t id;
};

static int by_hash(const void *a, const void *b)
{
    const struct sortable *x = a, *y = b;
    if (x->hash.across != y->hash.across)
        return x->hash.across < y->hash.across ? -1 : 1;
    if (x->hash.down != y->hash.down)
        return x->hash.down < y->hash.down ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static bool sort_ids(struct near_index *x)
{
    struct sortable *all = malloc(((size_t)x->n + 1) * sizeof *all);
    uint32_t count = 0;
    for (uint32_t i = 0; all && i < x->n; i++)
        if (x->is_image[i])
            all[count++] = (struct sortable){x->hashes[i], i};
    if (all)
        qsort(all, count, sizeof *all, by_hash);
    for (uint32_t i = 0; all && i < count; i++) {
        x->ids[i] = all[i].id;
        if (i == 0 || near_distance(all[i].hash, all[i - 1].hash) > 0)
            x->first[x->distinct++] = i;
    }
    if (all)
        x->first[x->distinct] = count;
    free(all);
    return all != NULL;
}

static struct image_hash hash_of(const struct near_index *x, uint32_t distinct)
{
    return x->hashes[x->ids[x->first[distinct]]];
}

static bool fill_band(struct near_index *x, unsigned band)
{
    uint32_t *start = x->start[band] = calloc(BUCKETS + 2, sizeof *start);
    uint32_t *member = x->member[band] = malloc(((size_t)x->distinct + 1) * sizeof *member);
    if (!start || !member)
        return false;
    for (uint32_t d = 0; d < x->distinct; d++)
        start[band_key(hash_of(x, d), band) + 2]++;
    for (uint32_t k = 2; k < BUCKETS + 2; k++)
        start[k] += start[k - 1];
    for (uint32_t d = 0; d < x->distinct; d++) /* what is behind the key begins where it ends, in the end */
        member[start[band_key(hash_of(x, d), band) + 1]++] = d;
    return true;
}

struct near_index *near_index_new(const struct image_hash *hashes, const uint8_t *is_image, uint32_t n)
{
    struct near_index *x = calloc(1, sizeof *x);
    if (!x)
        return NULL;
    *x = (struct near_index){.hashes = hashes, .n = n, .is_image = is_image};
    x->ids = malloc(((size_t)n + 1) * sizeof *x->ids);
    x->first = malloc(((size_t)n + 1) * sizeof *x->first);
    bool ok = x->ids && x->first && sort_ids(x);
    for (unsigned b = 0; ok && b < BANDS; b++)
        ok = fill_band(x, b);
    if (ok)
        return x;
    near_index_free(x);
    return NULL;
}

void near_index_free(struct near_index *x)
{
    for (unsigned b = 0; x && b < BANDS; b++) {
        free(x->start[b]);
        free(x->member[b]);
    }
    if (x) {
        free(x->ids);
        free(x->first);
    }
    free(x);
}

/* --------------------------------------------------------------------------------------------- searching */

struct search {
    const struct near_index *index;
    const uint8_t *side;
    const uint32_t *group;
    struct image_hash hash;
    struct near_pair best; /* distance: the limit, while `other` is UINT32_MAX */
};

/* Takes the lowest record of a hash that is on the side and of another group, if it is better than the best. */
static void consider(struct search *s, uint32_t distinct)
{
    const struct near_index *x = s->index;
    unsigned distance = near_distance(s->hash, hash_of(x, distinct));
    if (distance > s->best.distance)
        return;
    uint32_t limit = distance < s->best.distance ? UINT32_MAX : s->best.other;
    for (uint32_t i = x->first[distinct]; i < x->first[distinct + 1] && x->ids[i] < limit; i++)
        if (s->side[x->ids[i]] && s->group[x->ids[i]] != s->group[s->best.id]) {
            s->best.other = x->ids[i];
            s->best.distance = distance;
            return;
        }
}

/* Looks into the bucket of `key`, and into those that differ from it in at most `flips` bits from bit `from` on. */
static void probe(struct search *s, unsigned band, uint32_t key, unsigned from, unsigned flips)
{
    const struct near_index *x = s->index;
    for (uint32_t i = x->start[band][key]; i < x->start[band][key + 1]; i++)
        consider(s, x->member[band][i]);
    for (unsigned bit = from; flips > 0 && bit < BAND_BITS; bit++)
        probe(s, band, key ^ (uint32_t)1 << bit, bit + 1, flips - 1);
}

bool near_find(const struct near_index *x, uint32_t id, unsigned bits, const uint8_t *side,
               const uint32_t *group, struct near_pair *pair)
{
    struct search s = {x, side, group, x->hashes[id], {id, UINT32_MAX, bits}};
    if (!x->is_image[id])
        return false;
    for (unsigned band = 0; band < BANDS; band++)
        probe(&s, band, band_key(s.hash, band), 0, bits / BANDS);
    *pair = s.best;
    return s.best.other != UINT32_MAX;
}

/* Keys that come twice, by their hashes, of which a part is held at a time: see cmd_export_keys.h. */
#include "cmd_export_keys.h"

#include "args.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

#define HELD  ((uint64_t)1 << 22) /* hashes, about; there is room for twice as many */
#define TWINS 1024u               /* more hashes than could be equal by chance */

/* A hash that several records have, and the first of them. */
struct twin {
    uint64_t hash, id;
    char *key;
    size_t length;
};

struct keys {
    unsigned field;
    uint64_t part, parts; /* which hashes are held, by their remainder */
    uint64_t *hashes;
    size_t count;
    struct twin twins[TWINS]; /* in ascending order */
    size_t twin_count;
    const struct twin *first; /* of two records with one key; NULL: none were found */
    uint64_t second;
};

static struct value key_of(const struct keys *k, const apl_batch *batch, size_t row)
{
    return value_of(apl_batch_column(batch, k->field), row, apl_batch_rows(batch));
}

/* FNV-1a, and a last step that mixes the upper bits into the lower ones. */
static uint64_t hash_key(const struct value *key)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < key->bytes; i++)
        hash = (hash ^ key->data[i]) * UINT64_C(0x100000001b3);
    hash = (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* What there is no room for is left out: with so many hashes in one part, some that are held are equal. */
static int hold_hashes(void *user, const apl_batch *batch)
{
    struct keys *k = user;
    for (size_t r = 0; r < apl_batch_rows(batch); r++) {
        struct value key = key_of(k, batch, r);
        uint64_t hash = hash_key(&key);
        if (hash % k->parts == k->part && k->count < 2 * HELD)
            k->hashes[k->count++] = hash;
    }
    return 0;
}

static int by_hash(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void find_twins(struct keys *k)
{
    qsort(k->hashes, k->count, sizeof *k->hashes, by_hash);
    k->twin_count = 0;
    for (size_t i = 1; i < k->count && k->twin_count < TWINS; i++)
        if (k->hashes[i] == k->hashes[i - 1] &&
            (k->twin_count == 0 || k->twins[k->twin_count - 1].hash != k->hashes[i]))
            k->twins[k->twin_count++] = (struct twin){.hash = k->hashes[i]};
}

static int compare_key(struct keys *k, struct twin *t, const struct value *key, uint64_t id)
{
    if (t->key) {
        if (t->length != key->bytes || memcmp(t->key, key->data, key->bytes) != 0)
            return 0;
        k->first = t;
        k->second = id;
        return EXIT_FAILURE;
    }
    t->key = malloc(key->bytes + 1);
    if (!t->key)
        return failed("out of memory");
    memcpy(t->key, key->data, key->bytes);
    t->key[key->bytes] = 0;
    t->length = key->bytes;
    t->id = id;
    return 0;
}

static int compare_twins(void *user, const apl_batch *batch)
{
    struct keys *k = user;
    int status = 0;
    for (size_t r = 0; r < apl_batch_rows(batch) && !status; r++) {
        struct value key = key_of(k, batch, r);
        uint64_t hash = hash_key(&key);
        struct twin *t = bsearch(&hash, k->twins, k->twin_count, sizeof *t, by_hash);
        if (t)
            status = compare_key(k, t, &key, apl_batch_ids(batch)[r]);
    }
    return status;
}

static int check_part(struct keys *k, struct export *x, const apl_split *split)
{
    k->count = 0;
    int status = export_each(x, split->first, split->count, &k->field, 1, hold_hashes, k);
    if (status)
        return status;
    find_twins(k);
    if (k->twin_count == 0)
        return 0;
    x->total += split->count;
    status = export_each(x, split->first, split->count, &k->field, 1, compare_twins, k);
    if (k->first)
        status = failed("%s: records %llu and %llu both have the key '%s', which can be the key of one: "
                        "--names id numbers the records, and keeps their keys as a field",
                        shown_db(x->path), (unsigned long long)k->first->id, (unsigned long long)k->second,
                        shown(k->first->key));
    for (size_t i = 0; i < k->twin_count; i++)
        free(k->twins[i].key);
    return status;
}

int export_check_keys(struct export *x, const apl_split *split, unsigned field)
{
    struct keys *k = calloc(1, sizeof *k);
    uint64_t room = split->count < 2 * HELD ? split->count + 1 : 2 * HELD;
    int status = 0;
    if (k)
        *k = (struct keys){
            .field = field, .parts = split->count / HELD + 1, .hashes = malloc(room * sizeof *k->hashes)};
    if (!k || !k->hashes)
        status = failed("out of memory");
    if (!status)
        x->total += split->count * k->parts;
    for (; !status && k->part < k->parts; k->part++)
        status = check_part(k, x, split);
    if (k)
        free(k->hashes);
    free(k);
    return status;
}

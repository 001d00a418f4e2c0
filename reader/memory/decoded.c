/* Decoded records that readers share: see decoded.h. */
#include "decoded.h"

#include <stdlib.h>
#include <string.h>

enum stage { ABSENT, DECODING, PRESENT };

struct decoded {
    struct decoded *next; /* in the list, as are those who hold it; under its lock */
    unsigned references;
    struct hash128 key;
    struct slab slab;
    uint32_t blocks;
    bool ragged;
    pthread_mutex_t lock; /* of what follows; values are written without it, by the one whose turn it is */
    pthread_cond_t changed;
    uint8_t *stage;              /* of each block */
    struct raw_column **columns; /* of each block, once it has been asked for */
};

/* ------------------------------------------------------------------------------------- those in use */

static struct {
    pthread_once_t once;
    pthread_mutex_t lock;
    struct decoded *first;
} list = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

void decoded_forget(void)
{
    list.first = NULL;
}

/* A child's readers share nothing with its parent's, whose threads may be decoding, or hold the lock. */
static void forget_all(void)
{
    pthread_mutex_init(&list.lock, NULL);
    decoded_forget();
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_all);
}

static struct decoded *find(const struct decoded_shape *shape)
{
    for (struct decoded *d = list.first; d; d = d->next)
        if (d->key.low == shape->key.low && d->key.high == shape->key.high)
            return d;
    return NULL;
}

/* ---------------------------------------------------------------------------------- making and freeing */

static void destroy(struct decoded *d)
{
    for (uint32_t i = 0; d->columns && i < d->blocks; i++) {
        for (unsigned f = 0; d->columns[i] && f < d->slab.fields; f++)
            raw_column_free(&d->columns[i][f]);
        free(d->columns[i]);
    }
    free(d->columns);
    free(d->stage);
    slab_free(&d->slab);
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

static struct decoded *create(const struct decoded_shape *shape)
{
    struct decoded *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, NULL);
    d->key = shape->key;
    d->blocks = shape->blocks;
    d->ragged = shape->ragged;
    d->stage = calloc((size_t)shape->blocks + 1, sizeof *d->stage);
    d->columns = calloc((size_t)shape->blocks + 1, sizeof(struct raw_column *));
    if (d->stage && d->columns &&
        slab_init(&d->slab, shape->slots, shape->fields, shape->value_bytes, NULL) == APL_OK)
        return d;
    destroy(d);
    return NULL;
}

apl_status decoded_open(const struct decoded_shape *shape, struct decoded **decoded, apl_error *err)
{
    pthread_once(&list.once, watch_forks);
    pthread_mutex_lock(&list.lock);
    struct decoded *d = find(shape);
    if (!d && (d = create(shape))) {
        d->next = list.first;
        list.first = d;
    }
    if (d)
        d->references++;
    pthread_mutex_unlock(&list.lock);
    *decoded = d;
    return d ? APL_OK : fail_nomem(err);
}

/* Takes it off the list, if it still is there; with the list's lock held. */
static void unlist(const struct decoded *d)
{
    struct decoded **at = &list.first;
    while (*at && *at != d)
        at = &(*at)->next;
    if (*at)
        *at = d->next;
}

void decoded_close(struct decoded *d)
{
    if (!d)
        return;
    pthread_mutex_lock(&list.lock);
    bool last = --d->references == 0;
    if (last)
        unlist(d);
    pthread_mutex_unlock(&list.lock);
    if (last)
        destroy(d);
}

void decoded_retire(struct decoded *d)
{
    if (!d)
        return;
    pthread_mutex_lock(&list.lock);
    unlist(d);
    pthread_mutex_unlock(&list.lock);
}

void decoded_lend(const struct decoded *d, struct slab *slab)
{
    *slab = (struct slab){.slots = d->slab.slots, .fields = d->slab.fields, .borrowed = true};
    memcpy(slab->value_bytes, d->slab.value_bytes, sizeof slab->value_bytes);
    memcpy(slab->values, d->slab.values, sizeof slab->values);
}

/* -------------------------------------------------------------------------------------------- decoding */

enum decoded_turn decoded_begin(struct decoded *d, uint32_t block, struct raw_column **columns)
{
    enum decoded_turn turn = DECODED_FOUND;
    pthread_mutex_lock(&d->lock);
    while (d->stage[block] == DECODING)
        pthread_cond_wait(&d->changed, &d->lock);
    if (d->ragged && !d->columns[block] &&
        !(d->columns[block] = calloc(d->slab.fields, sizeof *d->columns[block]))) {
        turn = DECODED_NOMEM;
    } else if (d->stage[block] == ABSENT) {
        d->stage[block] = DECODING;
        turn = DECODED_YOURS;
    }
    *columns = d->columns[block];
    pthread_mutex_unlock(&d->lock);
    return turn;
}

void decoded_end(struct decoded *d, uint32_t block, bool done)
{
    pthread_mutex_lock(&d->lock);
    d->stage[block] = done ? PRESENT : ABSENT;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

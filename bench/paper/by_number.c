/* Batches of records that are read by their numbers: see source.h. */
#include "source.h"

#include "augment.h"
#include "measure.h"
#include "parallel.h"
#include "random.h"

#include <string.h>

#define MAX_SLOTS (PAPER_READERS + 2)

/* A batch, from the moment at which its records are chosen until training has done with it. */
struct slot {
    uint64_t *ids;
    uint64_t epoch;
    size_t count;
    bool last; /* of its epoch */
    bool ready;
    uint8_t *rows;
    const uint8_t **sources;
    struct placement *placements;
    float *images;
    uint8_t *labels;
};

/*
 * Slots are a ring. `chosen` of all batches have been begun, `lent` have been handed to training, and of those all
 * but the last are done with. What follows `lock` is under it; so is `ready` of each slot.
 */
struct loader {
    struct loading asked;
    const struct source_kind *kind;
    void *source;
    struct assembly assembly;
    apl_transform transform;
    uint32_t *copies; /* zeros */
    struct slot slots[MAX_SLOTS];
    unsigned slot_count;
    pthread_t threads[PAPER_READERS];
    bool ended; /* the batch before was the last of its epoch; of training's thread alone */

    pthread_mutex_t lock;
    pthread_cond_t made, freed;
    uint64_t *order;
    size_t records, position;
    uint64_t epoch, chosen, lent;
    unsigned working; /* threads, which number themselves */
    bool stopping;
};

/* ------------------------------------------------------------------------------------------------- order */

/* Fisher and Yates, keyed by seed and epoch. */
static void shuffle(struct loader *l)
{
    struct random_stream stream;
    random_stream_init(&stream, random_epoch_key(l->asked.seed, l->epoch, RANDOM_DRAWS));
    for (size_t i = l->records; i > 1; i--) {
        const size_t other = random_below(&stream, (uint32_t)i);
        const uint64_t id = l->order[i - 1];
        l->order[i - 1] = l->order[other];
        l->order[other] = id;
    }
}

/* The next batch of the order, and of the next epoch behind the last. Under the lock. */
static struct slot *choose(struct loader *l)
{
    struct slot *s = &l->slots[l->chosen++ % l->slot_count];
    if (l->position == 0 && l->asked.shuffled)
        shuffle(l);
    const size_t left = l->records - l->position;
    s->count = left < l->asked.batch_size ? left : l->asked.batch_size;
    memcpy(s->ids, l->order + l->position, s->count * sizeof *s->ids);
    s->epoch = l->epoch;
    s->last = s->count == left;
    s->ready = false;
    l->position = s->last ? 0 : l->position + s->count;
    l->epoch += s->last;
    return s;
}

/* ---------------------------------------------------------------------------------------------- a batch */

/* Rows `from` to `to` of a batch: read, then shifted, flipped and normalised. */
static void make_rows(struct loader *l, struct slot *s, unsigned reader, size_t from, size_t to)
{
    struct augment augment;
    augment_init(&augment, (struct image_shape){3, PAPER_SIDE, PAPER_SIDE}, 0, &l->transform, l->asked.seed,
                 s->epoch);
    l->kind->read(l->source, reader, s->ids + from, to - from, s->rows + from * PAPER_ROW);
    augment_draw(&augment, s->ids + from, l->copies, to - from, s->placements + from);
    for (size_t i = from; i < to; i++) {
        s->labels[i] = s->rows[i * PAPER_ROW];
        s->sources[i] = s->rows + i * PAPER_ROW + 1;
    }
    assemble(&l->assembly, s->sources + from, s->placements + from, to - from,
             s->images + from * PAPER_PIXELS);
}

struct share {
    struct loader *loader;
    struct slot *slot;
};

static apl_status make_share(void *context, unsigned worker, size_t task, apl_error *err)
{
    const struct share *share = context;
    const size_t count = share->slot->count, of = share->loader->asked.readers;
    (void)err;
    make_rows(share->loader, share->slot, worker, count * task / of, count * (task + 1) / of);
    return APL_OK;
}

/* By several readers at once, of which the caller is one. */
static void make_together(struct loader *l, struct slot *s)
{
    apl_error err;
    struct share share = {l, s};
    must(parallel_for(l->asked.readers, l->asked.readers, make_share, &share, &err), &err);
}

/* --------------------------------------------------------------------------------------- loading ahead */

/* Is there no slot that training has done with? Under the lock. */
static bool full(const struct loader *l)
{
    const uint64_t done = l->lent > 0 ? l->lent - 1 : 0;
    return l->chosen - done >= l->slot_count;
}

static void *load_ahead(void *argument)
{
    struct loader *l = argument;
    pthread_mutex_lock(&l->lock);
    const unsigned reader = l->working++;
    while (!l->stopping) {
        if (full(l)) {
            pthread_cond_wait(&l->freed, &l->lock);
            continue;
        }
        struct slot *s = choose(l);
        pthread_mutex_unlock(&l->lock);
        make_rows(l, s, reader, 0, s->count);
        pthread_mutex_lock(&l->lock);
        s->ready = true;
        pthread_cond_signal(&l->made);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

/* Gives back the batch that was lent, and waits for the next one. */
static struct slot *take_ahead(struct loader *l)
{
    pthread_mutex_lock(&l->lock);
    struct slot *s = &l->slots[l->lent++ % l->slot_count];
    pthread_cond_signal(&l->freed);
    while (l->chosen < l->lent || !s->ready)
        pthread_cond_wait(&l->made, &l->lock);
    pthread_mutex_unlock(&l->lock);
    return s;
}

bool by_number_next(struct loader *l, struct batch *batch)
{
    struct slot *s;
    if (l->ended) {
        l->ended = false;
        return false;
    }
    if (l->asked.ahead > 0) {
        s = take_ahead(l);
    } else {
        s = choose(l);
        make_together(l, s);
    }
    l->ended = s->last;
    *batch = (struct batch){s->images, s->labels, s->count};
    return true;
}

/* --------------------------------------------------------------------------------- opening and closing */

static void slot_init(struct slot *s, size_t rows)
{
    s->ids = must_have(calloc(rows, sizeof *s->ids));
    s->rows = must_have(malloc(rows * PAPER_ROW));
    s->sources = must_have(calloc(rows, sizeof *s->sources));
    s->placements = must_have(calloc(rows, sizeof *s->placements));
    s->images = must_have(aligned_alloc(64, rows * PAPER_PIXELS * sizeof(float)));
    s->labels = must_have(malloc(rows));
}

static void slot_free(struct slot *s)
{
    free(s->ids);
    free(s->rows);
    free(s->sources);
    free(s->placements);
    free(s->images);
    free(s->labels);
}

/* As reader/sizes.c has it. */
static struct assembly assembly_of(const apl_transform *t)
{
    struct assembly a = {.channels = 3, .height = PAPER_SIDE, .width = PAPER_SIDE};
    a.pad = t->pad;
    a.out_height = t->crop_height;
    a.out_width = t->crop_width;
    a.dtype = t->dtype;
    a.layout = t->layout;
    for (unsigned c = 0; c < a.channels; c++) {
        a.scale[c] = 1.0f / t->std[c];
        a.bias[c] = -t->mean[c] / t->std[c];
    }
    return a;
}

static void allocate(struct loader *l)
{
    const size_t rows = l->asked.batch_size;
    l->slot_count = l->asked.ahead > 0 ? l->asked.ahead + 2 : 1;
    for (unsigned i = 0; i < l->slot_count; i++)
        slot_init(&l->slots[i], rows);
    l->copies = must_have(calloc(rows, sizeof *l->copies));
    l->order = must_have(calloc(l->records, sizeof *l->order));
    for (size_t i = 0; i < l->records; i++)
        l->order[i] = i;
}

struct loader *by_number_open(const struct source_kind *kind, const struct loading *asked)
{
    apl_error err;
    struct loader *l = must_have(calloc(1, sizeof *l));
    l->asked = *asked;
    l->kind = kind;
    l->source = kind->open(asked, &l->records);
    l->transform = paper_transform(asked->augmented);
    l->assembly = assembly_of(&l->transform);
    allocate(l);
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->made, NULL);
    pthread_cond_init(&l->freed, NULL);
    for (unsigned i = 0; i < asked->ahead; i++)
        must(thread_start(&l->threads[i], load_ahead, l, &err), &err);
    return l;
}

size_t by_number_staged(const struct loader *l)
{
    return l->kind->staged ? l->kind->staged(l->source) : 0;
}

void by_number_close(struct loader *l)
{
    pthread_mutex_lock(&l->lock);
    l->stopping = true;
    pthread_cond_broadcast(&l->freed);
    pthread_mutex_unlock(&l->lock);
    for (unsigned i = 0; i < l->asked.ahead; i++)
        pthread_join(l->threads[i], NULL);
    l->kind->close(l->source);
    for (unsigned i = 0; i < l->slot_count; i++)
        slot_free(&l->slots[i]);
    free(l->copies);
    free(l->order);
    pthread_cond_destroy(&l->freed);
    pthread_cond_destroy(&l->made);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

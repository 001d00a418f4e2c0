/* Batches of records that are read by their numbers: see source.h. */
#define _GNU_SOURCE
#include "source.h"

#include "augment.h"
#include "measure.h"
#include "parallel.h"
#include "random.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

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
 *
 * The loader, its slots and all that these point to lie in one mapping, which processes that load share.
 */
struct loader {
    size_t mapped;
    struct loading asked;
    const struct source_kind *kind;
    void *source; /* of training's process; NULL if it reads nothing itself */
    struct assembly assembly;
    apl_transform transform;
    uint32_t *copies; /* zeros */
    struct slot slots[MAX_SLOTS];
    unsigned slot_count;
    size_t records;
    pthread_t threads[PAPER_READERS];
    pid_t processes[PAPER_READERS];
    bool ended; /* the batch before was the last of its epoch; of training's thread alone */

    pthread_mutex_t lock;
    pthread_cond_t made, freed;
    uint64_t *order;
    size_t position;
    uint64_t epoch, chosen, lent;
    unsigned working; /* threads or processes, which number themselves */
    bool stopping;
};

/* ------------------------------------------------------------------------------------------------- order */

/* Fisher and Yates, keyed by seed and epoch. */
static void shuffle(struct loader *l)
{
    struct random_stream stream;
    random_stream_init(&stream, (struct random_key){l->asked.seed, l->epoch});
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
static void make_rows(struct loader *l, struct slot *s, void *source, unsigned reader, size_t from, size_t to)
{
    struct augment augment;
    augment_init(&augment, (struct image_shape){3, PAPER_SIDE, PAPER_SIDE}, 0, &l->transform, l->asked.seed,
                 s->epoch);
    l->kind->read(source, reader, s->ids + from, to - from, s->rows + from * PAPER_ROW);
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
    make_rows(share->loader, share->slot, share->loader->source, worker, count * task / of,
              count * (task + 1) / of);
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

static void load_ahead(struct loader *l, void *source)
{
    pthread_mutex_lock(&l->lock);
    const unsigned reader = l->working++;
    while (!l->stopping) {
        if (full(l)) {
            pthread_cond_wait(&l->freed, &l->lock);
            continue;
        }
        struct slot *s = choose(l);
        pthread_mutex_unlock(&l->lock);
        make_rows(l, s, source, reader, 0, s->count);
        pthread_mutex_lock(&l->lock);
        s->ready = true;
        pthread_cond_signal(&l->made);
    }
    pthread_mutex_unlock(&l->lock);
}

static void *thread_ahead(void *argument)
{
    struct loader *l = argument;
    load_ahead(l, l->source);
    return NULL;
}

/* Reads through what it has opened itself, and does not outlive training. */
static _Noreturn void process_ahead(struct loader *l, pid_t parent)
{
    size_t records;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    load_ahead(l, l->kind->open(&l->asked, &records));
    _exit(0);
}

/* Ends the program, whatever it waits for, when a process has ended that was not asked to: batches would not come, or from fewer. */
static void process_ended(int number)
{
    static const char message[] = "paper: a process that loads has ended\n";
    siginfo_t info = {.si_pid = 0};
    (void)number;
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0 || info.si_status == 0)
        return;
    if (write(STDERR_FILENO, message, sizeof message - 1) > 0)
        _exit(1);
    _exit(2);
}

static void start_ahead(struct loader *l, unsigned i)
{
    apl_error err;
    const pid_t parent = getpid();
    if (!l->asked.processes) {
        must(thread_start(&l->threads[i], thread_ahead, l, &err), &err);
        return;
    }
    const pid_t child = fork();
    if (child < 0)
        paper_die_of("fork");
    if (child == 0)
        process_ahead(l, parent);
    l->processes[i] = child;
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

#define ALIGNED 64u

/* The next bytes of the mapping. */
static void *take(uint8_t **at, size_t bytes)
{
    void *taken = *at;
    *at += (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
    return taken;
}

static void slot_init(struct slot *s, size_t rows, uint8_t **at)
{
    s->ids = take(at, rows * sizeof *s->ids);
    s->rows = take(at, rows * PAPER_ROW);
    s->sources = take(at, rows * sizeof *s->sources);
    s->placements = take(at, rows * sizeof *s->placements);
    s->images = take(at, rows * PAPER_PIXELS * sizeof *s->images);
    s->labels = take(at, rows);
}

static struct loader *loader_new(const struct loading *asked, size_t records)
{
    const size_t rows = asked->batch_size, count = asked->ahead > 0 ? asked->ahead + 2 : 1;
    const struct slot none = {0};
    const size_t row = sizeof *none.ids + PAPER_ROW + sizeof *none.sources + sizeof *none.placements +
                       PAPER_PIXELS * sizeof *none.images + 1;
    const size_t bytes = sizeof(struct loader) + count * (rows * row + 6 * ALIGNED) +
                         rows * sizeof(uint32_t) + records * sizeof(uint64_t) + 3 * ALIGNED;
    const int sharing = asked->processes ? MAP_SHARED : MAP_PRIVATE;
    struct loader *l = mmap(NULL, bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
    if (l == MAP_FAILED)
        paper_die_of("memory for batches");
    uint8_t *at = (uint8_t *)l;
    take(&at, sizeof *l);
    l->mapped = bytes;
    l->slot_count = (unsigned)count;
    for (unsigned i = 0; i < count; i++)
        slot_init(&l->slots[i], rows, &at);
    l->copies = take(&at, rows * sizeof *l->copies);
    l->order = take(&at, records * sizeof *l->order);
    l->records = records;
    for (size_t i = 0; i < records; i++)
        l->order[i] = i;
    return l;
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

static void share_locks(struct loader *l)
{
    pthread_mutexattr_t mutex;
    pthread_condattr_t condition;
    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&l->lock, &mutex);
    pthread_mutexattr_destroy(&mutex);
    pthread_condattr_init(&condition);
    pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&l->made, &condition);
    pthread_cond_init(&l->freed, &condition);
    pthread_condattr_destroy(&condition);
}

struct loader *by_number_open(const struct source_kind *kind, const struct loading *asked)
{
    size_t records;
    void *source = kind->open(asked, &records);
    struct loader *l = loader_new(asked, records);
    l->asked = *asked;
    l->kind = kind;
    l->source = source;
    l->transform = paper_transform(asked->augmented);
    l->assembly = assembly_of(&l->transform);
    share_locks(l);
    if (asked->processes) {
        const struct sigaction action = {.sa_handler = process_ended, .sa_flags = SA_RESTART | SA_NOCLDSTOP};
        sigaction(SIGCHLD, &action, NULL);
        kind->close(source);
        l->source = NULL;
    }
    for (unsigned i = 0; i < asked->ahead; i++)
        start_ahead(l, i);
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
    for (unsigned i = 0; i < l->asked.ahead; i++) {
        if (l->asked.processes)
            waitpid(l->processes[i], NULL, 0);
        else
            pthread_join(l->threads[i], NULL);
    }
    if (l->source)
        l->kind->close(l->source);
    pthread_cond_destroy(&l->freed);
    pthread_cond_destroy(&l->made);
    pthread_mutex_destroy(&l->lock);
    munmap(l, l->mapped);
}

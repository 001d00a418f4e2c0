/* The shards of an open set: see set.h. */
#include "set.h"

#include "set_file.h"
#include "store_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct slot {
    uint32_t shard;
    uint64_t used; /* when, by the set's clock */
    apl_store *store;
};

/* A shard at a URL is opened by one thread, whose process `by` is (0: by none), and the others wait: its pages are fetched once. */
struct opening {
    pid_t by;
    unsigned attempts; /* that have ended */
};

struct set {
    struct set_list list;
    apl_shard *shards;
    struct set_place place; /* of the list */
    apl_io io;
    unsigned most;
    /* by `lock`: */
    struct slot *slots; /* those open, in no order */
    unsigned count, room;
    uint64_t clock;
    uint32_t *slot_of;       /* of each shard: its slot and one; 0: it is not open */
    bool *asked;             /* of each shard: somebody is to open it */
    struct opening *opening; /* of each shard */
};

/* One lock for all sets, so that a child after fork() finds it free; nothing is read from a disk while it is held. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t attempt_ended = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void lock_sets(void)
{
    pthread_mutex_lock(&lock);
}

static void unlock_sets(void)
{
    pthread_mutex_unlock(&lock);
}

/* The threads that wait are the parent's. */
static void begin_child(void)
{
    pthread_cond_init(&attempt_ended, NULL);
    unlock_sets();
}

static void mind_forks(void)
{
    pthread_atfork(lock_sets, unlock_sets, begin_child);
}

static apl_status publish_shards(struct set *set, apl_error *err)
{
    set->shards = calloc(set->list.count, sizeof *set->shards);
    set->slot_of = calloc(set->list.count, sizeof *set->slot_of);
    set->asked = calloc(set->list.count, sizeof *set->asked);
    set->opening = calloc(set->list.count, sizeof *set->opening);
    if (!set->shards || !set->slot_of || !set->asked || !set->opening)
        return fail_nomem(err);
    for (uint32_t i = 0; i < set->list.count; i++) {
        const struct shard *s = &set->list.shards[i];
        set->shards[i] = (apl_shard){.name = s->name, .records = s->records, .file_bytes = s->file_bytes};
        memcpy(set->shards[i].content_digest, s->content, 32);
    }
    return APL_OK;
}

apl_status set_open(apl_store *store, const char *file, const uint8_t *expected, apl_io io, unsigned most,
                    apl_error *err)
{
    pthread_once(&once, mind_forks);
    struct set *set = store->set = calloc(1, sizeof *set);
    if (!set)
        return fail_nomem(err);
    set->io = io;
    set->most = most ? most : SET_OPEN_SHARDS;
    TRY(set_place_take(&set->place, file, expected, store, &set->list, err));
    store->manifest.info.shards = set->list.count;
    return publish_shards(set, err);
}

void set_close(struct set *set)
{
    if (!set)
        return;
    for (unsigned i = 0; i < set->count; i++)
        store_release_file(set->slots[i].store);
    set_list_free(&set->list);
    free(set->slots);
    free(set->slot_of);
    free(set->asked);
    free(set->opening);
    free(set->shards);
    set_place_free(&set->place);
    free(set);
}

const struct set_list *set_list_of(const struct set *set)
{
    return &set->list;
}

const struct set_place *set_place_of(const struct set *set)
{
    return &set->place;
}

const apl_shard *set_shard(const struct set *set, unsigned i)
{
    return i < set->list.count ? &set->shards[i] : NULL;
}

/* ------------------------------------------------------------------------------------------- one shard */

/* Is it the one that belongs there? The list has all of it that counts. */
static apl_status check_as_listed(const apl_store *set, const struct shard *shard, const apl_store *store,
                                  apl_error *err)
{
    struct buffer entry = {0};
    size_t payload;
    if (memcmp(store->manifest.info.content_digest, shard->content, 32) != 0)
        return fail(err, APL_E_CORRUPT, "%s: has been replaced: its content is not what the list says",
                    store->name);
    TRY(set_same_schema(&store->manifest.schema, store->name, &set->manifest.schema, "the list", err));
    set_put_shard(&entry, shard->name, &store->manifest, &payload);
    bool failed = entry.failed,
         same = !failed && !store->manifest.info.shuffled == !set->manifest.info.shuffled &&
                entry.size - payload == shard->entry_bytes &&
                memcmp(entry.data + payload, shard->entry, shard->entry_bytes) == 0 &&
                (!shard->digest || memcmp(store->manifest.info.digest, shard->digest, DIGEST_BYTES) == 0);
    buffer_free(&entry);
    return failed ? fail_nomem(err)
           : same
               ? APL_OK
               : fail(err, APL_E_CORRUPT, "%s: has been replaced: it is not as the list says", store->name);
}

/* What is wrong with the data can be left out; what is wrong with the machine cannot. */
static bool is_damage(apl_status status, const apl_error *err)
{
    return status == APL_E_NOTFOUND || status == APL_E_MISMATCH ||
           (status == APL_E_IO && (err->sys_errno == ELOOP || err->sys_errno == ENOENT ||
                                   err->sys_errno == ENOTDIR || err->sys_errno == ENAMETOOLONG));
}

static apl_status open_shard(const apl_store *set, uint32_t number, apl_store **store, apl_error *err)
{
    const struct shard *shard = &set->set->list.shards[number];
    apl_store *opened;
    apl_status status =
        set->set->place.url
            ? store_open_below(set->set->place.url, shard->name, set->set->place.remote, &opened, err)
            : store_open_at(set->set->place.directory, shard->name, set->name, set->set->io, &opened, err);
    if (status == APL_OK) {
        status = check_as_listed(set, shard, opened, err);
        if (status != APL_OK)
            store_release_file(opened);
        else
            opened->pinned = set->pinned;
    }
    if (status != APL_OK && is_damage(status, err))
        err->status = status = APL_E_CORRUPT;
    if (status == APL_OK)
        *store = opened;
    return status;
}

/* -------------------------------------------------------------------------------------- those kept open */

/* Of those that nobody uses, the one that has not been used for longest makes room; the caller releases it. */
static apl_store *evict_shard(struct set *set)
{
    struct slot *oldest = NULL;
    for (unsigned i = 0; i < set->count; i++) {
        struct slot *s = &set->slots[i];
        if (atomic_load_explicit(&s->store->references, memory_order_relaxed) == 1 &&
            (!oldest || s->used < oldest->used))
            oldest = s;
    }
    if (!oldest)
        return NULL;
    apl_store *store = oldest->store;
    set->slot_of[oldest->shard] = 0;
    *oldest = set->slots[--set->count];
    if (oldest != &set->slots[set->count])
        set->slot_of[oldest->shard] = (uint32_t)(oldest - set->slots) + 1;
    return store;
}

static apl_store *find_open(struct set *set, uint32_t shard)
{
    struct slot *s = set->slot_of[shard] ? &set->slots[set->slot_of[shard] - 1] : NULL;
    if (!s)
        return NULL;
    s->used = ++set->clock;
    return store_retain(s->store);
}

/* Keeps the shard, if there is memory for that; *evicted is to be let go. */
static void keep_open(struct set *set, uint32_t shard, apl_store *store, apl_store **evicted)
{
    *evicted = set->count >= set->most ? evict_shard(set) : NULL;
    if (set->count == set->room) {
        unsigned room = set->room ? 2 * set->room : 16;
        struct slot *slots = realloc(set->slots, room * sizeof *slots);
        if (!slots)
            return;
        set->slots = slots;
        set->room = room;
    }
    set->slots[set->count++] = (struct slot){shard, ++set->clock, store_retain(store)};
    set->slot_of[shard] = set->count;
}

/* The shard, once who is opening it is done; NULL: the caller is to open it. Who has waited for an attempt that failed does not wait for
 * another: each may take long. */
static apl_store *find_or_begin(struct set *set, uint32_t shard)
{
    struct opening *o = &set->opening[shard];
    unsigned attempts = o->attempts;
    pid_t self = getpid();
    apl_store *found = find_open(set, shard);
    if (found || !set->place.url)
        return found;
    while (o->by == self && o->attempts == attempts)
        pthread_cond_wait(&attempt_ended, &lock);
    found = find_open(set, shard);
    if (!found)
        o->by = self;
    return found;
}

static void end_attempt(struct set *set, uint32_t shard)
{
    set->opening[shard].by = 0;
    set->opening[shard].attempts++;
    pthread_cond_broadcast(&attempt_ended);
}

/* What is done with a shard that has been opened, before any other thread can take it. */
struct on_open {
    void (*run)(void *what, apl_store *shard, uint64_t own);
    void *what;
    uint64_t own;
};

static apl_status take_shard(const apl_store *store, uint32_t shard, const struct on_open *then,
                             apl_store **taken, apl_error *err)
{
    struct set *set = store->set;
    apl_store *opened, *evicted = NULL;
    lock_sets();
    *taken = find_or_begin(set, shard);
    unlock_sets();
    if (*taken)
        return APL_OK;
    apl_status status = open_shard(store, shard, &opened, err);
    if (status == APL_OK && then)
        then->run(then->what, opened, then->own);
    lock_sets();
    if (status == APL_OK && !(*taken = find_open(set, shard))) /* another thread may have been faster */
        keep_open(set, shard, opened, &evicted);
    end_attempt(set, shard);
    unlock_sets();
    TRY(status);
    if (*taken)
        store_release_file(opened);
    else
        *taken = opened;
    store_release_file(evicted);
    return APL_OK;
}

apl_status set_take(const apl_store *store, uint32_t shard, apl_store **taken, apl_error *err)
{
    return take_shard(store, shard, NULL, taken, err);
}

void set_open_ahead(const apl_store *store, uint64_t number,
                    void (*run)(void *what, apl_store *shard, uint64_t own), void *what)
{
    apl_store *taken;
    apl_error error;
    const struct run *r = set_list_run(&store->set->list, number);
    const struct on_open then = {run, what, r->own_block + (number - r->first_block)};
    if (take_shard(store, r->shard, &then, &taken, &error) == APL_OK)
        store_release_file(taken);
}

apl_store *set_find_open(const apl_store *store, uint64_t number, uint64_t *own, bool *asked)
{
    struct set *set = store->set;
    const struct run *r = set_list_run(&set->list, number);
    *own = r->own_block + (number - r->first_block);
    lock_sets();
    apl_store *found = find_open(set, r->shard);
    *asked = set->asked[r->shard];
    set->asked[r->shard] = !found;
    unlock_sets();
    return found;
}

apl_status set_take_block(const apl_store *store, uint64_t number, apl_store **taken, uint64_t *own,
                          const struct run **run, apl_error *err)
{
    const struct run *r = set_list_run(&store->set->list, number);
    *run = r;
    *own = r->own_block + (number - r->first_block);
    apl_status status = set_take(store, r->shard, taken, err);
    if (status == APL_OK)
        return APL_OK;
    fail_in(err, status, "%s: shard %s (records %llu to %llu)", store->name,
            store->set->list.shards[r->shard].name, (unsigned long long)r->first,
            (unsigned long long)(r->first + r->count - 1));
    return fail_records(err, status, r->first, r->count);
}

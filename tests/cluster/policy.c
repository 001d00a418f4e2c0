/* What a node has on its disk when it needs it, by several policies: see cluster.h. */
#include "cluster.h"

#include <stdlib.h>
#include <string.h>

const char *const policy_names[POLICIES] = {
    "no cache +",     "LRU",           "all staged first", "a part per node *", "readers' cache +",
    "the whole plan", "bound (Belady)"};

/* ------------------------------------------------------------------------------------------------ a node's reads */

#define EMPTY UINT32_MAX

void reads_open(const struct cluster *c, struct reads *r)
{
    r->count = (uint32_t)(cluster_share(c) * c->epochs);
    r->block = take_memory(r->count, sizeof *r->block);
    r->again = take_memory(r->count, sizeof *r->again);
}

void reads_close(struct reads *r)
{
    free(r->block);
    free(r->again);
}

/* From the last to the first, with a table of when each block was met last. */
static void find_next_uses(struct reads *r)
{
    uint32_t size = 1;
    while (size < 2 * r->count)
        size *= 2;
    uint32_t *met = malloc(size * sizeof *met);
    if (!met)
        give_up("out of memory");
    memset(met, 0xff, size * sizeof *met);
    for (uint32_t i = r->count; i-- > 0;) {
        uint32_t at = r->block[i] * 2654435769u & (size - 1);
        while (met[at] != EMPTY && r->block[met[at]] != r->block[i])
            at = (at + 1) & (size - 1);
        r->again[i] = met[at] == EMPTY ? r->count : met[at];
        met[at] = i;
    }
    free(met);
}

void reads_of_node(const struct cluster *c, const struct orders *orders, uint32_t node, struct reads *r)
{
    uint64_t share = cluster_share(c);
    for (uint32_t i = 0; i < r->count; i++)
        r->block[i] = orders->epoch[i / share][i % share * c->nodes + node];
    find_next_uses(r);
}

/* ------------------------------------------------------------------------------------------------------------ LRU */

/* A Fenwick tree of marks. */
static void mark(uint32_t *tree, uint32_t n, uint32_t at, uint32_t by)
{
    for (at++; at <= n; at += at & -at)
        tree[at] += by;
}

static uint32_t marks_before(const uint32_t *tree, uint32_t at)
{
    uint32_t sum = 0;
    for (; at > 0; at -= at & -at)
        sum += tree[at];
    return sum;
}

/* What was read is there as long as fewer others have been read since. Each block's last read is marked. */
static uint64_t apply_lru(uint64_t room, const struct reads *r, uint8_t *here)
{
    uint32_t *tree = take_memory(r->count + 1, sizeof *tree), *before = malloc(r->count * sizeof *before);
    uint64_t fetched = 0;
    if (!before)
        give_up("out of memory");
    memset(before, 0xff, r->count * sizeof *before);
    for (uint32_t i = 0, read = 0; i < r->count; i++, read++) {
        if (r->again[i] < r->count)
            before[r->again[i]] = i;
        if (before[i] != EMPTY) {
            uint32_t since = marks_before(tree, i) - marks_before(tree, before[i] + 1);
            here[i] = since < room;
            mark(tree, r->count, before[i], UINT32_MAX); /* takes it away */
        }
        mark(tree, r->count, i, 1);
        fetched += !here[i];
    }
    free(tree);
    free(before);
    return fetched;
}

/* --------------------------------------------------------------------------------- those that know what comes */

/*
 * A cache that is told, of each block that it has or is given, when that is needed next. That is all that the rule sees: what is needed
 * last goes, and what is needed later than all that is here is not kept. A block is known by its next read.
 */
struct heap {
    struct due {
        uint32_t due, again,
            last; /* due: when it is needed, as far as that is seen; again, last: when it is read, and was */
    } * items;
    uint32_t count;
};

static void heap_put(struct heap *h, struct due item)
{
    uint32_t at = h->count++;
    for (; at > 0 && h->items[(at - 1) / 2].due < item.due; at = (at - 1) / 2)
        h->items[at] = h->items[(at - 1) / 2];
    h->items[at] = item;
}

static void heap_drop_last_needed(struct heap *h)
{
    struct due item = h->items[--h->count];
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < h->count; at = child) {
        child += child + 1 < h->count && h->items[child + 1].due > h->items[child].due;
        if (h->items[child].due <= item.due)
            break;
        h->items[at] = h->items[child];
    }
    h->items[at] = item;
}

/* When a block is needed, for who sees the epoch of read `now` and `horizon` more; of what he does not see, that read first is first. */
static struct due due_at(const struct reads *r, uint32_t last, uint32_t now, uint32_t share, uint32_t horizon)
{
    uint32_t again = r->again[last];
    bool seen = again < r->count && again / share <= now / share + horizon;
    return (struct due){seen ? again : r->count + last, again, last};
}

/* An epoch begins, and another one is seen: what is here may be needed in it. What was read again before no longer counts. */
static uint32_t see_epoch(struct heap *h, const struct reads *r, uint32_t now, uint32_t share,
                          uint32_t horizon)
{
    struct heap old = *h;
    h->items = take_memory(r->count + 1, sizeof *h->items);
    h->count = 0;
    for (uint32_t i = 0; i < old.count; i++)
        if (old.items[i].again >= now)
            heap_put(h, due_at(r, old.items[i].last, now, share, horizon));
    free(old.items);
    return h->count;
}

/* here[i]: the block of read i has been kept for it. */
static uint64_t apply_future(uint64_t room, uint32_t share, uint32_t horizon, const struct reads *r,
                             uint8_t *here)
{
    struct heap heap = {take_memory(r->count + 1, sizeof *heap.items), 0};
    uint64_t fetched = 0, kept = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        if (i % share == 0)
            kept = see_epoch(&heap, r, i, share, horizon);
        fetched += !here[i];
        kept -= here[i];
        struct due due = due_at(r, i, i, share, horizon);
        if (kept == room && (room == 0 || heap.items[0].due <= due.due))
            continue;
        if (kept == room) {
            if (heap.items[0].again < r->count)
                here[heap.items[0].again] = false;
            heap_drop_last_needed(&heap);
            kept--;
        }
        heap_put(&heap, due);
        if (due.again < r->count)
            here[due.again] = true;
        kept++;
    }
    free(heap.items);
    return fetched;
}

/* ------------------------------------------------------------------------------------------------------ all policies */

/* A part of the store is there before training begins: the same for all nodes. */
static uint64_t apply_staged(uint64_t room, const struct reads *r, uint8_t *here)
{
    uint64_t fetched = room;
    for (uint32_t i = 0; i < r->count; i++) {
        here[i] = r->block[i] < room;
        fetched += !here[i];
    }
    return fetched;
}

/* Each node reads a part of its own in each epoch, whatever the plan says; what does not fit is fetched each time. */
static uint64_t apply_partition(uint64_t room, uint32_t share, const struct reads *r, uint8_t *here)
{
    uint64_t fetched = 0, fits = room < share ? room : share;
    for (uint32_t i = 0; i < r->count; i++) {
        uint64_t place = i % share;
        here[i] = i >= share && (place + 1) * fits / share > place * fits / share;
        fetched += !here[i];
    }
    return fetched;
}

uint64_t policy_apply(const struct cluster *c, enum policy policy, const struct reads *r, uint8_t *here)
{
    uint64_t room = cluster_room(c), blocks = cluster_blocks(c);
    uint32_t share = (uint32_t)cluster_share(c);
    memset(here, 0, r->count);
    switch (policy) {
    case LRU:
        return apply_lru(room, r, here);
    case STAGED:
        return apply_staged(room < blocks ? room : blocks, r, here);
    case PARTITION:
        return apply_partition(room, share, r, here);
    case PLANNED:
        return apply_future(room, share, c->horizon, r, here);
    case BOUND:
        return apply_future(room, share, c->epochs, r, here);
    default:
        return r->count;
    }
}

/* ---------------------------------------------------------------------------------------------------------- slowly */

/* Which of those here goes: that read longest ago; or that which is needed last, as far as that is seen. */
static uint32_t victim(const struct cluster *c, enum policy policy, const struct reads *r,
                       const uint32_t *last, uint32_t count, uint32_t now)
{
    uint32_t share = (uint32_t)cluster_share(c), found = 0,
             horizon = policy == BOUND ? c->epochs : c->horizon;
    uint64_t worst = 0;
    for (uint32_t k = 0; k < count; k++) {
        uint64_t cost = policy == LRU ? r->count - last[k] : due_at(r, last[k], now, share, horizon).due;
        if (cost > worst) {
            worst = cost;
            found = k;
        }
    }
    return found;
}

uint64_t policy_slowly(const struct cluster *c, enum policy policy, const struct reads *r)
{
    uint64_t room = cluster_room(c), fetched = 0;
    uint32_t *last = take_memory(room + 1, sizeof *last), count = 0; /* of each block here, its last read */
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t k = 0;
        while (k < count && r->block[last[k]] != r->block[i])
            k++;
        fetched += k == count;
        last[k] = i;
        count += k == count;
        if (count > room) { /* the one just read may be the one that goes */
            uint32_t goes = victim(c, policy, r, last, count, i);
            last[goes] = last[--count];
        }
    }
    free(last);
    return fetched;
}

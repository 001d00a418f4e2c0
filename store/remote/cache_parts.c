/* What is known of a cache's parts: see cache_parts.h. */
#include "cache_parts.h"

#include "hash.h"

#include <stdlib.h>

#define FIRST_SIZE 1024u
#define DISK_PAGE  4096u
#define HAND_STEPS 256u

void parts_clear(struct part_list *p)
{
    for (size_t i = 0; i < p->size; i++)
        for (struct part *part = p->table[i], *next; part; part = next) {
            next = part->chain;
            free(part);
        }
    free(p->table);
    free(p->heap);
    *p = (struct part_list){0};
}

uint64_t part_disk_bytes(uint64_t bytes)
{
    return (bytes + PART_HEAD + DISK_PAGE - 1) / DISK_PAGE * DISK_PAGE;
}

/* ------------------------------------------------------------------------------------------------- table */

static size_t part_slot(uint32_t object, uint64_t offset, uint32_t bytes, size_t size)
{
    uint64_t key[2] = {offset, (uint64_t)object << 32 | bytes};
    return (size_t)hash_xxh3_64(key, sizeof key) & (size - 1);
}

struct part *parts_find(const struct part_list *p, uint32_t object, uint64_t offset, uint32_t bytes)
{
    struct part *part = p->size ? p->table[part_slot(object, offset, bytes, p->size)] : NULL;
    while (part && !(part->offset == offset && part->object == object && part->bytes == bytes))
        part = part->chain;
    return part;
}

static void put_in_table(struct part **table, size_t size, struct part *part)
{
    struct part **at = &table[part_slot(part->object, part->offset, part->bytes, size)];
    part->chain = *at;
    *at = part;
}

static bool grow_table(struct part_list *p)
{
    size_t size = p->size ? 2 * p->size : FIRST_SIZE;
    struct part **table = calloc(size, sizeof(struct part *));
    if (!table)
        return p->size > 0; /* it becomes slower */
    for (size_t i = 0; i < p->size; i++)
        for (struct part *part = p->table[i], *next; part; part = next) {
            next = part->chain;
            put_in_table(table, size, part);
        }
    free(p->table);
    p->table = table;
    p->size = size;
    p->hand = 0;
    return true;
}

struct part *parts_get(struct part_list *p, uint32_t object, uint64_t offset, uint32_t bytes)
{
    struct part *part = parts_find(p, object, offset, bytes);
    if (part)
        return part;
    if (p->count >= p->size && !grow_table(p))
        return NULL;
    part = calloc(1, sizeof *part);
    if (!part)
        return NULL;
    part->object = object;
    part->offset = offset;
    part->bytes = bytes;
    put_in_table(p->table, p->size, part);
    p->count++;
    return part;
}

struct part *parts_next(struct part_list *p)
{
    for (unsigned i = 0; p->size && i < HAND_STEPS; i++) {
        p->hand = (p->hand + 1) & (p->size - 1);
        if (p->table[p->hand])
            return p->table[p->hand];
    }
    return NULL;
}

/* -------------------------------------------------------------------------------------------------- heap */

static void put_in_heap(struct part_list *p, uint32_t place, struct part *part)
{
    p->heap[place] = part;
    part->place = place;
}

/* Brings a part to where it belongs by its due. */
static void settle(struct part_list *p, struct part *part)
{
    uint32_t at = part->place;
    for (; at > 0 && p->heap[(at - 1) / 2]->due < part->due; at = (at - 1) / 2)
        put_in_heap(p, at, p->heap[(at - 1) / 2]);
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < p->here && p->heap[child + 1]->due > p->heap[child]->due)
            child++;
        if (child >= p->here || p->heap[child]->due <= part->due)
            break;
        put_in_heap(p, at, p->heap[child]);
        at = child;
    }
    put_in_heap(p, at, part);
}

bool parts_here(struct part_list *p, struct part *part, uint64_t due)
{
    if (!part->here && p->here == p->room) {
        uint32_t room = p->room ? 2 * p->room : FIRST_SIZE;
        struct part **heap = realloc(p->heap, room * sizeof *heap);
        if (!heap)
            return false;
        p->heap = heap;
        p->room = room;
    }
    part->due = due;
    if (!part->here) {
        put_in_heap(p, p->here++, part);
        p->bytes += part_disk_bytes(part->bytes);
        part->here = true;
    }
    settle(p, part);
    return true;
}

void parts_remove(struct part_list *p, struct part *part)
{
    struct part **at = &p->table[part_slot(part->object, part->offset, part->bytes, p->size)];
    while (*at != part)
        at = &(*at)->chain;
    *at = part->chain;
    part->chain = NULL;
    p->count--;
    if (!part->here)
        return;
    part->here = false;
    p->bytes -= part_disk_bytes(part->bytes);
    struct part *end = p->heap[--p->here];
    if (end == part)
        return;
    put_in_heap(p, part->place, end);
    settle(p, end);
}

bool parts_put_back(struct part_list *p, struct part *part)
{
    put_in_table(p->table, p->size, part);
    p->count++;
    if (parts_here(p, part, part->due))
        return true;
    parts_remove(p, part);
    free(part);
    return false;
}

struct part *parts_last_needed(const struct part_list *p)
{
    return p->here ? p->heap[0] : NULL;
}

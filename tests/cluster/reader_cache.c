/*
 * The cache of readers itself, store/remote/disk_cache.c and what it is made of, over a disk that is modelled: the functions of part_file.c are
 * these, so that those are not linked. A part is a block, and whether it is there is a bit.
 */
#include "cluster.h"

#include "disk_cache.h"
#include "future.h"
#include "part_file.h"

#include <stdlib.h>
#include <string.h>

static struct {
    uint8_t *there; /* of each block, a bit */
    uint64_t block_bytes, used;
} disk;

static bool is_there(const struct part_key *key)
{
    uint64_t block = key->offset / disk.block_bytes;
    return disk.there[block / 8] >> block % 8 & 1;
}

static void set_there(const struct part_key *key, bool there)
{
    uint64_t block = key->offset / disk.block_bytes;
    uint8_t bit = (uint8_t)(1u << block % 8);
    disk.there[block / 8] = (uint8_t)(there ? disk.there[block / 8] | bit : disk.there[block / 8] & ~bit);
}

/* ------------------------------------------------------------------------------------------ as part_file.h has it */

enum part_read part_file_read(const struct part_key *key, uint8_t *to)
{
    (void)to;
    return is_there(key) ? PART_READ : PART_MISSING;
}

int part_file_write(const struct part_key *key, const uint8_t *from)
{
    (void)from;
    set_there(key, true);
    return 0;
}

long part_file_age(const struct part_key *key)
{
    return is_there(key) ? 0 : -1;
}

bool part_file_remove(const struct part_key *key)
{
    bool there = is_there(key);
    set_there(key, false);
    return there;
}

int part_directory_make(const char *directory)
{
    (void)directory;
    return 0;
}

void part_directory_list(const char *directory, bool alone,
                         void (*each)(void *user, struct hash128 object, uint64_t offset, uint64_t n),
                         void *user)
{
    (void)directory, (void)alone, (void)each, (void)user; /* it is empty */
}

void part_directory_enter(const char *directory, int *fd, bool *alone)
{
    (void)directory;
    *fd = -1;
    *alone = true;
}

void part_directory_share(int fd)
{
    (void)fd;
}

int part_claims_open(const char *directory)
{
    (void)directory;
    return -1;
}

bool part_claim(int claims, const struct part_key *key, bool have)
{
    (void)claims, (void)key, (void)have;
    return true;
}

int part_used_add(const char *directory, int64_t change, bool set, uint64_t *used)
{
    (void)directory;
    *used = disk.used = set ? (uint64_t)change : disk.used + (uint64_t)change;
    return 0;
}

/* ---------------------------------------------------------------------------------------------------- a node's reader */

/* When a block is needed after an epoch, as future.c has it: in the next one, by its place there, if the node reads it then. */
static uint64_t needed_after(const struct cluster *c, const struct orders *orders, uint32_t node,
                             uint32_t epoch, uint32_t block, uint64_t first_begin)
{
    uint64_t begin = first_begin + (epoch + 1) * (c->records + 1);
    if (epoch + 1 == c->epochs)
        return DUE_NEVER;
    uint64_t place = orders->place[epoch + 1][block];
    return future_due(begin, place, c->records, (uint32_t)cluster_blocks(c), place % c->nodes == node);
}

/* Reads a block as remote.c does: false, if it had to be fetched. */
static bool read_block(struct disk_cache *cache, uint32_t object, uint32_t block, uint64_t again)
{
    bool before, bad;
    struct extent range = {block * disk.block_bytes, (size_t)disk.block_bytes};
    bool here = disk_cache_expect(cache, object, &range, again, &before);
    if (here && !disk_cache_read(cache, object, &range, NULL, false, &bad))
        give_up("block %u is not where the cache has it", block);
    if (here)
        return true;
    (void)disk_cache_write(cache, object, &range, NULL, true);  /* when it has come */
    (void)disk_cache_write(cache, object, &range, NULL, false); /* when it is read */
    return false;
}

uint64_t reader_cache_apply(const struct cluster *c, const struct orders *orders, uint32_t node,
                            const struct reads *r, uint8_t *here)
{
    uint64_t share = cluster_share(c), begin, fetched = 0;
    struct disk_cache *cache;
    uint32_t object, turn;
    apl_error err;
    disk.block_bytes = block_bytes(c);
    disk.used = 0;
    disk.there = take_memory(cluster_blocks(c) / 8 + 1, 1);
    if (disk_cache_open("/", c->cache, &cache, &err) != APL_OK)
        give_up("%s", err.message);
    if (!disk_cache_open_object(cache, (struct hash128){1, 1}, &object))
        give_up("out of memory");
    disk_cache_begin(cache, &begin, &turn);
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t epoch = (uint32_t)(i / share);
        if (i % share == 0)
            disk_cache_advance(cache, begin + (epoch + 1) * (c->records + 1));
        here[i] =
            read_block(cache, object, r->block[i], needed_after(c, orders, node, epoch, r->block[i], begin));
        fetched += !here[i];
    }
    disk_cache_close_object(cache, object);
    disk_cache_release(cache);
    free(disk.there);
    return fetched;
}

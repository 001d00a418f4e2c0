/*
 * A cache: a directory on the node's own disk, with a budget, that holds parts of files elsewhere. Shared by all stores of a process
 * that name it, and by processes. Any thread may call, also after fork(). Nothing that happens to it is an error: what is not there,
 * or is not right, is fetched, and what cannot be written is not kept.
 *
 * What makes room is what is needed last (Belady's rule), as far as readers have said when that is; what is needed later than all
 * that is there is not kept at all. Parts of which nothing is known stay, unless nobody here has their file open and nobody has read them
 * for some minutes, or readers have gone through a whole epoch without them.
 */
#ifndef DISK_CACHE_H
#define DISK_CACHE_H

#include "ahead.h"
#include "hash.h"

struct disk_cache;

/* When a range is needed, by the cache's clock; or: */
#define DUE_UNKNOWN 0u
#define DUE_SOON    1u
#define DUE_NEVER   UINT64_MAX

/* Opens the cache, making its directory if need be, or takes part in one that the process has open. budget: in bytes, of all; 0: nine
 * tenths of what it has and its disk has free. APL_E_IO or APL_E_NOTFOUND if there can be no such directory. */
apl_status disk_cache_open(const char *directory, uint64_t budget, struct disk_cache **cache, apl_error *err);
struct disk_cache *disk_cache_retain(struct disk_cache *cache);
void disk_cache_release(struct disk_cache *cache);

/* A number for a file elsewhere, which is open until it is closed as often. False: out of memory. */
bool disk_cache_open_object(struct disk_cache *cache, struct hash128 identity, uint32_t *object);
void disk_cache_close_object(struct disk_cache *cache, uint32_t object);

/* The range will be read soon, and then not before `again`. True: it is here; *before: that has been said before. */
bool disk_cache_expect(struct disk_cache *cache, uint32_t object, const struct extent *range, uint64_t again,
                       bool *before);

/* Reads the range, if it is here and right. `peek`: it will be read once more. *bad: it was here, and was wrong. */
bool disk_cache_read(struct disk_cache *cache, uint32_t object, const struct extent *range, uint8_t *to,
                     bool peek, bool *bad);

/* Keeps the range, which has been fetched, if it is worth it; `early`: it will be read later, else that is now. Returned is 0, or
 * what kept it from being kept. */
#define CACHE_IS_FULL (-1) /* else an errno */
int disk_cache_write(struct disk_cache *cache, uint32_t object, const struct extent *range,
                     const uint8_t *from, bool early);

/* A range that is to be fetched is claimed, so that of several threads and processes one fetches it; then it may have come. Who finds it
 * claimed by another waits until that one has let go, or has died, but not for longer than CLAIM_MS: false, and nothing is claimed. */
#define CLAIM_MS 5000u
bool disk_cache_claim(struct disk_cache *cache, uint32_t object, const struct extent *range);
void disk_cache_unclaim(struct disk_cache *cache, uint32_t object, const struct extent *range);

/* Reads the range, if it is here and right, though it was not when it was asked for; it is still to be read. */
bool disk_cache_find(struct disk_cache *cache, uint32_t object, const struct extent *range, uint8_t *to);

/* Waits, a second at most, until no thread writes a part: a process that ends leaves no half of one. */
void disk_cache_settle(struct disk_cache *cache);

/* What is here of the range is wrong. */
void disk_cache_forget(struct disk_cache *cache, uint32_t object, uint64_t offset, uint64_t n);

/* A reader begins. Its first epoch begins at *clock, by the cache's clock, which counts what readers deliver; *turn is for
 * disk_cache_age(). */
void disk_cache_begin(struct disk_cache *cache, uint64_t *clock, uint32_t *turn);

/* Readers that begin from now on do so at `clock`, if it is not later already. */
void disk_cache_advance(struct disk_cache *cache, uint64_t clock);

/* A reader has gone through all that it reads since it began: what nobody has read since then, and nobody is known to need, may go. */
void disk_cache_age(struct disk_cache *cache, uint32_t turn);

/* Removes what was read longest ago, if there is more than the budget, which has become smaller. */
void disk_cache_shrink(struct disk_cache *cache);

/* What is in it, on the disk; and its budget. */
uint64_t disk_cache_used(struct disk_cache *cache, uint64_t *budget);

/* An error that says what disk_cache_write() returned, which was not 0. */
apl_status disk_cache_fail(struct disk_cache *cache, int code, apl_error *err);

#endif

/*
 * The shards of an open set: which one has a block, and which are open.
 *
 * A set is an apl_store like any other, with the manifest that its list gives and no blocks of its own: store_block() and the
 * like find the shard that has the block, and take it from there. At most `most` shards are kept open, those used last; one
 * that is in use stays open until it is let go. Any thread may call, also after fork().
 */
#ifndef SET_H
#define SET_H

#include "set_place.h"
#include "store.h"

#define SET_OPEN_SHARDS 256u /* unless the caller says otherwise */

struct set;

/* Reads the list `file` in the directory of `store`, or below its URL, whose name is known, and makes a set of it: fills manifest, set, and the
 * file's identity. `expected`: a content digest, or NULL: see set_place_take(). `most`: shards open at once; 0: SET_OPEN_SHARDS. APL_E_NOTFOUND if there is no list. */
apl_status set_open(apl_store *store, const char *file, const uint8_t *expected, apl_io io, unsigned most,
                    apl_error *err);

/* Where the list is. */
const struct set_place *set_place_of(const struct set *set);

/* The name that a list of that content digest has once it has been replaced; is there one beside the set's list? */
bool set_kept_list(const struct set *set, const uint8_t content[32], char name[SET_KEPT_BYTES]);

/* The list of the set that has that content digest, whether another has replaced it or not. Its file name, if it is there. What cannot be
 * found out counts as there. */
bool set_find_list(const struct set *set, const uint8_t content[32], char name[SET_KEPT_BYTES]);

/* Shard `i` in its public form, or NULL. */
const apl_shard *set_shard(const struct set *set, unsigned i);

/* NULL is fine. */
void set_close(struct set *set);

const struct set_list *set_list_of(const struct set *set);

/* The shard of that number, opened if need be and checked against the list; the caller has a reference. A shard that is
 * missing, or not the one that belongs there, is APL_E_CORRUPT; the error names it and says what is wrong, but not of which
 * records it has been robbed: see set_shard_error(). */
apl_status set_take(const apl_store *store, uint32_t shard, apl_store **taken, apl_error *err);

/* Opens the shard that has block `number`, which is `own` there, and calls run() before any other thread can take it; not if it is open by
 * then, or cannot be opened. */
void set_open_ahead(const apl_store *store, uint64_t number,
                    void (*run)(void *what, apl_store *shard, uint64_t own), void *what);

/* The shard that has block `number`, if it is open, and the block's number there; the caller has a reference. Else NULL, and *asked
 * says whether this has been asked before, of a shard that is not open yet. */
apl_store *set_find_open(const apl_store *store, uint64_t number, uint64_t *own, bool *asked);

/* The shard that has block `number` of the set, and its number there; the caller has a reference. The error names the
 * records of the shard that are in the block's split. */
apl_status set_take_block(const apl_store *store, uint64_t number, apl_store **taken, uint64_t *own,
                          const struct run **run, apl_error *err);

#endif

/*
 * The files of a cache, below its directory: `used`, how many bytes the parts take, for all processes that share it; `in-use`, which they
 * hold a lock of; `claims`, with a lock for each part that one of them fetches; and for each file elsewhere a directory, named by its identity, of its parts:
 *
 *     offset  bytes
 *          0      8  magic "APLPART1"
 *          8     16  the identity of the file that it is a part of
 *         24      8  offset there
 *         32      8  bytes n
 *         40      8  XXH3-64 of them
 *         48      8  zero
 *         56      8  XXH3-64 of the bytes 0 ... 55
 *         64      n  the bytes
 *
 * A part is written under another name and renamed. Nothing is synced: what a crash leaves behind is found out by the checksums. Any
 * of it may be deleted at any time.
 */
#ifndef PART_FILE_H
#define PART_FILE_H

#include "hash.h"

#include <stdbool.h>

#define PART_NAME 64u /* bytes that the path of a part takes below the directory, at most */

/* Where a part belongs. */
struct part_key {
    const char *directory; /* of the cache */
    struct hash128 object;
    uint64_t offset, n;
};

enum part_read { PART_READ, PART_MISSING, PART_BAD };

/* Reads a part to `to`, which has room for its bytes, and may be written to in any case. PART_BAD: its file is not what it should be. */
enum part_read part_file_read(const struct part_key *key, uint8_t *to);

/* 0, or the errno of what failed; then nothing is left. */
int part_file_write(const struct part_key *key, const uint8_t *from);

/* Is it there? How long ago was it read last, in seconds, to within a minute? -1: it is not there. */
long part_file_age(const struct part_key *key);

/* False: it is not there. */
bool part_file_remove(const struct part_key *key);

/* Makes the directory. 0, or the errno of what failed. */
int part_directory_make(const char *directory);

/* Calls each() for every part in the directory, whatever is in it; and removes what writers that died have left, if the caller is alone. */
void part_directory_list(const char *directory, bool alone,
                         void (*each)(void *user, struct hash128 object, uint64_t offset, uint64_t n),
                         void *user);

/* Takes the lock of `in-use`, until *fd is closed; *alone: nobody else has it, and others who enter wait a little, until it is shared. *fd is
 * -1 if there is no lock. */
void part_directory_enter(const char *directory, int *fd, bool *alone);
void part_directory_share(int fd);

/* Claims of parts that are being fetched, which end with the process. The descriptor of all those of a directory, which is to be closed;
 * -1: claims are impossible here, and each succeeds at once. */
int part_claims_open(const char *directory);

/* Tries to have the claim of a part, or gives it back; false: another process has it. */
bool part_claim(int claims, const struct part_key *key, bool have);

/* Adds to what the parts take; *used becomes what that is. `set`: makes it `change`. Returned is 0, or the errno of why that cannot be
 * known or noted: nothing may be written then. */
int part_used_add(const char *directory, int64_t change, bool set, uint64_t *used);

#endif

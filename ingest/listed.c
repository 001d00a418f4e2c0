/* Files by path and size: see listed.h. */
#include "listed.h"

#include "bytes.h"
#include "hash.h"

#include <string.h>
#include <sys/stat.h>

#define SIZES_ALL    1000u
#define SIZES_ONE_IN 64u /* beyond them, of those whose paths are drawn: parts must agree on which */

void listed_add(struct hasher *sha, uint64_t number, const char *path, int fd, const char *name)
{
    struct stat st;
    uint8_t size[8];
    size_t length = strlen(path) + 1;
    bool asked = number < SIZES_ALL || hash_xxh3_64(path, length) % SIZES_ONE_IN == 0;
    hasher_add(sha, path, length);
    if (!asked || fstatat(fd, name, &st, 0) != 0)
        return;
    store_le(size, (uint64_t)st.st_size, 8);
    hasher_add(sha, size, sizeof size);
}

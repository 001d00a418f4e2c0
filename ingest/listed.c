/* Files by path and size: see listed.h. */
#include "listed.h"

#include "bytes.h"
#include "drawn.h"
#include "file_sample.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZES_ALL    1000u
#define SIZES_ONE_IN 64u /* beyond them, of those whose paths are drawn: parts must agree on which */

/* What cannot be read is left out: if it is wanted, reading it will tell. */
static void add_sample(struct hasher *sha, int directory, const char *name)
{
    struct stat st;
    uint8_t digest[32];
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct sha256 *sample = fd >= 0 ? sha256_new() : NULL;
    if (sample && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        sample_add(fd, name, (uint64_t)st.st_size, SAMPLE_LEAST, sample, NULL) == APL_OK) {
        sha256_end(sample, digest);
        hasher_add(sha, digest, sizeof digest);
    }
    sha256_free(sample);
    if (fd >= 0)
        close(fd);
}

void listed_add(struct hasher *sha, uint64_t number, const char *path, int fd, const char *name)
{
    struct stat st;
    uint8_t size[8];
    size_t length = strlen(path) + 1;
    bool drawn = is_drawn(number),
         asked = drawn || number < SIZES_ALL || hash_xxh3_64(path, length) % SIZES_ONE_IN == 0;
    hasher_add(sha, path, length);
    if (!asked || fstatat(fd, name, &st, 0) != 0)
        return;
    store_le(size, (uint64_t)st.st_size, 8);
    hasher_add(sha, size, sizeof size);
    if (drawn && S_ISREG(st.st_mode))
        add_sample(sha, fd, name);
}

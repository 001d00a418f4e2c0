/* Tar archives, as POSIX has them: see tar_write.h. */
#include "tar_write.h"

#include <stdio.h>
#include <string.h>

#define BLOCK     512u
#define NAME_LONG 100u /* of a name in the header */

uint64_t tar_member_size(uint64_t bytes)
{
    return BLOCK + (bytes + BLOCK - 1) / BLOCK * BLOCK;
}

/* The header of a member: POSIX ustar, with no owner and no time, so that the same records give the same bytes. */
static void fill_header(uint8_t header[BLOCK], const char *name, char type, uint64_t size)
{
    memset(header, 0, BLOCK);
    memcpy(header, name, strlen(name));
    memcpy(header + 100, "0000644", 7);
    memcpy(header + 108, "0000000", 7);
    memcpy(header + 116, "0000000", 7);
    snprintf((char *)header + 124, 12, "%011llo", (unsigned long long)size);
    memcpy(header + 136, "00000000000", 11);
    memset(header + 148, ' ', 8);
    header[156] = (uint8_t)type;
    memcpy(header + 257, "ustar\00000", 8);
    unsigned sum = 0;
    for (unsigned i = 0; i < BLOCK; i++)
        sum += header[i];
    snprintf((char *)header + 148, 8, "%06o", sum);
}

static int write_block(struct shards *s, const char *name, char type, const void *data, size_t size)
{
    static const uint8_t zeros[BLOCK];
    uint8_t header[BLOCK];
    fill_header(header, name, type, size);
    int status = shards_write(s, header, BLOCK);
    if (!status)
        status = shards_write(s, data, size);
    return status ? status : shards_write(s, zeros, (BLOCK - size % BLOCK) % BLOCK);
}

static bool is_plain_name(const char *name)
{
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c >= 128)
            return false;
    return strlen(name) < NAME_LONG;
}

/* A line of a pax header: its own length, in as many digits as that needs, and the path. */
static size_t path_line(char *out, size_t size, const char *name)
{
    size_t rest = strlen(name) + strlen(" path=\n"), length = rest + 1;
    while ((size_t)snprintf(NULL, 0, "%zu", length) + rest != length)
        length++;
    return (size_t)snprintf(out, size, "%zu path=%s\n", length, name);
}

int tar_add(struct shards *s, const char *name, const void *data, size_t size)
{
    char line[TAR_NAME_LONG + 64], cut[NAME_LONG];
    int status = 0;
    if (is_plain_name(name))
        return write_block(s, name, '0', data, size);
    status = write_block(s, "path", 'x', line, path_line(line, sizeof line, name));
    snprintf(cut, sizeof cut, "long-name%s", strrchr(name, '.'));
    return status ? status : write_block(s, cut, '0', data, size);
}

int tar_end(struct shards *s)
{
    static const uint8_t zeros[TAR_END];
    return shards_write(s, zeros, sizeof zeros);
}

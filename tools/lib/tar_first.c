/* The beginning of an archive: see tar_first.h. */
#include "tar_first.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK    512u
#define SIZE_AT  124 /* of the octal digits of the member's size, in its header */
#define TEXT_MAX ((unsigned long)4 << 20)

static char *read_first(int fd, const char *member)
{
    char header[BLOCK], digits[12] = "";
    if (read(fd, header, BLOCK) != BLOCK || memcmp(header, member, strlen(member) + 1) != 0)
        return NULL;
    memcpy(digits, header + SIZE_AT, sizeof digits - 1);
    unsigned long size = strtoul(digits, NULL, 8);
    char *text = size <= TEXT_MAX ? calloc(1, size + 1) : NULL;
    if (text && read(fd, text, size) == (ssize_t)size)
        return text;
    free(text);
    return NULL;
}

char *tar_first_at(int folder, const char *archive, const char *member)
{
    int fd = openat(folder, archive, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    char *text = fd < 0 ? NULL : read_first(fd, member);
    if (fd >= 0)
        close(fd);
    return text;
}

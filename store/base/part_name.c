/* Names of parts: see part_name.h. */
#include "part_name.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void part_name_make(unsigned part, unsigned parts, char name[PART_NAME_BYTES])
{
    int digits = parts > 9999 ? 5 : 4;
    snprintf(name, PART_NAME_BYTES, "part-%0*u-of-%0*u", digits, part, digits, parts);
}

bool part_name_read(const char *name, unsigned *part, unsigned *parts)
{
    char again[PART_NAME_BYTES];
    if (strlen(name) >= sizeof again || sscanf(name, "part-%5u-of-%5u", part, parts) != 2)
        return false;
    if (*part == 0 || *part > *parts || *parts > PARTS_MAX)
        return false;
    part_name_make(*part, *parts, again);
    return strcmp(name, again) == 0;
}

/* Is the part a store? */
static bool part_is_there(int directory, unsigned part, unsigned parts)
{
    char name[PART_NAME_BYTES], file[PART_NAME_BYTES + 16];
    part_name_make(part, parts, name);
    snprintf(file, sizeof file, "%s/data.mdb", name);
    return faccessat(directory, file, F_OK, 0) == 0;
}

static void take_part_entry(const char *name, struct parts_seen *seen)
{
    unsigned part, parts;
    if (!part_name_read(name, &part, &parts) || parts == seen->parts)
        return;
    if (seen->parts == 0 || parts < seen->parts) {
        seen->other_parts = seen->parts;
        seen->parts = parts;
    } else
        seen->other_parts = parts;
}

void parts_look(int directory, struct parts_seen *seen)
{
    *seen = (struct parts_seen){0};
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (const struct dirent *e; (e = readdir(dir));)
        take_part_entry(e->d_name, seen);
    closedir(dir);
    for (unsigned part = 1; part <= seen->parts; part++) {
        bool there = part_is_there(directory, part, seen->parts);
        seen->there += there;
        if (!there && !seen->missing)
            seen->missing = part;
    }
}

/* Finding and opening a file: see found_file.h. */
#include "found_file.h"

#include "file_name.h"
#include "input.h"
#include "shown.h"
#include "whole.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Numbers in old tars are octal text; the checksum counts its own field as blanks. */
static bool has_tar_checksum(const uint8_t *h)
{
    unsigned sum = 0, said = 0;
    for (unsigned i = 0; i < PLACE_HEAD; i++)
        sum += i >= 148 && i < 156 ? ' ' : h[i];
    for (unsigned i = 148; i < 156; i++)
        if (h[i] >= '0' && h[i] <= '7')
            said = said * 8 + (h[i] - '0');
    return sum == said;
}

/* A header's checksum is right, or, as at the end of a tar, all is zero. */
bool is_tar(const uint8_t *head, size_t size)
{
    if (size < PLACE_HEAD)
        return false;
    for (size_t i = 0; i < PLACE_HEAD; i++)
        if (head[i])
            return has_tar_checksum(head);
    return true;
}

const char *path_last(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void place_free(struct place *place)
{
    if (!place)
        return;
    for (size_t i = 0; i < place->member_count; i++)
        free(place->members[i]);
    if (place->fd >= 0)
        close(place->fd);
    free(place->open_path);
    free(place->name);
    free(place->path);
    free(place);
}

struct place *place_new(const char *path, size_t below, bool follow)
{
    struct place *place = calloc(1, sizeof *place);
    size_t shown = 4 * strlen(path) + 8;
    if (!place)
        return NULL;
    place->fd = -1;
    place->follow = follow;
    place->below = below;
    place->open_path = strdup(path);
    place->name = strdup(path_last(path));
    place->path = malloc(shown);
    if (!place->open_path || !place->name || !place->path) {
        place_free(place);
        return NULL;
    }
    path = spool_shown(path);
    printable(place->path, shown < 1024 ? shown : 1024, path, strlen(path));
    return place;
}

static bool is_changed(const struct stat *a, const struct stat *b)
{
    return a->st_dev != b->st_dev || a->st_ino != b->st_ino || a->st_size != b->st_size ||
           a->st_mtim.tv_sec != b->st_mtim.tv_sec || a->st_mtim.tv_nsec != b->st_mtim.tv_nsec;
}

/* Opens without waiting for the other end of a pipe. Its state goes to *st. */
static apl_status open_any_place(const struct place *place, int *fd, struct stat *st, apl_error *err)
{
    *fd = open(place->open_path,
               O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (place->follow ? 0 : O_NOFOLLOW));
    if (*fd < 0 && errno == ELOOP && !place->follow)
        return fail(err, APL_E_SOURCE, "%s: is a symbolic link, which is not followed" FOLLOW_LINKS,
                    place->path);
    if (*fd < 0)
        return fail_errno(err, errno, "%s: cannot be opened", place->path);
    apl_status status = APL_OK;
    if (fstat(*fd, st) != 0)
        status = fail_errno(err, errno, "%s: cannot be examined", place->path);
    else if (!S_ISREG(st->st_mode))
        status = fail(err, APL_E_SOURCE, "%s: is not a regular file", place->path);
    if (status != APL_OK)
        close(*fd);
    return status;
}

apl_status place_open(struct place *place, int *fd, apl_error *err)
{
    struct stat st;
    TRY(open_any_place(place, fd, &st, err));
    if (!is_changed(&st, &place->st))
        return APL_OK;
    close(*fd);
    return fail(err, APL_E_SOURCE, "%s: changed while it was read", place->path);
}

apl_status place_find(struct place *place, bool named, bool *packed, apl_error *err)
{
    int fd;
    uint8_t first[32];
    TRY(open_any_place(place, &fd, &place->st, err));
    size_t n = place->st.st_size < (off_t)sizeof first ? (size_t)place->st.st_size : sizeof first;
    int error = read_whole(fd, first, n, 0);
    close(fd);
    if (error)
        return fail_errno(err, error == WHOLE_ENDED ? EIO : error, "%s: cannot be read", place->path);
    size_t length = strlen(place->name);
    bool ends = ends_packed(place->name, &length);
    *packed = (ends || !named) && input_is_packed(first, n);
    if (*packed)
        place->name[length] = 0;
    return APL_OK;
}

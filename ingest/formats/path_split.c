/* What names of files and folders tell of splits: see path_split.h. */
#include "path_split.h"

#include "file_name.h"

#include <string.h>

#define FOLDER_MOST 255u /* bytes of a folder's name */

/* Takes the last part off the path's first *length bytes: where it begins, and its size. NULL: there is none. */
static const char *take_last(const char *path, size_t *length, size_t *size)
{
    size_t end;
    do {
        while (*length > 0 && path[*length - 1] == '/')
            --*length;
        end = *length;
        while (*length > 0 && path[*length - 1] != '/')
            --*length;
    } while (end - *length == 1 && path[*length] == '.');
    *size = end - *length;
    return *size > 0 ? path + *length : NULL;
}

size_t path_split_from(const char *source, bool directory)
{
    size_t length = strlen(source), size, from = length;
    for (unsigned parts = directory ? 1 : 2; parts > 0 && take_last(source, &length, &size); parts--)
        from = length;
    return from;
}

/* Takes what a folder is called: false, if that tells nothing. */
static bool take_folder(const char *folder, size_t length, struct path_split *is)
{
    char name[FOLDER_MOST + 1];
    uint32_t rank;
    if (length > FOLDER_MOST)
        return false;
    memcpy(name, folder, length);
    name[length] = 0;
    const char *split = split_of_word(name, length, &rank);
    if (!split) {
        is->like = is->like ? is->like : file_name_split(name, &rank);
        return false;
    }
    *is = (struct path_split){.split = split, .rank = rank, .told = true, .by_folder = true};
    return true;
}

struct path_split split_of_folders(const char *path)
{
    struct path_split is = {.split = "train"};
    const char *slash = strrchr(path, '/'), *folder;
    size_t length = slash ? (size_t)(slash - path) : 0, size;
    while ((folder = take_last(path, &length, &size)) && !take_folder(folder, size, &is))
        ;
    return is;
}

struct path_split split_of_path(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    uint32_t rank;
    const char *split = file_name_split(name, &rank);
    if (!split)
        return split_of_folders(path);
    return (struct path_split){
        .split = split, .rank = rank, .other = file_name_other_split(name), .told = true};
}

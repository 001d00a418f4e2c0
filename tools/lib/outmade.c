/* Descriptions that exports leave: see outmade.h. */
#include "outmade.h"

#include "args.h"
#include "json.h"
#include "report.h"
#include "tar_first.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void outmade_free(struct outmade *made)
{
    for (size_t i = 0; i < made->count; i++)
        free(made->names[i]);
    free(made->names);
    *made = (struct outmade){0};
}

int outmade_add(struct outmade *made, const char *name)
{
    if (made->count == made->room) {
        size_t room = made->room ? 2 * made->room : 16;
        char **names = realloc(made->names, room * sizeof *names);
        if (!names)
            return failed("out of memory");
        made->names = names;
        made->room = room;
    }
    made->names[made->count] = strdup(name);
    if (!made->names[made->count])
        return failed("out of memory");
    made->count++;
    made->sorted = false;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool outmade_has(struct outmade *made, const char *name)
{
    if (!made->sorted && made->count > 0)
        qsort(made->names, made->count, sizeof *made->names, by_name);
    made->sorted = true;
    return made->count > 0 && bsearch(&name, made->names, made->count, sizeof *made->names, by_name);
}

/* ---------------------------------------------------------------------------------------------------- descriptions */

static json_t *load_at(int folder, const char *name)
{
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    json_t *json = fd < 0 ? NULL : json_loadfd(fd, 0, NULL);
    if (fd >= 0)
        close(fd);
    return json;
}

/* The files that the objects of a list name. */
static int add_named(struct outmade *made, const json_t *list, const char *key)
{
    int status = 0;
    for (size_t i = 0; i < json_array_size(list) && !status; i++) {
        const char *name = json_string_value(json_object_get(json_array_get(list, i), key));
        status = name ? outmade_add(made, name) : 0;
    }
    return status;
}

/* Those of schema.json or splits.json; *is: it is an export's. */
static int add_described(struct outmade *made, const json_t *json, bool *is)
{
    const char *format = json_string_value(json_object_get(json, "format"));
    const json_t *fields = json_object_get(json, "fields");
    *is = true;
    if (format && strcmp(format, "apldata-tfrecord") == 0)
        return add_named(made, json_object_get(json, "splits"), "file");
    if (format && strcmp(format, "apldata-arrays") == 0)
        return add_named(made, json_object_get(json, "files"), "file");
    *is = json_object_get(json, "content_sha256") && json_object_get(json, "byte_order") && fields;
    if (!*is)
        return 0;
    return add_named(made, fields, "file") || add_named(made, fields, "offsets") ||
           add_named(made, fields, "shapes");
}

static int find_description(struct outmade *made, int folder, const char *name)
{
    bool is = false;
    json_t *json = load_at(folder, name);
    int status = json ? add_described(made, json, &is) : 0;
    json_decref(json);
    made->exports += is;
    return is && !status ? outmade_add(made, name) : status;
}

/* An archive's schema names the splits of its export, which thereby are told apart: two of one split have files of the same names. */
static int find_archive(struct outmade *made, int folder, const char *name, json_t *known)
{
    char *text = tar_first_at(folder, name, "__apl__/schema.json");
    json_t *json = text ? json_loads(text, 0, NULL) : NULL, *of = json_object_get(json, "export");
    free(text);
    if (!json)
        return 0;
    bool same = false;
    of = of ? of : json_null(); /* of an older version */
    for (size_t i = 0; i < json_array_size(known) && !same; i++)
        same = json_equal(json_array_get(known, i), of);
    if (!same && json_array_append(known, of) == 0)
        made->exports++;
    json_decref(json);
    return outmade_add(made, name);
}

static int find_one(struct outmade *made, int folder, const char *name, json_t *known)
{
    const char *ending = strrchr(name, '.');
    if (strcmp(name, "schema.json") == 0 || strcmp(name, "splits.json") == 0)
        return find_description(made, folder, name);
    return ending && strcmp(ending, ".tar") == 0 ? find_archive(made, folder, name, known) : 0;
}

int outmade_find(struct outmade *made, const char *folder)
{
    DIR *dir = opendir(folder);
    json_t *known = json_array();
    int status = 0;
    if (!dir)
        status = failed_errno(errno, "%s: cannot be read", shown(folder));
    else if (!known)
        status = failed("out of memory");
    for (const struct dirent *entry; !status && (entry = readdir(dir));)
        status = find_one(made, dirfd(dir), entry->d_name, known);
    if (dir)
        closedir(dir);
    json_decref(known);
    return status;
}

int outmade_check_alone(struct outmade *made, const char *folder)
{
    DIR *dir = opendir(folder);
    int status = dir ? 0 : failed_errno(errno, "%s: cannot be read", shown(folder));
    for (const struct dirent *entry; !status && (entry = readdir(dir));)
        if (entry->d_name[0] != '.' && !outmade_has(made, entry->d_name))
            status =
                failed("%s/%s: would stay beside the new files, as if it were one of them: remove it, or "
                       "export to another directory",
                       shown(folder), shown(entry->d_name));
    if (dir)
        closedir(dir);
    return status;
}

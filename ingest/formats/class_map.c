/* Lines are read into a table of the folders: see class_map.h. */
#include "class_map.h"

#include "apl.h"
#include "class_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE (APL_MAX_NAME + 1)

/* What is known of a folder. */
struct mapped {
    char name[NAME_SIZE];
    const char *folder;
    uint32_t at;   /* the folder's place */
    size_t line;   /* that says it; 0: none */
    bool repeated; /* another folder has the same name */
};

static int by_folder(const void *key, const void *element)
{
    return strcmp(key, ((const struct mapped *)element)->folder);
}

/* By name, and those of one name by their folders. */
static int by_mapped_name(const void *a, const void *b)
{
    const struct mapped *x = *(const struct mapped *const *)a, *y = *(const struct mapped *const *)b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* Cuts a line in two. Where there is a tab, the folder may have blanks in it. */
static const char *split_line(char *line)
{
    char *end = strchr(line, '\t');
    end = end ? end : line + strcspn(line, " ");
    char *name = end + strspn(end, " \t");
    *end = 0;
    for (size_t n = strlen(name); n > 0 && strchr(" \t", name[n - 1]); n--)
        name[n - 1] = 0;
    return name;
}

static apl_status bad_line(const struct class_map *map, size_t line, const char *what, apl_error *err)
{
    return fail(err, APL_E_INVALID, "%s: line %zu: %s", map->file, line, what);
}

static apl_status take_line(const struct class_map *map, size_t number, char *line, struct mapped *table,
                            uint32_t count, apl_error *err)
{
    char what[64];
    if (!line[strspn(line, " \t")])
        return APL_OK;
    const char *name = split_line(line);
    if (!*line || !*name)
        return bad_line(map, number, "is not a folder and the name of its class", err);
    if (!class_name_ok(name))
        return bad_line(map, number, "the name is not printable UTF-8 of at most 255 bytes", err);
    struct mapped *m = count ? bsearch(line, table, count, sizeof *table, by_folder) : NULL;
    if (!m)
        return APL_OK;
    snprintf(what, sizeof what, "names the folder of line %zu differently", m->line);
    if (m->line && strcmp(m->name, name) != 0)
        return bad_line(map, number, what, err);
    memcpy(m->name, name, strlen(name) + 1);
    m->line = m->line ? m->line : number;
    return APL_OK;
}

static apl_status take_lines(const struct class_map *map, struct mapped *table, uint32_t count,
                             apl_error *err)
{
    for (size_t i = 0; i < map->count; i++) {
        char *line = strdup(map->lines[i]);
        if (!line)
            return fail_nomem(err);
        apl_status status = take_line(map, i + 1, line, table, count, err);
        free(line);
        TRY(status);
    }
    for (uint32_t i = 0; i < count; i++)
        if (!table[i].line)
            return fail(err, APL_E_INVALID, "%s: has no name for the class %.255s", map->file,
                        table[i].folder);
    return APL_OK;
}

/* Adds their folders to names that several have. */
static apl_status tell_apart(const struct class_map *map, struct mapped *table, uint32_t count,
                             apl_error *err)
{
    struct mapped **sorted = calloc(count + 1u, sizeof *sorted);
    if (!sorted)
        return fail_nomem(err);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = &table[i];
    qsort(sorted, count, sizeof *sorted, by_mapped_name);
    for (uint32_t i = 1; i < count; i++)
        if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0)
            sorted[i - 1]->repeated = sorted[i]->repeated = true;
    free(sorted);
    for (uint32_t i = 0; i < count; i++) {
        size_t length = strlen(table[i].name);
        if (!table[i].repeated)
            continue;
        if (length + strlen(table[i].folder) + 3 > APL_MAX_NAME)
            return bad_line(map, table[i].line, "the name is another's too, and too long to add the folder",
                            err);
        snprintf(table[i].name + length, NAME_SIZE - length, " (%s)", table[i].folder);
    }
    return APL_OK;
}

/* The array, and the texts behind it. */
static const char **copy_names(const struct mapped *table, uint32_t count)
{
    const char **names = malloc((size_t)count * (sizeof *names + NAME_SIZE) + 1);
    char *text = (char *)(names + count);
    for (uint32_t i = 0; names && i < count; i++, text += NAME_SIZE) {
        memcpy(text, table[i].name, NAME_SIZE);
        names[i] = text;
    }
    return names;
}

apl_status class_map_names(const struct class_map *map, const char *const *folders, uint32_t count,
                           const char ***names, apl_error *err)
{
    apl_status status;
    struct mapped *table = calloc(count + 1u, sizeof *table);
    if (!table)
        return fail_nomem(err);
    for (uint32_t i = 0; i < count; i++) {
        table[i].folder = folders[i];
        table[i].at = i;
    }
    GUARD(take_lines(map, table, count, err));
    GUARD(tell_apart(map, table, count, err));
    *names = copy_names(table, count);
    status = *names ? APL_OK : fail_nomem(err);
out:
    free(table);
    return status;
}

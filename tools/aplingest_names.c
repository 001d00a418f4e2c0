/* The names of classes that aplingest takes from files. */
#include "aplingest.h"
#include "args.h"
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What some editors write at the beginning of a file is no part of its first line. */
static void drop_mark(char *text, ssize_t *length)
{
    static const char mark[] = "\xef\xbb\xbf";
    if (*length < 3 || memcmp(text, mark, 3) != 0)
        return;
    *length -= 3;
    memmove(text, text + 3, (size_t)*length);
}

/* The lines of a file, each a text of its own; *count of them are the caller's to free, whatever comes back. */
static int read_lines(const char *path, char ***lines, size_t *count)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    if (!file)
        return failed_errno(errno, "%s", shown(path));
    while ((length = getline(&text, &room, file)) >= 0) {
        char **more = realloc(*lines, (*count + 1) * sizeof *more);
        if (*count == 0)
            drop_mark(text, &length);
        length -= length > 0 && text[length - 1] == '\n';
        length -= length > 0 && text[length - 1] == '\r';
        text[length] = 0;
        if (more)
            *lines = more;
        if (!more || !(more[*count] = strdup(text)))
            break;
        (*count)++;
    }
    bool bad = ferror(file) || !feof(file);
    fclose(file);
    free(text);
    return bad ? failed("%s: cannot be read", shown(path)) : 0;
}

int ingest_names_read(struct job *job)
{
    int status = job->classes ? read_lines(job->classes, &job->class_names, &job->ingest.class_count) : 0;
    job->ingest.classes = (const char *const *)job->class_names;
    if (!status && job->classes && job->ingest.class_count == 0)
        return failed("%s: has no names of classes", shown(job->classes));
    if (!status && job->ingest.map_name)
        status = read_lines(job->ingest.map_name, &job->map, &job->ingest.map_count);
    job->ingest.map = (const char *const *)job->map;
    if (!status && job->ingest.map_name && job->ingest.map_count == 0)
        return failed("%s: has no names of classes", shown(job->ingest.map_name));
    return status;
}

static void free_lines(char **lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(lines[i]);
    free(lines);
}

void ingest_names_free(struct job *job)
{
    free_lines(job->class_names, job->ingest.class_count);
    free_lines(job->map, job->ingest.map_count);
}

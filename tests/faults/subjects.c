#define _GNU_SOURCE
#include "subjects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PYTHON "python"

/* PROGRAM and ARCHIVE stand for paths. */
static const struct subject table[] = {
    {.name = "ingest",
     .argv = {"aplingest", "-q", "-j2", "--partial", "@binary.tar.gz", "db"},
     .writes = true},
    {.name = "ingest-python",
     .argv = {"aplingest", "-q", "-j2", "--partial", "@python.tar", "db"},
     .writes = true},
    {.name = "ingest-force",
     .argv = {"aplingest", "-q", "-j2", "--partial", "--force", "-b16", "@binary.tar.gz", "db"},
     .before = OLD_STORE,
     .writes = true},
    {.name = "ingest-shuffle",
     .argv = {"aplingest", "-q", "-j2", "--partial", "--force", "--shuffle", "-b16", "@binary.tar.gz", "db"},
     .before = OLD_STORE,
     .writes = true},
    /* of several commits */
    {.name = "ingest-large",
     .argv = {"aplingest", "-q", "-j2", "--partial", "--force", "@large.tar", "db"},
     .before = OLD_STORE,
     .writes = true},
    {.name = "split",
     .argv = {"apldata", "split", "-q", "-j2", "db", "val=0.2"},
     .before = NEW_STORE,
     .beside = "val.split"},
    {.name = "verify", .argv = {"apldata", "verify", "-q", "-j2", "db"}, .before = NEW_STORE},
    {.name = "info", .argv = {"apldata", "info", "--json", "db"}, .before = NEW_STORE},
    {.name = "get", .argv = {"apldata", "get", "db", "0", "17", "99"}, .before = NEW_STORE},
    {.name = "get-raw",
     .argv = {"apldata", "get", "--fields", "image", "--format", "raw", "-o-", "db", "7", "3"},
     .before = NEW_STORE},
    {.name = "export",
     .argv = {"apldata", "export", "-q", "-j2", "--format", "npy", "db", "files"},
     .before = NEW_STORE,
     .folder = "files"},
    {.name = "epoch", .argv = {"epoch", "db"}, .before = NEW_STORE},
    {.name = "verify-pread",
     .argv = {"apldata", "verify", "-q", "-j2", "db"},
     .before = NEW_STORE,
     .preads = true},
    {.name = "get-pread", .argv = {"apldata", "get", "db", "5", "0"}, .before = NEW_STORE, .preads = true},
    {.name = "epoch-pread", .argv = {"epoch", "db"}, .before = NEW_STORE, .preads = true},
    /* python.py, with the interpreter that FAULT_PYTHON names */
    {.name = "python", .argv = {PYTHON, NULL, "read", "db"}, .before = NEW_STORE, .waits = true},
    {.name = "python-pread",
     .argv = {PYTHON, NULL, "read", "db"},
     .before = NEW_STORE,
     .preads = true,
     .waits = true},
    {.name = "python-write", .argv = {PYTHON, NULL, "write", "db"}, .writes = true, .waits = true},
};

static char *join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (!path)
        die("out of memory");
    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

/* A run without faults: what it leaves is what is right. */
static struct file run_well(const struct place *place, const char *injector, struct subject *s)
{
    memset(place->control, 0, sizeof *place->control);
    subject_set(s, place);
    struct outcome o = place_run(place, injector, NULL, s->argv, 60, 0);
    if (o.signal || o.status || o.lines || (injector && !place->control->finished))
        die("%s without faults: signal %d, exit status %d, %s", s->name, o.signal, o.status, o.message);
    if (place->control->open_files || place->control->blocks)
        die("%s without faults leaves %u files and %u blocks of memory, such as of %s", s->name,
            place->control->open_files, place->control->blocks, place->control->leak);
    s->said = o.said;
    for (unsigned c = 0; c < CALLS; c++)
        s->calls[c] = atomic_load(&place->control->calls[c]);
    if (s->beside) {
        char path[64];
        snprintf(path, sizeof path, "db/%s", s->beside);
        s->made = file_read(place, path);
    }
    return file_read(place, "db/data.mdb");
}

/* A store of other pictures than the archives that are ingested hold. */
static struct file make_old(const struct place *place, const char *programs, const char *archives)
{
    struct subject s = {.name = "the old store", .argv = {join(programs, "aplingest"), "-q", "--partial"}};
    s.argv[3] = join(archives, "old.tar.gz");
    s.argv[4] = "db";
    struct file old = run_well(place, NULL, &s);
    free((char *)s.argv[0]);
    free((char *)s.argv[3]);
    return old;
}

/* Puts the path of the program, and of Python's script, into the arguments; false if there is no Python to be had. */
static bool find_program(struct subject *s, const char *programs)
{
    if (strcmp(s->argv[0], PYTHON) != 0) {
        s->argv[0] = join(programs, s->argv[0]);
        return true;
    }
    s->argv[0] = getenv("FAULT_PYTHON");
    s->argv[1] = getenv("FAULT_SCRIPT");
    return s->argv[0] && s->argv[1];
}

/* Puts the path of an archive into the arguments; false if there is no such archive. */
static bool find_archive(struct subject *s, const char *archives)
{
    for (unsigned k = 1; s->argv[k]; k++)
        if (*s->argv[k] == '@') {
            s->argv[k] = join(archives, s->argv[k] + 1);
            return access(s->argv[k], R_OK) == 0;
        }
    return true;
}

unsigned subjects_prepare(struct subject *subjects, unsigned room, const char *programs, const char *archives,
                          const struct place *place, const char *injector)
{
    unsigned n = 0;
    struct file old = make_old(place, programs, archives), new = {0};
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        if (n == room)
            die("more than %u subjects", room);
        struct subject *s = &subjects[n];
        *s = table[i];
        if (!find_program(s, programs) || !find_archive(s, archives))
            continue;
        n++;
        if (s->before == OLD_STORE)
            s->old = old;
        if (s->before == NEW_STORE)
            s->old = new;
        s->new = run_well(place, injector, s);
        if (!s->new.bytes || (!s->writes && !file_equal(&s->old, &s->new)))
            die("%s without faults leaves a wrong store", s->name);
        if (n == 1)
            new = s->new;
    }
    return n;
}

void subject_set(const struct subject *s, const struct place *place)
{
    place_set(place, &s->old);
    if (s->folder)
        place_remove(place, s->folder);
    setenv("APL_IO", s->preads ? "read" : "map", 1);
    if (s->waits)
        setenv("FAULT_WAITS", "1", 1);
    else
        unsetenv("FAULT_WAITS");
}

bool subject_spoiled(const struct subject *s, const struct place *place, bool failed, char why[512])
{
    char found[256], path[64];
    if (place_litter(place, failed ? NULL : s->beside, found))
        return snprintf(why, 512, "leaves %s", found) > 0;
    if (!file_is(place, "db/data.mdb", failed ? &s->old : &s->new))
        return snprintf(why, 512, "the store is not %s", failed ? "what it was" : "right") > 0;
    if (failed && s->before == NO_STORE && place_has(place, "db"))
        return snprintf(why, 512, "leaves an empty db") > 0;
    if (s->folder && place_has(place, s->folder) == failed)
        return snprintf(why, 512, failed ? "leaves %s" : "makes no %s", s->folder) > 0;
    if (failed || !s->beside)
        return false;
    snprintf(path, sizeof path, "db/%s", s->beside);
    return !file_is(place, path, &s->made) && snprintf(why, 512, "%s is not right", path) > 0;
}

/* The store is whole: the old one, or the new one. */
static bool whole(const struct subject *s, const struct place *place)
{
    char path[64];
    const struct file none = {0};
    if (s->beside) {
        snprintf(path, sizeof path, "db/%s", s->beside);
        if (!file_is(place, path, &none) && !file_is(place, path, &s->made))
            return false;
    }
    return file_is(place, "db/data.mdb", &s->old) || file_is(place, "db/data.mdb", &s->new);
}

bool subject_torn(const struct subject *s, const struct place *place, char why[512])
{
    struct subject again = *s;
    unsigned n = 0;
    if (!whole(s, place))
        return snprintf(why, 512, "the store is neither the old nor the new one") > 0;
    while (again.argv[n])
        n++;
    again.argv[n] = "--force";
    again.argv[n + 1] = NULL;
    struct outcome o = place_run(place, NULL, NULL, again.argv, 60, 0);
    if (o.signal || o.status || o.lines)
        return snprintf(why, 512, "the next run ends with status %d: %.400s", o.status, o.message) > 0;
    return subject_spoiled(s, place, false, why);
}

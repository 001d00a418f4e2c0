/*
 * Plays power cuts: runs programs that write stores, and for each point of what they did to files draws what a disk
 * may hold after a power cut there (see disk.h):
 *
 *   powercut PROGRAMS ARCHIVES SCRATCH INJECTOR [-n IMAGES] [-r REPAIRS] [-s SEED]
 *
 * IMAGES at each point must hold the old store or the new one, byte for byte; after the program's end, the new one.
 * At REPAIRS points the image is laid down, and the same command, run again, must succeed and leave nothing behind.
 * The same with syncs that do nothing must be found out.
 */
#define _GNU_SOURCE
#include "disk.h"
#include "subjects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_SUBJECTS 16

struct cut {
    struct place place;
    const char *injector;
    unsigned long images, repairs;
    uint64_t state, folder; /* of the generator; the place's inode */
    const struct subject *subject;
    struct file trace;
    unsigned long points, drawn, repaired, bad;
};

/* -------------------------------------------------------------------------------------------- one image */

static bool is_file(const struct cut *c, const struct names *names, const char *name, const struct file *old,
                    const struct file *new, uint64_t *state)
{
    struct object *db = names_find(names, c->folder, "db");
    struct object *o = db ? names_find(names, db->inode, name) : NULL;
    struct file f = o ? disk_draw_file(o, state) : (struct file){0};
    bool is = file_equal(&f, old) || file_equal(&f, new);
    free(f.bytes);
    return is;
}

static bool image_is_whole(struct cut *c, const struct disk *disk, bool ended)
{
    const struct subject *s = c->subject;
    const struct file none = {0};
    struct names names;
    disk_draw_names(disk, &c->state, &names);
    c->drawn++;
    return is_file(c, &names, "data.mdb", ended ? &s->new : &s->old, &s->new, &c->state) &&
           (!s->beside || is_file(c, &names, s->beside, ended ? &s->made : &none, &s->made, &c->state));
}

/* Lays an image down in the place and runs the program again. */
static bool repair_fails(struct cut *c, const struct disk *disk, char why[512])
{
    struct names names;
    char path[512];
    disk_draw_names(disk, &c->state, &names);
    struct object *db = names_find(&names, c->folder, "db");
    place_set(&c->place, &(struct file){0});
    snprintf(path, sizeof path, "%s/db", c->place.folder);
    if (db && mkdir(path, 0777) != 0)
        die("%s: cannot make it", path);
    for (const struct name *n = names.list; db && n < names.list + DISK_OBJECTS; n++)
        if (n->text && n->directory == db->inode) {
            struct file f = disk_draw_file(n->object, &c->state);
            place_put(&c->place, n->text, &f);
            free(f.bytes);
        }
    c->repaired++;
    return subject_torn(c->subject, &c->place, why);
}

/* ------------------------------------------------------------------------------------------ the whole run */

static uint64_t inode_of(const struct place *place, const char *name)
{
    char path[512];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", place->folder, name);
    if (stat(path, &st) != 0)
        die("%s: is not there", path);
    return st.st_ino;
}

/* Fills the disk with what is there, before the run. */
static void begin_disk(struct cut *c, struct disk *disk, uint64_t db, uint64_t file)
{
    disk_add(disk, 0, "", c->folder, NULL);
    if (db)
        disk_add(disk, c->folder, "db", db, NULL);
    if (file)
        disk_add(disk, db, "data.mdb", file, &c->subject->old);
}

static unsigned long count_points(const struct file *trace)
{
    unsigned long n = 0;
    struct trace what;
    for (size_t at = 0; at + sizeof what <= trace->size; at += sizeof what + what.size, n++)
        memcpy(&what, trace->bytes + at, sizeof what);
    return n;
}

/* Draws images at each point; with `quiet`, only counts the bad ones. */
static void replay(struct cut *c, struct disk *disk, bool quiet)
{
    struct trace what;
    unsigned long point = 0, points = count_points(&c->trace),
                  step = c->repairs ? points / c->repairs + 1 : 0;
    char why[512];
    for (size_t at = 0; at + sizeof what <= c->trace.size; at += sizeof what + what.size) {
        memcpy(&what, c->trace.bytes + at, sizeof what);
        disk_apply(disk, &what, c->trace.bytes + at + sizeof what);
        bool ended = ++point == points;
        for (unsigned long i = 0; i < c->images; i++)
            if (!image_is_whole(c, disk, ended) && c->bad++ == 0 && !quiet)
                printf("FAIL %s: a power cut at point %lu leaves neither the old nor the new store\n",
                       c->subject->name, point);
        if (!quiet && step && point % step == 0 && repair_fails(c, disk, why) && c->bad++ < 10)
            printf("FAIL %s: after a power cut at point %lu: %s\n", c->subject->name, point, why);
    }
    c->points += points;
}

static void take_trace(struct cut *c, uint64_t *db, uint64_t *file)
{
    char path[512];
    snprintf(path, sizeof path, "%s/trace", c->place.folder);
    unlink(path);
    memset(c->place.control, 0, sizeof *c->place.control);
    subject_set(c->subject, &c->place);
    *db = c->subject->old.bytes ? inode_of(&c->place, "db") : 0;
    *file = c->subject->old.bytes ? inode_of(&c->place, "db/data.mdb") : 0;
    struct outcome o = place_run(&c->place, c->injector, "trace", c->subject->argv, 60, 0);
    if (o.signal || o.status)
        die("%s: %s", c->subject->name, o.message);
    c->trace = file_read(&c->place, "trace");
}

static unsigned long cut_one(struct cut *c, const struct subject *subject)
{
    uint64_t db, file;
    c->subject = subject;
    c->points = c->drawn = c->repaired = c->bad = 0;
    take_trace(c, &db, &file);
    struct disk disk = {0};
    begin_disk(c, &disk, db, file);
    replay(c, &disk, false);
    disk_free(&disk);
    unsigned long bad = c->bad;
    printf("%s %s under power cuts: %lu points, %lu images, %lu repaired, %lu wrong\n", bad ? "FAIL" : "ok",
           subject->name, c->points, c->drawn, c->repaired, bad);
    for (int i = 0; i < 2; i++) {
        struct disk lying = {.lose_file_syncs = i == 0, .lose_directory_syncs = i == 1};
        c->bad = 0;
        begin_disk(c, &lying, db, file);
        replay(c, &lying, true);
        disk_free(&lying);
        printf("%s %s without syncs of %s is found out: %lu images wrong\n", c->bad ? "ok" : "FAIL",
               subject->name, i ? "directories" : "files", c->bad);
        bad += c->bad == 0;
    }
    free(c->trace.bytes);
    return bad;
}

int main(int argc, char **argv)
{
    static struct cut c = {.images = 20, .repairs = 10};
    static struct subject subjects[MAX_SUBJECTS];
    int opt;
    unsigned long bad = 0;
    uint64_t seed = (uint64_t)getpid();
    while ((opt = getopt(argc, argv, "n:r:s:")) != -1)
        if (opt == 'n')
            c.images = strtoul(optarg, NULL, 10);
        else if (opt == 'r')
            c.repairs = strtoul(optarg, NULL, 10);
        else if (opt == 's')
            seed = strtoull(optarg, NULL, 10);
    if (argc - optind != 4) {
        fputs("usage: powercut PROGRAMS ARCHIVES SCRATCH INJECTOR [-n IMAGES] [-r REPAIRS] [-s SEED]\n",
              stderr);
        return 2;
    }
    c.state = seed;
    c.injector = argv[optind + 3];
    place_make(&c.place, argv[optind + 2], 0);
    c.folder = inode_of(&c.place, ".");
    unsigned n =
        subjects_prepare(subjects, MAX_SUBJECTS, argv[optind], argv[optind + 1], &c.place, c.injector);
    for (unsigned i = 0; i < n; i++)
        if (subjects[i].writes || subjects[i].beside)
            bad += cut_one(&c, &subjects[i]);
    printf("%s power cuts (seed %llu)\n", bad ? "FAIL" : "ok", (unsigned long long)seed);
    return bad ? 1 : 0;
}

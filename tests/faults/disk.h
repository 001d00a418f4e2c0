/*
 * A model of a disk that loses what was not synced. It is fed with the injector's trace; at any point it can draw
 * what a power cut would leave: of the changes to each file since its last sync any of them, in any order, sector
 * by sector; of the changes of names in a directory since its last sync any of them.
 */
#ifndef DISK_H
#define DISK_H

#include "child.h"

#define DISK_OBJECTS 64

struct object;

struct change {
    struct trace what;
    const unsigned char *data; /* of a write the bytes, of names the names */
    struct object *object;     /* that a name is for */
};

struct object { /* a file or a directory */
    uint64_t inode;
    struct file durable;
    struct change *changes; /* since the last sync */
    size_t count;
};

struct name {
    uint64_t directory;
    const char *text; /* NULL: the place is free */
    struct object *object;
};

struct names {
    struct name list[DISK_OBJECTS];
};

struct disk {
    struct object objects[DISK_OBJECTS];
    unsigned count;
    struct names durable, current;
    bool lose_file_syncs, lose_directory_syncs; /* to see whether the tests would notice */
};

/* What is there, and durable, in the beginning: a directory or a file with these bytes, which are copied. */
void disk_add(struct disk *disk, uint64_t directory, const char *name, uint64_t inode,
              const struct file *bytes);

/* The data must live as long as the disk. */
void disk_apply(struct disk *disk, const struct trace *what, const unsigned char *data);
void disk_free(struct disk *disk);

/* What a power cut leaves: names, and the bytes of a file, which are the caller's. */
void disk_draw_names(const struct disk *disk, uint64_t *state, struct names *names);
struct file disk_draw_file(const struct object *object, uint64_t *state);

struct object *names_find(const struct names *names, uint64_t directory, const char *name);

#endif

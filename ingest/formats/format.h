/*
 * A format: one way in which sources lie on disk. formats.c has the table; each row is a file of its own. A format is shown the
 * source's members one by one, and makes records of them; it knows neither archives nor files.
 */
#ifndef FORMAT_H
#define FORMAT_H

#include "bytes.h"
#include "status.h"

/* What ingest does for the format that reads. Failures of these are not the source's, and are passed on as they are. */
struct format_host {
    void *user;
    const char *source; /* its name, safe to print */
    bool partial;       /* accept a source that lacks members or records */
    bool unchecked;     /* do not decode images to see whether they can be */
    unsigned threads;   /* for that; as everywhere in apl.h */
    /* The store's writer, opened when it is first asked for. */
    apl_status (*writer)(void *user, apl_writer **writer, apl_error *err);
    /* Appends a record, and tells progress. */
    apl_status (*append)(void *user, const apl_value *values, apl_error *err);
    /* Marks a failure of the writer as its own, so that no member of the source is blamed; passes the status on. */
    apl_status (*not_the_source)(void *user, apl_status status);
    /* A member, whose path is safe to print, is bad in itself: leaves it out, or fails with it. */
    apl_status (*bad)(void *user, const char *path, const apl_error *why, apl_error *err);
    /* One line worth knowing; `name` may be "". */
    void (*notice)(void *user, const char *name, const char *text);
};

/* A member of the source: a file. */
struct format_member {
    const char *name; /* as the format has asked for: without folders, or with them; raw bytes */
    const char *path; /* as it stands in the source, safe to print */
    uint64_t size;
    struct cursor *cursor;
};

struct format {
    const char *name;  /* as --format has it */
    const char *title; /* what it is, for messages and help */
    /* Names of members come with their folders, a directory is read with all its subdirectories, and the source is read twice:
     * first list() is told of all members, then member() of the same. Else only member() is called. */
    bool folders;
    apl_status (*open)(const struct format_host *host, void **state, apl_error *err);
    void (*close)(void *state); /* NULL is fine */
    /* Is a file of that name wanted? */
    bool (*wants)(const void *state, const char *name);
    /* Of formats with folders: a file, or where `directory`, a directory that has been listed; then the end of the list. */
    apl_status (*list)(void *state, const char *name, bool directory, apl_error *err);
    apl_status (*listed)(void *state, apl_error *err);
    apl_status (*member)(void *state, const struct format_member *member, apl_error *err);
    /* After the last member: was that all? Tells the writer of classes, and writes what the source is in `format`. */
    apl_status (*finish)(void *state, char format[32], apl_error *err);
};

extern const struct format format_cifar, format_folder;

/* All of them, in the order in which they are tried; NULL at the end. */
extern const struct format *const formats[];

/* The one called `name`, or NULL. */
const struct format *format_by_name(const char *name);

#endif

/* Which format sources are of, where single files tell: by their first bytes, their names, and the members of archives. */
#ifndef DETECT_H
#define DETECT_H

#include "files.h"

struct sources {
    const char *const *paths;
    size_t count;
    bool follow;                /* symbolic links in directories */
    bool deep;                  /* directories without files that are wanted stand for their folders */
    bool undigested;            /* no digest of them will be asked for */
    const struct format *asked; /* NULL: to be told */
    int (*poll)(void *user);    /* see source.h; may be NULL */
    void *user;
};

/* Can a source be read twice: is it a file or a directory? */
bool source_is_lasting(const char *path);
bool source_is_directory(const char *path);

/* *format: the one, or NULL if single files do not tell it: a directory or an archive, whose format may be told by
 * its members. *files: where the format reads files, those that are its; to be freed. Errors: there is nothing that it can be; or it
 * is not what was asked for, or several at once. */
apl_status detect(const struct sources *sources, const struct format **format, struct files **files,
                  apl_error *err);

#endif

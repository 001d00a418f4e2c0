/* The files of a source that are read on their own: given by name, or in a directory that was. They are known by their first bytes
 * at once, and opened as often as a format asks. */
#ifndef FILES_H
#define FILES_H

#include "format.h"

struct files;
struct sha256;

struct files_options {
    bool (*wants)(const char *name, const struct format *asked); /* of the files in a directory */
    const struct format *asked;
    bool any_bytes;          /* as struct format has it */
    bool unopened;           /* files in directories are not looked into: they are kept, whatever they are */
    bool follow;             /* links in a directory */
    bool deep;               /* of a directory without wanted files, those of its folders */
    bool undigested;         /* files_digest() will not be called, but perhaps files_tell_apart() */
    int (*poll)(void *user); /* see source.h; may be NULL */
    void *user;
};

struct files *files_new(const struct files_options *options); /* NULL: out of memory */
void files_free(struct files *files);                         /* closes what is open */

/* Adds a file, or the wanted files of a directory: sorted by name, none hidden; of a directory that holds nothing but one
 * directory, of that one. Links in it are followed only with `follow`. A packed file is wanted if it would be unpacked, and left out where
 * it lies there unpacked too. */
apl_status files_add(struct files *files, const char *path, apl_error *err);

/* Refuses files that have been added twice, as a directory and a file in it were given. */
apl_status files_check_distinct(const struct files *files, apl_error *err);

/* Adds the files beside `path`, which has been added by name, that belong to it and are not there yet. */
apl_status files_add_beside(struct files *files, const char *path,
                            bool (*belongs)(const char *name, const char *other), apl_error *err);

/* They live as long as `files`, and until the next is added. */
const struct format_file *files_list(const struct files *files, size_t *count);

/* Has any file beside them been read? */
bool files_any_beside(const struct files *files);

/* Does any of them come from the source that was added as number `source`, from 0 on? */
bool files_any_of(const struct files *files, size_t source);

/* By what path it is opened. */
const char *files_path(const struct files *files, size_t file);

/* Forgets those that are not kept. Likely errors: APL_E_NOMEM. */
apl_status files_keep(struct files *files,
                      bool (*keep)(const struct format_file *file, const struct format *format,
                                   const struct files *files),
                      const struct format *format, apl_error *err);

/* See struct format_host. */
apl_status files_open(struct files *files, size_t file, struct format_stream **stream, apl_error *err);
apl_status files_open_part(struct files *files, size_t file, const struct format_part *part,
                           struct format_stream **stream, apl_error *err);
apl_status files_read_at(struct files *files, size_t file, uint64_t offset, void *out, size_t size,
                         apl_error *err);
apl_status files_close(struct files *files, struct format_stream *stream, apl_error *err);
void files_drop(struct files *files, struct format_stream *stream);
apl_status files_read_beside(struct files *files, size_t file, const char *path, bool outside,
                             struct buffer *bytes, apl_error *err);
apl_status files_cut_off(struct files *files, struct format_stream *stream, apl_error *err);

/* Bytes read so far as they lie on disk, and of all files. */
uint64_t files_bytes(const struct files *files);
uint64_t files_size(const struct files *files);

/* SHA-256: of a file that was given alone, of its bytes; else over the files: name, NUL, size on disk as u64 little-endian, SHA-256
 * of its bytes. Files that were not read are read for it. */
apl_status files_digest(struct files *files, uint8_t sha256[32], apl_error *err);

/* From now on what is read differs from part to part: only what has been read to its end by now tells the source from others. */
void files_settle(struct files *files);

/* Adds the digests of the files that had been read when they were settled, and of up to 64 others, evenly spaced, a sample of their
 * bytes; and what of files beside them had been read. Settles them, if that has not been done. */
apl_status files_tell_apart(struct files *files, struct sha256 *sha, apl_error *err);

#endif

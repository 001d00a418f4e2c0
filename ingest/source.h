/*
 * Where an ingest reads from: an archive, a directory of members, or standard input, as a sequence of named
 * members. Each member's bytes are read through a cursor. Nothing is extracted and nothing above a few
 * buffers is held.
 */
#ifndef SOURCE_H
#define SOURCE_H

#include "bytes.h"
#include "status.h"

struct source;
struct sha256;

/* A regular file of the source. The strings live until the next call of source_next(). */
struct source_member {
    const char *name; /* without folders: what it is recognised by; raw bytes, not safe to print */
    const char *path; /* as it stands in the source, safe to print */
    uint64_t size;    /* in bytes, as the source says; the cursor gives exactly as many or fails */
    bool directory;   /* only where names are listed */
};

struct source_head {
    const uint8_t *data;
    size_t size;
};

/* Asked for every regular file; false: its bytes are not wanted (and a directory does not even open it). */
typedef bool (*source_wants)(const char *name, void *user);

/* Opens `path` ("-": standard input), whose members have names without folders. Its bytes tell what it is. `poll` (may be NULL) is called now
 * and then while reading, and at once when a read is interrupted by a signal; non-zero makes the read fail
 * with APL_E_CANCELLED. */
apl_status source_open(const char *path, source_wants wants, int (*poll)(void *user), void *user,
                       struct source **source, apl_error *err);
void source_close(struct source *source);

/* The same with names that hold the folders: as they stand in an archive, or of a directory and all below it, in the byte order of
 * their paths; but not with SOURCE_FLAT, as above. With SOURCE_LIST, only names come, of all files and directories, and no digest is
 * taken but for `compared`. With SOURCE_ANY, files are wanted whatever they are called, so that directories in an archive are passed over. With
 * `follow`, symbolic links in a directory are what they lead to, wherever that lies. */
enum source_tree { SOURCE_FLAT, SOURCE_TREE, SOURCE_LIST, SOURCE_ANY };
struct source_way {
    enum source_tree tree;
    bool follow;
    const char *except; /* a store that is left out where it lies in the directory; NULL: none */
    bool undigested;    /* no digest is taken: source_digest() will not be called */
    bool compared;      /* of a list: source_digest() tells the source from others, see there */
};
apl_status source_open_tree(const char *path, source_wants wants, const struct source_way *how,
                            int (*poll)(void *user), void *user, struct source **source, apl_error *err);

/* Standard input as an archive, of which the first bytes have been read already: `head`, which must live as long as the source. */
apl_status source_open_begun(const struct source_head *head, source_wants wants, enum source_tree how,
                             int (*poll)(void *user), void *user, struct source **source, apl_error *err);

/* Goes to the next wanted member; APL_END when the source has been read, checked and drained to its last byte
 * (trailers, padding, garbage behind the end). What was left unread of the previous member is read and
 * checked too. */
apl_status source_next(struct source *source, struct source_member *member, apl_error *err);

/* After APL_END: is it a tar without an end mark, and so perhaps cut off between two members? */
bool source_lacks_end(const struct source *source);

/* Where names are listed: makes the bytes of the file that source_next() has given readable; *size: how many there are. A link or
 * the like has none. */
apl_status source_look(struct source *source, uint64_t *size, apl_error *err);

/* The bytes of the current member. When it has failed, source_failure() says whether the source is to blame.
 */
struct cursor *source_cursor(struct source *source);

/* Leaves what has not been read of the current member unread and unchecked, where the digest is not wanted: source_digest() does not
 * hold from now on. */
apl_status source_leave(struct source *source, apl_error *err);

/* Why the cursor has failed: the status and message of the source's error (truncated gzip, read error,
 * cancelled, ...), or APL_OK if the member simply has no more bytes. */
apl_status source_failure(struct source *source, apl_error *err);

/* Bytes taken so far from the source as it lies there (compressed), and all of it; 0 if that is not known. */
uint64_t source_bytes(const struct source *source);
uint64_t source_size(const struct source *source);

/* SHA-256 of the source; valid after APL_END. Of an archive: of its bytes as they lie there. Of a directory:
 * over the wanted members in the order read: name, NUL, size as u64 little-endian, the bytes of the member. Of a list that is to be
 * compared, in XXH3: of a tar, of its bytes; of a zip, of all names, sizes and CRCs; of a directory, of the paths of wanted files, and
 * the sizes of the first 1,000 and of one in 64 others.
 */
apl_status source_digest(struct source *source, uint8_t sha256[32], apl_error *err);

/* Of a directory whose members have no folders, and is not digested: adds samples of the wanted files. Of others: nothing. */
apl_status source_sample(const struct source *source, struct sha256 *sha, apl_error *err);

/* Of a directory whose members have no folders: the one in it that has them, and a "/"; "": they lie in itself, or it is another source. */
const char *source_subfolder(const struct source *source);

/* The source's name as the user gave it, safe to print ("standard input" for "-"). */
const char *source_name(const struct source *source);

#endif

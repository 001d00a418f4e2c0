/*
 * A format: one way in which sources lie on disk. formats.c has the table; each row is a file of its own. A format makes records
 * and knows neither archives nor directories: it either is shown the source's members one by one, or reads the source's files
 * through its host, several at a time where they belong together.
 */
#ifndef FORMAT_H
#define FORMAT_H

#include "apl_ingest.h"
#include "bytes.h"
#include "image_rules.h"
#include "warnings.h"

#define FORMAT_UNKNOWN UINT64_MAX

/* A file that was given as a source, or lies in a directory that was. */
struct format_file {
    const char *name;  /* without folders, and without .gz, .zst, .xz or .bz2 where it is packed; raw bytes */
    const char *path;  /* as the user would name it, safe to print */
    const char *below; /* what of its path may tell its split: see split_of_path(); raw bytes */
    uint64_t size;     /* unpacked; FORMAT_UNKNOWN: it is packed */
    const uint8_t *head;
    size_t head_size;           /* its first bytes, unpacked: 512, or all that it has */
    bool packed, archive;       /* archive: a tar */
    const char *const *members; /* of an archive: names of its first files, with their folders; raw bytes */
    size_t member_count;
};

/* A file being read. The cursor is at its first byte, unpacked. */
struct format_stream {
    struct cursor *cursor;
};
/* A part of a file, as a member of a zip archive is. */
struct format_part {
    const char *name;      /* for messages, safe to print; must live as long as its stream */
    uint64_t offset;       /* in the file, which must not be packed */
    uint64_t packed, size; /* bytes in the file, and when they are inflated */
    bool deflated;
    bool checked; /* there is a CRC-32; what is deflated always has one */
    uint32_t crc;
};

/* What ingest does for the format that reads. Failures of these are not the source's, and are passed on as they are. */
struct format_host {
    void *user;
    const struct said_kinds *kinds;    /* what the caller says that fields are: see said_kinds.h */
    const char *source;                /* its name, or the first's of several, safe to print */
    const apl_ingest_options *options; /* as the caller gave them: those that are one format's */
    bool partial;                      /* accept a source that lacks members or records */
    bool whole;                        /* a directory was given: what it lacks, the source lacks */
    bool unchecked;                    /* do not decode images to see whether they can be */
    bool allow_warnings;               /* files that a library only warns of are kept */
    struct image_rules images;
    unsigned threads; /* for decoding; as everywhere in apl.h */
    /* The store's writer, opened when it is first asked for. */
    apl_status (*writer)(void *user, apl_writer **writer, apl_error *err);
    /* Appends a record, and reports progress. One whose values contradict what its fields are is bad in itself: see bad(). */
    apl_status (*append)(void *user, const apl_value *values, apl_error *err);
    /* Marks a failure of the writer as its own, so that no member of the source is blamed; passes the status on. */
    apl_status (*not_the_source)(void *user, apl_status status);
    /* The same of making fields, whose names and classes the source gives: what no store can have is reported with the source's name. Every
     * format calls it once it has added its fields, before the first member: what they are is settled then. */
    apl_status (*made_fields)(void *user, apl_status status, apl_error *err);
    /* A member, whose path is safe to print, is bad in itself: leaves it out, or fails with it. */
    apl_status (*bad)(void *user, const char *path, const apl_error *why, apl_error *err);
    /* A file is kept that its library warns of; its path is safe to print. */
    void (*warned)(void *user, const char *path, const struct warnings *warnings);
    /* One line worth knowing; `name` may be "". */
    void (*notice)(void *user, const char *name, const char *text);
    /* Of formats with read(): the files that are the format's, in the order given, those of a directory by name. */
    const struct format_file *files;
    size_t file_count;
    /* Opens a file; what was not closed is when the format is. One file may be open several times. */
    apl_status (*open_file)(void *user, size_t file, struct format_stream **stream, apl_error *err);
    /* The same with a part of a file that is not packed. */
    apl_status (*open_part)(void *user, size_t file, const struct format_part *part,
                            struct format_stream **stream, apl_error *err);
    /* Reads exactly `size` bytes of a file that is not packed, from `offset` on. */
    apl_status (*read_at)(void *user, size_t file, uint64_t offset, void *out, size_t size, apl_error *err);
    /* Closes it (NULL is fine). Reads it to its end first, so that its packing is checked and its digest taken. */
    apl_status (*close_file)(void *user, struct format_stream *stream, apl_error *err);
    /* Closes it as it is. */
    void (*drop_file)(void *user, struct format_stream *stream);
    /* All bytes of a file that the given one names, by its path from the folder of that one. It must lie there or below, with no
     * link on the way, unless the caller allows others. Errors do not name it. */
    apl_status (*read_beside)(void *user, size_t file, const char *path, struct buffer *bytes,
                              apl_error *err);
    /* Why a stream's cursor has failed, in whole: what is wrong with the file's packing or disk, or that it ends early. */
    apl_status (*cut_off)(void *user, struct format_stream *stream, apl_error *err);
    /* An empty file without a name, beside the store: the caller's. */
    apl_status (*scratch)(void *user, int *fd, apl_error *err);
    /* Is only a part of the records to be made? Which, these say. Without, all records are the ingest's own. */
    bool part;
    /* Before the writer is asked for: the split has this many more records, bad ones included. `number`: of a member of it that has no
     * record, so that the split has its place. Splits are announced in their order. */
    apl_status (*count)(void *user, const char *split, uint32_t number, uint64_t records, apl_error *err);
    /* Which records of a split are its own: first ... first + count - 1. */
    void (*share)(void *user, const char *split, uint64_t *first, uint64_t *count);
    /* Are any of the next `records` of that split its own? */
    bool (*coming)(void *user, const char *split, uint64_t records);
    /* The same, and they have come, or have been passed over. */
    bool (*own)(void *user, const char *split, uint64_t records);
    /* Have all of its own come? */
    bool (*ended)(void *user);
};

/* A member of the source: a file. */
struct format_member {
    const char *name; /* as the format has asked for: without folders, or with them; raw bytes */
    const char *path; /* as it stands in the source, safe to print */
    uint64_t size;
    struct cursor *cursor;
};

/* What only some formats have, and so a use for the options about it. */
enum format_uses {
    FORMAT_TOKENS = 1 << 0,  /* streams of tokens, to cut */
    FORMAT_CLASSES = 1 << 1, /* labels without names */
    FORMAT_FOLDERS = 1 << 2, /* folders that are classes */
    FORMAT_IMAGES = 1 << 3,  /* images that can be decoded, resized and turned */
    FORMAT_TABLE = 1 << 4,   /* columns, among them paths of files beside the table */
    FORMAT_MASKS = 1 << 5    /* masks beside images, in fields of their own */
};

struct format {
    const char *name;  /* as --format has it */
    const char *title; /* what it is, for messages and help */
    unsigned uses;     /* of enum format_uses */
    /* Is a file that was given, or that lies in a directory that was and is wanted, one of this format's, by its first bytes or by
     * its name? NULL: single files do not show it; other rows of the table must not want them. */
    bool (*sniff)(const struct format_file *file);
    /* Names of members come with their folders, and a directory is read with all its subdirectories. */
    bool folders;
    /* In a directory its files are not looked for unless the format was asked for: they may only describe what else is there. */
    bool asked_in_folders;
    /* Several sources may be given: they are read one after another, as if they were one. Those that are listed are all listed
     * before the first is read. */
    bool several;
    bool passes_folders; /* directories in an archive are passed over, whatever they are called */
    /* A source can be shared out to the parts of a set, by the host's count() and what follows it. Members that begin without records of
     * the part's own are not passed to the writer. */
    bool parts;
    /* Files are unpacked only if their names end in .gz or the like, as any bytes may begin them. */
    bool any_bytes;
    apl_status (*open)(const struct format_host *host, void **state, apl_error *err);
    void (*close)(void *state); /* NULL is fine */
    /* Is a file of that name wanted? Of formats with read(), of a directory; without state. */
    bool (*wants)(const void *state, const char *name);
    /* A single file was given, whose name, without .gz and the like, is `name`: does one called `other` beside it belong to it? May
     * be NULL. */
    bool (*belongs)(const char *name, const char *other);
    bool paired; /* neither is of use without the other: so it is where several files were given */
    /* Reads the files that its host has: then there are no members. A format that has member() too reads files that are no archives
     * by this, and archives and directories by that. */
    apl_status (*read)(void *state, apl_error *err);
    /* Before each source, whenever it is opened; may be NULL. below: as of a file, or, of a directory, with a "/" at its end; shown: as it was given, safe to print. */
    apl_status (*begin_source)(void *state, const char *below, const char *shown, apl_error *err);
    /* Where not NULL, the source is read twice: first list() is told of all files, and where `directory`, directories; then of the
     * end of the list. */
    bool lists_for_parts; /* only where a part is to be made */
    apl_status (*list)(void *state, const char *name, bool directory, apl_error *err);
    apl_status (*listed)(void *state, apl_error *err);
    /* Also then, or NULL: are the file's bytes to be looked at? look() gets them, and may leave them unread. */
    bool (*looks)(void *state, const char *name);
    apl_status (*look)(void *state, const struct format_member *member, apl_error *err);
    apl_status (*member)(void *state, const struct format_member *member, apl_error *err);
    /* Of a part, or NULL: is a member, which is wanted, left to other parts? Asked once of each, in their order. */
    bool (*passes)(void *state, const char *name);
    /* Of a part, or NULL: does nothing more of this source matter? Asked when it has begun, and after each member. */
    bool (*enough)(void *state);
    /* Or NULL: is the field, which is no image, moved as its record's image is where that is resized or turned? */
    bool (*moves)(const void *state, const apl_field *field);
    /* Or NULL: where the record that is being appended stands in the source; its number tells otherwise. Safe to print; returns `out`. */
    const char *(*where)(const void *state, char *out, size_t size);
    /* After the last member: was that all? Tells the writer of classes, and writes what the source is in `format`. */
    apl_status (*finish)(void *state, char format[32], apl_error *err);
};

extern const struct format format_cifar, format_folder, format_webdataset, format_idx, format_npy,
    format_list, format_raw, format_tfrecord, format_tokens;

/* All of them, in the order in which they are tried; NULL at the end. */
extern const struct format *const formats[];

/* Does the name say that the file is a table, which may be packed? By its path. */
bool path_is_table(const char *path);

/* The one called `name`, or NULL. */
const struct format *format_by_name(const char *name);

/* All names as a list for messages, "a, b and c", cut to `size`; returns `out`. */
const char *format_names(char *out, size_t size);

#endif

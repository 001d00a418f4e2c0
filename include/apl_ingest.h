/*
 * apl_ingest.h - turn a dataset archive into a store.
 *
 *     apl_ingest_options opt = APL_INGEST_OPTIONS_INIT;
 *     apl_ingest_summary sum;
 *     apl_error err;
 *     if (apl_ingest("cifar-10-binary.tar.gz", "db", &opt, &sum, &err) != APL_OK)
 *         fprintf(stderr, "%s\n", err.message);
 *
 * Sources are archives (.tar, .tar.gz, .tar.zst, .tar.xz, .tar.bz2, .zip) or directories, in the formats below. "-"
 * is an archive on standard input, whose kind is detected from its first 256 KiB: CIFAR, and a tar with format "raw",
 * are read as they arrive; anything else is first copied to an unnamed file beside the store, which is locked
 * meanwhile. A pipe by another name of standard input, such as /dev/stdin, is the same; any other pipe with a name is
 * read as CIFAR alone.
 *
 *   - cifar: CIFAR-10 and CIFAR-100 in their published binary and python layouts.
 *   - folder: images in folders by class, CLASS/IMAGE or SPLIT/CLASS/IMAGE. JPEG files are kept as they are; a folder of
 *     mostly other images (PNG, WebP, TIFF, GIF, BMP, PPM, PGM) is decoded and stored without loss (docs/DATA.md). Classes
 *     are the sorted names of the folders, as in torchvision's ImageFolder.
 *   - webdataset: tar archives whose files share keys, such as 17.jpg and 17.cls: each key is a record, each extension a
 *     field. If a source is not the name of a file, its braces and wildcards are expanded; a directory of shards, or of
 *     folders of shards, stands for its archives.
 *   - idx: files such as MNIST's, plain or compressed, or a directory of them: images and labels, a pair for each split.
 *   - npy: NumPy's .npy and .npz: arrays of equal length, each a field.
 *   - tfrecord: TFRecord files of tf.train.Example: each feature is a field.
 *   - tokens: streams of u16 or u32, or pairs of an index and data (.idx and .bin): each document is a record.
 *   - raw: any files, as bytes; only if `format` says so.
 *   - list: tables in CSV, TSV or JSON lines, with or without columns of paths of images and masks; each other column is
 *     a field whose type is inferred from all rows, or given.
 *
 * The format is detected from the contents; names only determine which files belong together. Nothing is extracted to
 * disk, and nothing in a source is ever executed.
 */
#ifndef APL_INGEST_H
#define APL_INGEST_H

#include "apl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The phases of an ingest. */
typedef enum apl_ingest_phase {
    APL_INGEST_READING = 0,  /* reading the source and encoding */
    APL_INGEST_CHECKING = 1, /* reading the store back */
    APL_INGEST_DONE = 2
} apl_ingest_phase;

/* The progress of an ingest. */
typedef struct apl_ingest_progress {
    apl_ingest_phase phase;
    uint64_t records;      /* in this phase */
    uint64_t raw_bytes;    /* size of those records */
    uint64_t stored_bytes; /* written so far */
    uint64_t source_bytes; /* read so far, counted as stored in the source */
    uint64_t source_size;  /* 0: unknown */
} apl_ingest_progress;

#define APL_JPEG_BASELINE (-1) /* for jpeg_quality */

/* Zeros mean defaults. Start from APL_INGEST_OPTIONS_INIT. */
typedef struct apl_ingest_options {
    size_t size;                      /* sizeof(apl_ingest_options) */
    const apl_writer_options *writer; /* how to write the store; NULL: defaults */
    int partial; /* 1: accept a source that lacks members, rows or shards; damage is never accepted */
    void *user;  /* passed to the callbacks */
    /* Called often, from the calling thread. Non-zero: stop with APL_E_CANCELLED. */
    int (*progress)(void *user, const apl_ingest_progress *progress);
    /* Called with each notice: one line that is worth knowing and not an error. */
    void (*notice)(void *user, const char *message);
    const char *format; /* such as "folder"; NULL: detected */
    /* Leave out at most this many files or rows that are bad in themselves, such as images that do not decode. */
    uint64_t skip_bad;
    /* Called for each of them, with its path and what is wrong with it. */
    void (*skipped)(void *user, const char *path, const char *why);
    int unchecked; /* 1: images are not decoded once to check them */
    /* Further sources, after `source`, of formats that take several, such as the images and the labels of idx. */
    const char *const *more;
    size_t more_count;
    /* Class names for the labels, if the source has labels but no names for them (idx, npy, webdataset). */
    const char *const *classes;
    size_t class_count;
    /* For lists: the column of image paths, and that of labels (NULL: inferred from the table); the types of columns,
     * such as "age=f32" or "boxes=f32[-1,4]"; outside: 1: paths may lead out of the list's folder, and be absolute. */
    const char *image_column, *label_column;
    const char *const *column_types;
    size_t column_type_count;
    int outside;
    /* 1: JPEG images are stored as they came, without an index (see apl_writer_set_indexed()). */
    int keep_files;
    /* For tokens: the dtype of a stream, APL_U16 or APL_U32; the token that ends a document, or NULL: the stream is
     * cut into records of `chunk` tokens (0: 65,536), which is 0 otherwise. */
    apl_dtype tokens;
    uint32_t chunk;
    const uint32_t *document_end;
    /* How to store images in folders: "jpeg": JPEG files are kept and others re-encoded as JPEG; "pixels": all are
     * decoded and stored without loss; NULL: "jpeg" if at least half are JPEG files, otherwise "pixels". */
    const char *images;
    /* 1 ... 100: re-encode all images in folders as JPEG of this quality, JPEG files too; 0: do not.
     * APL_JPEG_BASELINE: progressive JPEG files become baseline ones with the same coefficients. These can be indexed
     * and decode to the same pixels, but the original bytes cannot be restored. Other files stay as they are. */
    int jpeg_quality;
    /* Sizes in pixels; 0: no rule. Resize images so that their shorter side is this long, or to this width and
     * height; where the longer side of that would be above max_side, it is max_side, and the other in proportion: images
     * are resized once. Antialiased, as by a reader's resizing. A JPEG file that is resized is re-encoded, at jpeg_quality or else 90; one that already has the size stays as it
     * is. */
    uint32_t resize_short, resize_width, resize_height, max_side;
    /* 1: apply each image's EXIF orientation; JPEG files that this changes are re-encoded, at jpeg_quality or else
     * 95. */
    int orient;
    /* For folders: names of their classes, in lines such as "n01440764 tench, Tinca tinca": a folder, a blank or a
     * tab, a name. Every folder needs a line; classes are still numbered in the order of the folders. `map_name` is
     * what errors call the lines, such as the name of their file; NULL: a general term. */
    const char *const *map;
    size_t map_count;
    const char *map_name;
    /* Make part `part` (1 ... parts) of a set of that many shards: see below. 0 and 0: a store of its own. */
    unsigned part, parts;
    /* 1: symbolic links in directories are followed, to files and directories that may lie anywhere; 0: they are
     * errors where something is expected behind them. Sources themselves may always be links. */
    int follow_links;
    /* For lists: further columns of image paths, beside image_column or the one that is inferred: each becomes an image
     * field with the column's name, and is stored by the kind of its own images. */
    const char *const *more_image_columns;
    size_t more_image_column_count;
    /* For lists: columns of paths of masks; for WebDataset: fields of them, such as "mask" of .mask.png. These are images
     * whose pixels are numbers of classes: PNG, TIFF, GIF, BMP or PGM with a palette or grey. Each becomes a target with that name, u8 or u16 {1, H, W}, or of three varying
     * dimensions where the sizes differ: the indices and levels of grey as the files have them. Each mask has the width and
     * height of its record's first image, and is turned and resized like it, by nearest neighbour. */
    const char *const *mask_columns;
    size_t mask_column_count;
    /* 1: images that their library only warns of are kept, as it reads them, instead of being bad: damage within the data of a
     * JPEG, odd tags of a TIFF. A kept JPEG that is one of them becomes a baseline one of what libjpeg reads. Files that end
     * early, or that the library fails on, are bad all the same. `warned` is called for each of them, with its path and the
     * first warning. */
    int allow_warnings;
    void (*warned)(void *user, const char *path, const char *why);
    /* What fields are, such as "boxes=boxes,xywh" (see apl_kind_parse()): this counts, whatever the source says. In tables, a
     * column of image paths that is said to be a mask, a map or an image is read as such; one of lists of numbers that are boxes
     * or keypoints becomes f32, unless column_types says otherwise, and these, and what is `per` others, has a first dimension that varies. */
    const char *const *kinds;
    size_t kind_count;
} apl_ingest_options;
#define APL_INGEST_OPTIONS_INIT                                                                          \
    {                                                                                                    \
        sizeof(apl_ingest_options), NULL, 0, NULL, NULL, NULL, NULL, 0, NULL, 0, NULL, 0, NULL, 0, NULL, \
            NULL, NULL, 0, 0, 0, (apl_dtype)0, 0, NULL, NULL, 0, 0, 0, 0, 0, 0, NULL, 0, NULL, 0, 0, 0,  \
            NULL, 0, NULL, 0, 0, NULL, NULL, 0                                                           \
    }

/* The result of an ingest. */
typedef struct apl_ingest_summary {
    char format[32]; /* such as "cifar-10-binary" */
    uint64_t records;
    uint64_t raw_bytes;        /* size of all values */
    uint64_t source_bytes;     /* as stored in the source */
    uint64_t file_bytes;       /* size of data.mdb */
    uint8_t source_digest[32]; /* SHA-256 of the source; for a directory, over its members (docs/FORMAT.md) */
} apl_ingest_summary;

/*
 * Ingests `source` into the store `db`. `options` and `summary` may be NULL. On failure, nothing of the new store is
 * left behind and an existing one is untouched. EINTR during a read of the source polls the progress callback at once.
 * Likely errors: APL_E_SOURCE, APL_E_INCOMPLETE (both name file, member, offset and cause), APL_E_EXISTS, APL_E_BUSY,
 * APL_E_NOSPACE, APL_E_CANCELLED, APL_E_NOMEM; but if memory runs out inside libarchive, that may end the process, or
 * the archive be taken for a broken one.
 *
 * With options.parts, `db` is the directory of a set, and the ingest makes one shard of it, such as
 * db/part-0003-of-0016. Other processes, on this or other machines that share the directory, make the other parts, in
 * any order, from the same source with the same options. Each part takes a run of consecutive records of each split,
 * equal in number to within one, so the set has the records in the order of a single ingest. The bytes of a shard
 * depend on source, options, part and parts alone. Whichever part finishes last seals the list of the set. A shard
 * that already exists is kept, without error, if the same source and options made it; parts of another set, or of
 * other options or sources, are APL_E_INVALID or APL_E_EXISTS. A part that fails or is killed leaves nothing that
 * prevents another attempt. Shards have no source digest. Further likely errors: APL_E_UNSUPPORTED (a format that
 * cannot be divided into parts), APL_E_BUSY (another process is making the same part).
 */
APL_API APL_MUST_USE apl_status apl_ingest(const char *source, const char *db,
                                           const apl_ingest_options *options, apl_ingest_summary *summary,
                                           apl_error *err);

/*
 * What aplingest makes of an image file (docs/DATA.md), for those who write stores themselves. Nobody turns it, and no
 * colour profile is applied.
 */
typedef struct apl_image {
    const char *kind;                 /* "JPEG", "PNG", "GIF", "WebP", "BMP", "TIFF", "PPM" or "PGM" */
    uint32_t channels, height, width; /* 1: grey; 2: and alpha; 3: red, green, blue; 4: and alpha */
    unsigned bits;                    /* of a sample: 8 or 16 */
    unsigned orientation;             /* by EXIF or TIFF, 1 ... 8 */
    int palette;                      /* 1: its pixels are numbers of colours, as which they are decoded */
    uint32_t remarks;                 /* bit n is set: apl_image_remark(n) is true of it */
    unsigned warnings;                /* of the library that decoded it, if they are allowed; */
    const char *warning;              /* the first one's text; NULL: there is none */
    const void *data;                 /* what was asked for; NULL: the header alone */
    size_t bytes;                     /* of that */
} apl_image;

/*
 * Decodes a file of `size` bytes: u8 or u16 [channels, height, width]. bits: 16: an image of 8 bits is refused; 8: 16 bits
 * become 8; 0: only the header is read, and `bits` of the image is what the file has. Any thread may call it. Likely
 * errors: APL_E_CORRUPT; APL_E_UNSUPPORTED (a kind that this build does not read, a variant of one, or too large);
 * APL_E_SOURCE (no image, or not of 16 bits). allow_warnings, here and below: 1: as in apl_ingest_options.
 */
APL_API APL_MUST_USE apl_status apl_image_decode(const void *file, size_t size, unsigned bits,
                                                 int allow_warnings, apl_image **image, apl_error *err);

/*
 * Makes a JPEG file of quality 100, with full chroma, of a file that is none; a JPEG file stays as it is, and is
 * decoded to see that it can be, unless `unchecked`; one that libjpeg warns of becomes another. channels, height and width are those of the JPEG file.
 */
APL_API APL_MUST_USE apl_status apl_image_to_jpeg(const void *file, size_t size, int unchecked,
                                                  int allow_warnings, apl_image **image, apl_error *err);

/*
 * Decodes a mask, whose pixels are the numbers of classes: u8 or u16 [1, height, width], as the file has them, indices of
 * a palette or levels of grey. `header`: 1: only the header is read. Any thread may call it. Likely errors: those of
 * apl_image_decode(); APL_E_SOURCE (a JPEG, an image in colour or with alpha, or one that its EXIF says to turn).
 */
APL_API APL_MUST_USE apl_status apl_mask_decode(const void *file, size_t size, int header, int allow_warnings,
                                                apl_image **image, apl_error *err);

/* `image` may be NULL. */
APL_API void apl_image_free(apl_image *image);

/* What remark `number` says of images, such as "images of 16 bits, reduced to 8"; NULL: there are no more. */
APL_API const char *apl_image_remark(unsigned number);

#ifdef __cplusplus
}
#endif
#endif

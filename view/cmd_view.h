/* apldata view: what was asked for, what was seen, and how it gets onto the page. Every call that fails has said why on stderr. */
#ifndef CMD_VIEW_H
#define CMD_VIEW_H

#include "image.h"
#include "image_features.h"
#include "image_hash.h"
#include "json.h"
#include "neighbours.h"
#include "page.h"
#include "progress.h"
#include "splits.h"

#define NO_CLASS      UINT32_MAX
#define MEAN_SIDE     64u    /* pixels of mean images, at most */
#define MOST_MEANS    24u    /* classes that have one each */
#define MOST_SPLITS   64u    /* that records are listed by */
#define MOST_NAMES    10000u /* classes that are named on the page */
#define MOST_EXAMPLES 6u     /* records that are named where something is odd */
#define MOST_PAIRS    60u

/* Means of pixels: of all images, and of each class. */
struct means {
    unsigned width, height; /* of images on a grid, 3 channels */
    double *sum, *squares;  /* [height][width][3], of all */
    float *class_sum;       /* the same for each of the first MOST_MEANS classes */
    uint64_t count, class_count[MOST_MEANS];
};

struct view {
    const char *path, *output;
    uint64_t most_bytes, most_records; /* of the page; to look at */
    unsigned threads;
    bool quiet, no_progress;
    struct progress progress;
    apl_store *store;
    const apl_info *info;
    struct split_names splits;
    int image_field, class_field; /* -1: none */

    /* The sample: its records are numbered 0 ... n-1 */
    uint64_t *ids; /* ascending */
    uint32_t n;
    uint32_t *classes; /* NO_CLASS: unknown */
    uint64_t
        *classes_found; /* of a field without names, its values, ascending; class i is the i-th of them */
    uint32_t class_count;
    uint64_t *in_splits;      /* bit s: it is in the split s of `splits` */
    uint64_t *digests;        /* of the inputs; NULL: not all of them were read */
    struct image_size *sizes; /* of images; width 0: not known */
    uint8_t *is_image;        /* decoded; then */
    uint8_t *features;
    struct image_hash *hashes;
    struct means means;
    struct neighbour *neighbours; /* NULL: there are no images */
    uint64_t unread;              /* images that could not be read; */
    char why_unread[512];         /* the first: its record, and why */

    json_t *document;
    uint8_t *wanted; /* a byte for each record: whether the page mentions it */
};

/* cmd_view_survey.c: chooses the sample and decodes its images. */
int view_survey_begin(struct view *view);
int view_survey_images(struct view *view);
void view_survey_end(struct view *view);

/* cmd_view_fields.c: reads all else, and describes each field: "fields", "sizes". */
int view_fields(struct view *view);

/* cmd_view_pairs.c: "pairs" and "suspects", and the neighbours. */
int view_pairs(struct view *view);

/* cmd_view_records.c: "records", as many as fit into that many bytes. */
int view_records(struct view *view, size_t bytes);

/* cmd_view_page.c: all else, and the page itself. */
int view_head(struct view *view);
int view_save(struct view *view);
const struct page *view_page(void);

/* cmd_view_shared.c. The progress bar; false: a signal came. */
bool view_goes_on(struct view *view, const char *what, uint64_t done, uint64_t of);
bool view_goes_on_with(struct view *view, const char *what, const char *unit, uint64_t done, uint64_t of);

/* The place of an id in the sample, where it is. */
uint32_t view_place(const struct view *view, uint64_t id);

/* "data:image/png;base64,...", or of JPEG; NULL: out of memory. */
json_t *view_data_uri(const struct image *image);

/* Marks a record as wanted; its id. */
json_t *view_record(struct view *view, uint32_t at);

/* Can the field's values be read and shown one by one? Files of no use here are left alone. */
bool view_reads(const struct view *view, unsigned field);

#endif

/* The entries of a manifest as bytes, for the files that write and read them: each has a function that writes it and one that
 * reads its payload. docs/FORMAT.md describes them. */
#ifndef MANIFEST_ENTRY_H
#define MANIFEST_ENTRY_H

#include "manifest.h"
#include "text.h"

#define ENTRY_REQUIRED 1u /* flag: a reader that does not know the tag must refuse the store */

enum tag {
    TAG_STORE = 1,
    TAG_TOOL = 2,
    TAG_SOURCE = 3,
    TAG_FIELD = 4,
    TAG_CLASSES = 5,
    TAG_SPLIT = 6,
    TAG_MEMBER = 7,
    TAG_SEGMENT = 8,
    TAG_MOMENTS = 9,
    TAG_CLASS_COUNTS = 10,
    TAG_KEPT = 11, /* from 1.1 on, as what follows */
    TAG_SKIPPED = 12,
    TAG_INDEXED = 13,
    TAG_VARYING = 14,     /* from 1.2 on */
    TAG_IMAGES = 15,      /* from 1.3 on */
    TAG_PROGRESSIVE = 16, /* from 1.4 on */
    TAG_PRODUCTS = 17,    /* from 1.5 on */
    TAG_DIGESTS = 18,     /* from 1.6 on; also of lists, from 1.1 on: see digests.h */
    TAG_KIND = 19,        /* from 1.6 on; also of lists */
    TAG_TRAINING = 20,    /* from 1.6 on */
    TAG_TEXT_LISTS = 21,  /* from 1.6 on; also of lists */
    TAG_SET = 64,         /* of lists of sets: see set_list.h */
    TAG_SHARD = 65
};

apl_status bad_manifest(apl_error *err, const char *what);

/* What is written between these two is the payload of an entry. */
size_t entry_begin(struct buffer *b, enum tag tag, unsigned flags);
void entry_end(struct buffer *b, size_t begin);

/* text_get_name() for a manifest, which is damaged where that fails. */
apl_status get_name(struct cursor *c, bool may_be_empty, char **name, apl_error *err);

/* Makes room for one more element of a list that grows; `list_at` is where the pointer to it is, `count` what it has. */
apl_status grow_list(void *list_at, uint32_t count, size_t size, apl_error *err);

/* manifest_fields.c */
void put_field(struct buffer *b, const struct schema *schema, unsigned f);
apl_status get_field(struct cursor *c, struct manifest *m, apl_error *err);
void put_text_lists(struct buffer *b, const struct schema *schema);
apl_status get_text_lists(struct cursor *c, struct manifest *m, apl_error *err);
void put_kept(struct buffer *b, const struct schema *schema, unsigned f);
apl_status get_kept(struct cursor *c, struct manifest *m, apl_error *err);
void put_indexed_field(struct buffer *b, const struct schema *schema, unsigned f);
apl_status get_indexed_field(struct cursor *c, struct manifest *m, apl_error *err);
void put_progressive(struct buffer *b, const struct schema *schema, unsigned f);
apl_status get_progressive(struct cursor *c, struct manifest *m, apl_error *err);
void put_varying(struct buffer *b, const struct schema *schema, unsigned f);
apl_status get_varying(struct cursor *c, struct manifest *m, apl_error *err);
void put_skipped(struct buffer *b, const struct manifest *m);
apl_status get_skipped(struct cursor *c, struct manifest *m, apl_error *err);
void put_classes(struct buffer *b, const struct schema *schema, unsigned f);
apl_status get_classes(struct cursor *c, struct manifest *m, apl_error *err);
void put_moments(struct buffer *b, const struct manifest *m, uint32_t s, unsigned f);
apl_status get_moments(struct cursor *c, struct manifest *m, apl_error *err);
void put_images(struct buffer *b, const struct manifest *m, uint32_t s, unsigned f);
apl_status get_images(struct cursor *c, struct manifest *m, apl_error *err);
void put_products(struct buffer *b, const struct manifest *m, uint32_t s, unsigned f);
apl_status get_products(struct cursor *c, struct manifest *m, apl_error *err);
void put_class_counts(struct buffer *b, const struct manifest *m, uint32_t s, unsigned f);
apl_status get_class_counts(struct cursor *c, struct manifest *m, apl_error *err);

/* manifest_training.c */
void put_training(struct buffer *b, const struct manifest *m, unsigned f);
apl_status get_training(struct cursor *c, struct manifest *m, apl_error *err);

/* manifest_kind.c; known_minor: the latest minor version that this library knows of what has the entry. */
void put_kind(struct buffer *b, const struct schema *schema, unsigned f);
apl_status get_kind(struct cursor *c, struct manifest *m, unsigned known_minor, apl_error *err);

/* manifest_ranges.c */
void put_split(struct buffer *b, const struct split *split);
apl_status get_split(struct cursor *c, struct manifest *m, apl_error *err);
void put_member(struct buffer *b, const struct member *member);
apl_status get_member(struct cursor *c, struct manifest *m, apl_error *err);
void put_segment(struct buffer *b, const struct segment *segment);
apl_status get_segment(struct cursor *c, struct manifest *m, apl_error *err);

#endif

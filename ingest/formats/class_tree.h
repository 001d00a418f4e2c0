/*
 * Which folders of a source are splits and which are classes, by the names of all its images:
 *
 *     CLASS/.../IMAGE          or     SPLIT/CLASS/.../IMAGE
 *
 * either below folders that have nothing but the next one in them. The folders at the top are splits if all of them that have
 * images are called as splits are (train, val, test, ..., in whatever case) and have folders with images in them. Otherwise all images are in the
 * split that class_tree_call() told, or in train. Classes are sorted by name, in byte order, those of all splits together. In memory are
 * folders, not files.
 */
#ifndef CLASS_TREE_H
#define CLASS_TREE_H

#include "bytes.h"
#include "status.h"

struct class_tree;

/* Is it printable UTF-8, and not too long for a class? */
bool class_name_ok(const char *name);

struct class_tree *class_tree_new(void); /* NULL: out of memory */
void class_tree_free(struct class_tree *tree);

/* The split of all images where no folders at the top are splits. It lives as long as the tree. */
void class_tree_call(struct class_tree *tree, const char *split, uint32_t rank);

/* Takes an image, by its path, or an (empty) folder. */
apl_status class_tree_add(struct class_tree *tree, const char *path, bool folder, apl_error *err);

/* After all have been taken. Likely errors: APL_E_SOURCE (too many, or impossible, classes; a split without classes beside others), with `partial`
 * not set APL_E_INCOMPLETE (a class without images). */
apl_status class_tree_decide(struct class_tree *tree, bool partial, apl_error *err);

/* Are the folders at the top splits? */
bool class_tree_has_splits(const struct class_tree *tree);

/* Images that lie in no class. */
uint64_t class_tree_strays(const struct class_tree *tree);

uint32_t class_tree_classes(const struct class_tree *tree, const char *const **names);

/* The split of that number, from 0 on, in any order: its name and rank, and how many images lie in its classes. false: there are no more. */
bool class_tree_split(const struct class_tree *tree, uint32_t number, const char **name, uint32_t *rank,
                      uint64_t *images);

/* Where an image belongs. */
struct class_place {
    const char *split;   /* its name; lives as long as the tree */
    uint32_t split_rank; /* splits come in this order: train first */
    uint32_t label;
    const char *path; /* without the folders that lie above splits and classes; in the path that was given */
};

/* false: in no class. Of a path that was taken. */
bool class_tree_find(const struct class_tree *tree, const char *path, struct class_place *place);

#endif

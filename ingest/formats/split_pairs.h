/* Folders that would become classes, though two of them show that they are splits: called alike but for a split's word in each
 * (seg_train, seg_test), or the one called like a split, and both with folders of the same names (train/cat, unlabeled/cat). */
#ifndef SPLIT_PAIRS_H
#define SPLIT_PAIRS_H

#include "class_tree.h"

struct split_pair {
    const char *names[2]; /* as the tree has them */
    const char *shared;   /* a folder in both; NULL: it is how they are called that tells */
};

/* After the tree has decided. false: there is no such pair. */
bool split_pair_find(const struct class_tree *tree, struct split_pair *pair);

/* Have all classes, two or more, nothing but folders, two or more, of the same names, as years or sites have (2023/cat, 2023/dog,
 * 2024/cat, 2024/dog)? Where there are no splits. The names of two of these folders; false: they have not. */
bool split_pair_alike(const struct class_tree *tree, const char *names[2]);

#endif

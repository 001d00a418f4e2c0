/* Splits within classes, such as cat/train/1.jpg or 2023/train/cat/1.jpg: as folders of one class, they would be mixed. */
#ifndef INNER_SPLITS_H
#define INNER_SPLITS_H

#include "class_tree.h"

/* Folders below classes, in which images lie, that are called like splits. */
struct inner_splits {
    char first[256]; /* the path of one of them from the top, safe to print; "": there are none */
    bool alone;      /* somewhere nothing else lies beside them, */
    bool several;    /* or two are not called alike */
};

/* After the tree has decided. */
void inner_splits_find(const struct class_tree *tree, struct inner_splits *found);

#endif

/* Tells what was taken for a class though its name reads like something else: a split, or one kind of file. */
#ifndef FOLDER_LAYOUT_H
#define FOLDER_LAYOUT_H

#include "class_tree.h"
#include "format.h"

/* After the tree has decided, even if it has failed. */
void folder_layout_tell(const struct class_tree *tree, const struct format_host *host);

#endif

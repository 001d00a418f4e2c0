/* What was taken for a class though its name reads like something else: a split, or one kind of file. */
#ifndef FOLDER_LAYOUT_H
#define FOLDER_LAYOUT_H

#include "class_tree.h"
#include "format.h"

/* Several classes that read like splits, or nothing else, are APL_E_INVALID, unless the format was asked for: nobody means train2017 and val2017
 * as classes. So are splits within classes, if images of two would be mixed, or if nothing lies beside them. After the tree has decided, even if it has failed. */
apl_status folder_layout_check(const struct class_tree *tree, const struct format_host *host, apl_error *err);

/* Notes about the others. After the tree has decided, even if it has failed. */
void folder_layout_tell(const struct class_tree *tree, const struct format_host *host);

#endif

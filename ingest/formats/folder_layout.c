/* What was taken for a class, though its name reads like something else: see folder_layout.h. */
#include "folder_layout.h"

#include "folder_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAMES_SHOWN 4u

/* A note about all classes of such names, which are safe to print. */
static void tell_classes(const struct class_tree *tree, const struct format_host *host,
                         bool (*such)(const char *name), const char *why)
{
    char text[1024];
    const char *const *classes;
    uint32_t count = class_tree_classes(tree, &classes), found = 0;
    size_t used = (size_t)snprintf(text, sizeof text, "taken for classes: ");
    for (uint32_t i = 0; i < count; i++)
        if (such(classes[i]) && found++ < NAMES_SHOWN)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%.64s", found > 1 ? ", " : "",
                                     classes[i]);
    if (found > NAMES_SHOWN)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, " and %" PRIu32 " more", found - NAMES_SHOWN);
    snprintf(text + used, sizeof text - used, "; %s", why);
    if (found > 0)
        host->notice(host->user, "", text);
}

void folder_layout_tell(const struct class_tree *tree, const struct format_host *host)
{
    tell_classes(tree, host, folder_like_split,
                 "splits are folders called train, val, test or the like, each with a folder for each class "
                 "(train/cat/1.jpg), with no other images beside them");
    tell_classes(tree, host, folder_of_one_kind,
                 "where masks, boxes or other labels belong to images, a table that names the files makes "
                 "records of them, and --mask COLUMN stores masks");
}

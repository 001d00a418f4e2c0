/* What was taken for a class, though its name reads like something else: see folder_layout.h. */
#include "folder_layout.h"

#include "folder_name.h"
#include "inner_splits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAMES_SHOWN 4u

#define LISTED_BYTES 512u

#define SPLITS_ARE                                                                               \
    "splits are folders called train, val, test or the like, each with a folder for each class " \
    "(train/cat/1.jpg), with no other images beside them"

/* The classes of such names, which are safe to print: the first few, and how many there are. */
static uint32_t list_classes(const struct class_tree *tree, bool (*such)(const char *name),
                             char text[LISTED_BYTES])
{
    const char *const *classes;
    uint32_t count = class_tree_classes(tree, &classes), found = 0;
    size_t used = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < count; i++)
        if (such(classes[i]) && found++ < NAMES_SHOWN)
            used += (size_t)snprintf(text + used, LISTED_BYTES - used, "%s%.64s", found > 1 ? ", " : "",
                                     classes[i]);
    if (found > NAMES_SHOWN)
        snprintf(text + used, LISTED_BYTES - used, " and %" PRIu32 " more", found - NAMES_SHOWN);
    return found;
}

static void tell_classes(const struct class_tree *tree, const struct format_host *host,
                         bool (*such)(const char *name), const char *why)
{
    char names[LISTED_BYTES], text[1024];
    if (list_classes(tree, such, names) == 0)
        return;
    snprintf(text, sizeof text, "taken for classes: %s; %s", names, why);
    host->notice(host->user, "", text);
}

/* Of such folders, two splits would be mixed, or what are taken for classes are years, sites or the like. */
static apl_status check_inner(const struct class_tree *tree, apl_error *err)
{
    struct inner_splits inner;
    inner_splits_find(tree, &inner);
    if (!inner.alone && !inner.several)
        return APL_OK;
    return fail(err, APL_E_INVALID,
                "%s would be part of a class, though it is called like a split; " SPLITS_ARE
                ". --format folder (format=\"folder\" in Python) makes it part of its class",
                inner.first);
}

apl_status folder_layout_check(const struct class_tree *tree, const struct format_host *host, apl_error *err)
{
    char names[LISTED_BYTES];
    const char *const *classes;
    uint32_t found = list_classes(tree, folder_like_split, names);
    if (host->options->format)
        return APL_OK;
    if (found == 0 || (found == 1 && class_tree_classes(tree, &classes) > 1))
        return check_inner(tree, err);
    return fail(err, APL_E_INVALID,
                "these would become classes: %s; " SPLITS_ARE
                ". A table that names the images stores them without "
                "classes (--image COLUMN); --format folder (format=\"folder\" in Python) makes these classes",
                names);
}

static void tell_inner(const struct class_tree *tree, const struct format_host *host)
{
    struct inner_splits inner;
    char text[640];
    inner_splits_find(tree, &inner);
    snprintf(text, sizeof text, "part of a class: %s; " SPLITS_ARE, inner.first);
    if (*inner.first)
        host->notice(host->user, "", text);
}

void folder_layout_tell(const struct class_tree *tree, const struct format_host *host)
{
    tell_classes(tree, host, folder_like_split, SPLITS_ARE);
    tell_inner(tree, host);
    tell_classes(tree, host, folder_of_one_kind,
                 "where masks, boxes or other labels belong to images, a table that names the files makes "
                 "records of them, and --mask COLUMN stores masks");
}

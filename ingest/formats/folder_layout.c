/* What was taken for a class, though its name reads like something else: see folder_layout.h. */
#include "folder_layout.h"

#include "class_notes.h"
#include "folder_name.h"
#include "inner_splits.h"
#include "split_pairs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAMES_SHOWN 4u

#define LISTED_BYTES 512u

#define SPLITS_ARE                                                                               \
    "splits are folders called train, val, test or the like, each with a folder for each class " \
    "(train/cat/1.jpg), with no other images beside them: name folders so"

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

/* Names of classes are safe to print only once they are checked, which a tree that failed has not. */
static apl_status check_split_pairs(const struct class_tree *tree, apl_error *err)
{
    struct split_pair pair;
    char shown[3][256] = {"", "", ""}, why[320] = "these are called alike but for the splits";
    if (!split_pair_find(tree, &pair))
        return APL_OK;
    for (unsigned i = 0; i < 2; i++)
        printable(shown[i], sizeof shown[i], pair.names[i], strlen(pair.names[i]));
    if (pair.shared) {
        printable(shown[2], sizeof shown[2], pair.shared, strlen(pair.shared));
        snprintf(why, sizeof why, "both have a folder %s", shown[2]);
    }
    return fail(err, APL_E_INVALID,
                "%s and %s would become classes, though %s; " SPLITS_ARE
                ". --format folder (format=\"folder\" in Python) makes these classes",
                shown[0], shown[1], why);
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
    bool beside = found < class_tree_classes(tree, &classes); /* there are classes of other names */
    if (found == 0 || (beside && (found == 1 || class_tree_has_splits(tree))))
        return check_split_pairs(tree, err) == APL_OK ? check_inner(tree, err) : err->status;
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

/* Classes such as years or sites, each with the same folders: those may be meant. */
static void tell_alike(const struct class_tree *tree, const struct format_host *host)
{
    const char *names[2], *const *classes;
    char shown[4][256], text[1280];
    uint32_t count = class_tree_classes(tree, &classes);
    if (count < 2 || !split_pair_alike(tree, names))
        return;
    for (unsigned i = 0; i < 4; i++) {
        const char *name = i < 2 ? classes[i] : names[i - 2];
        printable(shown[i], sizeof shown[i], name, strlen(name));
    }
    snprintf(text, sizeof text,
             "taken for classes: %s, %s%s, though all have the same folders, such as %s and %s: if these "
             "are the "
             "classes, move them up",
             shown[0], shown[1], count > 2 ? ", ..." : "", shown[2], shown[3]);
    host->notice(host->user, "", text);
}

/* The first split whose folder has no images: what is meant to be in it is missing, and nothing else says so. */
static void tell_empty(const struct class_tree *tree, const struct format_host *host)
{
    const char *name;
    char shown[256], text[320];
    uint32_t rank;
    uint64_t images;
    for (uint32_t i = 0; class_tree_has_splits(tree) && class_tree_split(tree, i, &name, &rank, &images);
         i++) {
        if (rank == FOLDER_NO_SPLIT || images > 0)
            continue;
        snprintf(text, sizeof text, "the folder of the split '%s' has no images",
                 printable(shown, sizeof shown, name, strlen(name)));
        host->notice(host->user, "", text);
        return;
    }
}

void folder_layout_tell(const struct class_tree *tree, const struct format_host *host)
{
    const char *const *classes;
    if (!class_tree_has_splits(tree))
        tell_classes(tree, host, folder_like_split, SPLITS_ARE);
    tell_inner(tree, host);
    tell_empty(tree, host);
    tell_alike(tree, host);
    uint32_t count = class_tree_classes(tree, &classes);
    class_notes_tell(host, "label", classes, count);
    tell_classes(tree, host, folder_of_one_kind,
                 "where masks, boxes or other labels belong to images, a table that names the files makes "
                 "records of them, and --mask COLUMN stores masks");
}

/* Folders below classes that are called like splits: see inner_splits.h. */
#include "inner_splits.h"

#include "class_nodes.h"
#include "folder_name.h"

#include <stdio.h>
#include <strings.h>

/* How many folders the path of a folder has from the top on; 0: it is the top, or lies elsewhere. */
static unsigned depth_of(const struct class_tree *tree, uint32_t i)
{
    unsigned depth = 0;
    for (; i != tree->top; i = node_at(tree, i)->parent, depth++)
        if (i == 0)
            return 0;
    return depth;
}

/* Has the folder nothing but folders that are called like splits? */
static bool only_like_splits(const struct class_tree *tree, uint32_t parent)
{
    for (uint32_t i = node_at(tree, parent)->first; i != NONE; i = node_at(tree, i)->next)
        if (node_at(tree, i)->below > 0 && !folder_like_split(node_at(tree, i)->name))
            return false;
    return node_at(tree, parent)->files == 0;
}

/* The path of a folder from the top on, safe to print. */
static void show_path(const struct class_tree *tree, uint32_t i, char *text, size_t size)
{
    char part[APL_MAX_NAME * 4 + 8], path[512] = "", longer[512];
    for (; i != tree->top; i = node_at(tree, i)->parent) {
        const char *name = node_at(tree, i)->name;
        printable(part, sizeof part, name, strlen(name));
        snprintf(longer, sizeof longer, "%.200s%s%.300s", part, *path ? "/" : "", path);
        strcpy(path, longer);
    }
    snprintf(text, size, "%.*s", (int)size - 1, path);
}

void inner_splits_find(const struct class_tree *tree, struct inner_splits *found)
{
    const char *first = NULL;
    *found = (struct inner_splits){.first = ""};
    for (uint32_t i = 1; i < node_count(tree); i++) {
        const struct node *n = node_at(tree, i);
        if (n->below == 0 || !folder_like_split(n->name) || depth_of(tree, i) < (tree->splits ? 3u : 2u))
            continue;
        if (!first)
            show_path(tree, i, found->first, sizeof found->first);
        first = first ? first : n->name;
        found->several |= strcasecmp(first, n->name) != 0;
        found->alone |= only_like_splits(tree, n->parent);
    }
}

/* See split_pairs.h. */
#include "split_pairs.h"

#include "class_nodes.h"
#include "folder_name.h"

#define MOST_SPLITS   4u
#define MOST_COMPARED 64u /* folders with a split's word in their names */

/* A folder with images in both, which may be that of a class; or NULL. */
static const char *shared_folder(const struct class_tree *tree, uint32_t a, uint32_t b)
{
    for (uint32_t i = node_at(tree, b)->first; i != NONE; i = node_at(tree, i)->next) {
        const char *name = node_at(tree, i)->name;
        uint32_t other = node_at(tree, i)->below && !folder_of_one_kind(name)
                             ? class_find_child(tree, a, name, strlen(name))
                             : NONE;
        if (other != NONE && node_at(tree, other)->below > 0)
            return name;
    }
    return NULL;
}

/* One that is called like a split, and another in which there is a folder of the same name. */
static bool find_alike_inside(const struct class_tree *tree, uint32_t split, struct split_pair *pair)
{
    for (uint32_t i = node_at(tree, tree->top)->first; i != NONE; i = node_at(tree, i)->next) {
        const char *shared = i == split ? NULL : shared_folder(tree, split, i);
        if (!shared)
            continue;
        *pair = (struct split_pair){{node_at(tree, split)->name, node_at(tree, i)->name}, shared};
        return true;
    }
    return false;
}

static bool find_twins(const struct class_tree *tree, struct split_pair *pair)
{
    const char *names[MOST_COMPARED];
    unsigned count = 0;
    for (uint32_t i = node_at(tree, tree->top)->first; i != NONE && count < MOST_COMPARED;
         i = node_at(tree, i)->next) {
        const struct node *n = node_at(tree, i);
        if (n->below == 0 || !folder_has_split_word(n->name))
            continue;
        for (unsigned k = 0; k < count; k++)
            if (folder_split_twins(names[k], n->name)) {
                *pair = (struct split_pair){{names[k], n->name}, NULL};
                return true;
            }
        names[count++] = n->name;
    }
    return false;
}

static uint32_t next_with_images(const struct class_tree *tree, uint32_t i)
{
    while (i != NONE && node_at(tree, i)->below == 0)
        i = node_at(tree, i)->next;
    return i;
}

static unsigned folders_in(const struct class_tree *tree, uint32_t parent)
{
    unsigned count = 0;
    for (uint32_t i = node_at(tree, parent)->first; (i = next_with_images(tree, i)) != NONE;
         i = node_at(tree, i)->next)
        count++;
    return node_at(tree, parent)->files > 0 ? 0 : count;
}

/* Has `b` all folders that `a` has, and no more? */
static bool same_folders(const struct class_tree *tree, uint32_t a, uint32_t b, unsigned count)
{
    if (folders_in(tree, b) != count)
        return false;
    for (uint32_t i = node_at(tree, a)->first; (i = next_with_images(tree, i)) != NONE;
         i = node_at(tree, i)->next) {
        const char *name = node_at(tree, i)->name;
        uint32_t other = class_find_child(tree, b, name, strlen(name));
        if (other == NONE || node_at(tree, other)->below == 0)
            return false;
    }
    return true;
}

bool split_pair_alike(const struct class_tree *tree, const char *names[2])
{
    uint32_t first = tree->splits ? NONE : next_with_images(tree, node_at(tree, tree->top)->first), i;
    unsigned count = first == NONE ? 0 : folders_in(tree, first), classes = 1;
    if (count < 2)
        return false;
    for (i = first; (i = next_with_images(tree, node_at(tree, i)->next)) != NONE; classes++)
        if (!same_folders(tree, first, i, count))
            return false;
    i = next_with_images(tree, node_at(tree, first)->first);
    names[0] = node_at(tree, i)->name;
    names[1] = node_at(tree, next_with_images(tree, node_at(tree, i)->next))->name;
    return classes > 1;
}

bool split_pair_find(const struct class_tree *tree, struct split_pair *pair)
{
    if (tree->splits)
        return false;
    bool few = folders_in(tree, tree->top) <= MOST_SPLITS; /* of many classes, one may be called so */
    for (uint32_t i = node_at(tree, tree->top)->first; few && i != NONE; i = node_at(tree, i)->next)
        if (folder_like_split(node_at(tree, i)->name) && find_alike_inside(tree, i, pair))
            return true;
    return find_twins(tree, pair);
}

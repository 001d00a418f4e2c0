/* Folders, counted as they are met, then judged: see class_tree.h. */
#include "class_tree.h"

#include "class_nodes.h"
#include "folder_name.h"
#include "utf8.h"

#include <stdio.h>

#define MOST_FOLDERS (1u << 20)

/* A new child of `parent`; NONE: out of memory. */
static uint32_t add_node(struct class_tree *tree, uint32_t parent, const char *name, size_t length)
{
    struct node node = {
        .name = strndup(name, length), .parent = parent, .first = NONE, .last = NONE, .next = NONE};
    uint32_t i = node_count(tree);
    if (!node.name)
        return NONE;
    buffer_put(&tree->nodes, &node, sizeof node);
    if (tree->nodes.failed) {
        free(node.name);
        return NONE;
    }
    if (i > 0) {
        node_at(tree, i)->next = node_at(tree, parent)->first;
        node_at(tree, parent)->first = node_at(tree, parent)->last = i;
    }
    return i;
}

struct class_tree *class_tree_new(void)
{
    struct class_tree *tree = calloc(1, sizeof *tree);
    if (tree && add_node(tree, 0, "", 0) == NONE) {
        class_tree_free(tree);
        return NULL;
    }
    if (tree)
        tree->whole = folder_splits[0];
    return tree;
}

void class_tree_call(struct class_tree *tree, const char *split, uint32_t rank)
{
    tree->whole = split;
    tree->whole_rank = rank;
}

void class_tree_free(struct class_tree *tree)
{
    if (!tree)
        return;
    for (uint32_t i = 0; i < node_count(tree); i++)
        free(node_at(tree, i)->name);
    buffer_free(&tree->nodes);
    free(tree->classes);
    free(tree);
}

static bool is_called(const struct class_tree *tree, uint32_t i, const char *name, size_t length)
{
    const char *own = node_at(tree, i)->name;
    return strncmp(own, name, length) == 0 && own[length] == 0;
}

uint32_t class_find_child(const struct class_tree *tree, uint32_t parent, const char *name, size_t length)
{
    struct node *p = node_at(tree, parent);
    if (p->last != NONE && is_called(tree, p->last, name, length))
        return p->last;
    for (uint32_t i = p->first; i != NONE; i = node_at(tree, i)->next)
        if (is_called(tree, i, name, length))
            return p->last = i;
    return NONE;
}

apl_status class_tree_add(struct class_tree *tree, const char *path, bool folder, apl_error *err)
{
    uint32_t at = 0;
    for (const char *part = path; *part;) {
        size_t length = strcspn(part, "/");
        bool more = part[length] == '/' && part[length + 1];
        if (!folder && !more)
            break; /* the file's own name */
        uint32_t child = class_find_child(tree, at, part, length);
        if (child == NONE && node_count(tree) >= MOST_FOLDERS)
            return fail(err, APL_E_SOURCE, "more than %u folders", MOST_FOLDERS);
        at = child != NONE ? child : add_node(tree, at, part, length);
        if (at == NONE)
            return fail_nomem(err);
        part += length + (part[length] == '/');
    }
    node_at(tree, at)->files += !folder;
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------- judging */

/* Parents come before their children. */
static void add_up(struct class_tree *tree)
{
    for (uint32_t i = 0; i < node_count(tree); i++)
        node_at(tree, i)->below = node_at(tree, i)->files;
    for (uint32_t i = node_count(tree); i-- > 1;)
        node_at(tree, node_at(tree, i)->parent)->below += node_at(tree, i)->below;
}

/* The only child with images, if that is a folder of folders and no split: NONE otherwise. */
static uint32_t only_child(const struct class_tree *tree, uint32_t parent)
{
    uint32_t found = NONE;
    if (node_at(tree, parent)->files > 0)
        return NONE;
    for (uint32_t i = node_at(tree, parent)->first; i != NONE; i = node_at(tree, i)->next) {
        if (node_at(tree, i)->below == 0)
            continue;
        if (found != NONE)
            return NONE;
        found = i;
    }
    bool folders = found != NONE && node_at(tree, found)->files == 0 &&
                   folder_split(node_at(tree, found)->name) == FOLDER_NO_SPLIT;
    return folders ? found : NONE;
}

/* Are the children called as splits are, each in its own way, with images in folders of theirs? */
static bool has_splits(const struct class_tree *tree, uint32_t top)
{
    uint32_t seen = 0;
    for (uint32_t i = node_at(tree, top)->first; i != NONE; i = node_at(tree, i)->next) {
        const struct node *n = node_at(tree, i);
        uint32_t rank = folder_split(n->name);
        if (n->below == 0)
            continue;
        if (rank == FOLDER_NO_SPLIT || n->below == n->files || (seen & 1u << rank))
            return false;
        seen |= 1u << rank;
    }
    return seen > 0;
}

/* Has it nothing in it but images, or but one folder of such that is called images or the like, as Tiny ImageNet's val? */
static bool has_no_classes_in(const struct class_tree *tree, const struct node *n)
{
    uint32_t found = NONE;
    for (uint32_t i = n->first; i != NONE; i = node_at(tree, i)->next)
        if (node_at(tree, i)->below > 0) {
            if (found != NONE)
                return false;
            found = i;
        }
    return found == NONE || (n->files == 0 && node_at(tree, found)->files == n->below &&
                             folder_of_one_kind(node_at(tree, found)->name));
}

/* Where all children are called like splits, and some have classes, a flat one has images without a class. Such names are safe to
 * print. */
static apl_status check_flat_split(const struct class_tree *tree, uint32_t top, apl_error *err)
{
    const struct node *flat = NULL, *deep = NULL;
    for (uint32_t i = node_at(tree, top)->first; i != NONE; i = node_at(tree, i)->next) {
        const struct node *n = node_at(tree, i);
        if (n->below > 0 && !folder_like_split(n->name))
            return APL_OK;
        if (n->below > 0 && has_no_classes_in(tree, n))
            flat = n;
        else if (n->below > 0)
            deep = n;
    }
    if (!flat || !deep)
        return APL_OK;
    return fail(err, APL_E_SOURCE,
                "the images in %s lie in no classes, as those in %s do: put them into folders by class "
                "(%s/CLASS/1.jpg), or leave %s out of the source",
                flat->name, deep->name, flat->name, flat->name);
}

static int by_class_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool class_name_ok(const char *name)
{
    char shown[APL_MAX_NAME * 4 + 8];
    size_t length = strlen(name);
    printable(shown, sizeof shown, name, length);
    return length <= APL_MAX_NAME && utf8_valid(name, length) && strcmp(shown, name) == 0;
}

static apl_status check_class(const struct node *n, bool partial, apl_error *err)
{
    char shown[APL_MAX_NAME * 4 + 8];
    printable(shown, sizeof shown, n->name, strlen(n->name));
    if (!class_name_ok(n->name))
        return fail(err, APL_E_SOURCE,
                    "the name of the class %.200s is not printable UTF-8 of at most %d bytes", shown,
                    APL_MAX_NAME);
    if (n->below == 0 && !partial)
        return fail(err, APL_E_INCOMPLETE,
                    "the class %s has no images: --partial (partial=True in Python) accepts that", shown);
    return APL_OK;
}

/* Adds the children of `parent` to the classes; names that are there twice go later. */
static void take_classes(struct class_tree *tree, uint32_t parent)
{
    for (uint32_t i = node_at(tree, parent)->first; i != NONE; i = node_at(tree, i)->next)
        tree->classes[tree->class_count++] = node_at(tree, i)->name;
    tree->strays += node_at(tree, parent)->files;
}

static apl_status check_children(const struct class_tree *tree, uint32_t parent, bool partial, apl_error *err)
{
    for (uint32_t i = node_at(tree, parent)->first; i != NONE; i = node_at(tree, i)->next)
        TRY(check_class(node_at(tree, i), partial, err));
    return APL_OK;
}

static void sort_classes(struct class_tree *tree)
{
    uint32_t kept = 0;
    if (tree->class_count > 1)
        qsort(tree->classes, tree->class_count, sizeof *tree->classes, by_class_name);
    for (uint32_t i = 0; i < tree->class_count; i++)
        if (i == 0 || strcmp(tree->classes[i], tree->classes[kept - 1]) != 0)
            tree->classes[kept++] = tree->classes[i];
    tree->class_count = kept;
}

/* The folders whose children are classes, one after another: the splits that have images, or the top alone. NONE: begins, and ends. */
static uint32_t next_parent(const struct class_tree *tree, uint32_t after)
{
    if (!tree->splits)
        return after == NONE ? tree->top : NONE;
    uint32_t i = after == NONE ? node_at(tree, tree->top)->first : node_at(tree, after)->next;
    while (i != NONE && node_at(tree, i)->below == 0)
        i = node_at(tree, i)->next;
    return i;
}

apl_status class_tree_decide(struct class_tree *tree, bool partial, apl_error *err)
{
    add_up(tree);
    for (uint32_t child; (child = only_child(tree, tree->top)) != NONE;)
        tree->top = child;
    TRY(check_flat_split(tree, tree->top, err));
    tree->splits = has_splits(tree, tree->top);
    tree->classes = calloc(node_count(tree), sizeof *tree->classes);
    if (!tree->classes)
        return fail_nomem(err);
    if (tree->splits)
        tree->strays += node_at(tree, tree->top)->files;
    for (uint32_t i = NONE; (i = next_parent(tree, i)) != NONE;)
        take_classes(tree, i);
    sort_classes(tree);
    for (uint32_t i = NONE; (i = next_parent(tree, i)) != NONE;)
        TRY(check_children(tree, i, partial, err));
    return APL_OK;
}

bool class_tree_has_splits(const struct class_tree *tree)
{
    return tree->splits;
}

uint64_t class_tree_strays(const struct class_tree *tree)
{
    return tree->strays;
}

uint32_t class_tree_classes(const struct class_tree *tree, const char *const **names)
{
    *names = tree->classes;
    return tree->class_count;
}

/* Of a child of the top, or of the top itself where there are no splits. */
static uint32_t split_rank(const struct class_tree *tree, uint32_t i)
{
    return tree->splits ? folder_split(node_at(tree, i)->name) : tree->whole_rank;
}

bool class_tree_split(const struct class_tree *tree, uint32_t number, const char **name, uint32_t *rank,
                      uint64_t *images)
{
    uint32_t at = tree->splits ? node_at(tree, tree->top)->first : number == 0 ? tree->top : NONE;
    for (uint32_t i = 0; tree->splits && at != NONE && i < number; i++)
        at = node_at(tree, at)->next;
    if (at == NONE)
        return false;
    *rank = split_rank(tree, at);
    *name = !tree->splits              ? tree->whole
            : *rank == FOLDER_NO_SPLIT ? node_at(tree, at)->name
                                       : folder_splits[*rank];
    *images = node_at(tree, at)->below - node_at(tree, at)->files;
    return true;
}

/* ------------------------------------------------------------------------------------------------- finding */

/* The child of `parent` in which the path goes on, whose rest is then *path; NONE: it is a file there. */
static uint32_t step_down(const struct class_tree *tree, uint32_t parent, const char **path)
{
    size_t length = strcspn(*path, "/");
    if ((*path)[length] == 0)
        return NONE;
    uint32_t child = class_find_child(tree, parent, *path, length);
    *path += length + 1;
    return child;
}

/* Goes down to the top; false: the path lies elsewhere. */
static bool reach_top(const struct class_tree *tree, const char **path)
{
    uint32_t at = 0;
    while (at != tree->top) {
        at = step_down(tree, at, path);
        if (at == NONE)
            return false;
    }
    return true;
}

bool class_tree_find(const struct class_tree *tree, const char *path, struct class_place *place)
{
    if (!reach_top(tree, &path))
        return false;
    *place = (struct class_place){.split = tree->whole, .split_rank = tree->whole_rank, .path = path};
    uint32_t at = tree->top;
    if (tree->splits) {
        at = step_down(tree, at, &path);
        if (at == NONE)
            return false;
        place->split_rank = split_rank(tree, at);
        if (place->split_rank == FOLDER_NO_SPLIT)
            return false;
        place->split = folder_splits[place->split_rank];
    }
    at = step_down(tree, at, &path);
    if (at == NONE)
        return false;
    const char *name = node_at(tree, at)->name;
    const char **found =
        bsearch(&name, tree->classes, tree->class_count, sizeof *tree->classes, by_class_name);
    place->label = found ? (uint32_t)(found - tree->classes) : 0;
    return found != NULL;
}

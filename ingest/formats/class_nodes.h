/* The folders of a class_tree, for those who judge them. */
#ifndef CLASS_NODES_H
#define CLASS_NODES_H

#include "bytes.h"

#include <stdbool.h>

#define NONE UINT32_MAX

struct node {
    char *name;
    uint32_t parent, first, last, next; /* children are a list; `last` is the one that was met last */
    uint64_t files, below;              /* images directly in it, and in all, once they are added up */
};

struct class_tree {
    struct buffer nodes; /* of struct node; 0 is the root; parents come before their children */
    uint32_t top;        /* splits or classes are its children */
    bool splits;
    const char *whole; /* the split of all, if the top has none */
    uint32_t whole_rank;
    const char **classes;
    uint32_t class_count;
    uint64_t strays;
};

static inline struct node *node_at(const struct class_tree *tree, uint32_t i)
{
    return (struct node *)(void *)tree->nodes.data + i;
}

static inline uint32_t node_count(const struct class_tree *tree)
{
    return (uint32_t)(tree->nodes.size / sizeof(struct node));
}

/* The child of that name, or NONE; names mostly come many times in a row. */
uint32_t class_find_child(const struct class_tree *tree, uint32_t parent, const char *name, size_t length);

#endif

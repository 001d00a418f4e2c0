/*
 * The CIFAR data sets as they are published: which members an archive has, what is in them, and reading one.
 * All four layouts give the same rows: an image, one label or two, and in the python layouts a name.
 */
#ifndef CIFAR_H
#define CIFAR_H

#include "bytes.h"
#include "pickle.h"
#include "status.h"

#define CIFAR_IMAGE       3072 /* bytes of an image: planes of red, green and blue, 32 rows of 32 */
#define CIFAR_MAX_LABELS  2
#define CIFAR_MAX_MEMBERS 6

/* A label that every row has. */
struct cifar_label {
    const char *field;         /* in the store */
    unsigned classes;          /* how many values it has */
    unsigned column;           /* where it stands in a binary row */
    const char *names_file;    /* of the binary layout: the names of the classes, one a line */
    enum pickle_key key;       /* of the python layout: the labels */
    enum pickle_key names_key; /* and the names of the classes */
};

/* A member that holds rows. */
struct cifar_member {
    const char *name; /* in the store; in a binary archive ".bin" follows */
    const char *split;
    uint64_t rows; /* as published */
};

struct cifar_dataset {
    const char *format; /* such as "cifar-10-python" */
    const char *title;  /* such as "CIFAR-10" */
    bool python;
    const struct cifar_member *members; /* their numbers in the store are their places here */
    unsigned member_count;
    const struct cifar_label *labels; /* in the order of the store's fields */
    unsigned label_count;
    const char *meta_file; /* of the python layout: the names of the classes */
};

/* What a file of an archive is. */
struct cifar_part {
    const struct cifar_dataset *dataset;
    enum { CIFAR_ROWS, CIFAR_CLASSES } kind;
    unsigned number; /* CIFAR_ROWS: of the member; CIFAR_CLASSES of a binary layout: of the label */
};

/* Recognizes it by the file's name; false: it is not one of CIFAR's. */
bool cifar_find(const char *name, struct cifar_part *part);

/* The name of the file that holds a member's rows. Returns `out`. */
char *cifar_file_name(const struct cifar_dataset *dataset, unsigned member, char out[32]);

/* One row. The pointers are good until the call that is handed it returns. */
struct cifar_row {
    const uint8_t *image;
    uint8_t label[CIFAR_MAX_LABELS]; /* in the order of the dataset's labels */
    const char *name;                /* UTF-8, not closed by NUL; NULL if the member has no names */
    size_t name_size;
};

/* Where rows go. */
struct cifar_sink {
    apl_status (*begin)(void *user, uint64_t rows, bool names, apl_error *err); /* once a member, first */
    apl_status (*row)(void *user, const struct cifar_row *row, apl_error *err);
    void *user;
};

/* The names of a label's classes. */
struct cifar_classes {
    struct buffer text; /* names, each closed by NUL */
    unsigned count;
};

/* Adds one; refuses what is no name of 1 ... 255 bytes of UTF-8, and more than `at_most`. */
apl_status cifar_add_class(struct cifar_classes *classes, const char *name, size_t size, unsigned at_most,
                           apl_error *err);
void cifar_free_classes(struct cifar_classes *classes);

/* Can a binary member of that many bytes be read at all? *rows: how many rows it has. */
apl_status cifar_binary_size(const struct cifar_dataset *dataset, unsigned member, uint64_t size,
                             bool partial, uint64_t *rows, apl_error *err);

/* Reads the rows of a binary member, which cifar_binary_size() has counted. */
apl_status cifar_binary_rows(const struct cifar_dataset *dataset, struct cursor *c, uint64_t rows,
                             const struct cifar_sink *sink, apl_error *err);

/* Reads class names, one a line, from all that the cursor has. */
apl_status cifar_binary_classes(const struct cifar_label *label, struct cursor *c, uint64_t size,
                                struct cifar_classes *classes, apl_error *err);

/* Reads a python member, or the one with the class names (classes[i]: of label i). */
apl_status cifar_python_rows(struct pickle *p, const struct cifar_dataset *dataset, unsigned member,
                             struct cursor *c, uint64_t size, bool partial, const struct cifar_sink *sink,
                             apl_error *err);
apl_status cifar_python_classes(struct pickle *p, const struct cifar_dataset *dataset, struct cursor *c,
                                uint64_t size, struct cifar_classes *classes, apl_error *err);

#endif

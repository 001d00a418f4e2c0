/* What the name of a file says: words such as train-images-idx3-ubyte has. */
#ifndef FILE_NAME_H
#define FILE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FILE_NAME_WORDS 16

struct file_name {
    char text[256];                     /* the name, in which each word is closed by NUL */
    const char *words[FILE_NAME_WORDS]; /* what stands between '-', '_' and '.' */
    unsigned count;
    const char *split;   /* the split that a word names, such as "train"; NULL: none does */
    uint32_t split_rank; /* splits come in this order: train first */
};

/* The split that a word of that length names, in whatever case; NULL: none. Its rank is that of the split, whichever word it is. */
const char *split_of_word(const char *word, size_t length, uint32_t *rank);

/* Takes a name apart. false: it has more than 255 bytes or 16 words. The struct must not be moved. */
bool file_name_read(struct file_name *n, const char *name);

/* The split that a word in the name of a file names, also if digits or others follow, as in test1.csv; NULL: none
 * does, and the rank is that of train. */
const char *file_name_split(const char *name, uint32_t *rank);

/* Another split that a word of the name tells, as in train_val.csv; NULL: none does. */
const char *file_name_other_split(const char *name);

/* Takes out word i. */
void file_name_drop(struct file_name *n, unsigned i);

/* The words that are left with '_' between them. */
void file_name_join(const struct file_name *n, char *out, size_t size);

/* Is the word, in whatever case, one of these, of which the last is NULL? */
bool word_in(const char *word, const char *const *words);

/* Does the name end so, in whatever case? */
bool name_ends(const char *name, const char *ending);

/* Does a name end as those of packed files do? *length: of the name without. */
bool ends_packed(const char *name, size_t *length);

/* Is it called as archives are that a source may be? */
bool name_is_archive(const char *name);

#endif

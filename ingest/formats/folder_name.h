/* What the name of a folder says: is it one of a split, or nearly; or of one kind of file, such as masks, rather than of a class? */
#ifndef FOLDER_NAME_H
#define FOLDER_NAME_H

#include <stdbool.h>
#include <stdint.h>

#define FOLDER_NO_SPLIT UINT32_MAX
#define FOLDER_SPLITS   10u

/* The names of splits, in the order in which these come. */
extern const char *const folder_splits[FOLDER_SPLITS];

/* Which of them it is, in whatever case; FOLDER_NO_SPLIT: none. */
uint32_t folder_split(const char *name);

/* Does it read like the name of a split, such as train2017, test_set or Holdout? All names of splits do. */
bool folder_like_split(const char *name);

/* Is a split's word, or one that is short for it, among those of the name, as in seg_train and trainA, not in trainer? */
bool folder_has_split_word(const char *name);

/* Are two names alike but for a word in each, which are those of different splits: seg_train and seg_test, trainA and testA? */
bool folder_split_twins(const char *a, const char *b);

/* Is it the name of one kind of file, such as images, labels, masks or JPEGImages? */
bool folder_of_one_kind(const char *name);

#endif

/* What the name of a folder says: see folder_name.h. */
#include "folder_name.h"

#include "file_name.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

const char *const folder_splits[FOLDER_SPLITS] = {"train", "training", "val",  "valid",   "validation",
                                                  "dev",   "eval",     "test", "testing", "extra"};

/* What else splits are called, alone or among the words of a name. */
static const char *const other_splits[] = {"holdout", "evaluation", "t10k", NULL};

/* Words that may stand beside that of a split. */
static const char *const fillers[] = {"set", "data", "dataset", "split", "images", "imgs", "img", NULL};

/* What data sets with masks, boxes or several views of a thing call their folders. */
static const char *const kinds[] = {"image",
                                    "images",
                                    "img",
                                    "imgs",
                                    "jpegimages",
                                    "mask",
                                    "masks",
                                    "label",
                                    "labels",
                                    "annotation",
                                    "annotations",
                                    "bboxes",
                                    "labelmask",
                                    "groundtruth",
                                    "gt",
                                    "segmentationclass",
                                    "segmentationobject",
                                    NULL};

uint32_t folder_split(const char *name)
{
    for (uint32_t i = 0; i < FOLDER_SPLITS; i++)
        if (strcasecmp(folder_splits[i], name) == 0)
            return i;
    return FOLDER_NO_SPLIT;
}

static bool split_word(const char *word)
{
    return folder_split(word) != FOLDER_NO_SPLIT || word_in(word, other_splits);
}

/* A split's word and another in one, such as trainset. */
static bool joined_word(const char *word)
{
    char begin[16];
    for (size_t i = 1; i < sizeof begin && word[i]; i++) {
        memcpy(begin, word, i);
        begin[i] = 0;
        if (split_word(begin) && word_in(word + i, fillers))
            return true;
    }
    return false;
}

bool folder_like_split(const char *name)
{
    char text[64];
    char *rest = NULL;
    bool found = word_in(name, other_splits);
    if (strlen(name) >= sizeof text || found)
        return found;
    strcpy(text, name);
    for (char *word = strtok_r(text, "-_. 0123456789", &rest); word;
         word = strtok_r(NULL, "-_. 0123456789", &rest)) {
        bool split = split_word(word) || joined_word(word);
        if (!split && !word_in(word, fillers))
            return false;
        found |= split;
    }
    return found;
}

/* Such words, longer ones first where they begin alike; of one split each, but for names that are short for it. */
static const struct {
    const char *word, *split;
} twin_words[] = {{"training", "train"},  {"train", "train"},    {"trn", "train"},    {"validation", "val"},
                  {"validate", "val"},    {"valid", "val"},      {"val", "val"},      {"dev", "dev"},
                  {"evaluation", "eval"}, {"eval", "eval"},      {"testing", "test"}, {"test", "test"},
                  {"tst", "test"},        {"holdout", "holdout"}};

#define TWIN_WORDS (sizeof twin_words / sizeof *twin_words)

/* Is it a word of the name, which ends there, or but for an s, or goes on in upper case: of trainA and tests, not of trainer? */
static bool is_word_at(const char *name, size_t at, size_t length)
{
    const char *next = name + at + length;
    next += *next == 's' && !isalpha((unsigned char)next[1]);
    bool begins = at == 0 || !isalpha((unsigned char)name[at - 1]) ||
                  (islower((unsigned char)name[at - 1]) && isupper((unsigned char)name[at]));
    return begins && (!isalpha((unsigned char)*next) ||
                      (isupper((unsigned char)*next) && islower((unsigned char)next[-1])));
}

/* The first such word at that place or behind it: where, and how long it is. NULL: there is none; else, the split. */
static const char *next_split_word(const char *name, size_t *at, size_t *length)
{
    for (; name[*at]; ++*at)
        for (size_t i = 0; i < TWIN_WORDS; i++) {
            *length = strlen(twin_words[i].word);
            if (strncasecmp(name + *at, twin_words[i].word, *length) == 0 && is_word_at(name, *at, *length))
                return twin_words[i].split;
        }
    return NULL;
}

bool folder_split_twins(const char *a, const char *b)
{
    size_t at = 0, length, other_length;
    for (const char *split; (split = next_split_word(a, &at, &length)) != NULL; at++) {
        size_t there = at;
        const char *other = strncasecmp(a, b, at) == 0 ? next_split_word(b, &there, &other_length) : NULL;
        if (other && there == at && strcmp(other, split) != 0 &&
            strcasecmp(a + at + length, b + at + other_length) == 0)
            return true;
    }
    return false;
}

bool folder_has_split_word(const char *name)
{
    size_t at = 0, length;
    return next_split_word(name, &at, &length) != NULL;
}

bool folder_of_one_kind(const char *name)
{
    char text[64];
    size_t used = 0;
    for (; *name && used + 1 < sizeof text; name++)
        if (!strchr("-_ ", *name))
            text[used++] = *name;
    text[used] = 0;
    return word_in(text, kinds);
}

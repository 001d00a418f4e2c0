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

/* Does `b` have another split's word in the place of this one, of `length` bytes at `at` in `a`, and is it alike otherwise? */
static bool is_twin(const char *a, size_t at, size_t length, const char *split, const char *b)
{
    const char *tail = a + at + length;
    size_t size = strlen(b), tail_size = strlen(tail);
    if (size < at + tail_size || strncasecmp(a, b, at) != 0 || strcasecmp(b + size - tail_size, tail) != 0)
        return false;
    for (size_t i = 0; i < TWIN_WORDS; i++)
        if (strlen(twin_words[i].word) == size - at - tail_size &&
            strncasecmp(b + at, twin_words[i].word, size - at - tail_size) == 0)
            return strcmp(twin_words[i].split, split) != 0;
    return false;
}

bool folder_split_twins(const char *a, const char *b)
{
    for (size_t at = 0; a[at]; at++)
        for (size_t i = 0; i < TWIN_WORDS; i++) {
            size_t length = strlen(twin_words[i].word);
            if (strncasecmp(a + at, twin_words[i].word, length) == 0 &&
                is_twin(a, at, length, twin_words[i].split, b))
                return true;
        }
    return false;
}

bool folder_has_split_word(const char *name)
{
    for (; *name; name++)
        for (size_t i = 0; i < TWIN_WORDS; i++)
            if (strncasecmp(name, twin_words[i].word, strlen(twin_words[i].word)) == 0)
                return true;
    return false;
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

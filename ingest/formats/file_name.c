/* Words in file names, and which of them are splits. */
#include "file_name.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Words that name splits, in the order in which these come. */
static const struct {
    const char *word, *split;
} split_words[] = {
    {"train", "train"},    {"training", "train"}, {"val", "val"},     {"valid", "val"},
    {"validation", "val"}, {"dev", "dev"},        {"eval", "eval"},   {"test", "test"},
    {"testing", "test"},   {"t10k", "test"},      {"extra", "extra"},
};

#define SPLIT_WORDS (sizeof split_words / sizeof *split_words)

void file_name_drop(struct file_name *n, unsigned i)
{
    memmove(&n->words[i], &n->words[i + 1], (n->count - i - 1) * sizeof *n->words);
    n->count--;
}

/* A split comes at the place of the first of its words: two words for it are of one rank. */
static uint32_t rank_of_split(const char *split)
{
    uint32_t i = 0;
    while (strcmp(split_words[i].split, split) != 0)
        i++;
    return i;
}

const char *split_of_word(const char *word, size_t length, uint32_t *rank)
{
    for (uint32_t i = 0; i < SPLIT_WORDS; i++)
        if (strlen(split_words[i].word) == length && strncasecmp(word, split_words[i].word, length) == 0) {
            *rank = rank_of_split(split_words[i].split);
            return split_words[i].split;
        }
    return NULL;
}

static bool take_split(struct file_name *n, unsigned word)
{
    n->split = split_of_word(n->words[word], strlen(n->words[word]), &n->split_rank);
    if (n->split)
        file_name_drop(n, word);
    return n->split != NULL;
}

bool file_name_read(struct file_name *n, const char *name)
{
    size_t size = strlen(name);
    *n = (struct file_name){0};
    if (size >= sizeof n->text)
        return false;
    memcpy(n->text, name, size + 1);
    char *rest = NULL;
    for (char *word = strtok_r(n->text, "-_.", &rest); word; word = strtok_r(NULL, "-_.", &rest)) {
        if (n->count == FILE_NAME_WORDS)
            return false;
        n->words[n->count++] = word;
    }
    for (unsigned i = 0; i < n->count && !n->split; i++)
        if (take_split(n, i))
            break;
    return true;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The split that the first run of letters names which names one, and not that one, if any. */
static const char *split_of_letters(const char *name, const char *except, uint32_t *rank)
{
    const char *split = NULL;
    while (*name && !split) {
        size_t length = 0;
        while (is_letter(name[length]))
            length++;
        split = split_of_word(name, length, rank);
        if (split && except && strcmp(split, except) == 0)
            split = NULL;
        name += length ? length : 1;
    }
    return split;
}

const char *file_name_split(const char *name, uint32_t *rank)
{
    struct file_name n;
    *rank = 0;
    if (!file_name_read(&n, name) || !n.split)
        return split_of_letters(name, NULL, rank);
    *rank = n.split_rank;
    return n.split;
}

const char *file_name_other_split(const char *name)
{
    uint32_t rank;
    const char *split = file_name_split(name, &rank);
    return split ? split_of_letters(name, split, &rank) : NULL;
}

void file_name_join(const struct file_name *n, char *out, size_t size)
{
    size_t used = 0;
    *out = 0;
    for (unsigned i = 0; i < n->count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? "_" : "", n->words[i]);
}

bool word_in(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcasecmp(word, *words) == 0)
            return true;
    return false;
}

bool name_ends(const char *name, const char *ending)
{
    size_t size = strlen(name), n = strlen(ending);
    return size >= n && strcasecmp(name + size - n, ending) == 0;
}

bool ends_packed(const char *name, size_t *length)
{
    static const char *const endings[] = {".gz", ".zst", ".xz", ".bz2"};
    size_t size = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        if (size > n && strcasecmp(name + size - n, endings[i]) == 0) {
            *length = size - n;
            return true;
        }
    }
    return false;
}

bool name_is_archive(const char *name)
{
    static const char *const endings[] = {".tar",    ".tar.gz",  ".tgz", ".tar.zst",
                                          ".tar.xz", ".tar.bz2", ".zip"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (name_ends(name, endings[i]))
            return true;
    return false;
}

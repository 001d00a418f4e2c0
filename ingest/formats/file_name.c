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

void file_name_drop(struct file_name *n, unsigned i)
{
    memmove(&n->words[i], &n->words[i + 1], (n->count - i - 1) * sizeof *n->words);
    n->count--;
}

static bool take_split(struct file_name *n, unsigned word)
{
    for (uint32_t i = 0; i < sizeof split_words / sizeof *split_words; i++)
        if (strcasecmp(n->words[word], split_words[i].word) == 0) {
            n->split = split_words[i].split;
            n->split_rank = i;
            file_name_drop(n, word);
            return true;
        }
    return false;
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

bool name_is_archive(const char *name)
{
    static const char *const endings[] = {".tar",    ".tar.gz",  ".tgz", ".tar.zst",
                                          ".tar.xz", ".tar.bz2", ".zip"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (name_ends(name, endings[i]))
            return true;
    return false;
}

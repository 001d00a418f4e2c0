/* Which word was meant: see spelling.h. */
#include "spelling.h"

#include <string.h>

#define LONGEST 63

/* Edits between two words (Levenshtein, 1966). */
static size_t edits(const char *a, const char *b)
{
    size_t row[LONGEST + 1], n = strlen(b);
    for (size_t k = 0; k <= n; k++)
        row[k] = k;
    for (size_t i = 1; *a; i++, a++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t k = 1; k <= n; k++) {
            size_t changed = diagonal + (b[k - 1] != *a), least = row[k] < row[k - 1] ? row[k] : row[k - 1];
            diagonal = row[k];
            row[k] = changed < least + 1 ? changed : least + 1;
        }
    }
    return row[n];
}

const char *nearest_spelling(const char *asked, const char *(*word)(const void *of, size_t i), const void *of)
{
    size_t length = strlen(asked), most = length < 6 ? 1 : length / 3;
    const char *found = NULL, *name;
    for (size_t i = 0; length <= LONGEST && (name = word(of, i)); i++) {
        size_t n = strlen(name) <= LONGEST ? edits(asked, name) : LONGEST;
        if (n > 0 && n <= most) {
            found = name;
            most = n - 1;
        }
    }
    return found;
}

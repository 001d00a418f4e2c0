/* The distance of optimal string alignment: see near_word.h. */
#include "near_word.h"

#include <string.h>

#define LONGEST 31 /* bytes of words that are compared */

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned near_word_edits(const char *word, size_t length, const char *other)
{
    size_t other_length = strlen(other), longer = length > other_length ? length : other_length;
    unsigned edits[LONGEST + 1][LONGEST + 1]; /* between the first i and the first j bytes */
    if (longer > LONGEST)
        return 0;
    for (unsigned i = 0; i <= length; i++)
        for (unsigned j = 0; j <= other_length; j++) {
            edits[i][j] = i + j;
            if (i == 0 || j == 0)
                continue;
            edits[i][j] = edits[i - 1][j - 1] + (word[i - 1] != other[j - 1]);
            edits[i][j] = least(edits[i][j], 1 + least(edits[i - 1][j], edits[i][j - 1]));
            if (i > 1 && j > 1 && word[i - 1] == other[j - 2] && word[i - 2] == other[j - 1])
                edits[i][j] = least(edits[i][j], 1 + edits[i - 2][j - 2]);
        }
    unsigned most = longer < 6 ? 1 : (unsigned)longer / 3;
    return edits[length][other_length] <= most ? edits[length][other_length] : 0;
}

/* Which word was meant. */
#include "near_word.h"

#include <criterion/criterion.h>
#include <string.h>

Test(near_word, counts_edits)
{
    static const struct {
        const char *word, *other;
        unsigned edits;
    } cases[] = {{"xyhw", "xywh", 1},
                 {"keypoint", "keypoints", 1},
                 {"boxs", "boxes", 1},
                 {"boxes", "boxes", 0},
                 {"imgae", "image", 1},
                 {"image", "mask", 0},
                 {"keipoimts", "keypoints", 2},
                 {"ab", "ba", 1},
                 {"a", "b", 1},
                 {"", "a", 1},
                 {"", "ab", 0},
                 {"xyhw", "xyxy", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *a = cases[i].word, *b = cases[i].other;
        cr_expect_eq(near_word_edits(a, strlen(a), b), cases[i].edits, "%s, %s", a, b);
        cr_expect_eq(near_word_edits(b, strlen(b), a), cases[i].edits, "%s, %s", b, a);
    }
    cr_expect_eq(near_word_edits("maskable", 4, "masq"), 1, "no byte behind the word counts");
}

Test(near_word, long_words_are_near_none)
{
    char one[201], other[201];
    memset(one, 'x', sizeof one);
    memset(other, 'x', sizeof other);
    for (size_t n = 0; n < sizeof other; n++) {
        other[n] = 0;
        unsigned edits = near_word_edits(one, n ? n - 1 : 1, other);
        cr_expect_eq(edits, n <= 31, "%zu", n);
        other[n] = 'x';
    }
}

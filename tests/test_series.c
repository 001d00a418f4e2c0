/* Files that say how many they are: which are missing. */
#include "series.h"

#include <criterion/criterion.h>
#include <string.h>

#define PATHS(...)        ((const char *const[]){__VA_ARGS__})
#define COUNT(...)        (sizeof PATHS(__VA_ARGS__) / sizeof(char *))
#define WHOLE(...)        cr_assert_eq(series_check(PATHS(__VA_ARGS__), COUNT(__VA_ARGS__), NULL), APL_OK)
#define LACKS(words, ...) lacks(words, PATHS(__VA_ARGS__), COUNT(__VA_ARGS__))

static void lacks(const char *words, const char *const *paths, size_t count)
{
    apl_error err = {0};
    cr_assert_eq(series_check(paths, count, &err), APL_E_INCOMPLETE, "%s", words);
    cr_assert(strstr(err.message, words), "\"%s\" lacks \"%s\"", err.message, words);
}

Test(series, whole)
{
    WHOLE("a", "b.csv");
    WHOLE("d/x-00000-of-00001.tfrecord");
    WHOLE("x-00001-of-00002", "x-00000-of-00002", "y-0-of-1");
    WHOLE("x-1-of-3.tar", "x-2-of-3.tar", "x-3-of-3.tar");                     /* from 1 on */
    WHOLE("x-00000-of-00002-f00d.jsonl", "x-00001-of-00002-beef.jsonl");       /* with what differs behind */
    WHOLE("x-0-of-2.a", "x-1-of-2.a", "x-0-of-2.b", "x-1-of-2.b");             /* twice */
    WHOLE("part-of-2", "1-of-", "x-5-of-3", "x-1-of-9999999999", "best-of-b"); /* nothing of the kind */
    WHOLE("d-0-of-9/x");
}

Test(series, not_whole)
{
    LACKS("x-00000-of-00003.tar: of the 3 shards that its name speaks of, 2 are missing, number 1 first",
          "x-00000-of-00003.tar");
    LACKS("x-0-of-3: of the 3 shards that its name speaks of, 1 is missing, number 1 first", "x-2-of-3",
          "x-0-of-3");
    LACKS("1 is missing, number 0 first", "x-2-of-3", "x-1-of-3");
    LACKS("1 is missing, number 2 first", "x-1-of-3", "x-3-of-3"); /* from 1 on */
    LACKS("val-0-of-2: ", "train-0-of-2", "train-1-of-2", "val-0-of-2", "other");
    LACKS("1 is missing, number 1 first", "a/x-0-of-2", "b/x-1-of-2", "b/x-0-of-2");
    LACKS("best-of-5-0-of-2: ", "best-of-5-0-of-2");
}

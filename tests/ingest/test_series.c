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

static void has_gap(const char *name, const char *words, const char *const *paths, size_t count)
{
    struct series_gap gap;
    apl_error err;
    bool found;
    cr_assert_eq(series_find_gap(paths, count, &gap, &found, &err), APL_OK);
    cr_assert_eq(found, name != NULL, "%s", paths[0]);
    if (found) {
        cr_assert_str_eq(gap.path, name);
        cr_assert_str_eq(gap.text, words);
    }
}

#define GAP(name, words, ...) has_gap(name, words, PATHS(__VA_ARGS__), COUNT(__VA_ARGS__))
#define NO_GAP(...)           GAP(NULL, NULL, __VA_ARGS__)

Test(series, gaps)
{
    GAP("d/x-000000.tar", "of the shards numbered 0 to 3, 1 is missing, number 2 first", "d/x-000003.tar",
        "d/x-000000.tar", "d/x-000001.tar");
    GAP("x01", "of the shards numbered 1 to 9, 6 are missing, number 2 first", "x01", "x09", "x04", "x04");
    GAP("b-00.tar", "of the shards numbered 0 to 2, 1 is missing, number 1 first", "a-00.tar", "a-01.tar",
        "b-00.tar", "b-02.tar");
    GAP("v01-01.tar", "of the shards numbered 1 to 3, 1 is missing, number 2 first", "v01-01.tar",
        "v01-03.tar");
    GAP("v2-00.tar", "of the shards numbered 0 to 2, 1 is missing, number 1 first", "v2-00.tar", "v2-02.tar");
}

Test(series, no_gaps)
{
    NO_GAP("x-00.tar", "x-01.tar", "x-02.tar");
    NO_GAP("x-03.tar", "x-04.tar");                  /* it may begin anywhere */
    NO_GAP("2019.csv", "2021.csv");                  /* nor is a year a shard */
    NO_GAP("x-0.tar", "y-2.tar");                    /* other names, */
    NO_GAP("a/x-0.tar", "b/x-2.tar");                /* folders, */
    NO_GAP("x-0.tar", "x-2.csv");                    /* endings */
    NO_GAP("x-00.tar", "x-002.tar");                 /* and digits */
    NO_GAP("x-0-of-3.tar", "x-2-of-3.tar");          /* series_check() tells */
    NO_GAP("a", "", "x-0000000000", "x-0000000002"); /* no number */
    NO_GAP("01/a", "03/a");
}

/* Which folders are splits and which are classes. */
#include "class_tree.h"
#include "inner_splits.h"

#include <criterion/criterion.h>
#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static apl_error err;

/* A tree of these paths, the last one NULL; those that end with "/" are folders. */
static struct class_tree *tree_of(const char *const *paths)
{
    struct class_tree *tree = class_tree_new();
    for (size_t i = 0; paths[i]; i++) {
        bool folder = paths[i][strlen(paths[i]) - 1] == '/';
        cr_assert_eq(class_tree_add(tree, paths[i], folder, &err), APL_OK, "%s", err.message);
    }
    return tree;
}

/* Classes, and of each image its split, label and path: "train:0:cat/1 ". */
static const char *decided(const char *const *paths, bool partial)
{
    static char text[2048];
    struct class_tree *tree = tree_of(paths);
    const char *const *names;
    size_t used = 0;
    text[0] = 0;
    if (class_tree_decide(tree, partial, &err) != APL_OK) {
        class_tree_free(tree);
        return err.message;
    }
    uint32_t n = class_tree_classes(tree, &names);
    for (uint32_t i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s ", names[i]);
    used += (size_t)snprintf(text + used, sizeof text - used, "| ");
    for (size_t i = 0; paths[i]; i++) {
        struct class_place place;
        if (paths[i][strlen(paths[i]) - 1] == '/')
            continue;
        if (class_tree_find(tree, paths[i], &place))
            used += (size_t)snprintf(text + used, sizeof text - used, "%s:%u:%s ", place.split, place.label,
                                     place.path);
        else
            used += (size_t)snprintf(text + used, sizeof text - used, "- ");
    }
    snprintf(text + used, sizeof text - used, "| %u", (unsigned)class_tree_strays(tree));
    class_tree_free(tree);
    return text;
}

#define DECIDED(expected, ...)                                                      \
    do {                                                                            \
        const char *is_ = decided((const char *const[]){__VA_ARGS__, NULL}, false); \
        cr_assert_str_eq(is_, (expected), "%s", is_);                               \
    } while (0)

Test(class_tree, classes)
{
    DECIDED("cat dog | train:1:dog/1 train:0:cat/2 train:1:dog/3 | 0", "dog/1", "cat/2", "dog/3");
    DECIDED("a | train:0:a/1 | 0", "a/1");
    DECIDED("B a a-b | train:1:a/1 train:2:a-b/1 train:0:B/1 | 0", "a/1", "a-b/1", "B/1");
    DECIDED("cat dog | train:0:cat/x/y/1 train:1:dog/1 | 0", "cat/x/y/1", "dog/1");
}

Test(class_tree, splits)
{
    DECIDED("cat dog | test:0:test/cat/1 train:0:train/cat/1 train:1:train/dog/2 | 0", "test/cat/1",
            "train/cat/1", "train/dog/2");
    DECIDED("cat dog | val:1:val/dog/1 train:0:train/cat/1 | 0", "val/dog/1", "train/cat/1");
    DECIDED("cat | train:0:train/cat/1 | 0", "train/cat/1");
    DECIDED("cat | train:0:train/cat/deep/1 - - | 2", "train/cat/deep/1", "train/2", "3");
}

/* Named like a split, but a class: another folder beside it is not a split, or it has nothing in it but images. */
Test(class_tree, classes_called_as_splits)
{
    DECIDED("car train | train:1:train/1 train:0:car/1 | 0", "train/1", "car/1");
    DECIDED("car train | train:1:train/x/1 train:0:car/1 | 0", "train/x/1", "car/1");
    DECIDED("test train | train:1:train/1 train:0:test/1 | 0", "train/1", "test/1");
}

/* As "path alone several". */
static const char *inner(const char *const *paths)
{
    static char text[512];
    struct class_tree *tree = tree_of(paths);
    struct inner_splits found;
    cr_assert_eq(class_tree_decide(tree, true, &err), APL_OK, "%s", err.message);
    inner_splits_find(tree, &found);
    snprintf(text, sizeof text, "%s %d %d", found.first, found.alone, found.several);
    class_tree_free(tree);
    return text;
}

#define INNER(expected, ...)                                               \
    do {                                                                   \
        const char *is_ = inner((const char *const[]){__VA_ARGS__, NULL}); \
        cr_assert_str_eq(is_, (expected), "%s", is_);                      \
    } while (0)

Test(class_tree, splits_below_classes)
{
    INNER(" 0 0", "cat/1", "dog/deep/2");
    INNER("cat/train 1 0", "cat/train/1", "dog/2");
    INNER("b/train 0 1", "b/train/x/1", "a/cat/test/1", "a/cat/2", "b/3");
    INNER("cat/extra 0 0", "cat/extra/1", "cat/2", "dog/3");
    INNER("train/cat/Test 0 0", "train/cat/Test/1", "train/cat/2", "test/dog/3");
    INNER(" 0 0", "photos/train/cat/1", "photos/test/cat/1", "other/");
    INNER("2023/train 1 0", "2023/train/cat/1", "2024/train/cat/1", "2024/notes/");
}

/* The caller's split is that of all images, unless the folders at the top are splits. */
Test(class_tree, split_of_the_source)
{
    static const char *const paths[][3] = {{"cat/1", "dog/2", NULL}, {"val/cat/1", "val/dog/2", NULL}};
    for (unsigned i = 0; i < 2; i++) {
        struct class_tree *tree = tree_of(paths[i]);
        const char *split;
        uint32_t rank;
        uint64_t images;
        struct class_place place;
        class_tree_call(tree, "test", 6);
        cr_assert_eq(class_tree_decide(tree, false, &err), APL_OK, "%s", err.message);
        cr_assert(class_tree_split(tree, 0, &split, &rank, &images) && images == 2);
        cr_assert_str_eq(split, i == 0 ? "test" : "val");
        cr_assert(class_tree_find(tree, paths[i][0], &place) && strcmp(place.split, split) == 0);
        cr_assert_eq(place.split_rank, rank);
        cr_assert_eq(class_tree_has_splits(tree), i == 1);
        class_tree_free(tree);
    }
}

Test(class_tree, splits_in_another_case)
{
    DECIDED("cat dog | train:0:Train/cat/1 train:1:Train/dog/2 val:0:VAL/cat/3 | 0", "Train/cat/1",
            "Train/dog/2", "VAL/cat/3");
    DECIDED("cat | training:0:Training/cat/1 testing:0:Testing/cat/2 | 0", "Training/cat/1", "Testing/cat/2");
    DECIDED("cat | test:0:Test/cat/1 | 0", "a/Test/cat/1");
    DECIDED("Train train | train:0:Train/cat/1 train:1:train/cat/2 | 0", "Train/cat/1", "train/cat/2");
}

Test(class_tree, folders_around)
{
    DECIDED("cat dog | train:0:cat/1 train:1:dog/1 | 0", "photos/cat/1", "photos/dog/1");
    DECIDED("cat dog | train:0:train/cat/1 test:1:test/dog/1 | 0", "a/b/train/cat/1", "a/b/test/dog/1");
    DECIDED("cat | train:0:cat/1 | 0", "photos/cat/1", "doc/", "doc/more/");
    DECIDED("a b | train:0:a/1 train:1:b/1 - | 1", "a/1", "b/1", "2");
}

static void expect_failure(const char *words, apl_status status, const char *const *paths)
{
    struct class_tree *tree = tree_of(paths);
    cr_assert_eq(class_tree_decide(tree, false, &err), status, "%s", err.message);
    cr_assert_not_null(strstr(err.message, words), "%s", err.message);
    class_tree_free(tree);
}

Test(class_tree, empty_classes)
{
    const char *const paths[] = {"cat/1", "dog/", NULL},
                      *const deep[] = {"train/cat/1", "train/dog/", "test/cat/2", NULL},
                      *const empty_split[] = {"train/cat/1", "test/", "val/cat/", NULL};
    expect_failure("the class dog has no images", APL_E_INCOMPLETE, paths);
    expect_failure("the class dog has no images", APL_E_INCOMPLETE, deep);
    cr_assert_str_eq(decided(paths, true), "cat dog | train:0:cat/1 | 0");
    cr_assert_str_eq(decided(deep, true), "cat dog | train:0:train/cat/1 test:0:test/cat/2 | 0");
    cr_assert_str_eq(decided(empty_split, false), "cat | train:0:train/cat/1 | 0");
}

/* Images without a class would make a class of their split, and of all others too. */
Test(class_tree, a_split_without_classes)
{
    const char *const flat[] = {"train/cat/1", "train/dog/2", "test/3", NULL}, *const first[] = {
                                                                                   "a/Val2/1",
                                                                                   "a/train_set/cat/1", NULL};
    expect_failure(
        "the images in test lie in no classes, as those in train do: put them into folders by class "
        "(test/CLASS/1.jpg), or leave test out of the source",
        APL_E_SOURCE, flat);
    expect_failure("the images in val lie in no classes, as those in train do", APL_E_SOURCE,
                   (const char *const[]){"train/n1/images/1", "train/n2/images/2", "val/images/3", NULL});
    DECIDED("images | train:0:train/images/1 val:0:val/images/2 | 0", "train/images/1", "val/images/2");
    expect_failure("the images in Val2 lie in no classes, as those in train_set do", APL_E_SOURCE, first);
    DECIDED("samples test train | train:2:train/cat/1 train:1:test/2 train:0:samples/3 | 0", "train/cat/1",
            "test/2", "samples/3");
    DECIDED("cat | train:0:train/cat/1 | 0", "train/cat/1", "test/", "notes/");
}

Test(class_tree, names_that_are_none)
{
    char name[300];
    memset(name, 'x', 256);
    strcpy(name + 256, "/1");
    expect_failure("is not printable UTF-8 of at most 255 bytes", APL_E_SOURCE,
                   (const char *const[]){"a\xff/1", "b/1", NULL});
    expect_failure("is not printable UTF-8 of at most 255 bytes", APL_E_SOURCE,
                   (const char *const[]){"a\n/1", "b/1", NULL});
    expect_failure("is not printable UTF-8 of at most 255 bytes", APL_E_SOURCE,
                   (const char *const[]){name, "b/1", NULL});
    DECIDED("caf\xc3\xa9 | train:0:caf\xc3\xa9/1 | 0", "caf\xc3\xa9/1");
}

Test(class_tree, nothing)
{
    const char *const none[] = {NULL}, *const only_files[] = {"1", "2", NULL};
    cr_assert_str_eq(decided(none, false), "| | 0");
    cr_assert_str_eq(decided(only_files, false), "| - - | 2");
    struct class_place place;
    struct class_tree *tree = tree_of((const char *const[]){"a/1", "b/2", NULL});
    cr_assert_eq(class_tree_decide(tree, false, &err), APL_OK);
    cr_assert(!class_tree_find(tree, "c/1", &place) && !class_tree_find(tree, "", &place) &&
              !class_tree_find(tree, "a", &place));
    class_tree_free(tree);
    class_tree_free(NULL);
}

/* Many classes, in the order in which they come: each has the number of its place among the sorted ones. */
Test(class_tree, a_thousand_classes)
{
    struct class_tree *tree = class_tree_new();
    const char *const *names;
    char path[32];
    for (unsigned i = 0; i < 3000; i++) {
        snprintf(path, sizeof path, "n%05u/%u.jpg", i * 7919 % 1000 * 3, i);
        cr_assert_eq(class_tree_add(tree, path, false, &err), APL_OK);
    }
    cr_assert_eq(class_tree_decide(tree, false, &err), APL_OK);
    cr_assert_eq(class_tree_classes(tree, &names), 1000);
    for (unsigned i = 0; i < 3000; i++) {
        struct class_place place;
        snprintf(path, sizeof path, "n%05u/%u.jpg", i * 7919 % 1000 * 3, i);
        cr_assert(class_tree_find(tree, path, &place));
        cr_assert_eq(place.label, i * 7919 % 1000);
    }
    class_tree_free(tree);
}

/* What folders are called, and what is said where a name that reads like another thing's became a class. */
#include "folder_layout.h"

#include "folder_name.h"

#include <criterion/criterion.h>
#include <stdio.h>

static apl_error err;
static char told[2048];

static void take_notice(void *user, const char *name, const char *text)
{
    size_t used = strlen(told);
    (void)user;
    snprintf(told + used, sizeof told - used, "%s%s|", name, text);
}

/* What is told of images at these paths, the last one NULL: up to the first semicolon of each note. */
static const char *told_of(const char *const *paths)
{
    const struct format_host host = {.notice = take_notice};
    struct class_tree *tree = class_tree_new();
    told[0] = 0;
    for (size_t i = 0; paths[i]; i++)
        cr_assert_eq(class_tree_add(tree, paths[i], paths[i][strlen(paths[i]) - 1] == '/', &err), APL_OK);
    (void)class_tree_decide(tree, false, &err);
    folder_layout_tell(tree, &host);
    class_tree_free(tree);
    return told;
}

#define TOLD(...) told_of((const char *const[]){__VA_ARGS__, NULL})

static bool begins(const char *text, const char *words)
{
    return strncmp(text, words, strlen(words)) == 0;
}

Test(folder_layout, names_of_splits)
{
    static const char *const like[] = {"train",     "Train",       "TEST",    "train2017", "val2017",
                                       "test_set",  "trainset",    "Holdout", "dev-1",     "training.data",
                                       "valid",     "test images", "extra",   "t10k",      "testset2",
                                       "train_val", "EVALUATION",  NULL},
                             *const unlike[] = {
                                 "cat",
                                 "",
                                 "trains",
                                 "test_tube",
                                 "training_shoe",
                                 "dataset",
                                 "set",
                                 "images",
                                 "2017",
                                 "seg_train",
                                 "devil",
                                 "-",
                                 "valley",
                                 "testament",
                                 "extraset_of_many_words_that_are_no_split",
                                 "a_name_of_more_than_sixty_four_bytes_that_begins_like_no_split_at_all",
                                 NULL};
    for (size_t i = 0; like[i]; i++)
        cr_assert(folder_like_split(like[i]), "%s", like[i]);
    for (size_t i = 0; unlike[i]; i++)
        cr_assert(!folder_like_split(unlike[i]), "%s", unlike[i]);
    cr_assert_eq(folder_split("Val"), folder_split("val"));
    cr_assert_eq(folder_split("train2"), FOLDER_NO_SPLIT);
}

Test(folder_layout, names_of_kinds)
{
    cr_assert(folder_of_one_kind("JPEGImages") && folder_of_one_kind("ground-truth") &&
              folder_of_one_kind("Masks"));
    cr_assert(!folder_of_one_kind("cat") && !folder_of_one_kind("") && !folder_of_one_kind("imagesque"));
}

Test(folder_layout, nothing_to_tell)
{
    cr_assert_str_eq(TOLD("cat/1", "dog/2"), "");
    cr_assert_str_eq(TOLD("train/cat/1", "Test/cat/2"), "");
    cr_assert_str_eq(TOLD("1", "2"), "");
}

Test(folder_layout, splits_that_became_classes)
{
    cr_assert(begins(TOLD("train2017/1", "val2017/2"),
                     "taken for classes: train2017, val2017; splits are folders "),
              "%s", told);
    cr_assert(begins(TOLD("train/cat/1", "val/cat/2", "samples/3"), "taken for classes: train, val; "), "%s",
              told);
    cr_assert(begins(TOLD("bus/1", "train/2"), "taken for classes: train; "), "%s", told);
    cr_assert(begins(TOLD("train/1", "train2/1", "train3/1", "train4/1", "test/1"),
                     "taken for classes: test, train, train2, train3 and 1 more; "),
              "%s", told);
}

/* Is it an error, unless --format folder was given? */
static bool is_refused(const char *const *paths)
{
    apl_ingest_options options = APL_INGEST_OPTIONS_INIT;
    const struct format_host host = {.notice = take_notice, .options = &options};
    struct class_tree *tree = class_tree_new();
    for (size_t i = 0; paths[i]; i++)
        cr_assert_eq(class_tree_add(tree, paths[i], paths[i][strlen(paths[i]) - 1] == '/', &err), APL_OK);
    (void)class_tree_decide(tree, false, &err);
    apl_status status = folder_layout_check(tree, &host, &err);
    options.format = "folder";
    cr_assert_eq(folder_layout_check(tree, &host, NULL), APL_OK);
    class_tree_free(tree);
    return status == APL_E_INVALID;
}

#define REFUSED(...) is_refused((const char *const[]){__VA_ARGS__, NULL})

Test(folder_layout, several_splits_are_no_classes)
{
    cr_assert(REFUSED("train2017/1", "val2017/2"));
    cr_assert(begins(err.message, "these would become classes: train2017, val2017; splits are folders "),
              "%s", err.message);
    cr_assert(REFUSED("train2017/1", "val2017/2", "annotations/"));
    cr_assert(REFUSED("train/cat/1", "val/cat/2", "samples/3"));
    cr_assert(REFUSED("train/1", "train2/1", "train3/1", "train4/1", "test/1"));
    cr_assert_not_null(strstr(err.message, "test, train, train2, train3 and 1 more; "), "%s", err.message);
    cr_assert(REFUSED("train/1"));
    cr_assert(!REFUSED("bus/1", "train/2"));
    cr_assert(!REFUSED("cat/1", "dog/2"));
    cr_assert(!REFUSED("train/cat/1", "Test/cat/2"));
    cr_assert(!REFUSED("images/1", "masks/2"));
}

/* A folder without images is an error; but what it is beside is told first. */
Test(folder_layout, told_before_an_error)
{
    cr_assert(begins(TOLD("annotations/", "val2017/1"), "taken for classes: val2017; "), "%s", told);
    cr_assert_not_null(strstr(err.message, "the class annotations has no images"), "%s", err.message);
}

Test(folder_layout, kinds_that_became_classes)
{
    cr_assert(begins(TOLD("JPEGImages/1", "SegmentationClass/1"),
                     "taken for classes: JPEGImages, SegmentationClass; where masks, boxes or other labels "),
              "%s", told);
    cr_assert(begins(TOLD("train/images/1", "val/images/2"), "taken for classes: images; where "), "%s",
              told);
}

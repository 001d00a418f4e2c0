/* What a writer must not be given is refused, and once it has failed it stays failed; in another process it does nothing. */
#include "store_fixture.h"

#include <sys/wait.h>
#include <unistd.h>

TestSuite(writer_refused, .init = fx_set_up, .fini = fx_tear_down);

static apl_writer *begin(void)
{
    apl_writer *w = NULL;
    OK(apl_writer_open(fx_path("db"), NULL, &w, &fx_err));
    return w;
}

static apl_writer *begin_small(void)
{
    apl_writer *w = begin();
    fx_add_fields(w, &fx_small);
    return w;
}

static apl_status open_with(apl_writer_options o)
{
    apl_writer *w = NULL;
    apl_status status = apl_writer_open(fx_path("db"), &o, &w, &fx_err);
    cr_assert_null(w);
    return status;
}

Test(writer_refused, options_that_cannot_be)
{
    const apl_writer_options good = APL_WRITER_OPTIONS_INIT;
    apl_writer_options o = good;
    o.size = 0;
    FAILS(APL_E_INVALID, open_with(o));
    SAYS("size");
    o.size = sizeof o - 1;
    FAILS(APL_E_INVALID, open_with(o));
    o = good;
    o.block_records = APL_MAX_BLOCK + 1;
    FAILS(APL_E_INVALID, open_with(o));
    o = good;
    o.codec = "gzip";
    FAILS(APL_E_INVALID, open_with(o));
    SAYS("gzip");
    o = good;
    o.level = 23;
    FAILS(APL_E_INVALID, open_with(o));
    o.level = -129;
    FAILS(APL_E_INVALID, open_with(o));
    o = good;
    o.tool = "";
    FAILS(APL_E_INVALID, open_with(o));
    o.tool = "bell\a";
    FAILS(APL_E_INVALID, open_with(o));
    cr_assert(!fx_exists(fx_path("db")));
}

Test(writer_refused, arguments_that_are_NULL)
{
    apl_writer *w = NULL;
    FAILS(APL_E_INVALID, apl_writer_open(NULL, NULL, &w, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_open(fx_path("db"), NULL, NULL, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_open("", NULL, &w, &fx_err));
    cr_assert_eq(apl_writer_open("", NULL, &w, NULL), APL_E_INVALID);
    FAILS(APL_E_INVALID, apl_writer_add_field(NULL, "x", APL_U8, APL_INPUT, 0, NULL, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_set_classes(NULL, "x", fx_classes, 3, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_set_source(NULL, "x", NULL, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_begin_member(NULL, "x", "y", 0, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_append(NULL, NULL, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_commit(NULL, &fx_err));
    apl_writer_close(NULL);
    w = begin();
    FAILS(APL_E_INVALID, apl_writer_add_field(w, NULL, APL_U8, APL_INPUT, 0, NULL, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_add_field(w, "x", APL_U8, APL_INPUT, 2, NULL, &fx_err));
    fx_add_fields(w, &fx_small);
    FAILS(APL_E_NOTFOUND, apl_writer_set_classes(w, NULL, fx_classes, 3, &fx_err));
    FAILS(APL_E_NOTFOUND, apl_writer_set_classes(w, "label", NULL, 3, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_begin_member(w, NULL, "s", 0, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_begin_member(w, "m", NULL, 0, &fx_err));
    OK(apl_writer_begin_member(w, "m", "s", 0, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_append(w, NULL, &fx_err));
    OK(fx_append(w, &fx_small, 0, 0)); /* none of these has broken it */
    OK(apl_writer_set_source(w, NULL, NULL, NULL));
    OK(apl_writer_commit(w, NULL));
    apl_writer_close(w);
}

Test(writer_refused, names_that_are_none)
{
    static const char *const bad[] = {"", "new\nline", "\xff", "cut \xc3", "\x7f"};
    char longest[APL_MAX_NAME + 2];
    memset(longest, 'x', sizeof longest);
    longest[APL_MAX_NAME + 1] = 0;
    apl_writer *w = begin();
    for (unsigned i = 0; i <= COUNT(bad); i++) {
        const char *name = i < COUNT(bad) ? bad[i] : longest;
        FAILS(APL_E_INVALID, apl_writer_add_field(w, name, APL_U8, APL_INPUT, 0, NULL, &fx_err));
    }
    fx_add_fields(w, &fx_small);
    FAILS(APL_E_INVALID, apl_writer_add_field(w, "label", APL_U8, APL_INPUT, 0, NULL, &fx_err));
    for (unsigned i = 0; i <= COUNT(bad); i++) {
        const char *name = i < COUNT(bad) ? bad[i] : longest;
        FAILS(APL_E_INVALID, apl_writer_begin_member(w, name, "s", 0, &fx_err));
        FAILS(APL_E_INVALID, apl_writer_begin_member(w, "m", name, 0, &fx_err));
        if (*name)
            FAILS(APL_E_INVALID, apl_writer_set_source(w, name, NULL, &fx_err));
    }
    longest[APL_MAX_NAME] = 0;
    OK(apl_writer_begin_member(w, longest, longest, 0, &fx_err));
    OK(fx_append(w, &fx_small, 0, 0));
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
}

Test(writer_refused, calls_at_the_wrong_time)
{
    apl_writer *w = begin();
    FAILS(APL_E_INVALID, apl_writer_begin_member(w, "m", "s", 0, &fx_err));
    SAYS("fields");
    fx_add_fields(w, &fx_small);
    const apl_value values[COUNT(fx_fields)] = {{0}};
    FAILS(APL_E_INVALID, apl_writer_append(w, values, &fx_err));
    SAYS("member");
    OK(apl_writer_begin_member(w, "m", "s", 0, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_add_field(w, "late", APL_U8, APL_INPUT, 0, NULL, &fx_err));
    OK(fx_append(w, &fx_small, 0, 0));
    const char *twice[] = {"cat", "cat"};
    FAILS(APL_E_INVALID, apl_writer_set_classes(w, "label", twice, 2, &fx_err));
    SAYS("two classes are called cat");
    OK(apl_writer_set_classes(w, "label", fx_classes, 2, &fx_err));
    OK(apl_writer_commit(w, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_commit(w, &fx_err));
    SAYS("committed");
    FAILS(APL_E_INVALID, fx_append(w, &fx_small, 0, 1));
    FAILS(APL_E_INVALID, apl_writer_begin_member(w, "n", "s", 1, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_set_classes(w, "label", fx_classes, 3, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_set_source(w, "x", NULL, &fx_err));
    apl_writer_close(w);
    apl_store *s = fx_open(fx_path("db"));
    cr_assert_eq(apl_store_field(s, 1)->class_count, 2);
    apl_store_close(s);
}

/* Whatever comes after a failure gives that failure, and closing leaves nothing. */
static void expect_stuck(apl_writer *w, apl_status status)
{
    char message[sizeof fx_err.message];
    strcpy(message, fx_err.message);
    FAILS(status, fx_append(w, &fx_small, 0, 1));
    cr_assert_str_eq(fx_err.message, message);
    FAILS(status, apl_writer_begin_member(w, "n", "s", 77, &fx_err));
    FAILS(status, apl_writer_add_field(w, "x", APL_U8, APL_INPUT, 0, NULL, &fx_err));
    FAILS(status, apl_writer_set_classes(w, "label", fx_classes, 3, &fx_err));
    FAILS(status, apl_writer_set_source(w, "x", NULL, &fx_err));
    FAILS(status, apl_writer_commit(w, &fx_err));
    cr_assert_str_eq(fx_err.message, message);
    apl_writer_close(w);
    cr_assert(!fx_exists(fx_path("db")));
}

Test(writer_refused, stays_failed_after_a_bad_value)
{
    const int64_t short_name[1] = {3}, negative[1] = {-1}, track[2] = {1, 2}, wide[2] = {1, 3},
                  huge[2] = {APL_MAX_VALUE, 2};
    const apl_value good[] = {{"", NULL}, {"\1", NULL}, {"abc", short_name}, {"01234567", track}};
    for (unsigned i = 0; i < 6; i++) {
        static uint8_t image[90];
        apl_value values[COUNT(good)];
        memcpy(values, good, sizeof good);
        values[0].data = i == 0 ? NULL : image;
        values[2].shape = i == 1 ? NULL : i == 2 ? negative : short_name;
        values[3].shape = i == 3 ? wide : i == 4 ? huge : track;
        values[2].data = i == 5 ? NULL : "abc";
        apl_writer *w = begin_small();
        OK(apl_writer_begin_member(w, "m", "s", 0, &fx_err));
        OK(fx_append(w, &fx_small, 0, 0));
        FAILS(APL_E_INVALID, apl_writer_append(w, values, &fx_err));
        SAYS("field");
        expect_stuck(w, APL_E_INVALID);
    }
}

Test(writer_refused, stays_failed_after_a_number_that_two_share)
{
    apl_writer *w = begin_small();
    OK(apl_writer_begin_member(w, "m", "s", 5, &fx_err));
    OK(fx_append(w, &fx_small, 0, 0));
    FAILS(APL_E_INVALID, apl_writer_begin_member(w, "n", "s", 5, &fx_err));
    SAYS("same number 5");
    expect_stuck(w, APL_E_INVALID);
}

Test(writer_refused, stays_failed_after_a_commit_without_records)
{
    apl_writer *w = begin_small();
    OK(apl_writer_begin_member(w, "m", "s", 0, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_commit(w, &fx_err));
    SAYS("without records");
    expect_stuck(w, APL_E_INVALID);
}

Test(writer_refused, no_room_for_the_position)
{
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    o.shuffle = 1;
    apl_writer *w = NULL;
    OK(apl_writer_open(fx_path("db"), &o, &w, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_add_field(w, "source_position", APL_U8, APL_INPUT, 0, NULL, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_begin_member(w, "m", "s", 0, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
    OK(apl_writer_open(fx_path("db"), &o, &w, &fx_err));
    for (unsigned f = 0; f < APL_MAX_FIELDS; f++) {
        char name[16];
        snprintf(name, sizeof name, "f%u", f);
        apl_status status = apl_writer_add_field(w, name, APL_U8, APL_INPUT, 0, NULL, &fx_err);
        cr_assert_eq(status, f + 1 < APL_MAX_FIELDS ? APL_OK : APL_E_INVALID, "%u: %s", f, fx_err.message);
    }
    SAYS("more than 63 fields: a shuffled store has source_position too");
    apl_writer_close(w);
    cr_assert(!fx_exists(fx_path("db")));
}

/* As a destructor or what runs at exit would. */
static void use_in_child(apl_writer *w)
{
    const apl_value value = {"\1", NULL};
    if (apl_writer_append(w, &value, &fx_err) != APL_E_FORKED ||
        apl_writer_commit(w, &fx_err) != APL_E_FORKED)
        _exit(1);
    apl_writer_close(w);
    _exit(0);
}

Test(writer_refused, belongs_to_the_process_that_opened_it)
{
    for (unsigned i = 0; i < 2; i++) {
        apl_writer_options o = APL_WRITER_OPTIONS_INIT;
        apl_writer *w = NULL;
        int status;
        o.replace = 1;
        o.threads = i ? 2 : APL_NO_THREADS;
        OK(apl_writer_open(fx_path("db"), &o, &w, &fx_err));
        OK(apl_writer_add_field(w, "x", APL_BOOL, APL_INPUT, 0, NULL, &fx_err));
        OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
        OK(apl_writer_append(w, &(apl_value){"\1", NULL}, &fx_err));
        pid_t child = fork();
        if (child == 0)
            use_in_child(w);
        cr_assert(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
        OK(apl_writer_append(w, &(apl_value){"\0", NULL}, &fx_err));
        OK(apl_writer_commit(w, &fx_err));
        apl_writer_close(w);
    }
}

Test(writer_refused, bools_are_0_or_1)
{
    apl_writer *w = NULL;
    OK(apl_writer_open(fx_path("db"), NULL, &w, &fx_err));
    OK(apl_writer_add_field(w, "x", APL_BOOL, APL_INPUT, 1, &(int64_t){2}, &fx_err));
    OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
    OK(apl_writer_append(w, &(apl_value){"\1\0", NULL}, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_append(w, &(apl_value){"\1\5", NULL}, &fx_err));
    SAYS("field x: a bool is 5, neither 0 nor 1");
    apl_writer_close(w);
}

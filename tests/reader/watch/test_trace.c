/* Traces: what APL_TRACE names holds an event for all that was done, and nothing else is written over. */
#include "reader_fixture.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRAIN 96
#define BLOCK 8

static char place[64];

static void set_up(void)
{
    fixture_make(TRAIN, 0, BLOCK);
    snprintf(place, sizeof place, "/tmp/apl-trace-XXXXXX");
    cr_assert(mkdtemp(place));
}

static void tear_down(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", place);
    cr_assert_eq(system(command), 0);
    fixture_free();
}

TestSuite(trace, .init = set_up, .fini = tear_down, .timeout = 60);

static const char *at(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", place, name);
    return path;
}

static void train(unsigned threads)
{
    apl_reader_options o = fixture_options();
    struct sequence seen = {0};
    o.threads = threads;
    apl_reader *r = fixture_reader(&o);
    read_epoch(r, &seen);
    cr_assert_eq(seen.count, TRAIN);
    sequence_free(&seen);
    apl_reader_close(r);
}

/* After this process has; returns the child's number. */
static pid_t train_in_child(void)
{
    train(1);
    pid_t child = fork();
    if (child == 0) {
        train(APL_NO_THREADS);
        _exit(0);
    }
    int status;
    cr_assert(waitpid(child, &status, 0) == child && status == 0);
    return child;
}

static char *text_of(const char *path)
{
    static char text[1 << 16];
    FILE *f = fopen(path, "r");
    cr_assert(f, "%s", path);
    size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = 0;
    fclose(f);
    return text;
}

static unsigned count_of(const char *text, const char *words)
{
    unsigned n = 0;
    for (; (text = strstr(text, words)); text++)
        n++;
    return n;
}

/* A list that is left open; each line of it is an object, of this process. */
static void check_form(const char *text, pid_t pid)
{
    char who[32];
    snprintf(who, sizeof who, "\"pid\": %ld,", (long)pid);
    cr_assert_eq(strncmp(text, "[\n{\"name\": ", 11), 0, "%.40s", text);
    cr_assert_str_eq(text + strlen(text) - 3, "},\n");
    cr_assert_eq(count_of(text, "\n{"), count_of(text, "},\n"));
    cr_assert_eq(count_of(text, "\n{"), count_of(text, who));
}

Test(trace, has_an_event_for_all_that_was_done)
{
    for (unsigned threads = 0; threads < 3; threads++) {
        setenv("APL_TRACE", at("trace.json"), 1);
        train(threads ? threads : APL_NO_THREADS);
        const char *text = text_of(at("trace.json"));
        check_form(text, getpid());
        unsigned before = threads; /* one file for all readers of the process */
        cr_assert_geq(count_of(text, "\"load\""), (before + 1) * TRAIN / BLOCK);
        cr_assert_geq(count_of(text, "\"read\""), (before + 1) * TRAIN / BLOCK);
        cr_assert_geq(count_of(text, "\"assemble\""), (before + 1) * TRAIN / 16);
        cr_assert_geq(count_of(text, "\"wait\""), (before + 1) * (TRAIN / 16 + 1));
        cr_assert_gt(count_of(text, "\"plan\""), before);
        cr_assert_eq(count_of(text, "thread_name"), threads * (threads + 1) / 2);
    }
}

Test(trace, of_a_child_is_its_own_by_its_number)
{
    char own[64], childs[64];
    setenv("APL_TRACE", at("of-%p.json"), 1);
    pid_t child = train_in_child();
    snprintf(own, sizeof own, "of-%ld.json", (long)getpid());
    snprintf(childs, sizeof childs, "of-%ld.json", (long)child);
    check_form(text_of(at(own)), getpid());
    check_form(text_of(at(childs)), child);
    cr_assert_geq(count_of(text_of(at(childs)), "\"load\""), TRAIN / BLOCK);
}

Test(trace, of_a_child_goes_to_its_parents_file)
{
    setenv("APL_TRACE", at("trace.json"), 1);
    (void)train_in_child();
    const char *text = text_of(at("trace.json"));
    cr_assert_geq(count_of(text, "\"load\""), 2 * TRAIN / BLOCK);
    cr_assert_eq(count_of(text, "[\n"), 1);
}

static void refused(const char *name, const char *words)
{
    apl_reader_options o = fixture_options();
    apl_reader *r = NULL;
    apl_error err;
    setenv("APL_TRACE", name, 1);
    cr_assert_neq(apl_reader_open(fx.store, &o, &r, &err), APL_OK);
    cr_assert_null(r);
    cr_assert(strstr(err.message, "APL_TRACE") && strstr(err.message, words), "%s", err.message);
}

Test(trace, goes_to_regular_files_alone)
{
    struct stat st;
    char name[5000];
    refused("/dev/null", "is not a regular file");
    refused(at("none/trace.json"), "cannot write");
    refused(place, "cannot write");
    FILE *f = fopen(at("other"), "w");
    cr_assert(f && fputs("[\n1]", f) > 0 && fclose(f) == 0);
    refused(at("other"), "is not a trace");
    cr_assert_str_eq(text_of(at("other")), "[\n1]");
    cr_assert_eq(mkfifo(at("pipe"), 0600), 0);
    refused(at("pipe"), "is not a regular file");
    cr_assert(stat(at("pipe"), &st) == 0 && S_ISFIFO(st.st_mode));
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    refused(name, "more than");
    unsetenv("APL_TRACE");
    train(1);
}

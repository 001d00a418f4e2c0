/* Figures that readers offer: a file for each that is open, of the process that it is of, and nothing else is touched. */
#include "reader_fixture.h"

#include <dirent.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRAIN 96
#define BLOCK 8

static char place[64];

static void set_up(void)
{
    fixture_make(TRAIN, 0, BLOCK);
    snprintf(place, sizeof place, "/tmp/apl-monitor-XXXXXX");
    cr_assert(mkdtemp(place));
    unsetenv("APL_MONITOR");
}

static void tear_down(void)
{
    fixture_shell("rm -rf '%s%s'", place, "");
    fixture_free();
}

TestSuite(monitor, .init = set_up, .fini = tear_down, .timeout = 60);

static apl_reader *watched(const char *directory)
{
    apl_reader_options o = fixture_options();
    o.threads = 1;
    o.monitor = directory;
    return fixture_reader(&o);
}

/* The files of the place, and the name of one. */
static unsigned files(char name[256])
{
    unsigned n = 0;
    DIR *list = opendir(place);
    cr_assert(list);
    for (const struct dirent *e; (e = readdir(list));)
        if (e->d_name[0] != '.') {
            snprintf(name, 256, "%s", e->d_name);
            n++;
        }
    closedir(list);
    return n;
}

static const char *text_of(const char *name)
{
    static char text[1 << 15];
    char path[512];
    snprintf(path, sizeof path, "%s/%s", place, name);
    FILE *f = fopen(path, "r");
    cr_assert(f, "%s", path);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

static void put_file(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", place, name);
    FILE *f = fopen(path, "w");
    cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static bool is_there(const char *name)
{
    char path[512];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", place, name);
    return lstat(path, &st) == 0;
}

static void has(const char *text, const char *format, ...)
{
    char wanted[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(wanted, sizeof wanted, format, arguments);
    va_end(arguments);
    cr_assert(strstr(text, wanted), "%s is not in %s", wanted, text);
}

static void sleep_ms(unsigned ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* Waits until the file says that. */
static void becomes(const char *name, const char *words)
{
    for (int i = 0; i < 3000; i++) {
        if (strstr(text_of(name), words))
            return;
        sleep_ms(10);
    }
    cr_assert_fail("%s does not come to say %s: %s", name, words, text_of(name));
}

Test(monitor, tells_what_the_reader_has_done)
{
    char name[256], wanted[64];
    apl_batch *batch;
    apl_reader *r = watched(place);
    snprintf(wanted, sizeof wanted, "%ld-1.json", (long)getpid());
    cr_assert_eq(files(name), 1);
    cr_assert_str_eq(name, wanted);
    const char *text = text_of(name);
    has(text, "{\"apl_monitor\": 1, \"host\": \"");
    has(text, "\"pid\": %ld, \"started\": ", (long)getpid());
    has(text, "\"store\": \"%s\", \"split\": \"train\"", fx.db);
    has(text, "\"version\": \"" APL_VERSION_STRING "\"");
    has(text, "\"world\": 1, \"ranks\": [0], \"epoch\": 0, \"position\": 0, \"length\": %d, \"step\": 0, ",
        TRAIN);
    has(text, "\"diagnosis\": {\"code\": \"unknown\", \"text\": \"too few batches to tell");
    has(text, "\"recent\": {\"seconds\": ");
    has(text, "\"stats\": {\"elapsed\": ");
    cr_assert_eq(text[strlen(text) - 1], '\n');
    for (unsigned i = 0; i < 2; i++) {
        cr_assert_eq(apl_reader_next(r, &batch, NULL), APL_OK);
        apl_batch_release(batch);
    }
    becomes(name, "\"step\": 2, ");
    has(text_of(name), "\"batches\": 2, \"records\": ");
    apl_reader_close(r);
    cr_assert_eq(files(name), 0);
}

Test(monitor, is_asked_for_by_the_environment_or_an_option)
{
    char name[256];
    setenv("APL_MONITOR", place, 1);
    apl_reader *first = watched(NULL), *second = watched(NULL);
    cr_assert_eq(files(name), 2);
    apl_reader *third = watched("");
    cr_assert_eq(files(name), 2);
    apl_reader_close(first);
    apl_reader_close(third);
    cr_assert_eq(files(name), 1);
    apl_reader_close(second);
    cr_assert_eq(files(name), 0);
    setenv("APL_MONITOR", "", 1);
    first = watched(NULL);
    cr_assert_eq(files(name), 0);
    apl_reader_close(first);
}

static void refused(const char *directory, const char *words)
{
    apl_reader_options o = fixture_options();
    apl_reader *r = NULL;
    apl_error err;
    o.monitor = directory;
    cr_assert_neq(apl_reader_open(fx.store, &o, &r, &err), APL_OK);
    cr_assert_null(r);
    cr_assert(strstr(err.message, words), "%s", err.message);
}

Test(monitor, needs_a_directory_that_can_be_written_to)
{
    char path[128];
    snprintf(path, sizeof path, "%s/absent", place);
    refused(path, "monitor: cannot write figures into ");
    setenv("APL_MONITOR", path, 1);
    refused(NULL, "APL_MONITOR: cannot write figures into ");
    put_file("absent", "x");
    refused(path, "Not a directory");
    refused("/proc/self", "monitor: cannot write figures into /proc/self/");
    cr_assert_str_eq(text_of("absent"), "x");
}

Test(monitor, goes_on_where_files_can_no_longer_be_written)
{
    char name[256], moved[192];
    apl_batch *batch;
    apl_reader *r = watched(place);
    cr_assert_eq(files(name), 1);
    snprintf(moved, sizeof moved, "rm -r '%s' && : >'%s'", place, place);
    cr_assert_eq(system(moved), 0);
    sleep_ms(1200);
    for (unsigned i = 0; i < TRAIN / 16; i++) {
        cr_assert_eq(apl_reader_next(r, &batch, NULL), APL_OK);
        apl_batch_release(batch);
    }
    cr_assert_eq(apl_reader_next(r, &batch, NULL), APL_END);
    apl_reader_close(r);
    cr_assert(unlink(place) == 0 && mkdir(place, 0700) == 0);
}

Test(monitor, of_a_child_is_its_own)
{
    char name[256], own[64];
    int status;
    apl_reader *r = watched(place);
    snprintf(own, sizeof own, "%ld-1.json", (long)getpid());
    sleep_ms(300); /* sanitizers cannot fork while threads are being started */
    pid_t child = fork();
    if (child == 0) {
        char childs[64];
        apl_reader_close(r); /* the parent's: nothing happens */
        apl_reader *mine = watched(place);
        snprintf(childs, sizeof childs, "%ld-2.json", (long)getpid());
        bool right = is_there(own) && is_there(childs);
        apl_reader_close(mine);
        _exit(right && is_there(own) && !is_there(childs) ? 0 : 1);
    }
    cr_assert(waitpid(child, &status, 0) == child && status == 0, "%d", status);
    cr_assert_eq(files(name), 1);
    apl_reader_close(r);
    cr_assert_eq(files(name), 0);
}

/* A child that opens a reader and is killed. Returns what it was called. */
static pid_t kill_child(void)
{
    int status, ends[2];
    char byte;
    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        (void)watched(place);
        (void)!write(ends[1], "x", 1);
        for (;;)
            pause();
    }
    cr_assert_eq(read(ends[0], &byte, 1), 1);
    cr_assert(kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child);
    return child;
}

/* The file of another process on another machine, which has the same number. */
static void put_elsewheres(const char *name, const char *like)
{
    char text[1 << 15];
    const char *host = strstr(like, "\"host\": \"");
    cr_assert(host);
    host += strlen("\"host\": \"");
    snprintf(text, sizeof text, "%.*sother-%s", (int)(host - like), like, host);
    put_file(name, text);
}

Test(monitor, of_a_process_that_was_killed_is_removed_by_the_next)
{
    char name[256], gone[64], elsewheres[64];
    pid_t child = kill_child();
    snprintf(gone, sizeof gone, "%ld-1.json", (long)child);
    snprintf(elsewheres, sizeof elsewheres, "%ld-2.json", (long)child);
    cr_assert(is_there(gone));
    put_elsewheres(elsewheres, text_of(gone));
    put_file("notes.json", "mine");
    put_file("99999999999999999999-1.json", "mine");
    put_file("1000-1.json", "{\"apl_monitor\": 1}");
    apl_reader_close(watched(place));
    cr_assert(!is_there(gone));
    cr_assert(is_there(elsewheres) && is_there("notes.json") && is_there("1000-1.json"));
    cr_assert_eq(files(name), 4);
}

Test(monitor, writes_through_no_link)
{
    char name[64], link[160], victim[128];
    snprintf(name, sizeof name, "%ld-1.json", (long)getpid());
    snprintf(victim, sizeof victim, "%s/victim", place);
    put_file("victim", "precious");
    for (unsigned i = 0; i < 2; i++) {
        snprintf(link, sizeof link, "%s/%s%s", place, name, i ? ".new" : "");
        cr_assert_eq(symlink(victim, link), 0);
    }
    apl_reader_close(watched(place));
    cr_assert_str_eq(text_of("victim"), "precious");
    cr_assert(!is_there(name));
}

Test(monitor, escapes_what_it_is_told)
{
    char db[128], name[256];
    apl_store *store;
    apl_reader *r;
    apl_reader_options o = fixture_options();
    snprintf(db, sizeof db, "%s/a\"b\\c\n\033[31m", fx.place);
    cr_assert(rename(fx.db, db) == 0);
    cr_assert_eq(apl_store_open(db, NULL, &store, NULL), APL_OK);
    o.monitor = place;
    cr_assert_eq(apl_reader_open(store, &o, &r, NULL), APL_OK);
    cr_assert_eq(files(name), 1);
    has(text_of(name), "/a\\\"b\\\\c\\\\x0a\\\\x1b[31m\"");
    apl_reader_close(r);
    apl_store_close(store);
    cr_assert(rename(db, fx.db) == 0);
}

/* Steps are batches of all ranks, the last of which may be small. */
Test(monitor, counts_the_last_step)
{
    char name[256];
    apl_reader_options o = fixture_options();
    o.threads = 1;
    o.batch_size = 7;
    o.monitor = place;
    apl_reader *r = fixture_reader(&o);
    cr_assert_eq(files(name), 1);
    for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b))
        continue;
    becomes(name, "\"batches\": 14, ");
    has(text_of(name), "\"position\": %d, \"length\": %d, \"step\": 14, ", TRAIN, TRAIN);
    apl_reader_close(r);
}

/* Of several ranks the place is that of the one which is furthest behind. */
Test(monitor, of_several_ranks_tells_the_last)
{
    static const unsigned list[] = {0, 1};
    for (unsigned ahead = 0; ahead < 2; ahead++) {
        char name[256];
        apl_batch *b;
        apl_reader_options o = fixture_options();
        o.threads = 1;
        o.batch_size = 4;
        o.monitor = place;
        o.ranks.world = 2;
        o.ranks.list = list;
        o.ranks.count = 2;
        apl_reader *r = fixture_reader(&o);
        cr_assert_eq(files(name), 1);
        for (unsigned k = 0; k < 3; k++) {
            cr_assert_eq(apl_reader_next_of(r, k == 1 ? 1 - ahead : ahead, &b, NULL), APL_OK);
            apl_batch_release(b);
        }
        becomes(name, "\"batches\": 3, ");
        has(text_of(name), "\"position\": 8, \"length\": %d, \"step\": 1, ", TRAIN);
        apl_reader_close(r);
    }
}

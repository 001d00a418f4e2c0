/* A process that is ended while it writes split files leaves all of them, or none, and nothing else. */
#include "split_fixture.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

TestSuite(split_killed, .init = set_up, .fini = tear_down, .timeout = 120);

#define PARTS 60u

/* Files of the store's directory whose names begin like that. */
static unsigned count_files(const char *path, const char *begin)
{
    unsigned n = 0;
    DIR *dir = opendir(path);
    cr_assert_not_null(dir);
    for (struct dirent *e; (e = readdir(dir));)
        n += strncmp(e->d_name, begin, strlen(begin)) == 0;
    closedir(dir);
    return n;
}

static void divide(const char *path, unsigned seed)
{
    apl_store *store;
    apl_split_options o = split_options("part", 0, NULL);
    o.seed = seed;
    o.threads = 1;
    if (apl_store_open(path, NULL, &store, &err) != APL_OK)
        _exit(2);
    _exit(apl_split_parts(store, &o, PARTS, 0, &err) == APL_OK ? 0 : 1);
}

/* Waits until it has begun to write, and a little longer each time. */
static void end_it(const char *path, pid_t child, int signal, unsigned pause_us)
{
    while (count_files(path, ".tmp-") == 0 && count_files(path, "part-") == 0)
        ;
    nanosleep(&(struct timespec){.tv_nsec = pause_us * 1000l}, NULL);
    kill(child, signal);
    waitpid(child, NULL, 0);
}

Test(split_killed, leaves_all_or_none)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
    unsigned none = 0;
    const char *path = db;
    make_store(db, &(struct kind){.train = 3000, .test = 100, .options = APL_WRITER_OPTIONS_INIT});
    for (unsigned i = 0; i < 24; i++) {
        pid_t child = fork();
        if (child == 0)
            divide(path, i + 1);
        end_it(path, child, signals[i % 3], i * 100);
        unsigned parts = count_files(path, "part-");
        cr_assert(parts == 0 || parts == PARTS, "%u files", parts);
        cr_assert_eq(count_files(path, ".tmp-"), 0);
        none += parts == 0;
        char command[512];
        snprintf(command, sizeof command, "rm -f %s/*.split", path);
        cr_assert_eq(system(command), 0);
    }
    cr_assert_gt(none, 0); /* some came in time */
}

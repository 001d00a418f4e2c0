/*
 * Readers that are killed at any moment leave nothing behind: the store's directory, its bytes and its times are what they were, and it
 * can be read, and replaced, at once. Also where the store lies read-only and belongs to somebody else. A plain main.
 */
#include "reader_case.h"

#include <sys/stat.h>
#include <sys/wait.h>

static struct case_store fixed = {"fixed", 800, 0, 32, 4, false, ""};

static void read_for_ever(unsigned number)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_store *store = case_open(&fixed);
    apl_reader *reader;
    apl_error err;
    o.threads = number % 3 ? number % 3 : APL_NO_THREADS;
    o.batch_size = 16;
    o.window = number % 2 ? 128 : 0;
    MUST(apl_reader_open(store, &o, &reader, &err), &err);
    for (;;) {
        apl_batch *batch;
        apl_status status = apl_reader_next(reader, &batch, &err);
        if (status == APL_OK)
            apl_batch_release(batch);
        else
            MUST(apl_reader_next_epoch(reader, &err), &err);
    }
}

static void kill_one(unsigned number)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        if (number % 2 && getuid() == 0 && setuid(65534) != 0) /* nobody, who may only read */
            _exit(9);
        read_for_ever(number);
    }
    nap(number * 37 % 8000);
    CHECK(kill(child, SIGKILL) == 0);
    int how;
    CHECK(waitpid(child, &how, 0) == child);
    CHECK(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
}

static void same_file(const struct stat *a, const struct stat *b)
{
    CHECK(a->st_ino == b->st_ino && a->st_size == b->st_size && a->st_mode == b->st_mode);
    CHECK(a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec);
}

int main(void)
{
    struct stat folder, file, now;
    char data[128];
    case_begin();
    CHECK(chmod(case_folder, 0755) == 0);
    case_write(&fixed, case_folder);
    snprintf(data, sizeof data, "%s/data.mdb", fixed.path);
    CHECK(chmod(fixed.path, 0555) == 0 && stat(fixed.path, &folder) == 0 && stat(data, &file) == 0);
    case_doing = "killing readers";
    unsigned kills = SANITIZED ? 30 : times(150, 1000);
    for (unsigned i = 0; i < kills; i++)
        kill_one(i);
    CHECK(stat(fixed.path, &now) == 0);
    same_file(&folder, &now);
    CHECK(stat(data, &now) == 0);
    same_file(&file, &now);
    CHECK(count_entries(fixed.path) == 1);
    CHECK(chmod(fixed.path, 0755) == 0);
    case_doing = "replacing the store afterwards";
    case_write(&fixed, case_folder);
    apl_store *store = case_open(&fixed);
    apl_error err;
    MUST(apl_store_verify(store, NULL, &err), &err);
    apl_store_close(store);
    counted("%u readers killed", kills);
    case_end("reader_killed");
    return 0;
}

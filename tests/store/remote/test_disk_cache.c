/* The cache of parts of files elsewhere: it gives back what it was given or nothing, whatever happened to its files; its budget; and the
 * claims of processes. */
#include "disk_cache.h"
#include "part_file.h"
#include "shell.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BYTES 200u
#define PAGE  4096u /* what such a part takes on the disk */

static const struct hash128 identity = {0x0123456789abcdef, 42};
static char place[] = "/tmp/apl-cache-XXXXXX";
static struct disk_cache *cache;
static uint32_t object;
static uint8_t buffer[BYTES];

static void open_cache(uint64_t budget)
{
    apl_error err;
    cr_assert_eq(disk_cache_open(place, budget, &cache, &err), APL_OK, "%s", err.message);
    cr_assert(disk_cache_open_object(cache, identity, &object));
}

static void close_cache(void)
{
    disk_cache_close_object(cache, object);
    disk_cache_release(cache);
}

static void set_up(void)
{
    cr_assert_not_null(mkdtemp(place));
    open_cache(1 << 20);
}

static void tear_down(void)
{
    close_cache();
    shell("rm -rf %s", place);
}

TestSuite(disk_cache, .init = set_up, .fini = tear_down, .timeout = 30);

static struct extent part(unsigned i)
{
    return (struct extent){(uint64_t)i << 20, BYTES};
}

/* The bytes of part `i`. */
static const uint8_t *bytes_of(unsigned i)
{
    for (unsigned k = 0; k < BYTES; k++)
        buffer[k] = (uint8_t)(k * 7 + i * 31);
    return buffer;
}

static int keep(unsigned i)
{
    struct extent range = part(i);
    return disk_cache_write(cache, object, &range, bytes_of(i), false);
}

/* It is there, and right; or not there, or known to be wrong. */
static bool is_there(unsigned i, bool *bad)
{
    uint8_t got[BYTES];
    struct extent range = part(i);
    if (!disk_cache_read(cache, object, &range, got, false, bad))
        return false;
    cr_assert(!*bad && memcmp(got, bytes_of(i), BYTES) == 0, "wrong bytes of part %u", i);
    return true;
}

static bool has(unsigned i)
{
    bool bad;
    return is_there(i, &bad);
}

static void expect(unsigned i, uint64_t again)
{
    bool before;
    struct extent range = part(i);
    (void)disk_cache_expect(cache, object, &range, again, &before);
}

static void path_of(unsigned i, char path[100])
{
    snprintf(path, 100, "%s/%016llx%016llx/%llx-%x", place, (unsigned long long)identity.high,
             (unsigned long long)identity.low, (unsigned long long)i << 20, BYTES);
}

static uint64_t used(void)
{
    uint64_t budget;
    return disk_cache_used(cache, &budget);
}

Test(disk_cache, gives_back_what_it_was_given)
{
    cr_assert(!has(1));
    cr_assert_eq(keep(1), 0);
    cr_assert(has(1) && !has(2));
    cr_assert_eq(used(), PAGE);
    close_cache();
    open_cache(1 << 20);
    cr_assert(has(1) && !has(2));
    uint8_t got[BYTES];
    bool bad;
    struct extent shorter = {part(1).offset, BYTES - 1}, later = {part(1).offset + 1, BYTES - 1};
    cr_assert(!disk_cache_read(cache, object, &shorter, got, false, &bad) && !bad);
    cr_assert(!disk_cache_read(cache, object, &later, got, false, &bad) && !bad);
    disk_cache_forget(cache, object, part(1).offset + 10, 1);
    cr_assert(!has(1));
    cr_assert_eq(used(), 0);
}

/* Whichever byte is turned, and however much of it is missing, nothing wrong comes out, and the part can be kept again. */
Test(disk_cache, a_damaged_part_is_not_there)
{
    char path[100];
    uint8_t file[PAGE];
    path_of(3, path);
    cr_assert_eq(keep(3), 0);
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, file, sizeof file);
    close(fd);
    cr_assert_eq(n, 64 + BYTES);
    for (ssize_t i = 0; i < 3 * n; i++) {
        ssize_t at = i % n;
        bool bad, cut = i >= 2 * n;
        fd = open(path, O_WRONLY);
        uint8_t turned = (uint8_t)(file[at] ^ (i < n ? 1 << i % 8 : 0xff));
        cr_assert(cut ? ftruncate(fd, at) == 0 : pwrite(fd, &turned, 1, at) == 1);
        close(fd);
        cr_assert(!is_there(3, &bad) && bad, "byte %zd", at);
        cr_assert_neq(access(path, F_OK), 0);
        cr_assert_eq(keep(3), 0);
        cr_assert(has(3));
    }
    cr_assert_eq(used(), PAGE);
}

Test(disk_cache, a_part_of_another_name_is_not_there)
{
    char from[100], to[100];
    bool bad;
    cr_assert_eq(keep(1), 0);
    path_of(1, from);
    path_of(2, to);
    cr_assert_eq(rename(from, to), 0);
    cr_assert(!is_there(2, &bad) && bad);
}

Test(disk_cache, keeps_what_is_needed_soonest)
{
    close_cache();
    open_cache(4 * PAGE);
    for (unsigned i = 0; i < 4; i++) {
        expect(i, 100 + i);
        cr_assert_eq(keep(i), 0);
    }
    expect(4, 103);
    cr_assert_eq(keep(4), CACHE_IS_FULL); /* no sooner than the last of them */
    expect(4, 200);
    cr_assert_eq(keep(4), CACHE_IS_FULL); /* needed later than all that is there */
    cr_assert_eq(keep(5), CACHE_IS_FULL); /* nothing is known of it */
    expect(6, 50);
    cr_assert_eq(keep(6), 0);
    cr_assert(!has(3) && !has(4) && has(2) && has(6));
    cr_assert_eq(used(), 4 * PAGE);
}

/* Files that are open keep their parts, however old they are, as long as nothing is known of when they are needed. */
Test(disk_cache, parts_of_open_files_stay)
{
    char path[100];
    close_cache();
    open_cache(2 * PAGE);
    for (unsigned i = 0; i < 2; i++) {
        const struct timespec times[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
        cr_assert_eq(keep(i), 0);
        path_of(i, path);
        cr_assert_eq(utimensat(AT_FDCWD, path, times, 0), 0);
    }
    expect(2, 50);
    cr_assert_eq(keep(2), CACHE_IS_FULL);
    cr_assert(has(0) && has(1));
}

Test(disk_cache, the_clock_does_not_go_back)
{
    uint64_t clock;
    uint32_t turn, next;
    disk_cache_begin(cache, &clock, &turn);
    cr_assert_eq(clock, 1);
    disk_cache_advance(cache, 10);
    disk_cache_advance(cache, 5);
    disk_cache_begin(cache, &clock, &next);
    cr_assert_eq(clock, 10);
    cr_assert_eq(next, turn + 1);
}

/* What a reader has not read in a whole epoch makes room; what it has read does not. */
Test(disk_cache, what_was_not_read_ages)
{
    uint64_t clock;
    uint32_t turn;
    close_cache();
    open_cache(PAGE);
    disk_cache_begin(cache, &clock, &turn);
    cr_assert_eq(keep(1), 0);
    disk_cache_age(cache, turn);
    expect(2, 50);
    cr_assert_eq(keep(2), CACHE_IS_FULL);
    disk_cache_begin(cache, &clock, &turn);
    cr_assert(has(1));
    disk_cache_age(cache, turn);
    expect(2, 50);
    cr_assert_eq(keep(2), CACHE_IS_FULL, "it has been read since");
    disk_cache_begin(cache, &clock, &turn);
    disk_cache_age(cache, turn);
    expect(2, 50);
    cr_assert_eq(keep(2), 0);
    cr_assert(!has(1) && has(2));
}

/* How much is used is noted twice, so that half a note is none. */
Test(disk_cache, a_wrong_note_of_what_is_used)
{
    char path[100];
    const uint64_t much = (uint64_t)1 << 40;
    cr_assert_eq(keep(1), 0);
    snprintf(path, sizeof path, "%s/used", place);
    int fd = open(path, O_WRONLY);
    cr_assert_eq(pwrite(fd, &much, 8, 0), 8);
    close(fd);
    cr_assert_eq(used(), 0);
    cr_assert_eq(keep(2), 0);
    cr_assert_eq(used(), PAGE);
}

/* What has come early is still expected, and keeps its place when it is read. */
Test(disk_cache, what_comes_early_is_kept_at_once)
{
    struct extent range = part(1);
    bool before, bad;
    expect(1, 70);
    cr_assert_eq(disk_cache_write(cache, object, &range, bytes_of(1), true), 0);
    cr_assert(disk_cache_expect(cache, object, &range, 80, &before) && before);
    cr_assert(is_there(1, &bad));
    cr_assert(disk_cache_expect(cache, object, &range, 90, &before) && !before);
    cr_assert_eq(keep(1), 0);
    cr_assert_eq(used(), PAGE);
}

/* A budget that has become smaller holds at once: what was read longest ago goes. */
Test(disk_cache, shrinks_to_a_smaller_budget)
{
    char path[100];
    struct timespec times[2];
    for (unsigned i = 0; i < 8; i++) {
        cr_assert_eq(keep(i), 0);
        path_of(i, path);
        times[0] = times[1] = (struct timespec){.tv_sec = 1000000 + 1000 * (i ^ 5)};
        cr_assert_eq(utimensat(AT_FDCWD, path, times, 0), 0);
    }
    for (unsigned again = 0; again < 2; again++) { /* open elsewhere in the process, and not */
        uint64_t left = again ? 2 : 5;
        struct disk_cache *first = cache;
        if (again)
            close_cache();
        open_cache(left * PAGE);
        disk_cache_shrink(cache);
        cr_assert_eq(used(), left * PAGE);
        if (!again)
            disk_cache_release(first);
    }
    for (unsigned i = 0; i < 8; i++)
        cr_expect_eq(has(i), (i ^ 5) >= 6, "%u", i);
}

Test(disk_cache, its_own_files_may_be_lost_or_wrong)
{
    static const char *const names[] = {"used", "claims", "in-use"};
    char path[100];
    for (unsigned i = 0; i < 6; i++) {
        cr_assert_eq(keep(i), 0);
        snprintf(path, sizeof path, "%s/%s", place, names[i / 2]);
        cr_assert_eq(i % 2 ? unlink(path) : truncate(path, 3), 0);
        cr_assert(has(i));
    }
    close_cache();
    open_cache(1 << 20); /* alone: it counts from 0 */
    cr_assert_eq(used(), 6 * PAGE);
    for (unsigned i = 0; i < 6; i++)
        cr_assert(has(i));
}

/* ----------------------------------------------------------------------------------------------- claims */

/* A child claims the part, says so, and then does as told: keeps the part and releases its claim, or only releases it, or is killed. */
enum child { KEEPS, LETS_GO, IS_KILLED };

static pid_t claim_in_child(enum child what)
{
    int said[2];
    char letter;
    struct extent range = part(1);
    cr_assert_eq(pipe(said), 0);
    pid_t pid = fork();
    if (pid == 0) {
        disk_cache_claim(cache, object, &range);
        (void)!write(said[1], "x", 1);
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        if (what == KEEPS)
            (void)keep(1);
        if (what == IS_KILLED)
            raise(SIGKILL);
        disk_cache_unclaim(cache, object, &range);
        sleep(20);
        _exit(0);
    }
    cr_assert_eq(read(said[0], &letter, 1), 1);
    close(said[0]);
    close(said[1]);
    return pid;
}

Test(disk_cache, who_finds_a_part_claimed_waits_for_it)
{
    for (enum child what = KEEPS; what <= IS_KILLED; what++) {
        uint8_t got[BYTES];
        struct extent range = part(1), other = part(2);
        pid_t pid = claim_in_child(what);
        cr_assert(disk_cache_claim(cache, object, &other)); /* at once */
        disk_cache_unclaim(cache, object, &other);
        cr_assert(disk_cache_claim(cache, object, &range));
        cr_expect_eq(disk_cache_find(cache, object, &range, got), what == KEEPS);
        cr_expect(what != KEEPS || memcmp(got, bytes_of(1), BYTES) == 0);
        disk_cache_unclaim(cache, object, &range);
        kill(pid, SIGKILL);
        cr_assert_eq(waitpid(pid, NULL, 0), pid);
        disk_cache_forget(cache, object, 0, UINT64_MAX / 2);
    }
}

static atomic_bool released;

static void *claim_in_thread(void *range)
{
    bool claimed = disk_cache_claim(cache, object, range), after = atomic_load(&released);
    disk_cache_unclaim(cache, object, range);
    return claimed && after ? range : NULL;
}

Test(disk_cache, threads_wait_for_each_other)
{
    struct extent range = part(1), other = part(2);
    pthread_t thread;
    void *waited;
    cr_assert(disk_cache_claim(cache, object, &range));
    cr_assert(disk_cache_claim(cache, object, &other));
    cr_assert_eq(pthread_create(&thread, NULL, claim_in_thread, &range), 0);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    disk_cache_unclaim(cache, object, &other); /* that is not what the thread waits for */
    atomic_store(&released, true);
    disk_cache_unclaim(cache, object, &range);
    cr_assert_eq(pthread_join(thread, &waited), 0);
    cr_assert_not_null(waited);
}

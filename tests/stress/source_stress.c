/* Sources under many hands: several read at once, each left, cancelled or finished at another place. A plain
 * main, to be run under the thread sanitizer. */
#include "check.h"
#include "source.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#define THREADS     4
#define ROUNDS      60
#define MEMBERS     3
#define MEMBER_SIZE 700000

static char folder[] = "/tmp/apl-stress-XXXXXX";
static char paths[4][64]; /* a tar, a gzipped tar, a directory, a pipe that nobody writes to */

static uint8_t byte_at(unsigned member, size_t at)
{
    return (uint8_t)(at * 2654435761u >> 13 ^ member * 77);
}

static void make_tar(uint8_t *tar)
{
    for (unsigned m = 0; m < MEMBERS; m++) {
        uint8_t *h = tar + m * (512 + (MEMBER_SIZE + 511) / 512 * 512);
        unsigned sum = 0;
        snprintf((char *)h, 100, "set/data_%u", m);
        snprintf((char *)h + 124, 12, "%011o", MEMBER_SIZE);
        memcpy(h + 100, "0000644", 7);
        h[156] = '0';
        memcpy(h + 257, "ustar\00000", 8);
        memset(h + 148, ' ', 8);
        for (int i = 0; i < 512; i++)
            sum += h[i];
        snprintf((char *)h + 148, 8, "%06o", sum);
        for (size_t i = 0; i < MEMBER_SIZE; i++)
            h[512 + i] = byte_at(m, i);
    }
}

static void write_file(const char *path, const uint8_t *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(data, 1, size, f) == size && fclose(f) == 0);
}

static void make_files(void)
{
    static uint8_t tar[MEMBERS * (512 + (MEMBER_SIZE + 511) / 512 * 512) + 1024];
    make_tar(tar);
    CHECK(mkdtemp(folder));
    static const char *const names[4] = {"tar", "tgz", "dir", "pipe"};
    for (int i = 0; i < 4; i++)
        snprintf(paths[i], sizeof paths[i], "%s/%s", folder, names[i]);
    write_file(paths[0], tar, sizeof tar);
    gzFile gz = gzopen(paths[1], "wb1");
    CHECK(gz && gzwrite(gz, tar, sizeof tar) == (int)sizeof tar && gzclose(gz) == Z_OK);
    CHECK(mkdir(paths[2], 0755) == 0 && mkfifo(paths[3], 0600) == 0);
    for (unsigned m = 0; m < MEMBERS; m++) {
        char path[96];
        snprintf(path, sizeof path, "%s/data_%u", paths[2], m);
        write_file(path, tar + m * (512 + (MEMBER_SIZE + 511) / 512 * 512) + 512, MEMBER_SIZE);
    }
}

static bool wants(const char *name, void *user)
{
    (void)user;
    return strncmp(name, "data_", 5) == 0;
}

static int countdown(void *user)
{
    int *left = user;
    return *left >= 0 && (*left)-- == 0;
}

/* Reads up to `limit` bytes of the member in odd portions and checks them; false: cancelled. */
static bool read_some(struct source *s, const struct source_member *member, uint64_t limit)
{
    struct cursor *c = source_cursor(s);
    unsigned m = (unsigned)(member->name[5] - '0');
    for (uint64_t at = 0; at < limit && at < member->size;) {
        size_t n = 1 + at * 7 % 5000;
        n = member->size - at < n ? (size_t)(member->size - at) : n;
        const uint8_t *p = cursor_take(c, n);
        if (!p) {
            CHECK(source_failure(s, NULL) == APL_E_CANCELLED);
            return false;
        }
        CHECK(p[0] == byte_at(m, (size_t)at) && p[n - 1] == byte_at(m, (size_t)at + n - 1));
        at += n;
    }
    return true;
}

/* One source, left after `members` members, or cancelled at the `cancel`th call of poll. */
static void one_round(const char *path, unsigned members, uint64_t limit, int cancel)
{
    struct source *s;
    struct source_member m;
    apl_error err;
    apl_status status = APL_OK;
    CHECK(source_open(path, wants, countdown, &cancel, &s, &err) == APL_OK);
    for (unsigned i = 0; i < members && status == APL_OK; i++) {
        status = source_next(s, &m, &err);
        if (status == APL_OK && !read_some(s, &m, limit))
            status = APL_E_CANCELLED;
        (void)source_bytes(s);
    }
    CHECK(status == APL_OK || status == APL_END || status == APL_E_CANCELLED);
    source_close(s);
}

static void *work(void *user)
{
    unsigned x = *(unsigned *)user;
    for (unsigned round = 0; round < ROUNDS; round++) {
        x = x * 1664525u + 1013904223u;
        unsigned kind = (x >> 8) % 8;
        if (kind == 3) /* the pipe: left at once, or cancelled while it waits */
            one_round(paths[3], x >> 12 & 1, 0, 2);
        else
            one_round(paths[kind % 3], (x >> 12) % 5, (x >> 16) % 2 ? MEMBER_SIZE : (x >> 10) % MEMBER_SIZE,
                      (x >> 20) % 3 ? -1 : (int)(x >> 24) % 20);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    unsigned seeds[THREADS] = {1, 22, 333, 4444};
    make_files();
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, &seeds[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    CHECK(system(command) == 0);
    puts("source_stress: done");
    return 0;
}

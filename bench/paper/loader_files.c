/*
 * Two loaders of CIFAR's own files, uncompressed, with a pread() for each record. `plain` reads them where they lie.
 * `burst`, as Mathuriya et al. (CosmoFlow, 2018) do with a burst buffer, first copies the split into fast storage, here a
 * tmpfs, and reads mini-batches from there. The copies have no names: nothing is left behind, however the program ends.
 */
#define _GNU_SOURCE
#include "source.h"

#include "measure.h"

#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILES 5u

struct files {
    int files[MAX_FILES];
    uint64_t ends[MAX_FILES]; /* the number of the record behind each file's last */
    unsigned count;
    size_t staged; /* bytes in memory */
};

int raw_open(const struct loading *asked, unsigned i, char *path, size_t size)
{
    const bool test = strcmp(asked->split, "test") == 0;
    if (i >= (test ? 1 : MAX_FILES))
        return -1;
    if (test)
        snprintf(path, size, "%s/test_batch.bin", asked->raw);
    else
        snprintf(path, size, "%s/data_batch_%u.bin", asked->raw, i + 1);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        paper_die_of(path);
    return file;
}

static size_t size_of(int file, const char *path)
{
    struct stat st;
    if (fstat(file, &st) != 0)
        paper_die_of(path);
    if (st.st_size % (off_t)PAPER_ROW != 0)
        paper_die("%s: %lld bytes are no whole records", path, (long long)st.st_size);
    return (size_t)st.st_size;
}

/* Copies a file into one without a name in the staging directory, in place of which it is read. */
static int stage(const char *directory, int from, size_t bytes)
{
    const int to = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (to < 0)
        paper_die_of(directory);
    for (size_t left = bytes; left > 0;) {
        const ssize_t n = sendfile(to, from, NULL, left);
        if (n < 0)
            paper_die_of(directory);
        if (n == 0)
            paper_die("a file became shorter while it was staged");
        left -= (size_t)n;
    }
    close(from);
    return to;
}

static struct files *files_open(const struct loading *asked, const char *staging, size_t *records)
{
    char path[4096];
    struct files *f = must_have(calloc(1, sizeof *f));
    *records = 0;
    for (int file; (file = raw_open(asked, f->count, path, sizeof path)) >= 0; f->count++) {
        const size_t bytes = size_of(file, path);
        *records += bytes / PAPER_ROW;
        f->ends[f->count] = *records;
        f->staged += staging ? bytes : 0;
        f->files[f->count] = staging ? stage(staging, file, bytes) : file;
    }
    return f;
}

static void *open_plain(const struct loading *asked, size_t *records)
{
    return files_open(asked, NULL, records);
}

static void *open_burst(const struct loading *asked, size_t *records)
{
    return files_open(asked, asked->staging, records);
}

static void read_record(const struct files *f, uint64_t id, uint8_t *row)
{
    unsigned i = 0;
    while (id >= f->ends[i])
        i++;
    const uint64_t at = id - (i > 0 ? f->ends[i - 1] : 0);
    const ssize_t n = pread(f->files[i], row, PAPER_ROW, (off_t)(at * PAPER_ROW));
    if (n < 0)
        paper_die_of("record");
    if (n != (ssize_t)PAPER_ROW)
        paper_die("record %llu: its file became shorter", (unsigned long long)id);
}

static void read_records(void *source, unsigned reader, const uint64_t *ids, size_t n, uint8_t *rows)
{
    (void)reader;
    for (size_t i = 0; i < n; i++)
        read_record(source, ids[i], rows + i * PAPER_ROW);
}

static size_t staged(const void *source)
{
    return ((const struct files *)source)->staged;
}

static void files_close(void *source)
{
    struct files *f = source;
    for (unsigned i = 0; i < f->count; i++)
        close(f->files[i]);
    free(f);
}

static struct loader *plain_loader(const struct loading *asked)
{
    static const struct source_kind kind = {open_plain, read_records, staged, files_close};
    return by_number_open(&kind, asked);
}

static struct loader *burst_loader(const struct loading *asked)
{
    static const struct source_kind kind = {open_burst, read_records, staged, files_close};
    return by_number_open(&kind, asked);
}

const struct loader_kind paper_plain = {"plain", plain_loader, by_number_next, by_number_staged,
                                        by_number_close};
const struct loader_kind paper_burst = {"burst", burst_loader, by_number_next, by_number_staged,
                                        by_number_close};

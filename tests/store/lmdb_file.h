/* LMDB files to test with, made by lmdb. */
#ifndef LMDB_FILE_H
#define LMDB_FILE_H

#include "bytes.h"
#include "lmdb_write.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* A directory of its own, and a file in it. */
struct place {
    char directory[64], file[80];
};

static inline void place_make(struct place *p)
{
    strcpy(p->directory, "/tmp/apl-test-XXXXXX");
    cr_assert_not_null(mkdtemp(p->directory));
    snprintf(p->file, sizeof p->file, "%s/data.mdb", p->directory);
}

static inline void place_remove(struct place *p)
{
    unlink(p->file);
    rmdir(p->directory);
}

/* The value under a key: its bytes hang on its key and size. */
static inline void fill_value(uint8_t *to, size_t size, struct key key)
{
    uint32_t x = key.kind * 2654435761u + key.segment * 2246822519u + key.block * 3266489917u + 1;
    for (size_t i = 0; i < size; i++) {
        x = x * 1664525u + 1013904223u;
        to[i] = (uint8_t)(x >> 24);
    }
}

static inline void put_value(struct lmdb_writer *writer, struct key key, size_t size)
{
    uint8_t *value = malloc(size);
    apl_error err;
    fill_value(value, size, key);
    cr_assert_eq(lmdb_writer_put(writer, key, value, size, &err), APL_OK, "%s", err.message);
    free(value);
}

static inline struct lmdb_writer *new_lmdb(const char *path)
{
    struct lmdb_writer *writer;
    apl_error err;
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    cr_assert(fd >= 0, "%s", path);
    cr_assert_eq(lmdb_writer_create(fd, path, &writer, &err), APL_OK, "%s", err.message);
    close(fd);
    return writer;
}

/* Commits and closes. */
static inline void finish_lmdb(struct lmdb_writer *writer)
{
    apl_error err;
    cr_assert_eq(lmdb_writer_commit(writer, &err), APL_OK, "%s", err.message);
    cr_assert_eq(lmdb_writer_sync(writer, &err), APL_OK, "%s", err.message);
    lmdb_writer_close(writer);
}

static inline uint8_t *read_all(const char *path, size_t *size)
{
    struct stat st;
    FILE *f = fopen(path, "rb");
    cr_assert(f && fstat(fileno(f), &st) == 0);
    *size = (size_t)st.st_size;
    uint8_t *data = malloc(*size + 1);
    cr_assert_eq(fread(data, 1, *size, f), *size);
    fclose(f);
    return data;
}

/* Is what lies there the value of that key? */
static inline void expect_value(const struct lmdb_reader *lmdb, struct key key, size_t size)
{
    const struct entry *e = lmdb_reader_find(lmdb, key);
    cr_assert(e && e->size == size, "%u %u %u", key.kind, key.segment, key.block);
    cr_assert(e->offset + size <= lmdb->size);
    uint8_t *value = malloc(size);
    fill_value(value, size, key);
    cr_assert(memcmp(lmdb->map + e->offset, value, size) == 0, "%u %u %u", key.kind, key.segment, key.block);
    free(value);
}

#endif

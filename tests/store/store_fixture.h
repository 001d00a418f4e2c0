/*
 * Stores to test with. A recipe says which fields and members there are; every value is drawn from the number of
 * its field, of its member and of the record within that: so whatever a store has become of, each record can be
 * told.
 */
#ifndef STORE_FIXTURE_H
#define STORE_FIXTURE_H

#include "apl.h"
#include "samples.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static apl_error fx_err;

/* The call succeeds, or the test fails with its message. The call is given &fx_err. */
#define OK(call)                                                            \
    do {                                                                    \
        fx_err.message[0] = 0;                                              \
        apl_status ok_ = (call);                                            \
        cr_assert_eq(ok_, APL_OK, "%s: %d %s", #call, ok_, fx_err.message); \
    } while (0)

/* The call fails with this status, and says so in the error too. */
#define FAILS(wanted, call)                                                              \
    do {                                                                                 \
        memset(&fx_err, 0, sizeof fx_err);                                               \
        apl_status is_ = (call);                                                         \
        cr_assert_eq(is_, (wanted), "%s: %d %s", #call, is_, fx_err.message);            \
        cr_assert_eq(fx_err.status, (wanted), "%s: error has %d", #call, fx_err.status); \
        cr_assert(fx_err.message[0] && !strchr(fx_err.message, '\n'), "%s", #call);      \
    } while (0)

/* The message of the last failure names this. */
#define SAYS(text) cr_assert(strstr(fx_err.message, text), "\"%s\" lacks \"%s\"", fx_err.message, text)

/* ------------------------------------------------------------------------------------- a place to work in */

static char fx_place[64];

static inline void fx_shell(const char *format, const char *a, const char *b)
{
    char command[1024];
    snprintf(command, sizeof command, format, a, b);
    cr_assert_eq(system(command), 0, "%s", command);
}

static inline void fx_set_up(void)
{
    strcpy(fx_place, "/tmp/apl-store-XXXXXX");
    cr_assert_not_null(mkdtemp(fx_place));
}

static inline void fx_tear_down(void)
{
    fx_shell("rm -r '%s%s'", fx_place, "");
}

/* A path in it; good for the next seven calls. */
static inline const char *fx_path(const char *name)
{
    static char paths[8][256];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof *paths, "%s/%s", fx_place, name);
    return path;
}

static inline bool fx_exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static inline uint8_t *fx_read(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    cr_assert(f, "%s", path);
    cr_assert_eq(fseek(f, 0, SEEK_END), 0);
    *size = (size_t)ftell(f);
    rewind(f);
    uint8_t *data = malloc(*size + 1);
    cr_assert(data && fread(data, 1, *size, f) == *size);
    fclose(f);
    return data;
}

static inline void fx_write(const char *path, const void *data, size_t size)
{
    unlink(path);
    FILE *f = fopen(path, "wb");
    cr_assert(f, "%s", path);
    cr_assert_eq(fwrite(data, 1, size, f), size);
    cr_assert_eq(fclose(f), 0);
}

static inline bool fx_same(const char *a, const char *b)
{
    size_t x, y;
    uint8_t *p = fx_read(a, &x), *q = fx_read(b, &y);
    bool same = x == y && memcmp(p, q, x) == 0;
    free(p);
    free(q);
    return same;
}

/* The names in a directory, without . and .., each with a space behind it; sorted by the shell. */
static inline const char *fx_list(const char *directory)
{
    static char names[1024];
    char command[512];
    snprintf(command, sizeof command, "ls -A '%s' | tr '\\n' ' '", directory);
    FILE *f = popen(command, "r");
    cr_assert_not_null(f);
    names[fread(names, 1, sizeof names - 1, f)] = 0;
    pclose(f);
    return names;
}

/* Runs `child` in a process of its own, as a user who may do little; it must return 0. */
static inline void fx_as_nobody(int (*child)(void))
{
    fflush(NULL);
    pid_t pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0)
        _exit(geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0) ? 99 : child());
    int status;
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with %x", (unsigned)status);
}

/* ---------------------------------------------------------------------------------------------- recipes */

struct fx_member {
    const char *name, *split;
    uint32_t number;
    uint64_t count;
};

struct fx_recipe {
    const apl_field
        *fields; /* name, dtype, role, ndim, shape, media, classes, class_count and kind of them */
    size_t field_count;
    const struct fx_member *members; /* in the order in which they are appended */
    size_t member_count;
};

#define FX_MOST_BYTES 4096

struct fx_value {
    int64_t shape[APL_MAX_DIMS];
    size_t bytes;
    uint8_t data[FX_MOST_BYTES + 1];
};

/* Draws a value. One in three has a dimension of 0, if it has any that varies. Of fields with kinds as many elements, whose fractions are 0, so that
 * values are what kinds say. */
static inline void fx_draw(const apl_field *f, unsigned field, uint32_t member, uint64_t record,
                           struct fx_value *v)
{
    uint32_t seed = (uint32_t)record * 64 + field + member * 7919;
    v->bytes = apl_dtype_size(f->dtype);
    for (unsigned d = 0; d < f->ndim; d++) {
        unsigned varying = (unsigned)(record + field + d * (record % 3)) % (f->ndim == 1 ? 30 : 4);
        if (f->kind && d == 0)
            varying = (unsigned)record % 3;
        if (f->media)
            varying = (unsigned)(record * 37 + member) % 600;
        v->shape[d] = f->shape[d] < 0 ? varying : f->shape[d];
        v->bytes *= (size_t)v->shape[d];
    }
    if (f->dtype == APL_UTF8 && f->ndim > 1 &&
        v->bytes == 0) /* a list without texts, or of empty ones, has no width */
        v->shape[f->ndim - 1] = 0;
    cr_assert_leq(v->bytes, FX_MOST_BYTES);
    sample_fill(v->data, v->bytes, field % 3 ? SAMPLE_NOISY : SAMPLE_RANDOM, 7, seed);
    if (f->kind && f->dtype >= APL_F16 && f->dtype <= APL_F64)
        memset(v->data, 0, v->bytes);
    for (size_t i = 0; f->dtype == APL_UTF8 && i < v->bytes; i++)
        v->data[i] = (uint8_t)('a' + v->data[i] % 26);
    for (size_t i = 0; f->dtype == APL_BOOL && i < v->bytes; i++)
        v->data[i] &= 1;
    for (size_t i = 0; f->class_count && i < v->bytes; i++)
        v->data[i] = i == 0 ? (uint8_t)(record % f->class_count) : 0;
}

static inline void fx_add_fields(apl_writer *w, const struct fx_recipe *r)
{
    for (size_t i = 0; i < r->field_count; i++) {
        const apl_field *f = &r->fields[i];
        OK(apl_writer_add_field(w, f->name, f->dtype, f->role, f->ndim, f->shape, &fx_err));
        if (f->media)
            OK(apl_writer_set_media(w, f->name, f->media, &fx_err));
        if (f->class_count)
            OK(apl_writer_set_classes(w, f->name, f->classes, f->class_count, &fx_err));
        if (f->kind)
            OK(apl_writer_set_kind(w, f->name, f->kind, &fx_err));
    }
}

/* Appends a record at an odd address. */
static inline apl_status fx_append(apl_writer *w, const struct fx_recipe *r, uint32_t member, uint64_t record)
{
    static struct fx_value drawn[APL_MAX_FIELDS];
    apl_value values[APL_MAX_FIELDS];
    for (unsigned i = 0; i < r->field_count; i++) {
        fx_draw(&r->fields[i], i, member, record, &drawn[i]);
        memmove(drawn[i].data + 1, drawn[i].data, drawn[i].bytes);
        values[i] = (apl_value){drawn[i].data + 1, drawn[i].shape};
    }
    return apl_writer_append(w, values, &fx_err);
}

static inline void fx_append_members(apl_writer *w, const struct fx_recipe *r)
{
    for (size_t m = 0; m < r->member_count; m++) {
        const struct fx_member *member = &r->members[m];
        OK(apl_writer_begin_member(w, member->name, member->split, member->number, &fx_err));
        for (uint64_t i = 0; i < member->count; i++)
            OK(fx_append(w, r, member->number, i));
    }
}

static inline void fx_make(const char *path, const struct fx_recipe *r, const apl_writer_options *options)
{
    apl_writer *w = NULL;
    OK(apl_writer_open(path, options, &w, &fx_err));
    fx_add_fields(w, r);
    fx_append_members(w, r);
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
}

static inline apl_store *fx_open(const char *path)
{
    apl_store *s = NULL;
    OK(apl_store_open(path, NULL, &s, &fx_err));
    return s;
}

/* Which member, and which of its records, the record `id` of a store must be. */
static inline void fx_origin(const apl_store *s, const apl_batch *all, uint64_t id, uint32_t *member,
                             uint64_t *record)
{
    uint64_t position = id;
    if (apl_store_info(s)->shuffled)
        memcpy(&position,
               (const uint8_t *)apl_batch_column(all, apl_store_info(s)->fields - 1)->data + 8 * id, 8);
    for (unsigned m = 0; m < apl_store_info(s)->members; m++) {
        const apl_member *is = apl_store_member(s, m);
        if (position >= is->first && position - is->first < is->count) {
            *member = is->number;
            *record = position - is->first;
            return;
        }
    }
    cr_assert(0, "no member has position %llu", (unsigned long long)position);
}

/* Row `row` of a batch holds this value. */
static inline bool fx_row_is(const apl_column *c, size_t row, const apl_field *f, const struct fx_value *v)
{
    const uint8_t *data = c->data;
    size_t element = apl_dtype_size(f->dtype);
    if (!c->offsets)
        return memcmp(data + row * v->bytes, v->data, v->bytes) == 0;
    return (c->offsets[row + 1] - c->offsets[row]) * element == v->bytes &&
           memcmp(data + c->offsets[row] * element, v->data, v->bytes) == 0 &&
           memcmp(c->shapes + row * f->ndim, v->shape, f->ndim * sizeof(int64_t)) == 0;
}

static inline apl_batch *fx_get_all(apl_store *s)
{
    uint64_t n = apl_store_info(s)->records, *ids = malloc((n + 1) * sizeof *ids);
    apl_batch *b = NULL;
    for (uint64_t i = 0; i < n; i++)
        ids[i] = i;
    OK(apl_store_get_batch(s, ids, n, NULL, &b, &fx_err));
    free(ids);
    return b;
}

/* Every record of the store is what the recipe says. */
static inline void fx_check(apl_store *s, const struct fx_recipe *r)
{
    static struct fx_value v;
    uint64_t total = 0, record = 0;
    uint32_t member = 0;
    for (size_t m = 0; m < r->member_count; m++)
        total += r->members[m].count;
    cr_assert_eq(apl_store_info(s)->records, total);
    apl_batch *all = fx_get_all(s);
    for (uint64_t id = 0; id < total; id++) {
        fx_origin(s, all, id, &member, &record);
        for (unsigned f = 0; f < r->field_count; f++) {
            fx_draw(&r->fields[f], f, member, record, &v);
            cr_assert(fx_row_is(apl_batch_column(all, f), id, &r->fields[f], &v), "record %llu, field %s",
                      (unsigned long long)id, r->fields[f].name);
        }
    }
    apl_batch_release(all);
}

/* ------------------------------------------------------------------------------ what most tests are made of */

static const char *const fx_classes[3] = {"cat", "dog", "emu"};

/* A picture, a label, a name and a track of points. */
static const apl_field fx_fields[] = {
    {.name = "image", .dtype = APL_U8, .role = APL_INPUT, .ndim = 3, .shape = {3, 6, 5}},
    {.name = "label", .dtype = APL_U8, .role = APL_TARGET, .classes = fx_classes, .class_count = 3},
    {.name = "name", .dtype = APL_UTF8, .role = APL_NAME, .ndim = 1, .shape = {-1}},
    {.name = "track", .dtype = APL_F32, .role = APL_INPUT, .ndim = 2, .shape = {-1, 2}},
};

/* Members that come in no order, with gaps between their numbers, one of them empty. */
static const struct fx_member fx_members[] = {
    {"test_batch", "test", 90, 77}, {"b", "train", 7, 300}, {"a", "train", 0, 133}, {"none", "train", 3, 0}};

static const struct fx_recipe fx_small = {fx_fields, COUNT(fx_fields), fx_members, COUNT(fx_members)};

/* A kept file, a label, a path and the size of an image. */
static const apl_field fx_kept_fields[] = {
    {.name = "image", .dtype = APL_U8, .role = APL_INPUT, .ndim = 1, .shape = {-1}, .media = "image/jpeg"},
    {.name = "label", .dtype = APL_U8, .role = APL_TARGET, .classes = fx_classes, .class_count = 3},
    {.name = "path", .dtype = APL_UTF8, .role = APL_NAME, .ndim = 1, .shape = {-1}},
    {.name = "image_shape", .dtype = APL_U32, .role = APL_NAME, .ndim = 1, .shape = {3}},
};
static const struct fx_recipe fx_kept = {fx_kept_fields, COUNT(fx_kept_fields), fx_members,
                                         COUNT(fx_members)};

static inline apl_writer_options fx_options(unsigned threads, uint32_t block_records)
{
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    o.threads = threads;
    o.block_records = block_records;
    return o;
}

#endif

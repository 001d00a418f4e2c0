/*
 * A small store to read from, whose values are functions of the id; and a reader that is watched while it
 * reads. Members are of odd sizes, so that their last blocks are not full.
 */
#ifndef READER_FIXTURE_H
#define READER_FIXTURE_H

#include "apl.h"
#include "hash.h"
#include "samples.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIELD_IMAGE, FIELD_LABEL, FIELD_NAME, FIELD_TRACK, FIELDS };

#define SIDE        8
#define IMAGE_BYTES (3 * SIDE * SIDE)
#define CLASSES     10
#define TRACK_WIDTH 3
#define MAX_TRACK   5

struct fixture {
    char place[64], db[96];
    unsigned train, test; /* records: train has the ids 0 ... train-1 */
    apl_store *store;
};
static struct fixture fx;

/* --------------------------------------------------------------------------------------------- its values */

static inline void fixture_image(uint64_t id, uint8_t *image)
{
    sample_fill(image, IMAGE_BYTES, SAMPLE_RANDOM, SIDE, (uint32_t)id + 1);
}

/* Sorted by class: what a bad order shows on. */
static inline uint8_t fixture_label(uint64_t id)
{
    return (uint8_t)(id < fx.train ? id * CLASSES / fx.train : id % CLASSES);
}

static inline size_t fixture_name(uint64_t id, char *name)
{
    return (size_t)sprintf(name, "%.*s%llu", (int)(id % 7), "number-", (unsigned long long)id);
}

/* Rows of the track of a record: also none. */
static inline int64_t fixture_track(uint64_t id, float *track)
{
    int64_t rows = (int64_t)(id % MAX_TRACK);
    for (int64_t i = 0; i < rows * TRACK_WIDTH; i++)
        track[i] = (float)id + (float)i / 16;
    return rows;
}

/* ------------------------------------------------------------------------------------------- how it is made */

static inline void fixture_append(apl_writer *w, uint64_t id)
{
    uint8_t image[IMAGE_BYTES], label = fixture_label(id);
    char name[40];
    float track[MAX_TRACK * TRACK_WIDTH];
    int64_t name_shape = (int64_t)fixture_name(id, name), track_shape[2] = {0, TRACK_WIDTH};
    fixture_image(id, image);
    track_shape[0] = fixture_track(id, track);
    apl_value values[FIELDS] = {{image, NULL}, {&label, NULL}, {name, &name_shape}, {track, track_shape}};
    cr_assert_eq(apl_writer_append(w, values, NULL), APL_OK);
}

static inline void fixture_member(apl_writer *w, const char *name, const char *split, uint32_t number,
                                  uint64_t from, uint64_t to)
{
    cr_assert_eq(apl_writer_begin_member(w, name, split, number, NULL), APL_OK);
    for (uint64_t id = from; id < to; id++)
        fixture_append(w, id);
}

static inline void fixture_schema(apl_writer *w)
{
    static const char *const classes[CLASSES] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    int64_t image[3] = {3, SIDE, SIDE}, name[1] = {-1}, track[2] = {-1, TRACK_WIDTH};
    cr_assert_eq(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 3, image, NULL), APL_OK);
    cr_assert_eq(apl_writer_add_field(w, "label", APL_U8, APL_TARGET, 0, NULL, NULL), APL_OK);
    /* With APL_TEST_KEPT in the environment, names are kept files: the same bytes, stored in another way. */
    bool kept = getenv("APL_TEST_KEPT") != NULL;
    cr_assert_eq(apl_writer_add_field(w, "name", kept ? APL_U8 : APL_UTF8, APL_NAME, 1, name, NULL), APL_OK);
    if (kept)
        cr_assert_eq(apl_writer_set_media(w, "name", "application/octet-stream", NULL), APL_OK);
    static const apl_kind plain = {.id = APL_KIND_PLAIN, .origin = APL_DECLARED};
    cr_assert_eq(apl_writer_add_field(w, "track", APL_F32, APL_INPUT, 2, track, NULL), APL_OK);
    cr_assert_eq(apl_writer_set_kind(w, "track", &plain, NULL), APL_OK);
    cr_assert_eq(apl_writer_set_classes(w, "label", classes, CLASSES, NULL), APL_OK);
}

/* Writes the store to `path`: two members of train, one of test. */
static inline void fixture_write(const char *path, unsigned train, unsigned test, uint32_t block_records)
{
    apl_error err = {0};
    apl_writer *w = NULL;
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    o.block_records = block_records;
    o.codec = "raw";
    o.threads = 1;
    fx.train = train;
    fx.test = test;
    cr_assert_eq(apl_writer_open(path, &o, &w, &err), APL_OK, "%s", err.message);
    fixture_schema(w);
    unsigned half = train / 2 + train / 16;
    fixture_member(w, "first", "train", 0, 0, half);
    fixture_member(w, "second", "train", 1, half, train);
    if (test)
        fixture_member(w, "third", "test", 2, train, train + test);
    cr_assert_eq(apl_writer_commit(w, &err), APL_OK, "%s", err.message);
    apl_writer_close(w);
}

static inline void fixture_make(unsigned train, unsigned test, uint32_t block_records)
{
    apl_error err = {0};
    static const char *const launcher[] = {
        "RANK",     "WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
        "PMI_RANK", "PMI_SIZE",   "SLURM_PROCID",         "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof launcher / sizeof *launcher; i++)
        unsetenv(launcher[i]);
    strcpy(fx.place, "/tmp/apl-reader-XXXXXX");
    cr_assert_not_null(mkdtemp(fx.place));
    snprintf(fx.db, sizeof fx.db, "%s/db", fx.place);
    fixture_write(fx.db, train, test, block_records);
    cr_assert_eq(apl_store_open(fx.db, NULL, &fx.store, &err), APL_OK, "%s", err.message);
}

static inline void fixture_shell(const char *format, const char *a, const char *b)
{
    char command[512];
    snprintf(command, sizeof command, format, a, b);
    cr_assert_eq(system(command), 0, "%s", command);
}

static inline void fixture_free(void)
{
    apl_store_close(fx.store);
    fixture_shell("rm -r '%s%s'", fx.place, "");
}

/* ------------------------------------------------------------------------------------------------ reading */

/* Works in the caller, so that nothing hangs on time. */
static inline apl_reader_options fixture_options(void)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    o.split = "train";
    o.batch_size = 16;
    o.threads = APL_NO_THREADS;
    return o;
}

/* The options in one of many mixes, which take turns in threads, sizes of batches and windows, copies and orders. */
static inline apl_reader_options fixture_mix(apl_reader_options o, unsigned mix, uint64_t small_window)
{
    static const unsigned threads[] = {APL_NO_THREADS, 1, 2, 4};
    o.threads = threads[mix % 4];
    o.seed = mix;
    o.batch_size = (size_t[]){1, 7, 64, 1001}[mix / 4 % 4];
    o.window = (uint64_t[]){0, 100, small_window}[mix % 3];
    o.reuse = mix % 5 == 4 ? 3 : 1;
    o.order = mix % 2 ? APL_FREE : APL_STRICT;
    return o;
}

static inline apl_reader *fixture_reader(const apl_reader_options *o)
{
    apl_error err = {0};
    apl_reader *r = NULL;
    apl_status status = apl_reader_open(fx.store, o, &r, &err);
    cr_assert_eq(status, APL_OK, "%s", err.message);
    return r;
}

/* The message of the refusal. */
static inline const char *fixture_refused(const apl_reader_options *o, apl_status expected)
{
    static apl_error err;
    apl_reader *r = NULL;
    err.message[0] = 0;
    apl_status status = apl_reader_open(fx.store, o, &r, &err);
    cr_assert_eq(status, expected, "%d instead of %d: %s", status, expected, err.message);
    cr_assert_eq(err.status, expected);
    cr_assert_null(r);
    return err.message;
}

static inline apl_batch *fixture_next(apl_reader *r)
{
    apl_error err = {0};
    apl_batch *b = NULL;
    apl_status status = apl_reader_next(r, &b, &err);
    if (status == APL_END)
        return NULL;
    cr_assert_eq(status, APL_OK, "%s: %s", apl_status_text(status), err.message);
    return b;
}

static inline void fixture_next_epoch(apl_reader *r)
{
    apl_error err = {0};
    cr_assert_eq(apl_reader_next_epoch(r, &err), APL_OK, "%s", err.message);
}

static inline void check_names(const apl_batch *b)
{
    const apl_column *c = apl_batch_column(b, FIELD_NAME);
    const uint64_t *ids = apl_batch_ids(b);
    char name[40];
    for (size_t i = 0; c && i < apl_batch_rows(b); i++) {
        size_t n = fixture_name(ids[i], name);
        cr_assert_eq(c->offsets[i + 1] - c->offsets[i], n, "row %zu, id %llu", i, (unsigned long long)ids[i]);
        cr_assert_eq(c->shapes[i], (int64_t)n);
        cr_assert(memcmp((const char *)c->data + c->offsets[i], name, n) == 0);
    }
}

static inline void check_tracks(const apl_batch *b)
{
    const apl_column *c = apl_batch_column(b, FIELD_TRACK);
    const uint64_t *ids = apl_batch_ids(b);
    float track[MAX_TRACK * TRACK_WIDTH];
    for (size_t i = 0; c && i < apl_batch_rows(b); i++) {
        int64_t rows = fixture_track(ids[i], track);
        size_t n = (size_t)rows * TRACK_WIDTH;
        cr_assert_eq(c->offsets[i + 1] - c->offsets[i], n);
        cr_assert_eq(c->shapes[2 * i], rows);
        cr_assert_eq(c->shapes[2 * i + 1], TRACK_WIDTH);
        cr_assert(n == 0 || memcmp((const float *)c->data + c->offsets[i], track, n * sizeof *track) == 0);
    }
    cr_assert(!c || c->bytes == c->offsets[apl_batch_rows(b)] * sizeof(float));
}

/* Is every value of the batch that of its id? Pictures as they are stored. */
static inline void check_values(const apl_batch *b)
{
    const apl_column *image = apl_batch_column(b, FIELD_IMAGE), *label = apl_batch_column(b, FIELD_LABEL);
    const uint64_t *ids = apl_batch_ids(b);
    uint8_t expected[IMAGE_BYTES];
    for (size_t i = 0; i < apl_batch_rows(b); i++) {
        fixture_image(ids[i], expected);
        if (image)
            cr_assert(memcmp((const uint8_t *)image->data + i * IMAGE_BYTES, expected, IMAGE_BYTES) == 0,
                      "image of id %llu, row %zu of the batch at %llu of epoch %llu",
                      (unsigned long long)ids[i], i, (unsigned long long)apl_batch_position(b),
                      (unsigned long long)apl_batch_epoch(b));
        if (label)
            cr_assert_eq(((const uint8_t *)label->data)[i], fixture_label(ids[i]));
    }
    check_names(b);
    check_tracks(b);
}

/* Ids one after another, as they were handed out. */
struct sequence {
    uint64_t *ids;
    size_t count, room, batches;
};

static inline void sequence_add(struct sequence *s, const apl_batch *b)
{
    size_t n = apl_batch_rows(b);
    if (s->count + n > s->room) {
        s->room = 2 * (s->count + n);
        s->ids = realloc(s->ids, s->room * sizeof *s->ids);
        cr_assert_not_null(s->ids);
    }
    if (n)
        memcpy(s->ids + s->count, apl_batch_ids(b), n * sizeof *s->ids);
    s->count += n;
    s->batches++;
}

static inline void sequence_free(struct sequence *s)
{
    free(s->ids);
    *s = (struct sequence){0};
}

static inline void check_same(const struct sequence *a, const struct sequence *b)
{
    cr_assert_eq(a->count, b->count, "%zu and %zu", a->count, b->count);
    for (size_t i = 0; i < a->count; i++)
        cr_assert_eq(a->ids[i], b->ids[i], "at %zu", i);
}

/* Takes up to `most` batches of the epoch; false: it is over. */
static inline bool read_batches(apl_reader *r, struct sequence *s, size_t most)
{
    for (; most > 0; most--) {
        apl_batch *b = fixture_next(r);
        if (!b)
            return false;
        cr_assert_eq(apl_batch_epoch(b), apl_reader_epoch(r));
        check_values(b);
        sequence_add(s, b);
        apl_batch_release(b);
    }
    return true;
}

/* What is left of the epoch, after what `s` holds. */
static inline void read_epoch(apl_reader *r, struct sequence *s)
{
    cr_assert(!read_batches(r, s, SIZE_MAX));
    cr_assert_null(fixture_next(r), "the end must stay the end");
}

/* Every way to read: kept slots or not, both orders, with threads or without. */
#define FIXTURE_WAYS 8u
static inline apl_reader_options fixture_way(unsigned i)
{
    apl_reader_options o = fixture_options();
    o.batch_size = 5;
    o.window = i & 1 ? 20 : 0;
    o.order = i & 2 ? APL_FREE : APL_STRICT;
    o.threads = i & 4 ? 3 : APL_NO_THREADS;
    o.seed = i;
    return o;
}

/* An epoch as the readers of all ranks see it, one after another. */
static inline struct sequence read_ranks(const apl_reader_options *options, unsigned world)
{
    struct sequence all = {0};
    for (unsigned rank = 0; rank < world; rank++) {
        apl_reader_options o = *options;
        o.ranks.rank = rank;
        o.ranks.world = world;
        o.threads = 2;
        apl_reader *r = fixture_reader(&o);
        read_epoch(r, &all);
        apl_reader_close(r);
    }
    return all;
}

/* The ids of two epochs come to this XXH3-64. */
static inline void check_digest(const apl_reader_options *o, uint64_t expected)
{
    apl_reader *r = fixture_reader(o);
    struct sequence s = {0};
    read_epoch(r, &s);
    fixture_next_epoch(r);
    read_epoch(r, &s);
    uint64_t digest = hash_xxh3_64(s.ids, s.count * sizeof *s.ids);
    cr_assert_eq(digest, expected, "0x%016llx", (unsigned long long)digest);
    sequence_free(&s);
    apl_reader_close(r);
}

/* Each id of first ... first+n-1 exactly `times` times; with `some`, at most so often. */
static inline void check_once(const struct sequence *s, uint64_t first, size_t n, unsigned times, bool some)
{
    unsigned *seen = calloc(n, sizeof *seen);
    for (size_t i = 0; i < s->count; i++) {
        cr_assert(s->ids[i] >= first && s->ids[i] < first + n, "%llu", (unsigned long long)s->ids[i]);
        seen[s->ids[i] - first]++;
    }
    for (size_t i = 0; i < n; i++)
        cr_assert(seen[i] == times || (some && seen[i] < times), "id %zu came %u times instead of %u", i,
                  seen[i], times);
    free(seen);
}

#endif

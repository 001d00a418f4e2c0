/*
 * A mapped store whose file is written to while it is read, which nobody should do and anybody who may write to it can: whatever is
 * read is what the store holds, or an error; nothing outside of the library's memory is touched. A plain main, to be run under the
 * address sanitizer too.
 */
#include "reader_case.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define READERS 2u
#define PLACES  64u
#define FLIPS   400u /* of a place, before another one is chosen */

static struct case_store store_case = {"db", 150, 40, 16, 6, true, ""};
static atomic_bool over;
static atomic_uint good, refused, changed;

/* Pictures are coded as such, so that their tables are there to be changed. */
static void write_store(struct case_store *c)
{
    static const char *const classes[10] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    int64_t shape[3] = {3, c->side, c->side}, varies[1] = {-1};
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    apl_writer *w;
    apl_error err;
    o.threads = 1;
    o.block_records = c->block;
    o.codec = "picture";
    snprintf(c->path, sizeof c->path, "%s/%s", case_folder, c->name);
    MUST(apl_writer_open(c->path, &o, &w, &err), &err);
    MUST(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 3, shape, &err), &err);
    MUST(apl_writer_add_field(w, "label", APL_U8, APL_TARGET, 0, NULL, &err), &err);
    MUST(apl_writer_add_field(w, "name", APL_UTF8, APL_NAME, 1, varies, &err), &err);
    MUST(apl_writer_set_classes(w, "label", classes, 10, &err), &err);
    MUST(apl_writer_begin_member(w, "first", "test", 0, &err), &err);
    case_fill(c, w, 0, c->first);
    MUST(apl_writer_begin_member(w, "second", "train", 1, &err), &err);
    case_fill(c, w, c->first, c->records);
    MUST(apl_writer_commit(w, &err), &err);
    apl_writer_close(w);
}

/* ------------------------------------------------------------------------------------------------------ writing */

struct file {
    volatile uint8_t *bytes;
    size_t size, places[PLACES]; /* where blocks and the manifest begin */
    unsigned count;
};

static void map_file(struct file *f)
{
    char path[128];
    struct stat st;
    snprintf(path, sizeof path, "%s/data.mdb", store_case.path);
    CHECK(chmod(path, 0644) == 0);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0 && fstat(fd, &st) == 0);
    f->size = (size_t)st.st_size;
    void *map = mmap(NULL, f->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(map != MAP_FAILED && close(fd) == 0);
    f->bytes = map;
    for (size_t i = 0; i + 4 < f->size && f->count < PLACES; i++)
        if (memcmp((const uint8_t *)map + i, "APLB", 4) == 0 ||
            memcmp((const uint8_t *)map + i, "APLM", 4) == 0)
            f->places[f->count++] = i;
    CHECK(f->count > 2);
}

/* Mostly where tables are: in headers, and in the beginning of the first column, that of the pictures. */
static size_t choose_place(const struct file *f, struct dice *d)
{
    size_t place = f->places[roll(d, f->count)], header = 40 + 40 * 3 + 16 * store_case.block;
    switch (roll(d, 8)) {
    case 0:
        return roll(d, (uint32_t)f->size);
    case 1:
    case 2:
        return place + roll(d, 160);
    default:
        return place + header + roll(d, 100);
    }
}

/* Changes bytes to and fro, without end; every byte is at last as it was. */
static void *change(void *argument)
{
    struct file *f = argument;
    struct dice d = {4};
    while (!atomic_load(&over)) {
        size_t at = choose_place(f, &d);
        if (at >= f->size)
            continue;
        uint8_t is = f->bytes[at], other = roll(&d, 2) ? 0xff : (uint8_t)roll(&d, 256);
        for (unsigned i = 0; i < FLIPS; i++) {
            f->bytes[at] = other;
            for (volatile unsigned wait = roll(&d, 200); wait; wait--)
                ;
            f->bytes[at] = is;
            for (volatile unsigned wait = roll(&d, 200); wait; wait--)
                ;
        }
        atomic_fetch_add(&changed, 1);
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------ reading */

static void account(apl_status status)
{
    CHECK(status == APL_OK || status == APL_END || status == APL_E_CORRUPT || status == APL_E_VERSION ||
          status == APL_E_MISMATCH);
    atomic_fetch_add(status == APL_OK || status == APL_END ? &good : &refused, 1);
}

static void get_records(apl_store *store, const struct case_store *c)
{
    uint64_t ids[40];
    apl_batch *batch;
    apl_error err;
    for (uint64_t from = c->first; from + 40 <= c->first + c->records; from += 35) {
        for (uint64_t i = 0; i < 40; i++)
            ids[i] = from + i;
        apl_status status = apl_store_get_batch(store, ids, 40, NULL, &batch, &err);
        account(status);
        if (status != APL_OK)
            continue;
        case_check(c, batch);
        apl_batch_release(batch);
    }
}

static void read_epoch(apl_store *store, const struct case_store *c)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_reader *reader;
    apl_batch *batch;
    apl_error err;
    o.split = "train";
    o.threads = APL_NO_THREADS;
    o.batch_size = 32;
    apl_status status = apl_reader_open(store, &o, &reader, &err);
    account(status);
    if (status != APL_OK)
        return;
    while ((status = apl_reader_next(reader, &batch, &err)) == APL_OK) {
        case_check(c, batch);
        apl_batch_release(batch);
    }
    account(status);
    apl_reader_close(reader);
}

static void read_all(void)
{
    apl_store *store;
    apl_error err;
    apl_status status = apl_store_open(store_case.path, NULL, &store, &err);
    account(status);
    if (status != APL_OK)
        return;
    for (unsigned f = 0; f < apl_store_info(store)->fields; f++)
        CHECK(strlen(apl_store_field(store, f)->name) < 256);
    for (unsigned i = 0; i < 4; i++)
        get_records(store, &store_case);
    read_epoch(store, &store_case);
    account(apl_store_verify(store, NULL, &err));
    apl_store_close(store);
}

static void *read_on(void *unused)
{
    for (unsigned i = 0, n = SANITIZED ? 30 : times(150, 5000); i < n; i++)
        read_all();
    return unused;
}

int main(void)
{
    static struct file file;
    pthread_t writer, readers[READERS];
    case_begin();
    write_store(&store_case);
    map_file(&file);
    case_doing = "reading a store that changes";
    CHECK(pthread_create(&writer, NULL, change, &file) == 0);
    for (unsigned i = 0; i < READERS; i++)
        CHECK(pthread_create(&readers[i], NULL, read_on, NULL) == 0);
    for (unsigned i = 0; i < READERS; i++)
        CHECK(pthread_join(readers[i], NULL) == 0);
    atomic_store(&over, true);
    CHECK(pthread_join(writer, NULL) == 0);
    munmap((void *)file.bytes, file.size);
    CHECK(atomic_load(&good) > 0 && atomic_load(&refused) > 0);
    counted("%u places of a mapped store changed while it is read: %u calls refused, %u good",
            atomic_load(&changed), atomic_load(&refused), atomic_load(&good));
    case_end("store_changes");
    return 0;
}

/* A mapped store that changes while it is read. The input says which bytes change, and to what: three bytes for each, the place (2) and
 * the value (1). What is read is what the store holds, or an error. */
#include "fuzz.h"
#include "small.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ALL  (SMALL_TRAIN + SMALL_TEST)
#define MOST 16u /* changes at once */

static struct {
    volatile uint8_t *bytes;
    uint8_t *whole; /* as they should be */
    size_t size;
} file;

struct changes {
    const uint8_t *input;
    size_t count;
    atomic_bool over;
};

static const char *store_folder(void)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/small", fuzz_folder());
    return path;
}

static void map_file(void)
{
    char path[192];
    struct stat st;
    MUST(small_store() != NULL);
    snprintf(path, sizeof path, "%s/data.mdb", store_folder());
    MUST(chmod(path, 0600) == 0);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    MUST(fd >= 0 && fstat(fd, &st) == 0);
    file.size = (size_t)st.st_size;
    file.bytes = mmap(NULL, file.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    file.whole = malloc(file.size);
    MUST(file.bytes != MAP_FAILED && file.whole && close(fd) == 0);
    memcpy(file.whole, (const uint8_t *)file.bytes, file.size);
}

/* Where change i is: the meta pages are behind the others, which matter more. */
static size_t place(const struct changes *c, size_t i)
{
    return (size_t)(load_le(c->input + 3 * i, 2) + 8192) % file.size;
}

static void *change(void *argument)
{
    struct changes *c = argument;
    while (!atomic_load_explicit(&c->over, memory_order_relaxed)) {
        for (size_t i = 0; i < c->count; i++)
            file.bytes[place(c, i)] = c->input[3 * i + 2];
        for (volatile int wait = 0; wait < 60; wait++)
            ;
        for (size_t i = 0; i < c->count; i++)
            file.bytes[place(c, i)] = file.whole[place(c, i)];
        for (volatile int wait = 0; wait < 60; wait++)
            ;
    }
    return NULL;
}

/* Every row is what small.c has written. */
static void look(const apl_batch *batch)
{
    const apl_column *image = apl_batch_column(batch, 0), *label = apl_batch_column(batch, 1),
                     *name = apl_batch_column(batch, 2);
    for (size_t k = 0; k < apl_batch_rows(batch); k++) {
        uint64_t id = apl_batch_ids(batch)[k];
        const uint8_t *pixels = (const uint8_t *)image->data + 4 * k;
        MUST(id < ALL && pixels[0] == id && pixels[1] == id / 2 && pixels[2] == 3 && pixels[3] == 4);
        MUST(((const uint8_t *)label->data)[k] == id % 3);
        MUST(name->offsets[k + 1] - name->offsets[k] == id % 4);
    }
}

static void read_epoch(apl_store *store, uint8_t pick)
{
    apl_reader_options o = small_options(pick & 0x5f);
    apl_reader *reader;
    apl_batch *batch;
    if (apl_reader_open(store, &o, &reader, NULL) != APL_OK)
        return;
    while (apl_reader_next(reader, &batch, NULL) == APL_OK) {
        look(batch);
        apl_batch_release(batch);
    }
    apl_reader_close(reader);
}

static void read_store(uint8_t pick)
{
    static const apl_store_options mapped = {.size = sizeof mapped, .io = APL_IO_MAP};
    apl_verify_options verify = APL_VERIFY_OPTIONS_INIT;
    apl_get_options get = APL_GET_OPTIONS_INIT;
    uint64_t ids[ALL];
    apl_store *store;
    apl_batch *batch;
    verify.threads = get.threads = APL_NO_THREADS;
    if (apl_store_open(store_folder(), &mapped, &store, NULL) != APL_OK)
        return;
    for (uint64_t i = 0; i < ALL; i++)
        ids[i] = i;
    for (unsigned round = 0; round < 3; round++)
        if (apl_store_get_batch(store, ids, ALL, &get, &batch, NULL) == APL_OK) {
            look(batch);
            apl_batch_release(batch);
        }
    read_epoch(store, pick);
    (void)!apl_store_verify(store, &verify, NULL);
    apl_store_close(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pthread_t thread;
    struct changes c = {.input = data, .count = size / 3 < MOST ? size / 3 : MOST};
    if (c.count == 0)
        return 0;
    if (!file.bytes)
        map_file();
    MUST(pthread_create(&thread, NULL, change, &c) == 0);
    for (unsigned i = 0; i < 4; i++)
        read_store((uint8_t)(data[0] + i));
    atomic_store(&c.over, true);
    MUST(pthread_join(thread, NULL) == 0);
    MUST(memcmp((const uint8_t *)file.bytes, file.whole, file.size) == 0);
    return 0;
}

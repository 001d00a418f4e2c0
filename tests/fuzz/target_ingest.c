/*
 * Sources as a stranger gives them: the first byte says what the file is called, and where there are two, the next two how long the first
 * is. A store comes of it that holds together, or an error and nothing.
 */
#include "apl_ingest.h"
#include "fuzz.h"

#include <sys/stat.h>
#include <unistd.h>

static apl_error err;
static char root[160], source[200], db[200];

static const char *const names[][2] = {
    {"t.csv"},
    {"t.tsv"},
    {"t.jsonl"},
    {"train-images-idx3-ubyte", "train-labels-idx1-ubyte"},
    {"a.npy", "b.npy"},
    {"a.npz"},
    {"t.tfrecord"},
    {"t.idx", "t.bin"},
    {"t.tokens"},
    {"cat/1.jpg", "dog/1.jpg"},
    {"cat/1.png", "dog/1.png"},
    {"cat/1.bmp", "cat/2.ppm"},
    {"set.tar"},
};

static void name_places(void)
{
    snprintf(root, sizeof root, "%s", fuzz_folder());
    snprintf(source, sizeof source, "%s/in", root);
    snprintf(db, sizeof db, "%s/db", root);
}

static void put(const char *name, const uint8_t *data, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "in/%s", name);
    fuzz_file(path, data, size);
}

static void begin(void)
{
    char path[256];
    static const char *const folders[] = {"", "/cat", "/dog"};
    for (unsigned i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", source, folders[i]);
        MUST(mkdir(path, 0700) == 0);
    }
}

static void drop(const char *folder, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    remove(path);
}

static void end(const char *const name[2])
{
    for (unsigned i = 0; i < 2 && name[i]; i++)
        drop(source, name[i]);
    drop(source, "cat");
    drop(source, "dog");
    drop(root, "in");
    drop(db, "data.mdb");
    MUST(remove(db) == 0 || access(db, F_OK) != 0); /* nothing else is left in it */
}

static void check_store(void)
{
    apl_store *s;
    MUST(apl_store_open(db, NULL, &s, &err) == APL_OK);
    apl_verify_options o = APL_VERIFY_OPTIONS_INIT;
    o.threads = APL_NO_THREADS;
    MUST(apl_store_verify(s, &o, &err) == APL_OK);
    MUST(apl_store_info(s)->records > 0);
    apl_store_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t count = sizeof names / sizeof *names;
    apl_ingest_options o = APL_INGEST_OPTIONS_INIT;
    apl_writer_options w = APL_WRITER_OPTIONS_INIT;
    if (size < 3)
        return 0;
    const char *const *name = names[data[0] % count];
    size_t first = name[1] ? (size_t)load_le(data + 1, 2) : size - 3;
    first = first < size - 3 ? first : size - 3;
    if (!*root)
        name_places();
    begin();
    put(name[0], data + 3, first);
    if (name[1])
        put(name[1], data + 3 + first, size - 3 - first);
    w.threads = 1;
    o.writer = &w;
    o.partial = data[0] / count & 1;
    o.skip_bad = data[0] / count & 2 ? 5 : 0;
    o.allow_warnings = data[0] / count & 4;
    if (data[0] % count < 3)
        o.format = "list";
    if (data[0] % count == 8)
        o.tokens = APL_U16;
    apl_status status = apl_ingest(source, db, &o, NULL, &err);
    if (status == APL_OK)
        check_store();
    else
        MUST(err.status == status && *err.message && !strchr(err.message, '\n'));
    end(name);
    return 0;
}

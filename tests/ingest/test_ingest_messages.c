/* Whatever a source has in it, what is said of it can be printed: errors, notices, and what is left out and why. Every text that sources
 * of all formats hold is replaced, byte after byte, by what terminals obey or no one can read. */
#include "archives.h"
#include "crc32c.h"
#include "ingest_fixture.h"

TestSuite(ingest_messages, .init = ix_set_up, .fini = fx_tear_down, .timeout = 300);

/* An escape, a C1 control, what turns the direction of text, bytes that are no UTF-8, a vertical tab, DEL. */
static const char *const hostile[] = {"\x1b[31m", "\xc2\x9b", "\xe2\x80\xae", "\xff\xfe", "\x0b", "\x7f"};

static uint64_t heard;

static void is_printable(const char *text)
{
    char shown[4 * sizeof fx_err.message + 4096];
    cr_assert_str_eq(apl_printable(shown, sizeof shown, text, strlen(text)), text);
    heard += *text != 0;
}

static void hear(void *user, const char *message)
{
    (void)user;
    is_printable(message);
}

static void hear_skipped(void *user, const char *path, const char *why)
{
    (void)user;
    is_printable(path);
    is_printable(why);
}

static void ingest(const char *path)
{
    ix_options.writer = &ix_writing;
    ix_options.notice = hear;
    ix_options.skipped = hear_skipped;
    ix_options.skip_bad = 2;
    fx_err.message[0] = 0;
    if (apl_ingest(path, ix_db, &ix_options, &ix_sum, &fx_err) != APL_OK)
        is_printable(fx_err.message);
}

/* Puts each of the hostile texts at each of a file's bytes, one after another: over what is there, and in between. */
static void sweep(const char *name, const void *data, size_t size)
{
    struct buffer b = {0};
    heard = 0;
    for (size_t at = 0; at < size; at++) {
        const char *text = hostile[at % COUNT(hostile)];
        size_t n = strlen(text), over = at / COUNT(hostile) % 2 ? n : 0;
        b.size = 0;
        buffer_put(&b, data, at);
        buffer_put(&b, text, n);
        if (at + over < size)
            buffer_put(&b, (const uint8_t *)data + at + over, size - at - over);
        fx_write(fx_path(name), b.data, b.size);
        ingest(fx_path(name));
    }
    cr_assert_geq(heard, 3, "%s: little was said", name);
    buffer_free(&b);
}

static void sweep_text(const char *name, const char *text)
{
    sweep(name, text, strlen(text));
}

Test(ingest_messages, tables)
{
    sweep_text("t.csv", "split,name,label,x\ntrain,ada,cat,1\ntrain,bob,dog,2.5\ntest,\"c\"\"d\",cat,x\n");
    sweep_text("t.tsv", "a\tb\n1\tx\n2\ty\n");
    sweep_text("t.csv", "image,label\nno.jpg,cat\n");
}

Test(ingest_messages, json_lines)
{
    sweep_text("t.jsonl",
               "{\"id\": 1, \"text\": \"abc\", \"v\": [1, 2]}\n{\"id\": 2, \"text\": \"d\", \"v\": [3]}\n");
    sweep_text("t.jsonl", "{\"a\" \"a whole text where a colon must be\"}\n");
    sweep_text("t.jsonl", "{\"a\": nul, \"b\": tru}\n");
}

/* Headers of NumPy are text. */
Test(ingest_messages, npy)
{
    char file[128 + 8] = "\x93NUMPY\x01\0\x76\0{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
    size_t head = 10 + strlen(file + 10);
    memset(file + head, ' ', 127 - head);
    file[127] = '\n';
    sweep("t.npy", file, sizeof file);
}

static uint32_t masked_sum(const void *data, size_t size)
{
    uint32_t sum = crc32c(data, size);
    return (sum >> 15 | sum << 17) + 0xa282ead8;
}

/* A frame of TFRecord, whose checksums are right. */
static void put_frame(struct buffer *b, const void *data, size_t size)
{
    uint8_t length[8];
    store_le(length, size, 8);
    buffer_put(b, length, 8);
    buffer_le(b, masked_sum(length, 8), 4);
    buffer_put(b, data, size);
    buffer_le(b, masked_sum(data, size), 4);
}

Test(ingest_messages, tfrecord)
{
    /* features: {"name": bytes "text"} and {"n": int64 [7]} */
    static const char example[] = "\x0a\x1f\x0a\x10\x0a\x04name\x12\x08\x0a\x06\x0a\x04text"
                                  "\x0a\x0b\x0a\x01n\x12\x06\x1a\x04\x0a\x02\x07\x08";
    for (size_t at = 0; at + 1 < sizeof example; at++) {
        char copy[sizeof example];
        struct buffer b = {0};
        memcpy(copy, example, sizeof example);
        put_frame(&b, copy, sizeof example - 1);
        const char *text = hostile[at % COUNT(hostile)];
        memcpy(copy + at, text, strnlen(text, sizeof example - 1 - at));
        put_frame(&b, copy, sizeof example - 1);
        fx_write(fx_path("t.tfrecord"), b.data, b.size);
        ingest(fx_path("t.tfrecord"));
        buffer_free(&b);
    }
}

/* Archives whose members have such names and such content. */
Test(ingest_messages, webdataset)
{
    static const char *const endings[] = {"cls", "json", "txt", "jpg", "npy"};
    for (size_t e = 0; e < COUNT(endings); e++)
        for (size_t i = 0; i < COUNT(hostile); i++)
            for (unsigned where = 0; where < 3; where++) {
                struct buffer b = {0};
                char name[64], data[64];
                snprintf(name, sizeof name, "a%s.%s%s", where == 0 ? hostile[i] : "", endings[e],
                         where == 1 ? hostile[i] : "");
                snprintf(data, sizeof data, "{\"a\" %s}", where == 2 ? hostile[i] : "1");
                tar_file(&b, name, &(struct buffer){(uint8_t *)data, strlen(data), 0, false});
                tar_file(&b, "b.cls", &(struct buffer){(uint8_t *)"1", 1, 0, false});
                tar_finish(&b);
                fx_write(fx_path("t.tar"), b.data, b.size);
                ingest(fx_path("t.tar"));
                buffer_free(&b);
            }
    cr_assert_geq(heard, 10);
}

/* Folders, by their names. */
Test(ingest_messages, folders)
{
    for (size_t i = 0; i < COUNT(hostile); i++) {
        char path[512];
        snprintf(path, sizeof path, "%s%s", fx_path("in"), hostile[i]);
        cr_assert_eq(mkdir(path, 0755), 0);
        snprintf(path + strlen(path), 64, "/c%s", hostile[i]);
        cr_assert_eq(mkdir(path, 0755), 0);
        snprintf(path + strlen(path), 64, "/i%s.jpg", hostile[i]);
        fx_write(path, "no picture", 10);
        snprintf(path, sizeof path, "%s%s", fx_path("in"), hostile[i]);
        ingest(path);
    }
    cr_assert_geq(heard, COUNT(hostile));
}

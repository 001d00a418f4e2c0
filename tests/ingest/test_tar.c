/* The tar layer, through whole sources: members, cuts, links, holes, limits. */
#include "archives.h"
#include "counts.h"
#include "tar.h"

static const char *folder;

static void setup(void)
{
    folder = temp_folder();
}

static void teardown(void)
{
    temp_drop(folder);
}

TestSuite(tar, .init = setup, .fini = teardown);

/* A tar with an unwanted file before, between and behind two wanted ones. */
static struct buffer usual(struct buffer *a, struct buffer *b)
{
    struct buffer tar = {0}, other = content(5, 3000);
    *a = content(2, 5000);
    *b = content(3, 1024);
    tar_header(&tar, "set/", '5', 0, "");
    tar_file(&tar, "set/readme", &other);
    tar_file(&tar, "set/data_a", a);
    tar_file(&tar, "set/notes", &other);
    tar_file(&tar, "./set/data_b", b);
    tar_file(&tar, "set/readme2", &other);
    tar_finish(&tar);
    buffer_free(&other);
    return tar;
}

/* A tar with this one header, and 600 bytes of data. */
static struct buffer single(const char *name, char type, uint64_t size, const char *link)
{
    struct buffer tar = {0}, data = content(1, 600);
    tar_header(&tar, name, type, size, link);
    buffer_put(&tar, data.data, data.size);
    pad_to(&tar, 512);
    tar_finish(&tar);
    buffer_free(&data);
    return tar;
}

static void refuses(struct buffer *tar, apl_status status, const char *words)
{
    expect(read_bytes(folder, tar, 100), status, words);
    buffer_free(tar);
}

Test(tar, members)
{
    struct buffer a, b, tar = usual(&a, &b);
    for (size_t step = 0; step < 3; step++) {
        struct reading *r = read_bytes(folder, &tar, step);
        expect(r, APL_END, "");
        cr_assert_eq(r->members, 2);
        cr_assert_str_eq(r->names[0], "data_a");
        cr_assert_str_eq(r->paths[0], "set/data_a");
        cr_assert_str_eq(r->names[1], "data_b");
        cr_assert_str_eq(r->paths[1], "./set/data_b");
        if (step == 0)
            continue;
        same_bytes(&r->data[0], a.data, a.size);
        same_bytes(&r->data[1], b.data, b.size);
    }
    buffer_free(&tar);
    buffer_free(&a);
    buffer_free(&b);
}

/* Where a tar may be cut and look whole: completeness is for those who know what should be in it. */
static bool boundary(size_t cut)
{
    static const size_t ends[] = {512, 4096, 9728, 13312, 14848, 18432, 18944, 19456};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (cut == ends[i])
            return true;
    return false;
}

Test(tar, cut_at_every_block)
{
    struct buffer a, b, tar = usual(&a, &b);
    cr_assert_eq(tar.size, 19456);
    for (size_t cut = 512; cut <= tar.size; cut += 256) {
        struct buffer part = {.data = tar.data, .size = cut};
        struct reading *r = read_bytes(folder, &part, cut % 1024);
        if (boundary(cut))
            expect(r, APL_END, "");
        else
            expect(r, APL_E_INCOMPLETE, "ends early");
    }
    buffer_free(&tar);
    buffer_free(&a);
    buffer_free(&b);
}

Test(tar, cut_member_is_named)
{
    struct buffer a, b, tar = usual(&a, &b);
    tar.size = 6000;
    struct reading *r = read_bytes(folder, &tar, 9);
    expect(r, APL_E_INCOMPLETE, "source: member set/data_a: ends early at byte 6000 of the tar");
    buffer_free(&tar);
    buffer_free(&a);
    buffer_free(&b);
}

Test(tar, empty_and_missing_end)
{
    struct buffer tar = {0}, nothing = {0};
    tar_finish(&tar);
    expect(read_bytes(folder, &tar, 1), APL_END, "");
    tar.size = 0;
    tar_file(&tar, "data", &nothing);
    struct reading *r = read_bytes(folder, &tar, 1);
    expect(r, APL_END, "");
    cr_assert_eq(r->members, 1);
    buffer_free(&tar);
}

Test(tar, only_zeros_may_follow)
{
    struct buffer a, b, tar = usual(&a, &b);
    static const uint8_t zeros[700000];
    buffer_put(&tar, zeros, sizeof zeros);
    expect(read_bytes(folder, &tar, 50), APL_END, "");
    char words[64];
    snprintf(words, sizeof words, "byte %zu of the tar: garbage", tar.size);
    buffer_put(&tar, "x", 1);
    expect(read_bytes(folder, &tar, 50), APL_E_SOURCE, words);
    tar.size = 19456;
    buffer_put(&tar, "x", 1);
    expect(read_bytes(folder, &tar, 50), APL_E_SOURCE, "byte 19456 of the tar: garbage");
    tar.size = 19456 - 512; /* half an end mark, and something odd */
    buffer_put(&tar, "x", 1);
    expect(read_bytes(folder, &tar, 50), APL_E_INCOMPLETE, "truncated");
    buffer_free(&tar);
    buffer_free(&a);
    buffer_free(&b);
}

Test(tar, what_is_no_tar)
{
    struct buffer b = content(0, 5000);
    expect(read_bytes(folder, &b, 1), APL_E_SOURCE, "is not a known archive");
    b.size = 3;
    expect(read_bytes(folder, &b, 1), APL_E_SOURCE, "is not a known archive");
    buffer_free(&b);
}

Test(tar, damaged_headers)
{
    struct buffer a, b, tar = usual(&a, &b);
    tar.data[9728 + 3] ^= 1; /* the name of set/notes */
    expect(read_bytes(folder, &tar, 77), APL_E_SOURCE, "of the tar: ");
    tar.data[9728 + 3] ^= 1;
    tar.data[3] ^= 1;
    expect(read_bytes(folder, &tar, 77), APL_E_SOURCE, "");
    buffer_free(&tar);
    buffer_free(&a);
    buffer_free(&b);
}

Test(tar, wanted_names_that_are_no_files)
{
    struct buffer b;
    refuses((b = single("a/data", '1', 0, "other"), &b), APL_E_SOURCE,
            "member a/data: byte 512 of the tar: is a hard link");
    refuses((b = single("a/data", '2', 0, "/etc/passwd"), &b), APL_E_SOURCE, "is a symbolic link");
    refuses((b = single("a/data", '3', 0, ""), &b), APL_E_SOURCE, "is a device or pipe");
    refuses((b = single("a/data", '4', 0, ""), &b), APL_E_SOURCE, "is a device or pipe");
    refuses((b = single("a/data/", '5', 0, ""), &b), APL_E_SOURCE, "is a directory");
    refuses((b = single("a/data", '6', 0, ""), &b), APL_E_SOURCE, "is a device or pipe");
}

Test(tar, others_that_are_no_files_are_passed_over)
{
    static const char types[] = "123456";
    struct buffer tar = {0}, data = content(1, 100);
    for (const char *t = types; *t; t++)
        tar_header(&tar, "../../etc/passwd", *t, 0, "/etc/shadow");
    tar_file(&tar, "data", &data);
    tar_finish(&tar);
    struct reading *r = read_bytes(folder, &tar, 1);
    expect(r, APL_END, "");
    same_bytes(&r->data[0], data.data, data.size);
    buffer_free(&tar);
    buffer_free(&data);
}

Test(tar, paths_that_lead_out)
{
    struct buffer b;
    refuses((b = single("../data", '0', 600, ""), &b), APL_E_SOURCE, "leads out");
    refuses((b = single("a/../../data", '0', 600, ""), &b), APL_E_SOURCE, "leads out");
    refuses((b = single("/data", '0', 600, ""), &b), APL_E_SOURCE, "leads out");
}

Test(tar, names_are_made_safe_to_print)
{
    struct buffer tar = single("x\033[2J\n/data\377\001", '0', 600, "");
    struct reading *r = read_bytes(folder, &tar, 1);
    if (r->status == APL_END) {
        cr_assert_str_eq(r->names[0], "data\377\001");
        cr_assert_str_eq(r->paths[0], "x\\x1b[2J\\x0a/data\\xff\\x01");
    } else {
        expect(r, APL_E_SOURCE, "\\x1b"); /* a libarchive that warns of the name */
    }
    buffer_free(&tar);
}

Test(tar, odd_names_of_others_do_no_harm)
{
    struct buffer tar = {0}, data = content(1, 600);
    tar_file(&tar, "\377\376\375", &data);
    tar_file(&tar, "", &data);
    tar_file(&tar, "data", &data);
    tar_finish(&tar);
    struct reading *r = read_bytes(folder, &tar, 1);
    expect(r, APL_END, "");
    cr_assert_eq(r->members, 1);
    buffer_free(&tar);
    buffer_free(&data);
}

Test(tar, long_names)
{
    char name[400];
    memset(name, 'd', sizeof name);
    memcpy(name + 300, "/data_long", 11);
    struct buffer tar = {0}, data = content(1, 600), path = {0};
    buffer_put(&path, name, strlen(name) + 1);
    tar_header(&tar, "././@LongLink", 'L', path.size, "");
    buffer_put(&tar, path.data, path.size);
    pad_to(&tar, 512);
    tar_file(&tar, "short", &data);
    tar_finish(&tar);
    struct reading *r = read_bytes(folder, &tar, 1);
    expect(r, APL_END, "");
    cr_assert_str_eq(r->names[0], "data_long");
    buffer_free(&tar);
    buffer_free(&data);
    buffer_free(&path);
}

/* A pax header of records "key=value" (at most 96 bytes each), ended by a NULL. */
static void pax(struct buffer *tar, const char *const *records)
{
    char text[1000];
    size_t used = 0;
    for (; *records; records++) {
        size_t length = strlen(*records) + 2; /* the space and the newline; and as many digits as it takes */
        length += length + 1 < 10 ? 1 : 2;
        used += (size_t)snprintf(text + used, sizeof text - used, "%zu %s\n", length, *records);
    }
    tar_header(tar, "pax", 'x', used, "");
    buffer_put(tar, text, used);
    pad_to(tar, 512);
}

Test(tar, pax_headers)
{
    struct buffer tar = {0}, data = content(1, 600);
    pax(&tar, (const char *[]){"path=a/data", NULL});
    tar_file(&tar, "short", &data);
    tar_finish(&tar);
    struct reading *r = read_bytes(folder, &tar, 1);
    expect(r, APL_END, "");
    cr_assert_str_eq(r->paths[0], "a/data");
    buffer_free(&tar);
    buffer_free(&data);
}

/* A name that the C locale cannot show must not make a member vanish. */
Test(tar, pax_name_beyond_ascii)
{
    struct buffer tar = {0}, data = content(1, 600);
    pax(&tar, (const char *[]){"path=\303\251t\303\251/data", NULL});
    tar_file(&tar, "short", &data);
    tar_finish(&tar);
    struct reading *r = read_bytes(folder, &tar, 1);
    cr_assert(r->status == APL_E_SOURCE || (r->status == APL_END && r->members == 1), "%d %u", (int)r->status,
              r->members);
    buffer_free(&tar);
    buffer_free(&data);
}

Test(tar, sparse_files)
{
    struct buffer tar = {0}, data = content(1, 512);
    pax(&tar, (const char *[]){"GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=dir/data",
                               "GNU.sparse.realsize=4398046511104", NULL});
    tar_header(&tar, "x", '0', 1024, "");
    buffer_put(&tar, "1\n0\n512\n", 8);
    pad_to(&tar, 512);
    buffer_put(&tar, data.data, 512);
    tar_finish(&tar);
    refuses(&tar, APL_E_SOURCE, "is a sparse file");
    tar = (struct buffer){0};
    size_t at = tar_header(&tar, "data", 'S', 512, "");
    memcpy(tar.data + at + 257, "ustar  ", 8);
    memcpy(tar.data + at + 386, "00000000000\00000000001000", 23);
    memcpy(tar.data + at + 483, "77777777777", 11);
    tar_seal(tar.data + at);
    buffer_put(&tar, data.data, 512);
    tar_finish(&tar);
    refuses(&tar, APL_E_SOURCE, "is a sparse file");
    tar = (struct buffer){0}; /* without a map, and with a real size of 0: no bytes */
    at = tar_header(&tar, "data", 'S', 512, "");
    memcpy(tar.data + at + 257, "ustar  ", 8);
    tar_seal(tar.data + at);
    buffer_put(&tar, data.data, 512);
    tar_finish(&tar);
    refuses(&tar, APL_E_SOURCE, "is a sparse file");
    buffer_free(&data);
}

/* A chain of maps of holes, each saying that another one follows. */
Test(tar, headers_without_end)
{
    struct buffer tar = {0};
    size_t at = tar_header(&tar, "other", 'S', 512, "");
    memcpy(tar.data + at + 257, "ustar  ", 8);
    memcpy(tar.data + at + 386, "00000000000\00000000000001", 23);
    tar.data[at + 482] = 1;
    tar_seal(tar.data + at);
    uint8_t map[512] = {0};
    for (int i = 0; i < 21; i++)
        memcpy(map + 24 * i, "00000000001\00000000000001", 24);
    map[504] = 1;
    for (int i = 0; i < 40000; i++)
        buffer_put(&tar, map, 512);
    refuses(&tar, APL_E_SOURCE, "headers of more than 4 MiB");
}

static void set_big_size(struct buffer *tar, uint64_t size)
{
    memset(tar->data + 124, 0, 12);
    tar->data[124] = 0x80;
    for (int i = 0; i < 8; i++)
        tar->data[135 - i] = (uint8_t)(size >> 8 * i);
    tar_seal(tar->data);
}

Test(tar, sizes_beyond_measure)
{
    struct buffer tar = single("data", '0', 600, "");
    set_big_size(&tar, (UINT64_C(4) << 30) + 1);
    expect(read_bytes(folder, &tar, 1), APL_E_SOURCE, "larger than 4 GiB");
    set_big_size(&tar, UINT64_MAX);
    expect(read_bytes(folder, &tar, 1), APL_E_SOURCE, "");
    set_big_size(&tar, UINT64_MAX >> 1);
    expect(read_bytes(folder, &tar, 1), APL_E_SOURCE, "");
    buffer_free(&tar);
    tar = single("data", '0', UINT64_C(4) << 30, "");
    refuses(&tar, APL_E_INCOMPLETE, "member data: ends early");
    tar = single("other", '0', UINT64_C(1) << 32, "");
    refuses(&tar, APL_E_INCOMPLETE, "ends early");
}

Test(tar, too_many_members)
{
    struct buffer tar = {0};
    for (unsigned i = 0; i <= 100000; i++)
        tar_header(&tar, "other", '0', 0, "");
    struct buffer packed = gzip_of(&tar);
    refuses(&packed, APL_E_SOURCE, "more than 100000 members");
    buffer_free(&tar);
}

/* 17 GiB of zeros in a few hundred kilobytes. */
Test(tar, too_many_bytes, .timeout = 120)
{
    if (is_repeated())
        return;
    struct buffer tar = {0}, zeros = {0};
    size_t at = tar_header(&tar, "other", '0', 0, "");
    set_big_size(&tar, UINT64_C(17) << 30);
    struct buffer head = packed_with("zstd", &tar);
    cr_assert(buffer_reserve(&zeros, 64u << 20) && at == 0);
    zeros.size = 64u << 20;
    memset(zeros.data, 0, zeros.size);
    struct buffer portion = packed_with("zstd", &zeros);
    if (head.size > 0) {
        for (int i = 0; i < 17 * 16; i++)
            buffer_put(&head, portion.data, portion.size);
        refuses(&head, APL_E_SOURCE, "unpacks to more than 16 GiB");
    }
    buffer_free(&tar);
    buffer_free(&zeros);
    buffer_free(&portion);
}

/* Whatever stands in the headers, reading ends with the members or an error. */
Test(tar, mutated_headers, .timeout = 120)
{
    struct buffer a, b, tar = usual(&a, &b);
    static const size_t headers[] = {0, 512, 4096, 9728, 13312, 14848, 18432};
    uint8_t *copy = malloc(tar.size);
    uint32_t x = 99;
    for (unsigned round = 0; round < 1500 / sweep_step(); round++) {
        memcpy(copy, tar.data, tar.size);
        uint8_t *h = copy + headers[round % 7];
        for (unsigned i = 0; i <= round % 5; i++) {
            x = x * 1664525u + 1013904223u;
            uint8_t telling = (uint8_t) "0127SLxgK\377 /"[(x >> 20) % 12];
            h[(x >> 8) % 512] = round % 3 ? telling : (uint8_t)(x >> 24);
        }
        if (headers[round % 7] < 18432) /* the last is the end mark */
            tar_seal(h);
        struct buffer mutated = {.data = copy, .size = tar.size};
        const struct reading *r = read_bytes(folder, &mutated, 300);
        cr_assert(r->status == APL_END || r->status == APL_E_SOURCE || r->status == APL_E_INCOMPLETE,
                  "%d: %s", (int)r->status, r->err.message);
    }
    free(copy);
    buffer_free(&tar);
    buffer_free(&a);
    buffer_free(&b);
}

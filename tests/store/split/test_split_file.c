/* Split files: written in one step, bound to their store, and every damage found. */
#include "split_fixture.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

TestSuite(split_file, .init = set_up, .fini = tear_down);

static uint8_t *read_bytes(const char *name, size_t *size)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s.split", db, name);
    FILE *f = fopen(path, "rb");
    cr_assert_not_null(f);
    uint8_t *bytes = malloc(1 << 16);
    *size = fread(bytes, 1, 1 << 16, f);
    fclose(f);
    return bytes;
}

static void write_bytes(const char *name, const uint8_t *bytes, size_t size)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s.split", db, name);
    unlink(path);
    FILE *f = fopen(path, "wb");
    cr_assert_not_null(f);
    cr_assert_eq(fwrite(bytes, 1, size, f), size);
    cr_assert_eq(fclose(f), 0);
}

/* The checksum made good again, so that what is behind it is looked at. */
static void reseal(uint8_t *bytes, size_t size)
{
    store_le(bytes + 8, size, 8);
    store_le(bytes + size - 8, hash_xxh3_64(bytes, size - 8), 8);
}

static apl_status decode(const apl_store *store, const uint8_t *bytes, size_t size)
{
    struct split_file f;
    uint8_t *exact = malloc(size + !size); /* to the byte: asan watches the end */
    memcpy(exact, bytes, size);
    apl_status status = split_file_decode(exact, size, &store->manifest, &f, &err);
    if (status == APL_OK)
        split_file_free(&f);
    free(exact);
    return status;
}

Test(split_file, is_what_the_format_says)
{
    apl_store *store = plain_store(1000, 200);
    apl_split_options o = split_options("val", 0.25, NULL);
    o.seed = 0x1122334455667788u;
    OK(apl_split_make(store, &o, &err));
    size_t size;
    uint8_t *b = read_bytes("val", &size), *has = calloc(1000, 1);
    uint64_t n, *ids = ids_of(store, "val", &n);
    cr_assert(memcmp(b, "APLP\1\0\0\0", 8) == 0 && load_le(b + 8, 8) == size);
    cr_assert_eq(memcmp(b + 16, apl_store_info(store)->content_digest, 32), 0);
    cr_assert(b[48] == 1 && load_le(b + 49, 7) == 0);
    cr_assert_eq(load_le(b + 56, 8), (uint64_t)1 << 62);
    cr_assert_eq(load_le(b + 64, 8), o.seed);
    cr_assert(load_le(b + 72, 8) == 0 && load_le(b + 80, 8) == 1000);
    cr_assert(load_le(b + 88, 8) == n && load_le(b + 96, 8) == 1000 - n);
    cr_assert_eq(memcmp(b + 104, "\3\0val\5\0train\5\0train\0\0", 21), 0);
    cr_assert(b[125] == 0 && load_le(b + 126, 8) == 125, "a table that is not worth packing");
    for (uint64_t i = 0; i < n; i++)
        has[ids[i]] = 1;
    const uint8_t *part = b + 134, *rest = part + 125 + 9;
    for (unsigned i = 0; i < 1000; i++) {
        cr_assert_eq(part[i / 8] >> i % 8 & 1, has[i]);
        cr_assert_eq(rest[i / 8] >> i % 8 & 1, !has[i]);
    }
    cr_assert_eq(size, (size_t)(rest + 125 - b) + 8);
    cr_assert_eq(load_le(b + size - 8, 8), hash_xxh3_64(b, size - 8));
    free(ids);
    free(has);
    free(b);
    apl_store_close(store);
}

/* Whatever is cut or changed is found; nothing is made of it. */
static void check_damage(const apl_store *store, const char *name)
{
    size_t size;
    uint8_t *b = read_bytes(name, &size);
    cr_assert_eq(decode(store, b, size), APL_OK);
    for (size_t n = 0; n < size; n++)
        cr_assert_eq(decode(store, b, n), APL_E_CORRUPT, "cut to %zu", n);
    for (size_t i = 0; i < size; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            b[i] ^= (uint8_t)(1u << bit);
            apl_status due = i == 4 || i == 5 ? APL_E_VERSION : APL_E_CORRUPT;
            cr_assert_eq(decode(store, b, size), due, "bit %u of byte %zu", bit, i);
            b[i] ^= (uint8_t)(1u << bit);
        }
    b = realloc(b, size + 1);
    b[size] = 0;
    cr_assert_eq(decode(store, b, size + 1), APL_E_CORRUPT);
    free(b);
}

/* Changed by someone who makes the checksum good: no crash, no read outside, and no contradiction accepted. */
static void check_forgery(const apl_store *store, const char *name)
{
    size_t size;
    uint8_t *b = read_bytes(name, &size), *c = malloc(size);
    for (size_t n = 24; n < size; n++) {
        memcpy(c, b, n);
        reseal(c, n);
        cr_assert_neq(decode(store, c, n), APL_OK, "cut to %zu", n);
    }
    for (size_t i = 16; i < size - 8; i++)
        for (unsigned k = 0; k < 4; k++) {
            memcpy(c, b, size);
            c[i] = (uint8_t[]){0, 255, (uint8_t)(b[i] + 1), (uint8_t)(b[i] ^ 128)}[k];
            reseal(c, size);
            apl_status status = decode(store, c, size);
            cr_assert(status == APL_OK || status == APL_E_CORRUPT || status == APL_E_MISMATCH ||
                      status == APL_E_VERSION);
            if (i >= 88 && i < 104 && c[i] != b[i])
                cr_assert_eq(status, APL_E_CORRUPT, "a count that is wrong");
        }
    free(b);
    free(c);
}

Test(split_file, every_damage_is_found)
{
    apl_store *store = plain_store(500, 100);
    make_split(store, "val", 0.2, NULL, NULL);
    make_split(store, "tiny", 0.01, "train-val", "label"); /* with packed tables */
    size_t size;
    uint8_t *b = read_bytes("tiny", &size);
    cr_assert(size < 300, "%zu bytes", size);
    free(b);
    check_damage(store, "val");
    check_damage(store, "tiny");
    check_forgery(store, "val");
    check_forgery(store, "tiny");
    apl_store_close(store);
}

Test(split_file, bitsets_that_contradict_each_other)
{
    apl_store *store = plain_store(1000, 0);
    make_split(store, "val", 0.25, NULL, NULL);
    size_t size;
    uint8_t *b = read_bytes("val", &size);
    uint8_t *part = b + 134, *rest = part + 125 + 9;
    unsigned in = 0, out = 0;
    while (!(part[in / 8] >> in % 8 & 1))
        in++;
    while (part[out / 8] >> out % 8 & 1)
        out++;
    rest[in / 8] ^= (uint8_t)(1u << in % 8);
    rest[out / 8] ^= (uint8_t)(1u << out % 8);
    reseal(b, size);
    FAILS(APL_E_CORRUPT, "both tables", decode(store, b, size));
    part[in / 8] ^= (uint8_t)(1u << in % 8);
    part[out / 8] ^= (uint8_t)(1u << out % 8);
    reseal(b, size);
    write_bytes("val", b, size); /* whole, but not what the rule says */
    OK(decode(store, b, size));
    FAILS(APL_E_CORRUPT, "val.split: record", apl_split_verify(store, "val", 1, &err));
    free(b);
    apl_store_close(store);
}

/* Tables that are kept as they are, a byte short or long. */
Test(split_file, bitsets_of_another_length)
{
    apl_store *store = plain_store(1000, 0);
    make_split(store, "val", 0.25, NULL, NULL);
    size_t size;
    uint8_t *b = read_bytes("val", &size), *end = b + 134 + 125;
    cr_assert(b[125] == 0 && load_le(b + 126, 8) == 125);
    memmove(end - 1, end, size - 134 - 125);
    store_le(b + 126, 124, 8);
    reseal(b, size - 1);
    FAILS(APL_E_CORRUPT, "a bitset has the wrong length", decode(store, b, size - 1));
    free(b);
    b = read_bytes("val", &size), end = b + 134 + 125;
    memmove(end + 1, end, size - 134 - 125);
    *end = 0;
    store_le(b + 126, 126, 8);
    reseal(b, size + 1);
    FAILS(APL_E_CORRUPT, "a bitset has the wrong length", decode(store, b, size + 1));
    free(b);
    apl_store_close(store);
}

Test(split_file, later_versions)
{
    apl_store *store = plain_store(300, 0);
    make_split(store, "val", 0.25, NULL, NULL);
    size_t size;
    uint8_t *b = read_bytes("val", &size);
    b = realloc(b, size + 10);
    memmove(b + size + 2, b + size - 8, 8); /* more behind the tables */
    memset(b + size - 8, 7, 10);
    b[6] = 9;
    reseal(b, size + 10);
    OK(decode(store, b, size + 10));
    b[4] = 2;
    reseal(b, size + 10);
    FAILS(APL_E_VERSION, "version 2", decode(store, b, size + 10));
    b[4] = 1;
    b[48] = 6;
    reseal(b, size + 10);
    FAILS(APL_E_VERSION, "rule", decode(store, b, size + 10));
    free(b);
    apl_store_close(store);
}

/* Rules that hash something else than the inputs: the upper half of the rule's byte. */
Test(split_file, what_is_hashed)
{
    apl_store *store = plain_store(300, 0);
    make_split(store, "val", 0.25, NULL, NULL);
    size_t size;
    uint8_t *b = read_bytes("val", &size);
    cr_assert_eq(b[48], 1);
    for (unsigned byte = 0; byte < 256; byte++) {
        b[48] = (uint8_t)byte;
        reseal(b, size);
        unsigned rule = byte % 16, by = byte / 16;
        apl_status status = decode(store, b, size);
        if (rule < 1 || rule > 5 || by > 3)
            FAILS(APL_E_VERSION, "does not know", status);
        else if (rule == 1 && by < 3)
            OK(status);
        else
            cr_assert_eq(status, APL_E_CORRUPT, "%u: no field, no parts or no group", byte);
    }
    b[48] = 0x21; /* whole, but not what the rule says */
    reseal(b, size);
    write_bytes("val", b, size);
    FAILS(APL_E_CORRUPT, "val.split: record", apl_split_verify(store, "val", 1, &err));
    free(b);
    apl_store_close(store);
}

Test(split_file, the_field_of_groups)
{
    apl_store *store = plain_store(300, 0);
    apl_split_options o = split_options("val", 0.25, NULL);
    o.group = "label";
    OK(apl_split_make(store, &o, &err));
    check_damage(store, "val");
    check_forgery(store, "val");
    size_t size;
    uint8_t *b = read_bytes("val", &size);
    cr_assert(memcmp(b + 4, "\1\0\2\0", 4) == 0 && b[48] == 0x31);
    cr_assert_eq(memcmp(b + 104, "\3\0val\5\0train\5\0train\0\0\5\0label", 28), 0);
    memcpy(b + 127, "nolab", 5); /* a name that the store has not: the sides stand in the file all the same */
    reseal(b, size);
    write_bytes("val", b, size);
    uint64_t n;
    OK(apl_split_ids(store, "val", NULL, &n, &err));
    FAILS(APL_E_NOTFOUND, "has no field nolab", apl_split_verify(store, "val", 1, &err));
    memcpy(b + 127, "name\0", 5); /* a name with a control character */
    reseal(b, size);
    FAILS(APL_E_CORRUPT, "not printable", decode(store, b, size));
    store_le(b + 125, 0, 2); /* an empty one */
    reseal(b, size);
    FAILS(APL_E_CORRUPT, "not printable", decode(store, b, size));
    store_le(b + 125, 65535, 2);
    reseal(b, size);
    FAILS(APL_E_CORRUPT, "not printable", decode(store, b, size));
    free(b);
    apl_store_close(store);
}

/* The numbers of a division into many parts, the last of the file. */
Test(split_file, parts_that_contradict)
{
    static const struct {
        unsigned offset; /* from the end of the numbers, backwards */
        uint64_t value;
        unsigned bytes;
        const char *words;
    } wrong[] = {{16, 3, 4, "the number of its part"},
                 {16, UINT32_MAX, 4, "the number of its part"},
                 {12, 0, 4, "the number of its part"},
                 {12, 1, 4, "the number of its part"},
                 {12, (1u << 20) + 1, 4, "the number of its part"},
                 {8, 0, 8, "concentration"},
                 {8, 1000000000001, 8, "concentration"}};
    apl_store *store = plain_store(300, 0);
    apl_split_options o = split_options("c", 0, NULL);
    OK(apl_split_parts(store, &o, 3, 0.5, &err));
    size_t size;
    uint8_t *b = read_bytes("c-1", &size), *c = malloc(size);
    cr_assert(b[6] == 1 && b[48] == 5 && load_le(b + 56, 8) == 0);
    cr_assert(load_le(b + size - 24, 4) == 1 && load_le(b + size - 20, 4) == 3);
    cr_assert_eq(load_le(b + size - 16, 8), 500000);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(c, b, size);
        store_le(c + size - 8 - wrong[i].offset, wrong[i].value, wrong[i].bytes);
        reseal(c, size);
        FAILS(APL_E_CORRUPT, wrong[i].words, decode(store, c, size));
    }
    memcpy(c, b, size);
    c[48] = 4; /* stratified, and yet with a concentration */
    reseal(c, size);
    FAILS(APL_E_CORRUPT, "concentration", decode(store, c, size));
    memmove(c + size - 24, c + size - 8, 8); /* none of the numbers */
    reseal(c, size - 16);
    FAILS(APL_E_CORRUPT, "the number of its part", decode(store, c, size - 16));
    store_le(b + size - 24, 2, 4); /* whole, but not what the rule says */
    reseal(b, size);
    write_bytes("c-1", b, size);
    FAILS(APL_E_CORRUPT, "c-1.split: record", apl_split_verify(store, "c-1", 1, &err));
    free(b);
    free(c);
    apl_store_close(store);
}

Test(split_file, belongs_to_its_store)
{
    apl_store *store = plain_store(500, 100), *other;
    uint64_t n;
    make_split(store, "val", 0.2, NULL, NULL);
    struct kind kind = {500, 101, APL_WRITER_OPTIONS_INIT, false};
    kind.options.replace = 1;
    make_store(db, &kind);
    OK(apl_store_open(db, NULL, &other, &err));
    FAILS(APL_E_MISMATCH, "db/val.split: it was made for a store with other contents",
          apl_split_ids(other, "val", NULL, &n, &err));
    FAILS(APL_E_MISMATCH, "val.split", apl_split_ids(other, "train-val", NULL, &n, &err));
    OK(apl_split_ids(store, "val", NULL, &n, &err)); /* the old one is still open, and this is its file */
    apl_split_options o = split_options("more", 0.5, NULL);
    FAILS(APL_E_MISMATCH, "replaced", apl_split_make(store, &o, &err));
    apl_store_close(other);
    /* the same content, divided otherwise by its source */
    shell("rm -f '%s/data.mdb'", db);
    kind.train = 400;
    kind.test = 200;
    make_store(db, &kind);
    OK(apl_store_open(db, NULL, &other, &err));
    FAILS(APL_E_MISMATCH, "other splits", apl_split_ids(other, "val", NULL, &n, &err));
    apl_store_close(other);
    apl_store_close(store);
}

Test(split_file, is_found_where_the_directory_has_gone)
{
    apl_store *store = plain_store(500, 100);
    uint64_t n;
    shell("mv '%s' '%s/elsewhere'", db, place);
    make_split(store, "val", 0.2, NULL, NULL);
    OK(apl_split_ids(store, "val", NULL, &n, &err));
    cr_assert_eq(access(db, F_OK), -1);
    apl_store_close(store);
}

Test(split_file, is_read_only_and_leaves_no_litter)
{
    apl_store *store = plain_store(500, 100);
    make_split(store, "val", 0.2, NULL, NULL);
    struct stat st;
    char path[160];
    snprintf(path, sizeof path, "%s/val.split", db);
    cr_assert_eq(stat(path, &st), 0);
    cr_assert_eq(st.st_mode & 07777, 0444);
    shell("test \"$(ls -A '%s' | tr '\\n' ' ')\" = 'data.mdb val.split '", db);
    apl_store_close(store);
}

Test(split_file, waits_for_nobody_who_writes)
{
    apl_store *store = plain_store(500, 100);
    apl_split_options o = split_options("val", 0.2, NULL);
    int fd = open(db, O_RDONLY | O_DIRECTORY);
    cr_assert_eq(flock(fd, LOCK_EX), 0);
    FAILS(APL_E_BUSY, "another process", apl_split_make(store, &o, &err));
    close(fd);
    OK(apl_split_make(store, &o, &err));
    apl_store_close(store);
}

Test(split_file, strange_files)
{
    apl_store *store = plain_store(500, 100);
    uint64_t n;
    shell("mkfifo '%s/pipe.split' && mkdir '%s/dir.split'", db, db);
    FAILS(APL_E_CORRUPT, "not a file", apl_split_ids(store, "pipe", NULL, &n, &err));
    FAILS(APL_E_CORRUPT, "not a file", apl_split_ids(store, "dir", NULL, &n, &err));
    shell("truncate -s 1G '%s/long.split'; : >'%s/empty.split'", db, db);
    FAILS(APL_E_CORRUPT, "longer than", apl_split_ids(store, "long", NULL, &n, &err));
    FAILS(APL_E_CORRUPT, "not a split file", apl_split_ids(store, "empty", NULL, &n, &err));
    make_split(store, "val", 0.2, NULL, NULL);
    shell("mv '%s/val.split' '%s/dev.split'", db, db);
    FAILS(APL_E_CORRUPT, "holds the split val", apl_split_ids(store, "dev", NULL, &n, &err));
    apl_store_close(store);
}

Test(split_file, directory_of_its_own)
{
    apl_store *store;
    apl_store_close(plain_store(500, 100));
    char splits[128];
    snprintf(splits, sizeof splits, "%s/splits", place);
    apl_store_options o = APL_STORE_OPTIONS_INIT;
    o.split_directory = splits;
    FAILS(APL_E_NOTFOUND, "splits", apl_store_open(db, &o, &store, &err));
    shell("mkdir '%s' && chmod 0555 '%s'", splits, db);
    OK(apl_store_open(db, &o, &store, &err));
    make_split(store, "val", 0.2, NULL, NULL);
    shell("test -e '%s/val.split' && ! test -e '%s/val.split'", splits, db);
    uint64_t n;
    OK(apl_split_ids(store, "val", NULL, &n, &err));
    apl_store_close(store);
}

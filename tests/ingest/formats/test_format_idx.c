/* IDX files into stores: pairs and directories, all types and ranks, packed and not, and everything that can be wrong with them. */
#include "ingest_fixture.h"

#include <sys/stat.h>

TestSuite(format_idx, .init = ix_set_up, .fini = fx_tear_down, .timeout = 60);

static void put_be(struct buffer *b, uint64_t v, unsigned bytes)
{
    for (unsigned i = bytes; i-- > 0;) {
        uint8_t byte = (uint8_t)(v >> (8 * i));
        buffer_put(b, &byte, 1);
    }
}

/* An IDX file: element i is f(i), as a number of `size` bytes, big-endian. */
static struct buffer idx(uint8_t type, unsigned rank, const uint32_t *dims, unsigned size,
                         uint64_t (*f)(uint64_t))
{
    struct buffer b = {0};
    uint64_t count = 1;
    put_be(&b, (uint64_t)type << 8 | rank, 4);
    for (unsigned d = 0; d < rank; d++) {
        put_be(&b, dims[d], 4);
        count *= dims[d];
    }
    for (uint64_t i = 0; i < count; i++)
        put_be(&b, f(i), size);
    return b;
}

static uint64_t pixel(uint64_t i)
{
    return i * 7 % 251;
}

static uint64_t digit(uint64_t i)
{
    return i * 3 % 10;
}

static uint64_t wide(uint64_t i)
{
    return 0x0102030405060708u * (i + 1);
}

static struct buffer images(uint32_t n)
{
    return idx(8, 3, (const uint32_t[]){n, 5, 4}, 1, pixel);
}

static struct buffer labels(uint32_t n)
{
    return idx(8, 1, &n, 1, digit);
}

static void put_pair(const char *prefix, uint32_t n)
{
    char name[128];
    struct buffer i = images(n), l = labels(n);
    snprintf(name, sizeof name, "%s-images-idx3-ubyte", prefix);
    ix_put_buffer(name, &i);
    snprintf(name, sizeof name, "%s-labels-idx1-ubyte", prefix);
    ix_put_buffer(name, &l);
}

/* Records of split `split`, n of them, are those of a pair. */
static void check_pair(apl_store *s, unsigned split, uint64_t n)
{
    cr_assert_eq(apl_store_split(s, split)->count, n);
    apl_batch *all = fx_get_all(s);
    const apl_column *image = ix_column(s, all, "image"), *label = ix_column(s, all, "label");
    uint64_t first = apl_store_split(s, split)->first;
    cr_assert(image->ndim == 2 && image->shape[0] == 5 && image->shape[1] == 4);
    for (uint64_t i = 0; i < n * 20; i++)
        cr_assert_eq(((const uint8_t *)image->data)[first * 20 + i], pixel(i));
    for (uint64_t i = 0; i < n; i++)
        cr_assert_eq(((const uint8_t *)label->data)[first + i], digit(i));
    apl_batch_release(all);
}

Test(format_idx, a_directory_has_both_splits)
{
    cr_assert_eq(mkdir(fx_path("mnist"), 0755), 0);
    cr_assert_eq(mkdir(fx_path("mnist/raw"), 0755), 0);
    put_pair("mnist/raw/train", 300);
    put_pair("mnist/raw/t10k", 70);
    apl_store *s = IX_STORE("mnist");
    cr_assert_str_eq(ix_sum.format, "idx");
    cr_assert_str_eq(apl_store_split(s, 0)->name, "train");
    cr_assert_str_eq(apl_store_split(s, 1)->name, "test");
    cr_assert_eq(apl_store_field(s, 1)->role, APL_TARGET);
    check_pair(s, 0, 300);
    check_pair(s, 1, 70);
    apl_store_close(s);
}

Test(format_idx, names_that_leave_the_split_open_are_worth_a_line)
{
    struct buffer i = images(3);
    ix_put("images-idx3-ubyte", i.data, i.size);
    ix_put("train-test-images-idx3-ubyte", i.data, i.size);
    ix_put_buffer("t10k-images-idx3-ubyte", &i);
    is_said_of(IX_STORE("t10k-images-idx3-ubyte"), NULL);
    is_said_of(IX_STORE("images-idx3-ubyte"), NULL);
    is_said_of(
        IX_STORE("images-idx3-ubyte", "t10k-images-idx3-ubyte"),
        "images-idx3-ubyte: in the split 'train', as its name tells no split, and those of others do\n");
    is_said_of(IX_STORE("train-test-images-idx3-ubyte"),
               "train-test-images-idx3-ubyte: in the split 'train', though its name tells 'test' too\n");
}

/* Packed or not, in whatever order, the same store. */
Test(format_idx, files_are_sources_too)
{
    uint8_t first[32];
    put_pair("emnist-letters-train", 40);
    apl_store *s =
        IX_STORE("emnist-letters-train-images-idx3-ubyte", "emnist-letters-train-labels-idx1-ubyte");
    check_pair(s, 0, 40);
    memcpy(first, apl_store_info(s)->content_digest, 32);
    apl_store_close(s);
    struct buffer i = images(40), l = labels(40);
    ix_put_gzip("a-images.idx.gz", i.data, i.size);
    ix_put_gzip("a-labels.idx.gz", l.data, l.size);
    s = IX_STORE("a-images.idx.gz", "a-labels.idx.gz");
    cr_assert(memcmp(first, apl_store_info(s)->content_digest, 32) == 0);
    apl_store_close(s);
    s = IX_STORE("a-images.idx.gz"); /* and what belongs to it */
    cr_assert(memcmp(first, apl_store_info(s)->content_digest, 32) == 0);
    apl_store_close(s);
    unlink(fx_path("a-labels.idx.gz"));
    s = IX_STORE("a-images.idx.gz");
    cr_assert_eq(apl_store_info(s)->fields, 1);
    apl_store_close(s);
    buffer_free(&i);
    buffer_free(&l);
}

/* Big-endian becomes native, for each type; and for ranks 1 and 9. */
Test(format_idx, links_in_a_directory_are_followed_if_asked_for)
{
    put_pair("train", 20);
    cr_assert_eq(mkdir(fx_path("links"), 0755), 0);
    cr_assert_eq(symlink("../train-images-idx3-ubyte", fx_path("links/train-images-idx3-ubyte")), 0);
    cr_assert_eq(symlink("../train-labels-idx1-ubyte", fx_path("links/train-labels-idx1-ubyte")), 0);
    cr_assert_eq(symlink("..", fx_path("links/train-idx3-ubyte")), 0);
    ix_options.format = "idx";
    IX_REFUSED(APL_E_SOURCE, "is a symbolic link, which is not followed: --follow-links", "links");
    ix_options.follow_links = 1;
    apl_store *s = IX_STORE("links");
    cr_assert_eq(apl_store_info(s)->records, 20);
    apl_store_close(s);
}

Test(format_idx, types_and_ranks)
{
    static const struct {
        uint8_t code;
        unsigned size;
        apl_dtype dtype;
    } types[] = {{8, 1, APL_U8},    {9, 1, APL_I8},    {0xb, 2, APL_I16},
                 {0xc, 4, APL_I32}, {0xd, 4, APL_F32}, {0xe, 8, APL_F64}};
    for (size_t t = 0; t < COUNT(types); t++) {
        struct buffer b = idx(types[t].code, 2, (const uint32_t[]){3, 2}, types[t].size, wide);
        ix_put_buffer("x.idx", &b);
        apl_store *s = IX_STORE("x.idx");
        apl_batch *all = fx_get_all(s);
        const apl_column *column = ix_column(s, all, "image");
        cr_assert_eq(apl_store_field(s, 0)->dtype, types[t].dtype);
        for (size_t i = 0; i < 6; i++) {
            uint64_t value = 0,
                     mask = types[t].size == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * types[t].size) - 1;
            memcpy(&value, (const uint8_t *)column->data + i * types[t].size, types[t].size);
            cr_assert_eq(value, wide(i) & mask, "type %#x", types[t].code);
        }
        apl_batch_release(all);
        apl_store_close(s);
    }
    struct buffer b = idx(8, 9, (const uint32_t[]){4, 1, 2, 1, 1, 3, 1, 1, 1}, 1, pixel);
    ix_put_buffer("x.idx", &b);
    apl_store *s = IX_STORE("x.idx");
    cr_assert_eq(apl_store_field(s, 0)->ndim, 8);
    apl_store_close(s);
}

/* A directory often holds the files both as they were downloaded and unpacked. */
Test(format_idx, packed_files_beside_unpacked_ones_are_left_out)
{
    cr_assert_eq(mkdir(fx_path("raw"), 0755), 0);
    put_pair("raw/train", 20);
    ix_put_gzip("raw/train-images-idx3-ubyte.gz", "?", 1);
    apl_store_close(IX_STORE("raw"));
    apl_store_close(IX_STORE("raw/train-images-idx3-ubyte"));
    cr_assert_eq(ix_sum.records, 20);
}

Test(format_idx, classes_have_the_names_that_are_given)
{
    static const char *const names[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    put_pair("train", 30);
    ix_options.classes = names;
    ix_options.class_count = 10;
    apl_store *s = IX_STORE("train-images-idx3-ubyte", "train-labels-idx1-ubyte");
    cr_assert_str_eq(apl_store_field(s, 1)->classes[9], "9");
    apl_store_close(s);
    ix_writing.replace = 1;
    fx_shell("rm -r '%s'%s", ix_db, "");
    ix_options.class_count = 9;
    IX_REFUSED(APL_E_SOURCE, "train-labels-idx1-ubyte: row 3: label 9 is not of 0 to 8",
               "train-images-idx3-ubyte", "train-labels-idx1-ubyte");
    ix_options.skip_bad = 3;
    s = IX_STORE("train-images-idx3-ubyte", "train-labels-idx1-ubyte");
    cr_assert_eq(ix_sum.records, 27);
    cr_assert_not_null(strstr(ix_said, "row 13: label 9"), "%s", ix_said);
    apl_store_close(s);
    fx_shell("rm -r '%s'%s", ix_db, "");
    unlink(fx_path("train-labels-idx1-ubyte"));
    IX_REFUSED(APL_E_INVALID, "no labels that the classes could be of", "train-images-idx3-ubyte");
}

Test(format_idx, what_is_wrong_is_named)
{
    struct buffer b = images(20), l = labels(19), long_one = images(20), cut = images(20);
    ix_put_buffer("train-images-idx3-ubyte", &b);
    ix_put_buffer("train-labels-idx1-ubyte", &l);
    IX_REFUSED(APL_E_SOURCE, "has 20 rows, but", "train-images-idx3-ubyte", "train-labels-idx1-ubyte");
    SAYS("train-labels-idx1-ubyte has 19");
    IX_REFUSED(APL_E_INVALID, "train-images-idx3-ubyte: is given twice", "train-images-idx3-ubyte",
               "train-images-idx3-ubyte");
    cr_assert_eq(link(fx_path("train-images-idx3-ubyte"), fx_path("train-images.idx3-ubyte")), 0);
    IX_REFUSED(APL_E_SOURCE, "second array image of the split train", "train-images-idx3-ubyte",
               "train-images.idx3-ubyte");
    cr_assert_eq(unlink(fx_path("train-images.idx3-ubyte")), 0);
    put_pair("test", 4);
    put_pair("train", 20);
    IX_REFUSED(APL_E_INCOMPLETE, "the split test has none", "test-images-idx3-ubyte",
               "train-images-idx3-ubyte", "train-labels-idx1-ubyte");
    put_pair("kmnist-test", 4);
    IX_REFUSED(APL_E_SOURCE, "are of two datasets", "test-images-idx3-ubyte",
               "kmnist-test-labels-idx1-ubyte");
    buffer_put(&long_one, "x", 1);
    ix_put_buffer("x.idx", &long_one);
    IX_REFUSED(APL_E_SOURCE, "x.idx: has bytes behind its 20 rows", "x.idx");
    cut.size -= 25;
    ix_put_buffer("x.idx", &cut);
    IX_REFUSED(APL_E_INCOMPLETE, "x.idx: ends early, in row 18 of 20", "x.idx");
    b = idx(8, 3, (const uint32_t[]){2, 0, 4}, 1, pixel);
    ix_put_buffer("x.idx", &b);
    IX_REFUSED(APL_E_SOURCE, "rows that are empty", "x.idx");
    b = idx(8, 3, (const uint32_t[]){0, 4, 4}, 1, pixel);
    ix_put_buffer("x.idx", &b);
    IX_REFUSED(APL_E_SOURCE, "has no records", "x.idx");
    b = (struct buffer){0};
    put_be(&b, 8 << 8 | 4, 4);
    for (unsigned i = 0; i < 4; i++)
        put_be(&b, 0xffffffff, 4);
    ix_put_buffer("x.idx", &b);
    IX_REFUSED(APL_E_SOURCE, "x.idx: has rows that are empty or have more than", "x.idx");
}

/* Labels lie beside images, and are taken by their name: what they claim is not believed. */
Test(format_idx, what_lies_beside_is_checked)
{
    struct buffer images = idx(8, 3, (const uint32_t[]){1, 2, 2}, 1, pixel), labels = {0};
    cr_assert_eq(mkdir(fx_path("set"), 0777), 0);
    ix_put_buffer("set/t10k-images-idx3-ubyte", &images);
    for (unsigned dimensions = 0; dimensions < 256; dimensions += 255) {
        put_be(&labels, 8 << 8 | dimensions, 4);
        for (unsigned i = 0; i < 255; i++)
            put_be(&labels, 1, 4);
        ix_put_buffer("set/t10k-labels-idx1-ubyte", &labels);
        labels = (struct buffer){0};
        IX_REFUSED(APL_E_SOURCE, "t10k-labels-idx1-ubyte: does not begin as a file of 1 to", "set");
    }
}

/* A packed file is checked to its last byte. */
Test(format_idx, packing_is_checked)
{
    struct buffer b = images(200);
    size_t size;
    ix_put_gzip("x.idx.gz", b.data, b.size);
    buffer_free(&b);
    uint8_t *packed = fx_read(fx_path("x.idx.gz"), &size);
    ix_put("x.idx.gz", packed, size - 3);
    IX_REFUSED(APL_E_INCOMPLETE, "x.idx.gz: ends early", "x.idx.gz");
    packed[size - 6] ^= 1;
    ix_put("x.idx.gz", packed, size);
    IX_REFUSED(APL_E_SOURCE, "x.idx.gz", "x.idx.gz");
    free(packed);
}

/* What is no source is named for what it is; a format that was asked for is not forced on what is another. */
Test(format_idx, formats_are_told_apart)
{
    put_pair("train", 4);
    ix_put("notes.txt", "hello, world", 12);
    ix_put("rows.json", " [\n {\"a\": 1}]", 13);
    IX_REFUSED(APL_E_SOURCE, "rows.json: it seems to be an array in JSON (jq -c '.[]' makes lines",
               "rows.json");
    ix_put("x.npz", "PK\3\4 and more of it", 19);
    IX_REFUSED(APL_E_SOURCE, "notes.txt: it seems to be text", "notes.txt");
    IX_REFUSED(APL_E_SOURCE, "notes.txt: is not idx, as others are: it seems to be text",
               "train-images-idx3-ubyte", "notes.txt");
    IX_REFUSED(APL_E_NOTFOUND, "nowhere", "train-images-idx3-ubyte", "nowhere");
    ix_options.format = "folder";
    IX_REFUSED(APL_E_SOURCE, "is not folder, as was asked for: it seems to be IDX",
               "train-images-idx3-ubyte");
    ix_options.format = "idx";
    IX_REFUSED(APL_E_SOURCE, "notes.txt: is not idx, as was asked for: it seems to be text", "notes.txt");
    cr_assert_eq(mkdir(fx_path("empty"), 0755), 0);
    IX_REFUSED(APL_E_SOURCE, "holds no file of the format idx", "empty");
    ix_options.format = "none";
    IX_REFUSED(APL_E_INVALID, "no format is called none; there are cifar, folder", "notes.txt");
}

Test(format_idx, the_same_bytes_for_any_threads)
{
    put_pair("train", 500);
    uint8_t first[32] = {0};
    for (unsigned threads = 0; threads < 3; threads++) {
        ix_writing.threads = threads ? threads : APL_NO_THREADS;
        apl_store_close(IX_STORE("train-images-idx3-ubyte", "train-labels-idx1-ubyte"));
        if (threads == 0) {
            memcpy(first, ix_sum.source_digest, 32);
            fx_shell("cp '%s/data.mdb' '%s'", ix_db, fx_path("first"));
        }
        cr_assert(memcmp(first, ix_sum.source_digest, 32) == 0);
        cr_assert(fx_same(fx_path("db/data.mdb"), fx_path("first")));
    }
}

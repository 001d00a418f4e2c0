/* Tokens into stores: streams, NumPy's arrays, pairs of index and data, and everything that can be wrong with them. */
#include "ingest_fixture.h"

#include <sys/stat.h>

TestSuite(format_tokens, .init = ix_set_up, .fini = fx_tear_down, .timeout = 60);

/* The tokens of all records, one after another, and of each record how many. */
static void check_tokens(apl_store *s, apl_dtype dtype, const uint32_t *tokens, const uint32_t *lengths,
                         size_t records)
{
    apl_batch *all = fx_get_all(s);
    const apl_column *column = ix_column(s, all, "tokens");
    size_t item = apl_dtype_size(dtype), at = 0;
    cr_assert_eq(column->dtype, dtype);
    cr_assert_eq(apl_batch_rows(all), records);
    for (size_t r = 0; r < records; r++) {
        cr_assert_eq(column->offsets[r + 1] - column->offsets[r], lengths[r], "record %zu", r);
        for (uint32_t i = 0; i < lengths[r]; i++, at++)
            cr_assert_eq(load_le((const uint8_t *)column->data + at * item, (unsigned)item), tokens[at]);
    }
    apl_batch_release(all);
    apl_store_close(s);
}

static void put_le(const char *name, const uint32_t *tokens, size_t count, unsigned bytes, size_t cut)
{
    struct buffer b = {0};
    for (size_t i = 0; i < count; i++)
        buffer_le(&b, tokens[i], bytes);
    b.size -= cut;
    ix_put_buffer(name, &b);
}

static const uint32_t some[10] = {5, 7, 0, 9, 65535, 0, 0, 0x1f, 0x8b, 3};

Test(format_tokens, streams)
{
    static const uint32_t end = 0;
    put_le("train.bin", some, 10, 2, 0);
    IX_REFUSED(APL_E_SOURCE, "not in a format that is recognised", "train.bin");
    ix_options.format = "tokens";
    IX_REFUSED(APL_E_INVALID, "u16 or u32", "train.bin");
    ix_options.tokens = APL_U16;
    check_tokens(IX_STORE("train.bin"), APL_U16, some, (const uint32_t[]){10}, 1);
    ix_options.chunk = 4;
    check_tokens(IX_STORE("train.bin"), APL_U16, some, (const uint32_t[]){4, 4, 2}, 3);
    fx_shell("rm -r '%s'%s", ix_db, "");
    ix_options.document_end = &end;
    IX_REFUSED(APL_E_INVALID, "or into records of equal length (chunk, --chunk), not both", "train.bin");
    ix_options.chunk = 0;
    check_tokens(IX_STORE("train.bin"), APL_U16, some, (const uint32_t[]){3, 3, 1, 3}, 4);
    put_le("train.bin", some, 10, 4, 0);
    ix_options.tokens = APL_U32;
    check_tokens(IX_STORE("train.bin"), APL_U32, some, (const uint32_t[]){3, 3, 1, 3}, 4);
}

/* Tokens whose first byte is that of gzip. */
Test(format_tokens, that_begin_as_gzip_does)
{
    static const uint32_t tokens[] = {0x1f, 0x8b, 7, 0x001f};
    ix_options.format = "tokens";
    ix_options.tokens = APL_U16;
    put_le("train.bin", tokens, 4, 2, 0);
    check_tokens(IX_STORE("train.bin"), APL_U16, tokens, (const uint32_t[]){4}, 1);
    ix_options.chunk = 2;
    check_tokens(IX_STORE("train.bin"), APL_U16, tokens, (const uint32_t[]){2, 2}, 2);
}

Test(format_tokens, a_document_end_that_fits)
{
    static const uint32_t ends[] = {65535, 65536};
    put_le("train.bin", some, 10, 2, 0);
    ix_options.tokens = APL_U16;
    ix_options.format = "tokens";
    ix_options.document_end = &ends[1];
    IX_REFUSED(APL_E_INVALID, "train.bin: the token 65536, which is to end documents, does not fit into u16",
               "train.bin");
    ix_options.document_end = &ends[0];
    check_tokens(IX_STORE("train.bin"), APL_U16, some, (const uint32_t[]){5, 5}, 2);
    ix_options.document_end = &ends[1];
    put_le("train.bin", some, 10, 4, 0);
    ix_options.tokens = APL_U32;
    check_tokens(IX_STORE("train.bin"), APL_U32, some, (const uint32_t[]){10}, 1);
}

/* Splits by the names; a file that happens to begin like a gzip file is not taken for one. */
Test(format_tokens, splits_and_bytes_of_any_kind)
{
    static const uint32_t gzip[2] = {0x8b1f, 8};
    cr_assert_eq(mkdir(fx_path("set"), 0755), 0);
    put_le("set/train.bin", gzip, 2, 2, 0);
    put_le("set/val.bin", some, 3, 2, 0);
    ix_options.format = "tokens";
    ix_options.tokens = APL_U16;
    apl_store *s = IX_STORE("set");
    cr_assert(apl_store_split(s, 0)->count == 1 && strcmp(apl_store_split(s, 1)->name, "val") == 0);
    check_tokens(s, APL_U16, (const uint32_t[]){0x8b1f, 8, 5, 7, 0}, (const uint32_t[]){2, 3}, 2);
}

Test(format_tokens, numpy)
{
    static const char dict[] = "{'descr': '>i4', 'fortran_order': False, 'shape': (3,), }";
    struct buffer b = {0};
    buffer_put(&b, "\x93NUMPY\1\0", 8);
    buffer_le(&b, sizeof dict - 1, 2);
    buffer_put(&b, dict, sizeof dict - 1);
    buffer_put(&b, "\0\0\0\1\0\1\0\0\0\0\0\3", 12);
    ix_put("x.npy", b.data, b.size);
    ix_options.format = "tokens";
    check_tokens(IX_STORE("x.npy"), APL_U32, (const uint32_t[]){1, 65536, 3}, (const uint32_t[]){3}, 1);
    ix_options.tokens = APL_U32;
    apl_store_close(IX_STORE("x.npy"));
    ix_options.tokens = APL_U16;
    fx_shell("rm -r '%s'%s", ix_db, "");
    IX_REFUSED(APL_E_INVALID, "x.npy: its header says that tokens are i32, which are stored as u32, not u16",
               "x.npy");
    put_le("y.bin", some, 10, 2, 0); /* a stream, which is what the type is for */
    cr_assert_eq(ix_ingest(IX_NAMES("x.npy", "y.bin")), APL_OK, "%s", fx_err.message);
    ix_options.tokens = (apl_dtype)0;
    memset(b.data + b.size - 4, 0xff, 4);
    fx_shell("rm -r '%s'%s", ix_db, "");
    ix_put("x.npy", b.data, b.size);
    IX_REFUSED(APL_E_SOURCE, "x.npy: token 2 is negative", "x.npy");
    ix_put("x.npy", b.data, b.size - 1);
    IX_REFUSED(APL_E_INCOMPLETE, "x.npy: ends within token 2", "x.npy");
    buffer_free(&b);
}

Test(format_tokens, what_does_not_divide)
{
    put_le("x.bin", some, 10, 2, 1);
    ix_options.format = "tokens";
    ix_options.tokens = APL_U16;
    IX_REFUSED(APL_E_SOURCE, "x.bin: its 19 bytes are not a whole number of u16 tokens", "x.bin");
    ix_put("x.bin", "", 0);
    IX_REFUSED(APL_E_SOURCE, "x.bin", "x.bin");
}

/* An empty file beside others is not whole; by itself it is no source. */
Test(format_tokens, empty_files)
{
    put_le("train.bin", some, 10, 2, 0);
    ix_put("val.bin", "", 0);
    ix_options.format = "tokens";
    ix_options.tokens = APL_U16;
    IX_REFUSED(APL_E_INCOMPLETE, "val.bin: is an empty file: it has no tokens", "train.bin", "val.bin");
    IX_REFUSED(APL_E_SOURCE, "val.bin: has no tokens", "val.bin");
    ix_options.partial = 1;
    apl_store *s = IX_STORE("train.bin", "val.bin");
    cr_assert(ix_sum.records == 1 && apl_store_split(s, 1)->count == 0);
    apl_store_close(s);
}

Test(format_tokens, names_that_leave_the_split_open_are_worth_a_line)
{
    ix_options.format = "tokens";
    ix_options.tokens = APL_U16;
    put_le("train.bin", some, 10, 2, 0);
    put_le("val.bin", some, 10, 2, 0);
    put_le("holdout.bin", some, 10, 2, 0);
    put_le("train_test.bin", some, 10, 2, 0);
    is_said_of(IX_STORE("train.bin", "val.bin"), NULL);
    is_said_of(IX_STORE("holdout.bin"), NULL);
    is_said_of(IX_STORE("val.bin", "holdout.bin"),
               "holdout.bin: in the split 'train', as its name tells no split, and those of others do\n");
    is_said_of(IX_STORE("train_test.bin"),
               "train_test.bin: in the split 'train', though its name tells 'test' too\n");
}

/* ----------------------------------------------------------------------------------------------------- pairs */

/* An index: of `n` sequences with these lengths, and documents that begin with these of them. */
static struct buffer index_of(uint8_t code, unsigned item, const uint32_t *lengths, size_t n,
                              const uint64_t *documents, size_t d)
{
    struct buffer b = {0};
    uint64_t at = 0;
    buffer_put(&b, "MMIDIDX\0\0", 9);
    buffer_le(&b, 1, 8);
    buffer_put(&b, &code, 1);
    buffer_le(&b, n, 8);
    buffer_le(&b, d, 8);
    for (size_t i = 0; i < n; i++)
        buffer_le(&b, lengths[i], 4);
    for (size_t i = 0; i < n; at += lengths[i++] * item)
        buffer_le(&b, at, 8);
    for (size_t i = 0; i < d; i++)
        buffer_le(&b, documents[i], 8);
    return b;
}

static const uint32_t lengths[4] = {3, 2, 0, 5};

/* Documents are records, whatever sequences they have; one that is empty stays out. */
Test(format_tokens, pairs)
{
    static const uint64_t documents[5] = {0, 1, 1, 3, 4};
    struct buffer b = index_of(8, 2, lengths, 4, documents, 5);
    ix_put("x.idx", b.data, b.size);
    put_le("x.bin", some, 10, 2, 0);
    check_tokens(IX_STORE("x.idx"), APL_U16, some, (const uint32_t[]){3, 2, 5}, 3);
    check_tokens(IX_STORE("x.bin", "x.idx"), APL_U16, some, (const uint32_t[]){3, 2, 5}, 3);
    check_tokens(IX_STORE("x.bin"), APL_U16, some, (const uint32_t[]){3, 2, 5}, 3);
    ix_options.format = "tokens";
    ix_options.tokens = APL_U16;
    check_tokens(IX_STORE("x.bin"), APL_U16, some, (const uint32_t[]){3, 2, 5}, 3);
    cr_assert(strstr(ix_said, "x.bin: is read as documents, by the index"), "%s", ix_said);
    ix_options = (apl_ingest_options)APL_INGEST_OPTIONS_INIT;
    ix_put("y.idx", b.data, b.size); /* of two pairs, each by one file or both */
    put_le("y.bin", some, 10, 2, 0);
    static const uint32_t twice[20] = {5, 7, 0, 9, 65535, 0, 0, 0x1f, 0x8b, 3,
                                       5, 7, 0, 9, 65535, 0, 0, 0x1f, 0x8b, 3};
    check_tokens(IX_STORE("x.idx", "y.idx"), APL_U16, twice, (const uint32_t[]){3, 2, 5, 3, 2, 5}, 6);
    check_tokens(IX_STORE("x.idx", "y.idx", "./y.bin"), APL_U16, twice, (const uint32_t[]){3, 2, 5, 3, 2, 5},
                 6);
    check_tokens(IX_STORE("x.bin", "y.bin"), APL_U16, twice, (const uint32_t[]){3, 2, 5, 3, 2, 5}, 6);
    fx_shell("rm -r '%s'%s", ix_db, "");
    put_le("z.bin", some, 10, 2, 0);
    IX_REFUSED(APL_E_SOURCE, "z.bin: is not tokens, as others are", "x.idx", "x.bin", "z.bin");
    buffer_free(&b);
    b = index_of(4, 4, lengths, 4, (const uint64_t[]){0, 4}, 2);
    ix_put_buffer("x.idx", &b);
    put_le("x.bin", some, 10, 4, 0);
    check_tokens(IX_STORE("x.idx"), APL_U32, some, (const uint32_t[]){10}, 1);
    b = index_of(4, 4, lengths, 4, (const uint64_t[]){0, 4, 4, 4},
                 4); /* documents without sequences at the end */
    ix_put_buffer("x.idx", &b);
    check_tokens(IX_STORE("x.idx"), APL_U32, some, (const uint32_t[]){10}, 1);
    b = index_of(8, 2, lengths, 4, (const uint64_t[]){0, 1, 2, 3, 4},
                 5); /* the third has a sequence without tokens */
    ix_put_buffer("x.idx", &b);
    put_le("x.bin", some, 10, 2, 0);
    check_tokens(IX_STORE("x.idx"), APL_U16, some, (const uint32_t[]){3, 2, 5}, 3);
}

/* They vanished without a word. */
Test(format_tokens, empty_documents_are_told)
{
    struct buffer b = index_of(8, 2, lengths, 4, (const uint64_t[]){0, 2, 3, 4}, 4);
    ix_put("x.idx", b.data, b.size);
    put_le("x.bin", some, 10, 2, 0);
    is_said_of(IX_STORE("x.idx"), ": 1 document without tokens left out\n");
    buffer_free(&b);
    b = index_of(8, 2, lengths, 4, (const uint64_t[]){0, 0, 2, 3, 3, 4, 4, 4}, 8);
    ix_put("y.idx", b.data, b.size);
    put_le("y.bin", some, 10, 2, 0);
    is_said_of(IX_STORE("y.idx"), ": 5 documents without tokens left out\n");
    is_said_of(IX_STORE("x.idx", "y.idx"),
               "x.idx: 6 documents without tokens left out, of this and 1 more\n");
    buffer_free(&b);
    b = index_of(8, 2, lengths, 4, (const uint64_t[]){0, 1, 4}, 3);
    ix_put_buffer("x.idx", &b);
    is_said_of(IX_STORE("x.idx"), NULL);
}

/* Their documents are what the index says; a stream beside them can be cut. */
Test(format_tokens, pairs_are_not_cut)
{
    static const uint32_t end = 0, tokens[13] = {5, 7, 0, 9, 65535, 0, 0, 0x1f, 0x8b, 3, 5, 7, 0};
    struct buffer b = index_of(8, 2, lengths, 4, (const uint64_t[]){0, 1, 4}, 3);
    ix_put_buffer("x.idx", &b);
    put_le("x.bin", some, 10, 2, 0);
    put_le("z.bin", some, 3, 2, 0);
    ix_options.chunk = 2;
    IX_REFUSED(
        APL_E_INVALID,
        "x.bin: is cut into documents by its index: a length of records (chunk, --chunk) is for streams",
        "x.idx");
    ix_options.format = "tokens";
    ix_options.tokens = APL_U16;
    check_tokens(IX_STORE("x.bin", "z.bin"), APL_U16, tokens, (const uint32_t[]){3, 7, 2, 1}, 4);
    fx_shell("rm -r '%s'%s", ix_db, "");
    ix_options.chunk = 0;
    ix_options.document_end = &end;
    IX_REFUSED(APL_E_INVALID, "a token that ends documents (document_end, --document-end) is for streams",
               "x.bin");
}

/* A pair is of one folder: files of the same name in others are other pairs. */
Test(format_tokens, pairs_of_the_same_name_in_folders)
{
    static const uint32_t tokens[2] = {5, 7};
    static const char *const folders[] = {"in", "in/train", "in/val"};
    for (unsigned i = 0; i < 3; i++)
        cr_assert_eq(mkdir(fx_path(folders[i]), 0777), 0);
    for (uint32_t i = 0; i < 2; i++) {
        struct buffer b = index_of(8, 2, (const uint32_t[]){1}, 1, (const uint64_t[]){0, 1}, 2);
        ix_put_buffer(i ? "in/val/x.idx" : "in/train/x.idx", &b);
        put_le(i ? "in/val/x.bin" : "in/train/x.bin", &tokens[i], 1, 2, 0);
    }
    apl_store *s = IX_STORE("in");
    cr_assert_eq(apl_store_split(s, 1)->count, 1);
    check_tokens(s, APL_U16, tokens, (const uint32_t[]){1, 1}, 2);
    check_tokens(IX_STORE("in/train/x.idx", "in/val/x.idx"), APL_U16, tokens, (const uint32_t[]){1, 1}, 2);
}

static void refuse_index(size_t at, uint8_t byte, apl_status status, const char *words)
{
    struct buffer b = index_of(8, 2, lengths, 4, (const uint64_t[]){0, 2, 4}, 3);
    b.data[at] = byte;
    ix_put_buffer("x.idx", &b);
    IX_REFUSED(status, words, "x.idx");
}

Test(format_tokens, damaged_indexes)
{
    put_le("x.bin", some, 10, 2, 0);
    refuse_index(9, 2, APL_E_SOURCE, "x.idx: is not a token index of version 1");
    refuse_index(17, 6, APL_E_UNSUPPORTED, "x.idx: its tokens are of type 6");
    refuse_index(18, 5, APL_E_INCOMPLETE, "it is truncated");
    refuse_index(25, 0xff, APL_E_SOURCE, "more sequences");
    refuse_index(34 + 3, 0x80, APL_E_SOURCE, "sequence 0 has -2147483645 tokens");
    refuse_index(34 + 16 + 8, 7, APL_E_SOURCE, "sequence 1 has 2 tokens from byte 7 on");
    refuse_index(34 + 48, 1, APL_E_SOURCE, "document 0 begins with sequence 1");
    refuse_index(34 + 48 + 8, 5, APL_E_SOURCE, "document 1 begins with sequence 5");
    refuse_index(34 + 48 + 16, 3, APL_E_SOURCE, "the list of documents ends at sequence 3 of 4");
    struct buffer late = index_of(8, 2, lengths, 4, (const uint64_t[]){0, 4, 2}, 3);
    ix_put_buffer("x.idx", &late);
    IX_REFUSED(APL_E_SOURCE, "x.idx: document 2 begins with sequence 2, which cannot be", "x.idx");
    struct buffer b = index_of(8, 2, lengths, 4, (const uint64_t[]){0, 4}, 2);
    ix_put("x.idx", b.data, b.size - 1);
    IX_REFUSED(APL_E_INCOMPLETE, "x.idx: has 97 bytes", "x.idx");
    ix_put_buffer("x.idx", &b);
    put_le("x.bin", some, 9, 2, 0);
    IX_REFUSED(APL_E_INCOMPLETE, "x.bin: ends within token 9", "x.idx");
    put_le("x.bin", some, 10, 2, 1);
    IX_REFUSED(APL_E_INCOMPLETE, "x.bin: ends within token", "x.idx");
    put_le("x.bin", (const uint32_t[11]){0}, 11, 2, 0);
    IX_REFUSED(APL_E_SOURCE, "x.bin: has bytes behind the 10 tokens of its index", "x.idx");
    unlink(fx_path("x.bin"));
    IX_REFUSED(APL_E_INCOMPLETE, "x.idx: the file with its tokens", "x.idx");
}

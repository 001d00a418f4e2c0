/* Files of tokens with llm.c's header: what it says is no token. */
#include "ingest_fixture.h"
#include "token_header.h"

TestSuite(token_header, .init = ix_set_up, .fini = fx_tear_down, .timeout = 60);

static const uint32_t three[] = {50256, 7, 9};

static void put_headed(const char *name, uint32_t mark, uint32_t version, uint32_t count, unsigned bytes)
{
    struct buffer b = {0};
    buffer_le(&b, mark, 4);
    buffer_le(&b, version, 4);
    buffer_le(&b, count, 4);
    for (int i = 3; i < 256; i++)
        buffer_le(&b, 0, 4);
    for (int i = 0; i < 3; i++)
        buffer_le(&b, three[i], bytes);
    ix_put_buffer(name, &b);
}

static void has_three(apl_store *s, apl_dtype dtype)
{
    apl_batch *all = fx_get_all(s);
    const apl_column *c = ix_column(s, all, "tokens");
    unsigned item = (unsigned)apl_dtype_size(dtype);
    cr_assert_eq(c->dtype, dtype);
    cr_assert_eq(apl_batch_rows(all), 1);
    cr_assert_eq(c->offsets[1], 3, "%lu", (unsigned long)c->offsets[1]);
    for (size_t i = 0; i < 3; i++)
        cr_assert_eq(load_le((const uint8_t *)c->data + i * item, item), three[i]);
    apl_batch_release(all);
    apl_store_close(s);
}

Test(token_header, is_no_token)
{
    put_headed("fineweb_train_000001.bin", 20240520, 1, 3, 2);
    has_three(IX_STORE("fineweb_train_000001.bin"), APL_U16);
    ix_options.tokens = APL_U16;
    has_three(IX_STORE("fineweb_train_000001.bin"), APL_U16);
    fx_shell("rm -r '%s'%s", ix_db, "");
    ix_options.tokens = APL_U32;
    IX_REFUSED(APL_E_INVALID, "its header says that tokens are u16", "fineweb_train_000001.bin");
    ix_options.tokens = (apl_dtype)0;
    put_headed("t.bin", 20240801, 7, 3, 4);
    has_three(IX_STORE("t.bin"), APL_U32);
}

/* Behind its numbers a header is empty, from the first byte to the last. */
Test(token_header, is_zero_behind_its_numbers)
{
    uint8_t head[TOKEN_HEADER_BYTES] = {0};
    struct token_header h;
    store_le(head, 20240520, 4);
    store_le(head + 4, 1, 4);
    store_le(head + 8, 3, 4);
    cr_assert(token_header_read(head, sizeof head, &h) && h.count == 3);
    for (size_t i = 12; i < sizeof head; i++) {
        head[i] = 1;
        cr_assert_not(token_header_read(head, sizeof head, &h), "byte %zu", i);
        head[i] = 0;
    }
    cr_assert_not(token_header_read(head, 11, &h));
}

Test(token_header, must_be_true)
{
    put_headed("t.bin", 20240520, 1, 4, 2);
    IX_REFUSED(APL_E_INCOMPLETE, "t.bin: ends within token 3", "t.bin");
    put_headed("t.bin", 20240520, 1, 2, 2);
    IX_REFUSED(APL_E_SOURCE, "t.bin: has bytes behind its 2 tokens", "t.bin");
    put_headed("t.bin", 20240520, 2, 3, 2);
    IX_REFUSED(APL_E_UNSUPPORTED, "t.bin: begins as llm.c's files of tokens do, but is of version 2",
               "t.bin");
}

/* Messages of server and client: those that are whole are taken, all others are not. */
#include "wire.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(wire);

static union wire_any m;
static apl_error err;

static apl_status check(enum wire_type type, size_t said, size_t size)
{
    m.h = wire_header(type, said);
    return wire_check(&m, size, &err);
}

/* Of each type: its size, and neither a byte less nor one more. */
static void expect_size(enum wire_type type, size_t size)
{
    cr_assert_eq(check(type, size, size), APL_OK, "type %d: %s", (int)type, err.message);
    cr_assert_eq(check(type, size, size - 1), APL_E_INVALID);
    cr_assert_eq(check(type, size - 1, size - 1), APL_E_INVALID);
    cr_assert_eq(check(type, size + 1, size + 1), APL_E_INVALID);
    cr_assert_eq(check(type, size + 1, size), APL_E_INVALID);
}

Test(wire, messages_are_as_long_as_they_are)
{
    static const enum wire_type epochs[] = {WIRE_EPOCH, WIRE_BEGUN, WIRE_END};
    memset(&m, 0, sizeof m);
    expect_size(WIRE_HELLO, sizeof m.hello);
    expect_size(WIRE_WHY, sizeof m.h);
    expect_size(WIRE_WELCOME, sizeof m.welcome);
    expect_size(WIRE_ERROR, sizeof m.error);
    for (int i = 0; i < 3; i++)
        expect_size(epochs[i], sizeof m.epoch);
    cr_assert_eq(check((enum wire_type)9, sizeof m.epoch, sizeof m.epoch), APL_E_INVALID);
    cr_assert_eq(check((enum wire_type)0, sizeof m.epoch, sizeof m.epoch), APL_E_INVALID);
}

Test(wire, as_many_tokens_and_columns_as_they_say)
{
    for (uint64_t n = 0; n <= WIRE_TOKENS; n++) {
        m.tokens.count = n;
        expect_size(WIRE_NEXT, wire_tokens_size(n));
        expect_size(WIRE_RELEASE, wire_tokens_size(n));
    }
    for (uint64_t n = 0; n <= WIRE_COLUMNS; n++) {
        m.batch.columns = n;
        expect_size(WIRE_BATCH, wire_batch_size(n));
    }
    m.tokens.count = WIRE_TOKENS + 1;
    cr_assert_eq(check(WIRE_NEXT, wire_tokens_size(WIRE_TOKENS + 1), wire_tokens_size(WIRE_TOKENS + 1)),
                 APL_E_INVALID);
    m.batch.columns = UINT64_MAX;
    cr_assert_eq(check(WIRE_BATCH, wire_batch_size(0), wire_batch_size(0)), APL_E_INVALID);
}

/* What is not known must not be there. */
Test(wire, headers)
{
    memset(&m, 0, sizeof m);
    for (unsigned what = 0; what < 6; what++) {
        m.hello = (struct wire_hello){.h = wire_header(WIRE_HELLO, sizeof m.hello), .where = WIRE_LEAVE};
        m.h.magic ^= what == 1;
        m.h.version += what == 2;
        m.h.zero = what == 3;
        m.hello.where += what == 4;
        m.hello.zero = what == 5;
        cr_assert_eq(wire_check(&m, sizeof m.hello, &err),
                     what == 0   ? APL_OK
                     : what == 2 ? APL_E_VERSION
                                 : APL_E_INVALID,
                     "%u", what);
    }
    cr_assert_eq(wire_check(&m, sizeof m.h - 1, &err), APL_E_INVALID);
}

/* A text without an end, of bytes that a terminal would take for more. */
Test(wire, texts_end_and_can_be_printed)
{
    memset(&m, '\033', sizeof m.error);
    cr_assert_eq(check(WIRE_ERROR, sizeof m.error, sizeof m.error), APL_OK);
    cr_assert_lt(strnlen(m.error.error.message, sizeof m.error.error.message), sizeof m.error.error.message);
    cr_assert_null(strchr(m.error.error.message, '\033'));
}

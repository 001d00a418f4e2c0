/* The digest that DB must have: see expect_args.h. */
#include "expect_args.h"

#include "args.h"
#include "report.h"

#include <ctype.h>
#include <string.h>

static uint8_t expected[32];
static bool given;

static uint8_t digit_of(char c)
{
    return (uint8_t)(isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10);
}

int expect_take(void *job, const char *digest)
{
    (void)job;
    if (strlen(digest) != 2 * sizeof expected || strspn(digest, "0123456789abcdefABCDEF") != strlen(digest))
        return misuse("--expect takes 64 hexadecimal digits, as apldata info prints them, not '%s'",
                      shown(digest));
    for (size_t i = 0; i < sizeof expected; i++)
        expected[i] = (uint8_t)(digit_of(digest[2 * i]) << 4 | digit_of(digest[2 * i + 1]));
    given = true;
    return 0;
}

apl_status expect_open(const char *path, apl_store **store, apl_error *err)
{
    apl_store_options options = APL_STORE_OPTIONS_INIT;
    options.expected_digest = given ? expected : NULL;
    return apl_store_open(path, &options, store, err);
}

bool expect_given(void)
{
    return given;
}

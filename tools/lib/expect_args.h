/* --expect: the digest that DB must have. */
#ifndef EXPECT_ARGS_H
#define EXPECT_ARGS_H

#include "command_line.h"

/* 0, or an exit status after saying what is wrong. */
int expect_take(void *job, const char *digest);

/* Opens DB, with that digest if one was given. */
apl_status expect_open(const char *path, apl_store **store, apl_error *err);

/* Was one given? */
bool expect_given(void);

#define EXPECT_ROW                                                                                   \
    {                                                                                                \
        0, "expect", "DIGEST", "refuse DB, or a block of it, that this digest of it does not cover", \
            OPTION_CALL, 0, expect_take                                                              \
    }

#endif

/* A reader that fails for good: it keeps the error that came first. */
#include "reader.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(failure);

static apl_reader reader;

Test(failure, the_first_error_holds)
{
    apl_error err = {0};
    pthread_cond_init(&reader.work, NULL);
    pthread_cond_init(&reader.done, NULL);
    cr_assert_not(failure_is(&reader.failure));
    cr_assert_eq(failure_tell(&reader.failure, &err), APL_OK);
    cr_assert_eq(err.message[0], '\0', "it leaves the error alone");
    failure(&reader, APL_E_CORRUPT, &(apl_error){.message = "the first"});
    failure(&reader, APL_E_IO, &(apl_error){.message = "the second"});
    failure_nomem(&reader);
    cr_assert(failure_is(&reader.failure));
    cr_assert_eq(failure_tell(&reader.failure, &err), APL_E_CORRUPT);
    cr_assert_str_eq(err.message, "the first");
}

Test(failure, memory_that_is_not_there_is_an_error)
{
    apl_error err = {0};
    pthread_cond_init(&reader.work, NULL);
    pthread_cond_init(&reader.done, NULL);
    failure_nomem(&reader);
    cr_assert_eq(failure_tell(&reader.failure, &err), APL_E_NOMEM);
    cr_assert_neq(err.message[0], '\0');
}

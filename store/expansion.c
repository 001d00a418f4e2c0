/* How much memory a file may ask for: see expansion.h. */
#include "expansion.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define USUAL_TIMES 256u

apl_status expansion_allowed(uint32_t *times, apl_error *err)
{
    const char *said = getenv("APL_EXPANSION");
    *times = USUAL_TIMES;
    if (!said || !*said)
        return APL_OK;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(said, &end, 10);
    if (*said < '0' || *said > '9' || *end || errno || number > UINT32_MAX)
        return fail(
            err, APL_E_INVALID,
            "APL_EXPANSION in the environment is not a number: how many times their size stored bytes "
            "may take in memory, such as 1000; 0: no limit");
    *times = (uint32_t)number;
    return APL_OK;
}

static apl_status check(uint32_t times, uint64_t stored, uint64_t raw, uint64_t least, const char *instead,
                        apl_error *err)
{
    bool any = times == 0 || stored > UINT64_MAX / times;
    if (any || raw <= least || raw <= stored * times)
        return APL_OK;
    return fail(
        err, APL_E_UNSUPPORTED,
        "%llu stored bytes that take %llu in memory, more than %u times as many: if you trust the store, "
        "APL_EXPANSION=%llu in the environment allows it; %s",
        (unsigned long long)stored, (unsigned long long)raw, times,
        (unsigned long long)(stored ? raw / stored + 1 : 0), instead);
}

apl_status expansion_check_block(uint32_t times, uint64_t stored, uint64_t raw, apl_error *err)
{
    return check(times, stored, raw, EXPANSION_BLOCK, "blocks of fewer records take less", err);
}

apl_status expansion_check_standing(uint32_t times, uint64_t stored, uint64_t raw, const char *instead,
                                    apl_error *err)
{
    return check(times, stored, raw, EXPANSION_STANDING, instead, err);
}

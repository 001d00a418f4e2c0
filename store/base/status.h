/* Failing with a status and a message in one expression; the bottom of everything. */
#ifndef STATUS_H
#define STATUS_H

#include "apl.h"

/* Fills *err (if not NULL) and returns `status`:  return fail(err, APL_E_CORRUPT, "%s: no page %u", ...); The message is made safe to
 * print, as by apl_printable(): what it is made of need not be. */
apl_status fail(apl_error *err, apl_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a failed system call: picks the status from `sys_errno` and appends its text. */
apl_status fail_errno(apl_error *err, int sys_errno, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same when out of memory. */
apl_status fail_nomem(apl_error *err);

/* Says which records an error concerns; returns `status`:  return fail_records(err, fail(err, ...), id, 1); */
apl_status fail_records(apl_error *err, apl_status status, uint64_t first_record, uint64_t records);

/* Puts "prefix: " in front of the message of an error that is passed on; returns `status`. */
apl_status fail_in(apl_error *err, apl_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* number_of(n, "box", "boxes"): "1 box", "2 boxes"; as text for a message, in memory of the block that it is called in. */
struct number_text {
    char text[64];
};
const char *number_into(struct number_text *to, uint64_t n, const char *one, const char *many);
#define number_of(n, one, many) number_into(&(struct number_text){{0}}, n, one, many)

/* apl_printable(), by the name that it has here. */
static inline char *printable(char *out, size_t size, const char *text, size_t length)
{
    return apl_printable(out, size, text, length);
}

/* Passes a failure up. */
#define TRY(call)                        \
    do {                                 \
        apl_status try_status_ = (call); \
        if (try_status_ != APL_OK)       \
            return try_status_;          \
    } while (0)

/* Passes a failure to the function's out: label, by way of its local `status`. */
#define GUARD(call)           \
    do {                      \
        status = (call);      \
        if (status != APL_OK) \
            goto out;         \
    } while (0)

#endif

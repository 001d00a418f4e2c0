/*
 * Finds keys that come twice among any number of them, in little memory. The keys are gone through twice: first each is added, and
 * its hash kept, beyond a million of them in a file without a name; then each is shown again, and compared in full with those whose
 * hash came more than once.
 */
#ifndef KEY_LOG_H
#define KEY_LOG_H

#include "format.h"

struct key_log;

struct key_log *key_log_new(const struct format_host *host); /* NULL: out of memory */
void key_log_free(struct key_log *log);

/* The first time: takes a key. */
apl_status key_log_add(struct key_log *log, const char *key, size_t length, apl_error *err);

/* After all keys. */
apl_status key_log_end(struct key_log *log, apl_error *err);

/* Have some come twice? If not, nothing need be shown. */
bool key_log_has_twice(const struct key_log *log);

/* The second time: *first is where the key was shown before, or NULL if it was not. `place` is copied. */
apl_status key_log_show(struct key_log *log, const char *key, size_t length, const char *place,
                        const char **first, apl_error *err);

#endif

/* Who hears of requests that do not succeed, while they are being repeated. Set for the process: see apl_on_retry(). */
#ifndef TOLD_H
#define TOLD_H

#include <stdint.h>

/* A line that says of the URL, which is shown as given, what was seen and how much longer it is tried; at most one a minute is told, of
 * whatever URL. */
void tell_retry(const char *shown_url, const char *seen, uint64_t milliseconds_left);

#endif

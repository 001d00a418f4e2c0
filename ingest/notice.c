/* Notices: see notice.h. */
#include "notice.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES sizeof(((apl_error *)0)->message)

void notice_tell(const apl_ingest_options *options, const char *format, ...)
{
    char text[4 * LINE_BYTES], line[LINE_BYTES];
    if (!options->notice)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    options->notice(options->user, apl_printable(line, sizeof line, text, strlen(text)));
}

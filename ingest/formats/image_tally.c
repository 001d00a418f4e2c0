/* See image_tally.h. */
#include "image_tally.h"

#include <inttypes.h>
#include <stdio.h>

void image_tally_take(struct image_tally *t, const struct format_host *host, const char *path,
                      const struct made_image *image)
{
    for (unsigned i = 0; i < REMARKS; i++)
        t->remarks[i] += image->remarks[i];
    if (image->warnings.count > 0)
        host->warned(host->user, path, &image->warnings);
}

void image_tally_tell(const struct image_tally *t, const struct format_host *host)
{
    char text[160];
    for (unsigned i = 0; i < REMARKS; i++) {
        snprintf(text, sizeof text, "%s: %" PRIu64, image_remark_text((enum image_remark)i), t->remarks[i]);
        if (t->remarks[i])
            host->notice(host->user, "", text);
    }
}

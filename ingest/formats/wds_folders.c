/* See wds_folders.h. */
#include "wds_folders.h"

#include "path_split.h"

#include <inttypes.h>
#include <stdio.h>

void wds_folders_take(struct wds_folders *f, const char *name, const char *split)
{
    const struct path_split by = split_of_folders(name);
    if (!by.told || strcmp(by.split, split) == 0 || f->samples++ > 0)
        return;
    printable(f->first, sizeof f->first, name, strlen(name));
    snprintf(f->split, sizeof f->split, "%s", split);
}

apl_status wds_folders_check(const struct wds_folders *f, const struct format_host *host, apl_error *err)
{
    char text[640];
    if (f->samples == 0)
        return APL_OK;
    snprintf(text, sizeof text,
             "samples in folders called as other splits than their shard, which is of '%s': %" PRIu64
             ", first %s",
             f->split, f->samples, f->first);
    if (!host->options->format)
        return fail(err, APL_E_INVALID,
                    "%s: %s. A shard is of one split, as its name or folder tells: pack a shard for each "
                    "split (x-train.tar, x-test.tar); --format webdataset (format=\"webdataset\" in Python) "
                    "leaves the samples in that of their shard",
                    host->source, text);
    host->notice(host->user, "", text);
    return APL_OK;
}

/* apldata check: what was asked for, and how it is shown. */
#ifndef CMD_CHECK_H
#define CMD_CHECK_H

#include "check.h"
#include "json.h"

struct check_job {
    const char *path;
    struct check_options options; /* level 0: not given */
    bool json, quiet, verbose, leaks;
    bool near_given; /* images are to be compared, not only if there are any */
    apl_store *store;
    double seconds;
};

/* cmd_check_kept.c: images of kept files, decoded as `apldata show` does. */
extern const struct image_decoder kept_images;

/* cmd_check_json.c: for --json. */
int check_print_json(const struct check_job *job, const struct check_report *report);

#endif

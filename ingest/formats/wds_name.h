/* What the name of a member of a WebDataset says: which sample it belongs to, and as what. */
#ifndef WDS_NAME_H
#define WDS_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define WDS_ENDING 128u /* bytes of an ending, with its NUL */

struct wds_name {
    size_t key; /* bytes of the key, at the beginning of the name: its folders, and up to the first dot */
    char ending[WDS_ENDING]; /* what follows that dot, in lower case: "jpg", "boxes.npy" */
};

/* false: it belongs to no sample, as it has no ending, begins with a dot, or lies in a folder such as __apl__. An ending that is too
 * long is cut. */
bool wds_name_read(struct wds_name *n, const char *name);

/* The last part of an ending: "npy" of "boxes.npy". */
const char *wds_ending_kind(const char *ending);

#endif

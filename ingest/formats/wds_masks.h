/* Which fields of a WebDataset are masks. */
#ifndef WDS_MASKS_H
#define WDS_MASKS_H

#include "wds_fields.h"

/* Those that were asked for, by the names of fields, which have been chosen; and which image masks lie on. Of others that may be masks
 * too, and become images, tells the host. */
apl_status wds_masks_find(struct wds_fields *f, const struct format_host *host, apl_error *err);

#endif

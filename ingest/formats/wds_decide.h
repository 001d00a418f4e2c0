/* After the first reading of a WebDataset: what its fields are. */
#ifndef WDS_DECIDE_H
#define WDS_DECIDE_H

#include "wds_fields.h"

/* By the schema of an export where there is one, or else by what the files have shown. Errors name neither shard nor key. */
apl_status wds_decide(struct wds_fields *f, const struct format_host *host, apl_error *err);

#endif

/* The fields of a WebDataset that is an export: as its schema.json declares them. */
#ifndef WDS_DECLARED_H
#define WDS_DECLARED_H

#include "wds_fields.h"

/* Of f->declared, which has fields. Errors name neither shard nor key. */
apl_status wds_decide_declared(struct wds_fields *f, const struct format_host *host, apl_error *err);

#endif

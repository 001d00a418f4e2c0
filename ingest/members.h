/* Sources that are read member by member, each of which is shown to the format. */
#ifndef MEMBERS_H
#define MEMBERS_H

#include "host.h"

/* Opens the first source of the ingest's format; of those that list their members, all are read for that first. *other: what is
 * listed is of another format, and nothing is open. */
apl_status members_open(struct ingest *in, bool *other, apl_error *err);

/* Reads what is open, and the sources after it, to their ends; or lets the format read its files. */
apl_status members_read(struct ingest *in, apl_error *err);

/* SHA-256 of what has been read: of several sources, over each one's name, NUL, size as u64 little-endian, and SHA-256. */
apl_status members_digest(struct ingest *in, uint8_t sha256[32], apl_error *err);

#endif

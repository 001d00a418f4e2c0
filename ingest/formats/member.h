/* Bytes of a member, copied. */
#ifndef MEMBER_H
#define MEMBER_H

#include "format.h"

/* Appends the next `size` bytes of the member, which are there, or it is cut off: APL_E_SOURCE. */
apl_status member_append(const struct format_member *m, uint64_t size, struct buffer *bytes, apl_error *err);

#endif

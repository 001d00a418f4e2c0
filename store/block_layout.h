/* The layout of a block, for the files that write and read it; block.h describes it. */
#ifndef BLOCK_LAYOUT_H
#define BLOCK_LAYOUT_H

#include "codec.h"
#include "schema.h"

#define BLOCK_MAGIC 0x424c5041u /* "APLB" */
#define BLOCK_HEAD  40u         /* bytes before the fields' entries */
#define BLOCK_ENTRY 40u         /* bytes of one field's entry */
#define BLOCK_HASH  16u         /* bytes of one record's hash */

/* What a codec has to know of a field's raw bytes. */
struct column_spec block_column_spec(const apl_field *field, uint32_t records, size_t raw_bytes);

#endif

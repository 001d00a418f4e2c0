/* Blocks that could not be read: see bad_blocks.h. */
#include "reader.h"
#include "token_windows.h"

#include <stdlib.h>

apl_status bad_blocks_open(struct bad_blocks *bad, uint32_t blocks, apl_error *err)
{
    bad->known = calloc(blocks, 1);
    return bad->known ? APL_OK : fail_nomem(err);
}

void bad_blocks_free(struct bad_blocks *bad)
{
    free(bad->known);
}

void bad_blocks_name_limit(const apl_reader *r, apl_error *err)
{
    if (r->spec.options.skip_corrupt)
        fail_in(err, err->status, "more than %s would be left out",
                number_of(r->spec.options.skip_corrupt, "record", "records"));
}

bool bad_blocks_meet(const apl_reader *r, struct bad_blocks *bad, uint32_t index)
{
    if (!bad->known[index])
        bad->records += windows_block_records(&r->spec, index);
    bad->known[index] = 1;
    return r->spec.options.skip_corrupt && bad->records <= r->spec.options.skip_corrupt;
}

/* Do the values of a store agree with what its fields are said to hold? */
#ifndef STORED_KINDS_H
#define STORED_KINDS_H

#include "store.h"

/* Reads the values that kinds say something of, all of them; APL_E_INVALID names the first record, field and value that no reading of its
 * kind explains, as apl_writer_append() does. */
apl_status stored_kinds_check(apl_store *store, apl_error *err);

#endif

/* Where the list of an open set is, with the shards below: in a directory, or at a URL. */
#ifndef SET_PLACE_H
#define SET_PLACE_H

#include "set_list.h"
#include "store.h"

/* From {0} to set_place_free(). */
struct set_place {
    char *file;            /* that has the list */
    int directory;         /* that it is in: the store's own may be one for splits; -1: it is elsewhere */
    const struct url *url; /* the store's: where it is then */
    const struct remote_options *remote;
};

/* Reads the list `file` in the directory of `store`, or below its URL, whose name is known. Fills place, list, the store's manifest, and the
 * file's identity. `expected`: a content digest, or NULL: where the list has another, the list that it has replaced and that has this one
 * is read instead, APL_E_MISMATCH if that is not there. APL_E_NOTFOUND if there is no list. */
apl_status set_place_take(struct set_place *place, const char *file, const uint8_t *expected,
                          apl_store *store, struct set_list *list, apl_error *err);

/* Reads another file of the place; APL_E_NOTFOUND if there is none. */
apl_status set_place_read(const struct set_place *place, const char *file, struct buffer *bytes,
                          apl_error *err);

void set_place_free(struct set_place *place);

#endif

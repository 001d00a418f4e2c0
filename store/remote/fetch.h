/*
 * Ranges of an object, whatever it takes: what may pass is tried again, after pauses that double and are drawn at random, until a
 * deadline. What has come is kept, and only the rest is asked for again. All ranges are of one and the same object: each request
 * says which (If-Match), and each answer is compared, so that one that is replaced is an error and never a mixture.
 */
#ifndef FETCH_H
#define FETCH_H

#include "transport.h"
#include "url.h"

/* How long a range may take in all, unless the caller or APL_REMOTE_TIMEOUT says otherwise; and for each MiB of it. */
#define FETCH_TIMEOUT_MS 120000u
#define FETCH_MIB_MS     16000u

/* What has been asked for, and has come; and how much has come from the cache instead, or was wrong there. */
struct traffic {
    atomic_uint_fast64_t requests, bytes, retries, hits, hit_bytes, bad_parts;
};

struct object {
    const struct transport *transport;
    struct url url;
    char *shown;  /* for messages */
    char *target; /* what is asked for */
    char *sign;   /* NULL: not signed */
    bool plain;   /* http:// is allowed to any host */
    _Atomic(struct key_list *) keys;
    uint64_t timeout_ms;
    /* known once it is open: */
    uint64_t size;
    char validator[VALIDATOR_BYTES];
    bool has_etag;
    struct traffic *traffic; /* where it is counted */
};

/* Takes the URL over, come what may; the object is to be freed, come what may. Nothing is asked for yet. */
apl_status object_init(struct object *object, struct url *url, const struct transport *transport, bool plain,
                       uint64_t timeout_ms, struct traffic *traffic, apl_error *err);
void object_free(struct object *object);

/* Asks for the first `*n` bytes, and so finds out what there is: size and validator; *n becomes how many have come, fewer if there are
 * no more. APL_E_NOTFOUND if there is no such object. */
apl_status object_begin(struct object *object, uint8_t *to, size_t *n, apl_error *err);

/* Bytes offset ... offset+n-1, which it has. Errors do not name the object: the caller knows which of its names to use. cancel: NULL, or set when nobody wants them any more (APL_E_CANCELLED). */
apl_status object_fetch(struct object *object, uint64_t offset, uint8_t *to, size_t n,
                        const atomic_bool *cancel, apl_error *err);

#endif

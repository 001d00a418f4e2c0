/* An object elsewhere: what a URL stands for, where it is asked for, and by which credentials. */
#ifndef OBJECT_H
#define OBJECT_H

#include "aws.h"
#include "transport.h"
#include "url.h"

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
    unsigned server; /* whose requests wait for each other: see admission.h */
    /* known once it is open: */
    uint64_t size;
    char validator[VALIDATOR_BYTES];
    bool has_etag;
    struct traffic *traffic; /* where it is counted */
};

/* Takes the URL over, also on failure, when the object must be freed all the same. Nothing is asked for yet. */
apl_status object_init(struct object *object, struct url *url, const struct transport *transport, bool plain,
                       uint64_t timeout_ms, struct traffic *traffic, apl_error *err);
void object_free(struct object *object);

/* What comes by http:// may be read and changed by anybody on the way: refuses it unless it is allowed, or from this machine. */
apl_status object_check_plain(const struct object *object, const char *target, apl_error *err);

/* The latest credentials; NULL: none. They live as long as the object. */
const struct aws_keys *object_keys(const struct object *object);

/* Credentials may have been renewed since the object was opened: are there others than those that were used? */
bool object_renew_keys(struct object *object, const struct aws_keys *used);

#endif

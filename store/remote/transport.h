/* One request for a range of a file, and what came of it. There are no retries here, and no opinion: see fetch.h. */
#ifndef TRANSPORT_H
#define TRANSPORT_H

#include "status.h"

#include <stdatomic.h>
#include <stdbool.h>

/* The most that is kept of what an object is recognised by. */
#define VALIDATOR_BYTES 256

struct aws_keys {
    char *id, *secret, *token; /* NULL: none */
};

struct request {
    const char *url;       /* http:// or https://; may hold a secret in its query */
    uint64_t first, bytes; /* the range; at least 1 byte */
    const char *if_match;  /* an ETag, or NULL */
    const char *sign;      /* NULL, or what libcurl's AWS_SIGV4 takes, such as aws:amz:us-east-1:s3 */
    const struct aws_keys *keys;
    bool netrc;            /* ask ~/.netrc for a password */
    uint8_t *to;           /* with room for the range */
    uint64_t milliseconds; /* for all of it */
    /* that may pass without a byte; before the first one that, or *patience_ms if it is more, which may change meanwhile (NULL: 0) */
    uint64_t silence_ms;
    const atomic_uint_fast64_t *patience_ms;
    const atomic_bool *cancel; /* NULL, or set once nobody wants the answer */
};

enum trouble {
    TROUBLE_NONE,
    TROUBLE_PASSES, /* reset, stalled, cut off: it may pass */
    TROUBLE_NO_WAY, /* no name, no port: it may pass, but seldom does */
    TROUBLE_LASTS,  /* a certificate, a protocol: it will not pass */
    TROUBLE_CANCELLED
};

struct reply {
    int status; /* of HTTP; 0: none came */
    bool ranged;
    uint64_t first, last, total; /* of Content-Range, if `ranged`; an unknown total is 0 */
    uint64_t length;             /* of Content-Length, if that came; else 0 */
    double
        first_ms; /* after which time the answer began, or the request was given up without one; 0: not known */
    uint64_t got;    /* bytes at `to`: those of a 206 of the wanted beginning, or of a 200 that fits */
    bool encoded;    /* by Content-Encoding: the bytes are not those of the object */
    bool too_long;   /* there were more bytes than were asked for, and some are not at `to` */
    unsigned wait_s; /* Retry-After */
    char validator
        [VALIDATOR_BYTES]; /* the ETag, with its quotes; or, without one, when it was last modified; or "" */
    bool has_etag;
    char code[64];  /* of an error of S3, such as ExpiredToken; or "" */
    char *location; /* where a redirection leads; the caller frees it */
    enum trouble trouble;
    char what[160]; /* in words, without a URL */
};

struct transport {
    /* Fails only where no request can be made at all: no library, no memory. */
    apl_status (*get)(const struct request *request, struct reply *reply, apl_error *err);
};

/* libcurl's. APL_E_UNSUPPORTED comes of get() where it is missing. */
extern const struct transport transport_curl;

#endif

/* A client, as its server sees it. */
#ifndef SESSION_H
#define SESSION_H

#include "lending.h"
#include "peer.h"
#include "service.h"
#include "socket.h"

struct session {
    int fd;
    struct peer peer;
    enum { SESSION_NEW, SESSION_WAITS, SESSION_WELCOME } stage;
    struct wire_hello hello; /* while it waits to be welcome */
    unsigned asks;           /* batches that it waits for, */
    uint64_t
        asked_at; /* since it has none left (ms); before it is welcome: since when it has been at this stage */
    bool quiet;   /* what it says now can wait until there is something for it */
    bool over;    /* to be dropped */
    struct seat *seat; /* of its rank; NULL: it has none */
    struct lending lending;
    uint64_t taken; /* the last token that its caller has got */
};

/* Milliseconds of a clock that only goes forward. */
uint64_t session_now(void);

struct session *session_new(int fd);

/* Takes what has come from a client: of a new one, its hello. Not all at once, if that is much. */
void session_take(struct session *s, struct service *service);

/* Answers a client that asks, if there is an answer. */
void session_serve(struct session *s, struct service *service);

/* Welcomes a client that waits. */
void session_welcome(struct session *s, const struct service *service, struct seat *seat);

/* Says why, and ends. */
void session_refuse(struct session *s, uint32_t answers, const apl_error *error);

/* Ends it: takes back all that is lent, and leaves the batch that its caller has not got to the next client of the rank. */
void session_end(struct session *s);
void session_free(struct session *s);

#endif

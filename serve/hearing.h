/* A client's connection to its server: what it says, what it hears, and what has become of it. With the reader's lock held, but for what
 * never changes. */
#ifndef HEARING_H
#define HEARING_H

#include "receive.h"

struct client {
    struct link *link;
    struct wire_welcome welcome;
    char path[108];
    unsigned timeout_ms, wait_ms;
    int wake;               /* of who waits for the server */
    bool waiting;           /* a caller waits for the server; others wait for him */
    unsigned asked;         /* batches that have been asked for, and no answer has come */
    bool turning;           /* the next epoch was announced to the server, which has not answered */
    struct received *batch; /* that has come, and not been handed out */
    apl_status lost;        /* the connection is, because of: */
    apl_error why;
    bool failed; /* the last answer was an error: */
    apl_error failure;
    bool inquires;                   /* the server has been asked why nothing comes, and has not answered */
    uint64_t inquired_at, reason_at; /* when it was, and when it answered last: */
    apl_error reason;
};

/* Has the connection been lost? Then why. */
apl_status client_lost(const struct client *c, apl_error *err);

/* Asks for a batch, and for the next epoch. What cannot be said now is said later: then nothing has been asked. */
void client_ask(struct client *c);
void client_ask_epoch(struct client *c, uint64_t epoch);

/* What is wrong with the last answer, once. */
apl_status client_failed(struct client *c, apl_error *err);

/* When the server is to be asked why nothing comes to a caller who waits until then: shortly before, so that the answer is there in
 * time, and not again and again by one who waits for a short time often. */
uint64_t client_inquires_at(const struct client *c, uint64_t deadline);
void client_inquire(struct client *c);

/* Nothing has come until the deadline to a caller who has waited since then: APL_E_TIMEOUT, with what the server says of it. */
apl_status client_too_late(const struct client *c, uint64_t since, apl_error *err);

/* Forgets a batch that has come. */
void client_drop(struct client *c);

/* Takes what has come, up to a batch or an error. */
void client_hear(apl_reader *r);

/* Says hello, and takes the answer, within wait_ms and timeout_ms: what states and receipts are made of. The lock is not needed yet. */
apl_status client_greet(apl_reader *r, const struct wire_hello *hello, apl_error *err);

#endif

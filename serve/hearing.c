/* What a client says to its server and hears from it: see hearing.h. */
#include "hearing.h"

#include "reader.h"
#include "region.h"
#include "socket.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INQUIRY_NS \
    1000000000u /* between two questions why nothing comes, and from one to the deadline, at most */
#define REASON_NS (3 * (uint64_t)INQUIRY_NS) /* for as long as an answer holds */

/* ------------------------------------------------------------------------------------------------- saying */

apl_status client_lost(const struct client *c, apl_error *err)
{
    if (c->lost != APL_OK && err)
        *err = c->why;
    return c->lost;
}

static void lose(struct client *c, apl_status status, const apl_error *why)
{
    if (c->lost != APL_OK)
        return;
    c->lost = status;
    fail(&c->why, status, "%s: %s", c->path, why->message);
}

static void lose_to_nonsense(struct client *c, const char *what, unsigned long long number)
{
    apl_error error;
    fail(&error, APL_E_INVALID, "the server broke the protocol: %s %llu", what, number);
    lose(c, APL_E_INVALID, &error);
}

void client_ask(struct client *c)
{
    while (c->asked + (c->batch != NULL) < WIRE_AHEAD && !c->turning && c->lost == APL_OK) {
        if (link_say(c->link, WIRE_NEXT, NULL) != APL_OK)
            return;
        c->asked++;
    }
}

void client_ask_epoch(struct client *c, uint64_t epoch)
{
    struct wire_epoch m = {.h = wire_header(WIRE_EPOCH, sizeof m), .epoch = epoch};
    client_drop(c);
    c->failed = false;
    c->turning = socket_send(c->link->fd, &m.h, -1, NULL) == APL_OK;
}

/* ------------------------------------------------------------------------------------------------- lateness */

uint64_t client_inquires_at(const struct client *c, uint64_t deadline)
{
    uint64_t wait = c->timeout_ms * (uint64_t)1000000, before = wait / 2 < INQUIRY_NS ? wait / 2 : INQUIRY_NS;
    uint64_t again = c->inquired_at + INQUIRY_NS;
    if (c->inquires || c->lost != APL_OK)
        return UINT64_MAX;
    return deadline - before > again ? deadline - before : again;
}

void client_inquire(struct client *c)
{
    struct wire_header m = wire_header(WIRE_WHY, sizeof m);
    c->inquired_at = now_ns();
    c->inquires = socket_send(c->link->fd, &m, -1, NULL) == APL_OK;
}

apl_status client_too_late(const struct client *c, uint64_t since, apl_error *err)
{
    if (c->reason_at > since && now_ns() - c->reason_at < REASON_NS)
        fail(err, APL_E_TIMEOUT, "%s: %s", c->path, c->reason.message);
    else
        fail(err, APL_E_TIMEOUT, "%s: the server (process %u) has not answered in time", c->path,
             c->welcome.pid);
    err->sys_errno = ETIMEDOUT;
    return APL_E_TIMEOUT;
}

static void hear_reason(struct client *c, const apl_error *reason)
{
    c->inquires = false;
    c->reason_at = now_ns();
    c->reason = *reason;
}

/* ------------------------------------------------------------------------------------------------ hearing */

void client_drop(struct client *c)
{
    if (c->batch)
        c->batch->buffer.batch.release(&c->batch->buffer.batch);
    c->batch = NULL;
}

apl_status client_failed(struct client *c, apl_error *err)
{
    if (!c->failed)
        return APL_OK;
    c->failed = false;
    *err = c->failure;
    return c->failure.status;
}

static void hear_batch(apl_reader *r, const struct wire_batch *m)
{
    struct client *c = r->client;
    apl_error error;
    const struct epoch_tally *t = &r->outlets[0].tally;
    bool due =
        c->asked && !c->batch && m->epoch == t->epoch && m->end > t->position && m->token > c->link->taken;
    c->asked -= c->asked > 0;
    if (c->turning) { /* of the epoch that is being left */
        link_return(c->link, m->token);
        return;
    }
    if (!due) {
        lose_to_nonsense(c, "a batch that is not due, of epoch", m->epoch);
        return;
    }
    apl_status status = receive_batch(c->link, &c->welcome, m, &c->batch, &error);
    if (status != APL_OK)
        lose(c, status, &error);
}

/* A text of the server's is shown to users. */
static apl_error safe_error(const struct wire_error *m)
{
    apl_error error = m->error;
    bool known = m->status > APL_END && m->status <= APL_E_REENTRANT;
    error.status = known ? (apl_status)m->status : APL_E_IO;
    printable(error.message, sizeof error.message, m->error.message, strlen(m->error.message));
    return error;
}

static void hear_error(struct client *c, const struct wire_error *m)
{
    apl_error error = safe_error(m);
    if (m->answers == WIRE_WHY) {
        hear_reason(c, &error);
        return;
    }
    if (m->answers == WIRE_NEXT)
        c->asked = 0;
    c->turning = c->turning && m->answers != WIRE_EPOCH;
    if (m->answers == WIRE_HELLO) {
        lose(c, error.status, &error);
    } else if (m->answers != WIRE_NEXT && m->answers != WIRE_EPOCH) {
        lose(c, APL_E_IO, &error);
    } else {
        c->failed = true;
        c->failure = error;
    }
}

/* The end of an epoch is known here; it is heard only by who asks for more than there is. */
static void hear_epoch(apl_reader *r, const struct wire_epoch *m)
{
    struct client *c = r->client;
    struct epoch_tally *t = &r->outlets[0].tally;
    if (m->h.type == WIRE_END && c->turning)
        return;
    if (m->h.type == WIRE_END || !c->turning || m->epoch != t->epoch + 1) {
        lose_to_nonsense(c, m->h.type == WIRE_END ? "the end of epoch" : "the beginning of epoch", m->epoch);
        return;
    }
    c->turning = c->failed = false;
    c->asked = 0;
    client_drop(c);
    tally_begin(r, t, t->epoch + 1, 0);
    tally_clear(t);
}

static void hear_message(apl_reader *r, const union wire_any *m)
{
    struct client *c = r->client;
    switch (m->h.type) {
    case WIRE_BATCH:
        hear_batch(r, &m->batch);
        return;
    case WIRE_ERROR:
        hear_error(c, &m->error);
        return;
    case WIRE_BEGUN:
    case WIRE_END:
        hear_epoch(r, &m->epoch);
        return;
    default:
        lose_to_nonsense(c, "a message of type", m->h.type);
    }
}

static apl_status server_ended(apl_error *err)
{
    return fail(err, APL_E_IO,
                "the server has ended: start it again and connect with the last state to resume");
}

void client_hear(apl_reader *r)
{
    struct client *c = r->client;
    union wire_any m;
    apl_error error;
    while (c->lost == APL_OK && ((!c->batch && !c->failed) || c->turning)) { /* what follows is for later */
        int passed;
        apl_status status = socket_receive(c->link->fd, &m, &passed, &error);
        if (passed >= 0)
            close(passed);
        if (status == APL_E_TIMEOUT)
            return;
        if (status == APL_END)
            status = server_ended(&error);
        if (status == APL_OK)
            hear_message(r, &m);
        else
            lose(c, status, &error);
    }
}

/* ---------------------------------------------------------------------------------------------- the welcome */

static apl_status check_welcome(const struct wire_welcome *w, unsigned rank, apl_error *err)
{
    uint64_t row = w->packed ? w->packed : 1;
    bool holds = w->rank == rank && w->world > 0 && w->world <= 1u << 20 && rank < w->world &&
                 w->batch_size > 0 && w->batch_size <= 1u << 24 && w->deliveries <= UINT32_MAX &&
                 w->drop_last <= 1 && w->length > 0 && w->position <= w->length &&
                 w->epoch < UINT64_MAX - 1 && w->most <= UINT32_MAX && w->length <= UINT64_MAX / 2 &&
                 row <= UINT64_MAX / ((uint64_t)1 << 44);
    return holds ? APL_OK
                 : fail(err, APL_E_INVALID, "the server broke the protocol: a welcome that cannot be");
}

/* What of the server's reader states and receipts are made of. */
static apl_status take_welcome(apl_reader *r, const struct wire_welcome *w, apl_error *err)
{
    struct reader_options *o = &r->spec.options;
    o->world = w->world;
    o->batch_size = (size_t)w->batch_size;
    o->drop_last = w->drop_last;
    o->pack.row = w->packed;
    o->plan.seed = w->seed;
    o->ranks = malloc(sizeof *o->ranks);
    r->outlets = calloc(1, sizeof *r->outlets);
    r->seats = calloc(w->world, sizeof *r->seats);
    memcpy(r->identity.content, w->content, sizeof r->identity.content);
    r->identity.order = (struct hash128){w->order[0], w->order[1]};
    r->identity.kinds = w->kinds;
    if (!o->ranks || !r->outlets || !r->seats)
        return fail_nomem(err);
    r->outlet_count = o->rank_count = 1;
    r->outlets[0].rank = o->ranks[0] = w->rank;
    r->seats[w->rank] = 1;
    TRY(tally_open(&r->outlets[0].tally, w->deliveries, w->length, err));
    tally_begin(r, &r->outlets[0].tally, w->epoch, w->position);
    return APL_OK;
}

static apl_status hear_welcome(apl_reader *r, unsigned rank, union wire_any *m, int passed, apl_error *err)
{
    struct client *c = r->client;
    if (m->h.type == WIRE_ERROR) {
        struct wire_error refusal = m->error;
        refusal.answers = WIRE_HELLO;
        hear_error(c, &refusal);
        return client_lost(c, err);
    }
    if (m->h.type != WIRE_WELCOME || passed < 0)
        return fail(err, APL_E_INVALID, "the server broke the protocol: no welcome");
    c->welcome = m->welcome;
    TRY(check_welcome(&c->welcome, rank, err));
    TRY(region_map(passed, c->welcome.region, c->link->writable, &c->link->base, err));
    c->link->bytes = c->welcome.region;
    return take_welcome(r, &c->welcome, err);
}

/* Milliseconds until then, at most those of poll(); 0: it has come. */
static int left_until(uint64_t ns)
{
    uint64_t now = now_ns(), ms = now < ns ? (ns - now) / 1000000 + 1 : 0;
    return ms > 60000 ? 60000 : (int)ms;
}

/* One that is being killed listens to the last, and takes nobody: its place is free. */
static apl_status ended_before_welcome(const struct client *c, apl_error *err)
{
    return fail(err, APL_E_NOTFOUND, "%s: the server that listened here has just ended", c->path);
}

apl_status client_greet(apl_reader *r, const struct wire_hello *hello, apl_error *err)
{
    struct client *c = r->client;
    union wire_any m;
    int passed = -1, ms;
    uint64_t until = now_ns() + ((uint64_t)c->wait_ms + c->timeout_ms) * 1000000;
    apl_status status = socket_send(c->link->fd, &hello->h, -1, err);
    if (status != APL_OK && err->sys_errno != EPIPE) /* else it may have said why it hung up */
        return status;
    while ((status = socket_receive(c->link->fd, &m, &passed, err)) == APL_E_TIMEOUT) {
        struct pollfd polled = {.fd = c->link->fd, .events = POLLIN};
        if ((ms = left_until(until)) == 0)
            return fail(err, APL_E_TIMEOUT, "%s: the server has not answered in time", c->path);
        (void)!poll(&polled, 1, ms);
    }
    if (status == APL_END)
        status = ended_before_welcome(c, err);
    if (status == APL_OK)
        status = hear_welcome(r, hello->rank, &m, passed, err);
    if (passed >= 0)
        close(passed);
    return status;
}

/* A client, as its server sees it: see session.h. */
#include "session.h"

#include "reader.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE 32 /* messages of one client that are taken before others have their turn */

uint64_t session_now(void)
{
    return now_ns() / 1000000;
}

/* What cannot be sent, because the client does not read what it asked for, ends the connection. */
static void say_to_client(struct session *s, const struct wire_header *m, int passed)
{
    if (!s->over && socket_send(s->fd, m, passed, NULL) != APL_OK)
        s->over = true;
}

static void say_error(struct session *s, uint32_t answers, apl_status status, const apl_error *error)
{
    struct wire_error m = {.h = wire_header(WIRE_ERROR, sizeof m),
                           .status = (int32_t)status,
                           .answers = answers,
                           .error = *error};
    say_to_client(s, &m.h, -1);
}

void session_refuse(struct session *s, uint32_t answers, const apl_error *error)
{
    say_error(s, answers, error->status, error);
    s->over = true;
}

static void break_off(struct session *s, const char *why)
{
    apl_error error;
    fail(&error, APL_E_INVALID, "the client broke the protocol: %s", why);
    session_refuse(s, 0, &error);
}

static void say_epoch(struct session *s, enum wire_type type, uint64_t epoch)
{
    struct wire_epoch m = {.h = wire_header(type, sizeof m), .epoch = epoch};
    say_to_client(s, &m.h, -1);
}

/* ---------------------------------------------------------------------------------------------- batches */

static void lend(struct session *s, struct batch_buffer *batch, uint64_t begin, uint64_t end)
{
    struct wire_batch m;
    apl_error error;
    memset(&m, 0, offsetof(struct wire_batch, column));
    apl_status status = lending_lend(&s->lending, batch, begin, end, &m, &error);
    if (status != APL_OK) {
        seat_leave(s->seat, batch, begin, end);
        s->asks = 0;
        say_error(s, WIRE_NEXT, status, &error);
        return;
    }
    s->asks--;
    say_to_client(s, &m.h, -1);
}

static bool has_waited(const struct session *s, const apl_reader *r)
{
    uint64_t patience = r->spec.options.timeout_ms ? r->spec.options.timeout_ms : RANK_PATIENCE_MS;
    return session_now() - s->asked_at >= patience;
}

/* Is there nothing to say of that yet? An error is told once the client has taken all that it was sent: it may give something back then. */
static bool may_wait(struct session *s, struct service *service, apl_status status, apl_error *error)
{
    if (status == APL_OK || status == APL_END)
        return false;
    if (s->taken < s->lending.last)
        return true;
    return status == APL_E_TIMEOUT &&
           (!has_waited(s, service->reader) || seat_late(service, s->seat, false, error) == APL_OK);
}

void session_serve(struct session *s, struct service *service)
{
    struct batch_buffer *batch;
    uint64_t begin, end;
    apl_error error = {0};
    s->quiet = false;
    while (s->asks && !s->over) {
        apl_status status = seat_take(service, s->seat, &batch, &begin, &end, &error);
        if (status == APL_OK) {
            lend(s, batch, begin, end);
            continue;
        }
        s->quiet = status == APL_E_TIMEOUT;
        if (may_wait(s, service, status, &error))
            return;
        s->quiet = false;
        s->asks = 0;
        if (status == APL_END)
            say_epoch(s, WIRE_END, s->seat->outlet->tally.epoch);
        else
            say_error(s, WIRE_NEXT, status, &error);
    }
}

/* --------------------------------------------------------------------------------------------- messages */

static void take_back(struct session *s, const struct wire_tokens *m)
{
    if (m->taken > s->lending.last) {
        break_off(s, "it took what it had not been lent");
        return;
    }
    if (m->taken > s->taken) {
        s->taken = m->taken;
        s->asked_at = session_now();
    }
    for (uint64_t i = 0; i < m->count && !s->over; i++)
        if (!lending_return(&s->lending, m->token[i]))
            break_off(s, "it gave back what it had not been lent");
}

static void take_next(struct session *s, struct service *service)
{
    if (s->asks + (s->lending.last - s->taken) <
        WIRE_AHEAD) /* what asks for more may have crossed an error on its way */
        s->asks++;
    s->asked_at = session_now();
    session_serve(s, service);
}

static void take_epoch(struct session *s, struct service *service, uint64_t epoch)
{
    apl_error error;
    apl_status status = APL_OK;
    uint64_t now = s->seat->outlet->tally.epoch;
    s->asks = 0;
    s->taken = s->lending.last; /* it has, or does without */
    if (epoch != now && epoch != now + 1) {
        break_off(s, "it began an epoch that is not the next");
        return;
    }
    if (epoch == now + 1)
        status = seat_begin_epoch(service, s->seat, &error);
    if (status == APL_OK)
        say_epoch(s, WIRE_BEGUN, epoch);
    else
        say_error(s, WIRE_EPOCH, status, &error);
}

static void take_why(struct session *s, struct service *service)
{
    apl_error error;
    apl_status status = seat_late(service, s->seat, true, &error);
    say_error(s, WIRE_WHY, status, &error);
}

static void take_hello(struct session *s, const union wire_any *m)
{
    if (s->stage != SESSION_NEW || m->h.type != WIRE_HELLO) {
        break_off(s, "it did not begin with one hello");
        return;
    }
    s->hello = m->hello;
    s->stage = SESSION_WAITS;
    s->asked_at = session_now();
}

static void take(struct session *s, struct service *service, const union wire_any *m)
{
    if (s->stage != SESSION_WELCOME) {
        take_hello(s, m);
        return;
    }
    switch (m->h.type) {
    case WIRE_NEXT:
        take_back(s, &m->tokens);
        if (!s->over)
            take_next(s, service);
        return;
    case WIRE_RELEASE:
        take_back(s, &m->tokens);
        return;
    case WIRE_EPOCH:
        take_epoch(s, service, m->epoch.epoch);
        return;
    case WIRE_WHY:
        take_why(s, service);
        return;
    default:
        break_off(s, "a message that only a server sends, or a second hello");
    }
}

/* The next message. False: none, and the session may be over. */
static bool receive(struct session *s, union wire_any *m)
{
    int passed;
    apl_error error;
    apl_status status = socket_receive(s->fd, m, &passed, &error);
    if (passed >= 0)
        close(passed); /* clients have none to give */
    if (status == APL_END)
        s->over = true;
    else if (status != APL_OK && status != APL_E_TIMEOUT)
        session_refuse(s, 0, &error);
    return status == APL_OK;
}

void session_take(struct session *s, struct service *service)
{
    union wire_any m;
    for (unsigned i = 0; i < AT_ONCE && !s->over && receive(s, &m); i++) {
        take(s, service, &m);
        if (m.h.type == WIRE_NEXT) /* what follows is not urgent */
            return;
    }
}

/* ------------------------------------------------------------------------------------ its beginning and end */

struct session *session_new(int fd)
{
    struct session *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->fd = fd;
    s->peer = peer_open(fd);
    s->asked_at = session_now();
    return s;
}

void session_welcome(struct session *s, const struct service *service, struct seat *seat)
{
    const apl_reader *r = service->reader;
    const struct reader_options *o = &r->spec.options;
    struct wire_welcome m = {.h = wire_header(WIRE_WELCOME, sizeof m),
                             .rank = seat->outlet->rank,
                             .world = o->world,
                             .drop_last = o->drop_last,
                             .packed = (uint32_t)o->pack.row,
                             .batch_size = o->batch_size,
                             .deliveries = seat->outlet->tally.deliveries,
                             .length = seat->outlet->tally.length,
                             .seed = o->plan.seed,
                             .region = region_bytes(seat->region),
                             .most = options_most(o),
                             .order = {r->identity.order.low, r->identity.order.high},
                             .kinds = r->identity.kinds,
                             .pid = (uint32_t)getpid(),
                             .slots = r->cache.standing.slab.slots,
                             .budget = o->budget};
    seat_place(seat, &m.epoch, &m.position);
    memcpy(m.content, r->identity.content, sizeof m.content);
    s->stage = SESSION_WELCOME;
    s->seat = seat;
    seat->client = s->peer.process;
    s->lending = (struct lending){.region = seat->region};
    say_to_client(s, &m.h, region_fd(seat->region));
}

/* What its caller got before it ended may have been said, and not been heard yet. */
static void hear_last(struct session *s)
{
    union wire_any m;
    int passed;
    while (socket_receive(s->fd, &m, &passed, NULL) == APL_OK) {
        bool told = m.h.type == WIRE_NEXT || m.h.type == WIRE_RELEASE;
        if (told && m.tokens.taken > s->taken && m.tokens.taken <= s->lending.last)
            s->taken = m.tokens.taken;
        if (passed >= 0)
            close(passed);
    }
}

void session_end(struct session *s)
{
    struct batch_buffer *batch;
    uint64_t begin, end;
    s->over = true;
    if (!s->seat)
        return;
    hear_last(s);
    for (uint64_t token = s->lending.last; token > s->taken; token--)
        if ((batch = lending_recall(&s->lending, token, &begin, &end)))
            seat_leave(s->seat, batch, begin, end);
    lending_close(&s->lending);
    s->seat->client = 0;
    s->seat = NULL;
}

void session_free(struct session *s)
{
    session_end(s);
    peer_close(&s->peer);
    close(s->fd);
    free(s);
}

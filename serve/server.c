/* A server: its sockets, and who is to be served next. */
#define _GNU_SOURCE /* eventfd */
#include "forks.h"
#include "reader.h"
#include "session.h"
#include "sized.h"
#include "state.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define HELLO_MS    10000u /* how long a client may take to say which rank it is */
#define TICK_MS     50     /* how soon the server notices what no batch announces, such as a failure */
#define MOST_GUESTS 64u    /* connections beyond one for each rank */

enum { LISTEN, WAKE, STOP, FIXED }; /* places in `polled` */

struct apl_server {
    unsigned forks; /* that came before it: more, and it is the parent's */
    apl_store *store;
    apl_reader_options options; /* as they were given */
    apl_serve_options how;
    struct listening listening;
    int wake, stop;
    struct service service;
    uint64_t epochs; /* the number of the epoch that is no longer served; 0: none */
    struct session **sessions;
    struct pollfd *polled; /* FIXED, then two of each session */
    size_t count, most;    /* sessions */
    bool full;             /* nobody can be accepted for a while */
    bool dismissed;        /* by apl_server_dismiss() */
    uint64_t busy_at;      /* when there was a client last */
    uint64_t looked_at;    /* at processes whose death no descriptor reports */
};

/* --------------------------------------------------------------------------------------------- welcoming */

/* Ends sessions whose clients are gone, so that their ranks are free. */
static void end_gone(struct apl_server *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->sessions[i]->seat && (s->sessions[i]->over || socket_is_gone(s->sessions[i]->fd)))
            session_end(s->sessions[i]);
}

/* A client that is welcome: of a rank, or where that is NULL, of any. NULL: none. */
static const struct session *client_of(const struct apl_server *s, const struct seat *seat)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->sessions[i]->seat && (!seat || s->sessions[i]->seat == seat))
            return s->sessions[i];
    return NULL;
}

/* Where a client wants to begin, and the options of a reader that begins there. */
static apl_status wanted_place(struct apl_server *s, const struct seat *seat, const struct wire_hello *hello,
                               apl_reader_options *o, uint64_t *epoch, uint64_t *position, apl_error *err)
{
    *o = s->options;
    if (hello->where == WIRE_ON)
        seat_place(seat, epoch, position);
    if (hello->where == WIRE_STATE) {
        o->state = hello->state;
        o->state_size = sizeof hello->state;
    }
    if (hello->where == WIRE_AT_EPOCH) {
        o->state = NULL;
        o->first_epoch = hello->epoch;
    }
    if (hello->where == WIRE_ON)
        return APL_OK;
    if (!o->state) {
        *epoch = o->first_epoch;
        *position = 0;
        return APL_OK;
    }
    return state_resume(s->service.reader, o->state, o->state_size, epoch, position, err);
}

static apl_status fail_elsewhere(const struct seat *seat, const struct session *other, apl_error *err)
{
    uint64_t epoch, position;
    seat_place(seat, &epoch, &position);
    return fail(err, APL_E_BUSY,
                "the server is at position %llu of epoch %llu, and cannot go elsewhere while other ranks, "
                "such as %u, are connected",
                (unsigned long long)position, (unsigned long long)epoch, other->seat->outlet->rank);
}

/* Goes to the place where a client wants to begin. */
static apl_status move_to(struct apl_server *s, const struct seat *seat, const struct wire_hello *hello,
                          apl_error *err)
{
    struct service there;
    apl_reader_options options;
    uint64_t epoch, position, now_epoch, now_position;
    TRY(wanted_place(s, seat, hello, &options, &epoch, &position, err));
    seat_place(seat, &now_epoch, &now_position);
    if (epoch == now_epoch && position == now_position)
        return APL_OK;
    const struct session *other = client_of(s, NULL);
    if (other)
        return fail_elsewhere(seat, other, err);
    TRY(service_open(s->store, &options, s->wake, &there, err));
    service_close(&s->service);
    s->service = there;
    return APL_OK;
}

static apl_status welcome(struct apl_server *s, struct session *session, apl_error *err)
{
    struct seat *seat;
    unsigned rank = session->hello.rank;
    TRY(service_seat(&s->service, rank, &seat, err));
    end_gone(s);
    if (client_of(s, seat))
        return fail(err, APL_E_BUSY, "rank %u has a client already", rank);
    TRY(move_to(s, seat, &session->hello, err));
    TRY(service_seat(&s->service, rank, &seat, err));
    session_welcome(session, &s->service, seat);
    return APL_OK;
}

/* Ends the server, unless somebody is served. Who asked hears of it when the socket is gone: see apl_server_close(). */
static void dismiss(struct apl_server *s, struct session *session)
{
    apl_error error;
    end_gone(s);
    const struct session *other = client_of(s, NULL);
    s->dismissed = !other;
    if (!other)
        return;
    fail(&error, APL_E_BUSY, "rank %u has a client, process %d", other->seat->outlet->rank,
         other->peer.process);
    session_refuse(session, WIRE_HELLO, &error);
}

/* Welcomes a client as soon as it can be, or refuses it. */
static void greet(struct apl_server *s, struct session *session)
{
    apl_error error;
    if (session->hello.where == WIRE_LEAVE) {
        dismiss(s, session);
        return;
    }
    apl_status status = welcome(s, session, &error);
    if (status != APL_OK &&
        !(status == APL_E_BUSY && session_now() - session->asked_at < session->hello.wait_ms))
        session_refuse(session, WIRE_HELLO, &error);
}

static bool add_session(struct apl_server *s, int fd)
{
    struct session *session = s->count < s->most ? session_new(fd) : NULL;
    if (!session)
        return false;
    s->sessions[s->count++] = session;
    return true;
}

/* Says why, without waiting to be asked. */
static void send_away(const struct apl_server *s, int fd)
{
    struct wire_error m = {
        .h = wire_header(WIRE_ERROR, sizeof m), .status = APL_E_BUSY, .answers = WIRE_HELLO};
    fail(&m.error, APL_E_BUSY, "the server has %zu connections, and takes no more", s->count);
    (void)!socket_send(fd, &m.h, -1, NULL);
    close(fd);
}

/* Takes in whoever connects; who is one too many is sent away. */
static void accept_clients(struct apl_server *s)
{
    int fd;
    for (;;) {
        s->full = socket_accept(&s->listening, &fd, NULL) != APL_OK;
        if (s->full || fd < 0)
            return;
        if (!add_session(s, fd))
            send_away(s, fd);
    }
}

/* ------------------------------------------------------------------------------------------------ the loop */

static void drop_over(struct apl_server *s)
{
    uint64_t now = session_now();
    for (size_t i = s->count; i-- > 0;) {
        struct session *session = s->sessions[i];
        if (session->stage == SESSION_NEW && now - session->asked_at >= HELLO_MS)
            session->over = true;
        if (!session->over)
            continue;
        s->sessions[i] = s->sessions[--s->count];
        session_free(session);
    }
    if (s->count > 0)
        s->busy_at = now;
}

/* How long to wait for any of it. */
static int prepare_poll(struct apl_server *s)
{
    bool soon = s->full;
    /* Where there are no descriptors left, somebody would wait to be accepted all the time. */
    s->polled[LISTEN] = (struct pollfd){.fd = s->full ? -1 : s->listening.fd, .events = POLLIN};
    s->polled[WAKE] = (struct pollfd){.fd = s->wake, .events = POLLIN};
    s->polled[STOP] = (struct pollfd){.fd = s->stop, .events = POLLIN};
    s->full = false;
    for (size_t i = 0; i < s->count; i++) {
        const struct session *session = s->sessions[i];
        /* While its batches are being made, waking for what it says would cost more than saying it; that it is gone is told anyway. */
        s->polled[FIXED + 2 * i] = (struct pollfd){.fd = session->fd, .events = session->quiet ? 0 : POLLIN};
        s->polled[FIXED + 2 * i + 1] = (struct pollfd){.fd = peer_polled(&session->peer), .events = POLLIN};
        soon |= session->asks || session->stage == SESSION_WAITS;
    }
    return soon ? TICK_MS : s->how.idle_ms || s->count ? 20 * TICK_MS : -1;
}

/* Ends the sessions of processes that have died; children of theirs may still hold the sockets. */
static void end_dead(struct apl_server *s)
{
    uint64_t now = session_now();
    bool look = now - s->looked_at >= TICK_MS;
    for (size_t i = 0; i < s->count; i++)
        if (s->polled[FIXED + 2 * i + 1].revents || (look && peer_has_died(&s->sessions[i]->peer)))
            session_end(s->sessions[i]);
    s->looked_at = look ? now : s->looked_at;
}

/* What clients have sent, and then whom there is something for. */
static void serve_all(struct apl_server *s)
{
    for (size_t i = 0; i < s->count; i++)
        if ((s->polled[FIXED + 2 * i].revents || s->sessions[i]->quiet) && !s->sessions[i]->over)
            session_take(s->sessions[i], &s->service);
    end_dead(s);
    for (size_t i = 0; i < s->count; i++)
        if (s->sessions[i]->stage == SESSION_WAITS && !s->sessions[i]->over)
            greet(s, s->sessions[i]);
    for (size_t i = 0; i < s->count; i++)
        session_serve(s->sessions[i], &s->service);
}

/* Has every rank had as many epochs as there are to be, and has everybody left? */
static bool is_done(const struct apl_server *s)
{
    if (s->epochs == 0 || s->count > 0)
        return false;
    for (unsigned i = 0; i < s->service.count; i++) {
        const struct seat *seat = &s->service.seats[i];
        const struct epoch_tally *t = &seat->outlet->tally;
        if (seat->left_count || t->epoch + t->ended < s->epochs)
            return false;
    }
    return true;
}

static bool is_idle(const struct apl_server *s)
{
    return s->how.idle_ms && s->count == 0 && session_now() - s->busy_at >= s->how.idle_ms;
}

/* False: it is to end. */
static bool run_once(struct apl_server *s, apl_status *status, apl_error *err)
{
    uint64_t count;
    int patience = prepare_poll(s);
    if (poll(s->polled, (nfds_t)(FIXED + 2 * s->count), patience) < 0) {
        if (errno == EINTR)
            return true;
        *status = fail_errno(err, errno, "%s: poll", s->listening.path);
        return false;
    }
    if (s->polled[STOP].revents)
        return false;
    if (s->polled[WAKE].revents)
        (void)!read(s->wake, &count, sizeof count);
    serve_all(s);
    if (s->dismissed)
        return false;
    drop_over(s);
    if (s->polled[LISTEN].revents)
        accept_clients(s);
    return !is_done(s) && !is_idle(s);
}

apl_status apl_server_run(apl_server *s, apl_error *err)
{
    apl_status status = APL_OK;
    if (!s)
        return fail(err, APL_E_INVALID, "apl_server_run: server is NULL");
    if (s->forks != forks_so_far())
        return fail(err, APL_E_FORKED, "the server belongs to the parent process: open one here");
    s->busy_at = session_now();
    s->dismissed = false;
    while (run_once(s, &status, err))
        continue;
    return status;
}

/* In a child, what would be written to, and what would be closed and removed, is the parent's. */
void apl_server_stop(apl_server *s)
{
    static const uint64_t one = 1;
    int code = errno;
    if (s && s->forks == forks_so_far())
        (void)!write(s->stop, &one, sizeof one);
    errno = code;
}

/* ---------------------------------------------------------------------------------------- opening, closing */

static apl_status check_options(const apl_reader_options *o, apl_error *err)
{
    if (o->allocator)
        return fail(err, APL_E_INVALID, "apl_server_open: allocator: a server has its own");
    if (o->threads == APL_NO_THREADS && !o->loaders)
        return fail(err, APL_E_INVALID, "apl_server_open: a server needs threads to read");
    if (o->order == APL_FREE)
        return fail(err, APL_E_UNSUPPORTED, "apl_server_open: free order is not served");
    return APL_OK;
}

static apl_status prepare_server(apl_server *s, const char *path, apl_error *err)
{
    s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    s->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->wake < 0 || s->stop < 0)
        return fail_errno(err, errno, "%s: eventfd", path);
    s->most = MOST_GUESTS + (s->options.ranks.list ? s->options.ranks.count : 1);
    s->sessions = calloc(s->most, sizeof(struct session *));
    s->polled = calloc(2 * s->most + FIXED, sizeof *s->polled);
    if (!s->sessions || !s->polled)
        return fail_nomem(err);
    TRY(socket_listen(path, &s->listening, err));
    TRY(service_open(s->store, &s->options, s->wake, &s->service, err));
    if (s->how.epochs)
        s->epochs = s->service.seats[0].outlet->tally.epoch + s->how.epochs;
    return APL_OK;
}

apl_status apl_server_open(apl_store *store, const apl_reader_options *reader_options, const char *path,
                           const apl_serve_options *options, apl_server **server, apl_error *err)
{
    apl_error own;
    err = err ? err : &own;
    if (!store || !path || !server)
        return fail(err, APL_E_INVALID, "apl_server_open: store, path or server is NULL");
    apl_server *s = calloc(1, sizeof *s);
    if (!s)
        return fail_nomem(err);
    s->forks = forks_so_far();
    s->listening.fd = s->listening.lock = s->wake = s->stop = -1;
    s->options = (apl_reader_options)APL_READER_OPTIONS_INIT;
    s->how = (apl_serve_options)APL_SERVE_OPTIONS_INIT;
    s->store = store_retain(store);
    apl_status status =
        options_take(&s->options, sizeof s->options, reader_options, "apl_reader_options", err);
    if (status == APL_OK)
        status = options_take(&s->how, sizeof s->how, options, "apl_serve_options", err);
    if (status == APL_OK)
        status = check_options(&s->options, err);
    if (status == APL_OK)
        status = prepare_server(s, path, err);
    if (status == APL_OK)
        *server = s;
    else
        apl_server_close(s);
    return status;
}

void apl_server_close(apl_server *s)
{
    if (!s || s->forks != forks_so_far())
        return;
    socket_unlisten(&s->listening); /* before anybody hears that the place is free */
    while (s->count > 0)
        session_free(s->sessions[--s->count]);
    service_close(&s->service);
    if (s->wake >= 0)
        close(s->wake);
    if (s->stop >= 0)
        close(s->stop);
    store_release(s->store);
    free(s->sessions);
    free(s->polled);
    free(s);
}

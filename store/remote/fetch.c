/* Ranges of an object: see fetch.h. */
#include "fetch.h"

#include "admission.h"
#include "told.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIRST_PAUSE_MS 100u
#define LAST_PAUSE_MS  5000u
#define MOST_REDIRECTS 5u
#define MIB_MS         16000u /* that a MiB of a range may take beyond the timeout */
#define FEW_TRIES      3u     /* of what seldom passes */
#define MOST_SILENCE_S 10u
#define SLICE_MS       50u
#define TELL_PART      40u /* of the time there is, after which the user is told */

/* A range that is under way. */
struct fetching {
    struct object *object;
    uint64_t offset, n, done;
    uint8_t *to;
    uint64_t began, deadline; /* in milliseconds of the clock */
    unsigned tries, few;
    bool renewed; /* the credentials, once */
    bool opening;
    const atomic_bool *cancel;
    char *elsewhere; /* where a redirection has led; NULL: nowhere */
    unsigned redirects;
};

/* ---------------------------------------------------------------------------------------------- pauses */

static void count_one(atomic_uint_fast64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static bool is_cancelled(const struct fetching *f)
{
    /* relaxed: it only has to be seen some time */
    return f->cancel && atomic_load_explicit(f->cancel, memory_order_relaxed);
}

/* A number below `most`, of any kind: that many readers do not come back at the same time. */
static uint64_t any_below(uint64_t most)
{
    /* Not getrandom(), which is younger than the C library that wheels promise to run with. */
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t x = (uint64_t)now.tv_nsec ^ ((uint64_t)getpid() << 32) ^ (uint64_t)(uintptr_t)&now;
    return (x * 0x9e3779b97f4a7c15u >> 20) % most;
}

static void pause_ms(const struct fetching *f, uint64_t ms)
{
    for (uint64_t now = monotonic_ms(), end = now + ms; now < end && !is_cancelled(f); now = monotonic_ms()) {
        uint64_t slice = end - now < SLICE_MS ? end - now : SLICE_MS;
        nanosleep(&(struct timespec){.tv_nsec = (long)slice * 1000000}, NULL);
    }
}

/* What a request says of its server, and of the way there. */
static enum outcome outcome_of(const struct reply *r)
{
    if (r->trouble == TROUBLE_PASSES || r->trouble == TROUBLE_NO_WAY)
        return OUTCOME_CONGESTED;
    if (r->status == 408 || r->status == 429 || r->status == 503 || r->status == 504)
        return OUTCOME_CONGESTED;
    return r->trouble == TROUBLE_NONE && r->status / 100 == 2 ? OUTCOME_ANSWERED : OUTCOME_OTHER;
}

static apl_status give_range_up(const struct fetching *f, const struct reply *r, apl_status status,
                                apl_error *err)
{
    char what[sizeof err->message];
    if (outcome_of(r) != OUTCOME_CONGESTED || r->trouble == TROUBLE_NO_WAY)
        return fail_in(err, status, "gave up after %u tries", f->tries);
    memcpy(what, err->message, sizeof what);
    return fail(
        err, status,
        "gave up after %u tries: %.200s; if its server is overloaded, lower APL_REMOTE_REQUESTS (now %u)",
        f->tries, what, admission_most(f->object->server));
}

/* Waits before the next try; or, if there is no time for one, says what the last one came to. */
static apl_status again(struct fetching *f, const struct reply *r, apl_status status, apl_error *err)
{
    uint64_t most = FIRST_PAUSE_MS << (f->tries < 6 ? f->tries : 6), now = monotonic_ms();
    uint64_t ms = most / 2 + any_below((most < LAST_PAUSE_MS ? most : LAST_PAUSE_MS) / 2 + 1);
    uint64_t asked = (uint64_t)r->wait_s * 1000;
    ms = ms > asked ? ms : asked;
    f->tries++;
    if (now + ms >= f->deadline)
        return give_range_up(f, r, status, err);
    count_one(&f->object->traffic->retries);
    if (now - f->began >= f->object->timeout_ms / TELL_PART)
        tell_retry(f->object->shown, err->message, f->deadline - now);
    pause_ms(f, ms);
    return APL_OK;
}

/* ---------------------------------------------------------------------------------------------- answers */

static apl_status denied(apl_error *err, const char *what, const char *dash, const char *code)
{
    fail(err, APL_E_IO, "%s%s%s", what, dash, code);
    err->sys_errno = EACCES;
    return APL_E_IO;
}

static apl_status say_status(const struct reply *r, apl_error *err)
{
    bool expired = strcmp(r->code, "ExpiredToken") == 0 || strcmp(r->code, "TokenRefreshRequired") == 0;
    const char *dash = *r->code ? ": " : "";
    switch (r->status) {
    case 401:
        return denied(err, "the server asks for a password", dash, r->code);
    case 403:
        return denied(err, expired ? "the credentials have expired" : "access is denied", dash, r->code);
    case 404:
    case 410:
        if (strcmp(r->code, "NoSuchBucket") == 0) {
            fail(err, APL_E_NOTFOUND, "there is no such bucket");
            err->sys_errno = ENOENT; /* there can be nothing else in it */
            return APL_E_NOTFOUND;
        }
        return fail(err, APL_E_NOTFOUND, "there is no such object (HTTP %d%s%s)", r->status, dash, r->code);
    case 412:
        return fail(err, APL_E_MISMATCH, "has been replaced since it was opened");
    case 416:
        return fail(err, APL_E_CORRUPT, "is empty, or shorter than when it was opened (HTTP 416)");
    default:
        return fail(err, APL_E_IO, "the server answered HTTP %d%s%s", r->status, dash, r->code);
    }
}

static bool status_passes(int status)
{
    return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
}

/* Another object, or the same one? Answers may lack what the first had. */
static bool is_another(const struct object *o, const struct reply *r)
{
    return (r->total && r->total != o->size) ||
           (*o->validator && *r->validator && o->has_etag == r->has_etag &&
            strcmp(o->validator, r->validator) != 0);
}

/* What the first answer says of the object. */
static apl_status learn(struct object *o, const struct reply *r, apl_error *err)
{
    uint64_t total = r->status == 206 ? r->total : r->length;
    if (!total)
        return fail(err, APL_E_IO, "the server does not say how large the object is");
    o->size = total;
    memcpy(o->validator, r->validator, sizeof o->validator);
    o->has_etag = r->has_etag;
    return APL_OK;
}

/* An answer of 200 or 206. *wrong: it may be better next time. */
static apl_status take_bytes(struct fetching *f, const struct reply *r, bool *wrong, apl_error *err)
{
    uint64_t first = f->offset + f->done, end = f->offset + f->n;
    bool fits = r->status == 200 && first == 0 && r->length && r->length <= f->n;
    *wrong = r->encoded;
    if (r->encoded)
        return fail(
            err, APL_E_IO,
            "the bytes come compressed (Content-Encoding), which was not asked for, from the server or a "
            "proxy");
    if (r->status == 206 && (!r->ranged || r->first != first || r->last >= end)) {
        *wrong = true;
        return fail(err, APL_E_IO, "the server sent bytes %llu to %llu where %llu to %llu were asked for",
                    (unsigned long long)r->first, (unsigned long long)r->last, (unsigned long long)first,
                    (unsigned long long)end - 1);
    }
    if (r->status == 200 && !fits) {
        *wrong = true;
        return fail(err, APL_E_IO, "the server does not send ranges (it answered 200, not 206)");
    }
    if (!f->opening && is_another(f->object, r))
        return fail(err, APL_E_MISMATCH, "has been replaced since it was opened");
    if (f->opening) {
        TRY(learn(f->object, r, err));
        f->opening = false; /* the rest must be of the same object */
        f->n = f->n < f->object->size ? f->n : f->object->size;
    }
    f->done += r->got;
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------ redirections */

/* Only to the same scheme, and without credentials. */
static apl_status go_elsewhere(struct fetching *f, struct reply *r, apl_error *err)
{
    if (f->object->sign)
        return fail(err, APL_E_IO,
                    "the server says that the bucket is elsewhere (HTTP %d): is AWS_REGION right?",
                    r->status);
    if (!r->location)
        return fail(err, APL_E_IO, "the server answered HTTP %d, but not where to go", r->status);
    if (++f->redirects > MOST_REDIRECTS)
        return fail(err, APL_E_IO, "the server redirects again and again");
    if (!url_same_scheme(f->object->target, r->location))
        return fail(err, APL_E_IO, "the server redirects to another scheme, which is not followed");
    TRY(object_check_plain(f->object, r->location, err));
    free(f->elsewhere);
    f->elsewhere = r->location;
    r->location = NULL;
    return APL_OK;
}

/* ---------------------------------------------------------------------------------------------- fetching */

/* Once for a range. */
static bool renew_keys(struct fetching *f, const struct aws_keys *used)
{
    bool renewed = !f->renewed && object_renew_keys(f->object, used);
    f->renewed |= renewed;
    return renewed;
}

static apl_status judge_status(struct fetching *f, struct reply *r, const struct aws_keys *used,
                               apl_error *err)
{
    if (r->status == 301 || r->status == 302 || r->status == 303 || r->status == 307 || r->status == 308)
        return go_elsewhere(f, r, err);
    if (r->status == 403 && renew_keys(f, used))
        return APL_OK;
    apl_status status = say_status(r, err);
    if (f->elsewhere && (r->status == 401 || r->status == 403) && f->few++ < FEW_TRIES) {
        free(f->elsewhere); /* what it led to was good for a while only */
        f->elsewhere = NULL;
        return again(f, r, status, err);
    }
    return status_passes(r->status) ? again(f, r, status, err) : status;
}

/* No whole answer has come, but perhaps a part of one. */
static apl_status judge_trouble(struct fetching *f, struct reply *r, apl_error *err)
{
    bool wrong;
    if (r->trouble == TROUBLE_CANCELLED)
        return fail(err, APL_E_CANCELLED, "it is no longer needed");
    if (r->got && (r->status == 206 || r->status == 200))
        TRY(take_bytes(f, r, &wrong, err));
    apl_status status = fail(err, APL_E_IO, "%s", r->what);
    bool few = r->trouble == TROUBLE_NO_WAY && f->opening && ++f->few >= FEW_TRIES;
    return r->trouble == TROUBLE_LASTS || few ? status : again(f, r, status, err);
}

static apl_status judge(struct fetching *f, struct reply *r, const struct aws_keys *used, apl_error *err)
{
    bool wrong;
    if (r->trouble != TROUBLE_NONE)
        return judge_trouble(f, r, err);
    if (r->status != 200 && r->status != 206)
        return judge_status(f, r, used, err);
    apl_status status = take_bytes(f, r, &wrong, err);
    if (status != APL_OK)
        return wrong && ++f->few < FEW_TRIES ? again(f, r, status, err) : status;
    if (f->done == f->n || r->got)
        return APL_OK;
    const char *what = r->too_long ? "more bytes than were asked for" : "nothing";
    return again(f, r, fail(err, APL_E_IO, "the server sent %s", what), err);
}

/* After how long a silence a connection is given up, and another made. */
static uint64_t silence_ms(const struct object *o)
{
    uint64_t s = o->timeout_ms / 4000;
    return s < 1 ? 1000 : s < MOST_SILENCE_S ? s * 1000 : MOST_SILENCE_S * 1000;
}

/* Sends it when it is its turn. */
static apl_status send_request(struct fetching *f, struct request *q, struct reply *r, apl_error *err)
{
    struct object *o = f->object;
    struct admitted turn;
    enum admission admission = admission_wait(o->server, f->cancel, &f->deadline, &turn);
    if (admission == ADMISSION_CANCELLED)
        return fail(err, APL_E_CANCELLED, "it is no longer needed");
    if (admission == ADMISSION_LATE)
        return fail(err, APL_E_IO,
                    "gave up: its server has answered none of the requests before it for %llu s",
                    (unsigned long long)(monotonic_ms() - f->began) / 1000);
    uint64_t now = monotonic_ms();
    q->milliseconds = f->deadline > now ? f->deadline - now : 1;
    count_one(&o->traffic->requests);
    apl_status status = o->transport->get(q, r, err);
    if (status != APL_OK)
        *r = (struct reply){0};
    admission_end(&turn, outcome_of(r), r->first_ms);
    return status;
}

static apl_status try_once(struct fetching *f, apl_error *err)
{
    struct object *o = f->object;
    const struct aws_keys *keys = object_keys(o);
    struct reply r;
    if (is_cancelled(f))
        return fail(err, APL_E_CANCELLED, "it is no longer needed");
    struct request q = {
        .url = f->elsewhere ? f->elsewhere : o->target,
        .first = f->offset + f->done,
        .bytes = f->n - f->done,
        .if_match = !f->opening && o->has_etag && strncmp(o->validator, "W/", 2) != 0 ? o->validator : NULL,
        .sign = keys && keys->id ? o->sign : NULL,
        .keys = keys,
        .netrc = !o->sign && !f->elsewhere,
        .to = f->to + f->done,
        .silence_ms = silence_ms(o),
        .patience_ms = admission_patience(o->server),
        .cancel = f->cancel};
    TRY(send_request(f, &q, &r, err));
    atomic_fetch_add_explicit(&o->traffic->bytes, r.got, memory_order_relaxed);
    apl_status status = judge(f, &r, keys, err);
    free(r.location);
    return status;
}

static apl_status run(struct fetching *f, apl_error *err)
{
    apl_status status = APL_OK;
    apl_error own;
    err = err ? err : &own;
    f->began = monotonic_ms();
    f->deadline = f->began + f->object->timeout_ms + (f->n >> 20) * MIB_MS;
    while (status == APL_OK && f->done < f->n)
        status = try_once(f, err);
    free(f->elsewhere);
    return status;
}

apl_status object_begin(struct object *object, uint8_t *to, size_t *n, apl_error *err)
{
    struct fetching f = {.object = object, .n = *n, .to = to, .opening = true};
    apl_status status = run(&f, err);
    *n = (size_t)f.done;
    return status;
}

apl_status object_fetch(struct object *object, uint64_t offset, uint8_t *to, size_t n,
                        const atomic_bool *cancel, apl_error *err)
{
    struct fetching f = {.object = object, .offset = offset, .n = n, .to = to, .cancel = cancel};
    return run(&f, err);
}

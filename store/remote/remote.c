/* Files elsewhere: see remote.h. */
#include "remote.h"

#include "admission.h"
#include "ahead.h"
#include "hash.h"
#include "plain_number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEGINNING \
    ((size_t)64 << 10) /* bytes that opening asks for: most roots and manifests of small stores are in them */

struct remote {
    atomic_uint holders;
    struct object object;
    struct ahead ahead;
    uint8_t *beginning;            /* the first bytes of the file */
    atomic_size_t beginning_bytes; /* 0: they are wrong */
    struct origin *origin;
    struct disk_cache *cache; /* the origin's, if the file may be kept there; else NULL */
    uint32_t cached;          /* its number there */
};

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static bool retain_owner(void *owner)
{
    struct remote *r = owner;
    unsigned holders = atomic_load_explicit(&r->holders, memory_order_relaxed);
    while (holders && !atomic_compare_exchange_weak_explicit(&r->holders, &holders, holders + 1,
                                                             memory_order_relaxed, memory_order_relaxed))
        ;
    return holders > 0;
}

static void release_owner(void *owner)
{
    remote_release(owner);
}

static void count(atomic_uint_fast64_t *counter, uint64_t n)
{
    /* relaxed: it is only looked at */
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static bool has_stopped(const struct remote *r)
{
    /* relaxed: what is late by one part is waited for */
    return atomic_load_explicit(&r->ahead.stopped, memory_order_relaxed);
}

/* Are all of the pieces in the cache by now? Then they are read, to where they belong in the range. They count as neither fetched nor found:
 * they were not here, and another thread or process has fetched them. */
static bool have_come(struct remote *r, uint64_t offset, const struct extent *pieces, unsigned n, uint8_t *to)
{
    for (unsigned i = n; i > 0; i--)
        if (!disk_cache_find(r->cache, r->cached, &pieces[i - 1], to + (pieces[i - 1].offset - offset)))
            return false;
    return n > 0;
}

/* Fetches a range, the pieces of which are kept at once: other processes may wait for them. Or they have done so. */
static apl_status fetch_kept(struct remote *r, const struct extent *range, const struct extent *pieces,
                             unsigned n, uint8_t *to, const atomic_bool *cancel, apl_error *err)
{
    if (!r->cache || n == 0)
        return object_fetch(&r->object, range->offset, to, range->n, cancel, err);
    bool claimed = disk_cache_claim(r->cache, r->cached, &pieces[n - 1]);
    bool come = n < AHEAD_PIECES && have_come(r, range->offset, pieces, n, to);
    apl_status status = come ? APL_OK : object_fetch(&r->object, range->offset, to, range->n, cancel, err);
    for (unsigned i = n; i > 0 && status == APL_OK && !come && !has_stopped(r); i--)
        (void)disk_cache_write(r->cache, r->cached, &pieces[i - 1],
                               to + (pieces[i - 1].offset - range->offset), true);
    if (claimed)
        disk_cache_unclaim(r->cache, r->cached, &pieces[n - 1]);
    return status;
}

static apl_status fetch_ahead(void *owner, const struct extent *range, const struct extent *pieces,
                              unsigned n, uint8_t *to, apl_error *err)
{
    struct remote *r = owner;
    return fetch_kept(r, range, pieces, n, to, &r->ahead.stopped, err);
}

/* Which bytes they are: a URL without its query, which may hold a secret; what the server says that tells this object from every other;
 * and how it begins, as ETags that are made of size and time (nginx's) may be those of another object. */
static struct hash128 identity_of(const struct remote *r)
{
    char text[VALIDATOR_BYTES + 96];
    const struct object *o = &r->object;
    struct hash128 url = hash_xxh3_128(o->target, strcspn(o->target, "?")),
                   begins = hash_xxh3_128(r->beginning, atomic_load(&r->beginning_bytes));
    int n = snprintf(text, sizeof text, "%016llx%016llx %016llx%016llx %llu %s", (unsigned long long)url.high,
                     (unsigned long long)url.low, (unsigned long long)begins.high,
                     (unsigned long long)begins.low, (unsigned long long)o->size, o->validator);
    return hash_xxh3_128(text, (size_t)n);
}

/* What the server gives no name, or one for all that mean the same, might be taken for another. */
static void join_cache(struct remote *r)
{
    bool exact = *r->object.validator && strncmp(r->object.validator, "W/", 2) != 0;
    if (exact && r->origin->cache && disk_cache_open_object(r->origin->cache, identity_of(r), &r->cached))
        r->cache = r->origin->cache;
}

static apl_status begin(struct remote *r, struct url *url, const struct remote_options *o, apl_error *err)
{
    const char *plain = environment("APL_ALLOW_HTTP"), *seconds = environment("APL_REMOTE_TIMEOUT");
    uint64_t ms = o->timeout_ms ? o->timeout_ms : seconds ? (uint64_t)(plain_read(seconds, NULL) * 1000) : 0;
    if (o->origin)
        r->origin = origin_retain(o->origin);
    else
        TRY(origin_open(NULL, 0, &r->origin, err));
    TRY(object_init(&r->object, url, o->transport ? o->transport : &transport_curl,
                    o->plain || (plain && strcmp(plain, "1") == 0), ms, &r->origin->traffic, err));
    admission_limit(r->object.server, o->requests);
    size_t n = BEGINNING;
    if (!(r->beginning = malloc(n)))
        return fail_nomem(err);
    TRY(object_begin(&r->object, r->beginning, &n, err));
    atomic_init(&r->beginning_bytes, n);
    TRY(origin_answered(r->origin, err));
    join_cache(r);
    return APL_OK;
}

apl_status remote_open(struct url *url, const struct remote_options *options, struct remote **remote,
                       apl_error *err)
{
    struct remote *r = calloc(1, sizeof *r);
    if (!r) {
        url_free(url);
        return fail_nomem(err);
    }
    atomic_init(&r->holders, 1);
    r->ahead = (struct ahead){r, retain_owner, release_owner, fetch_ahead, false};
    apl_status status = begin(r, url, options, err);
    if (status == APL_OK) {
        *remote = r;
    } else {
        if (r->object.shown)
            fail_in(err, status, "%s", r->object.shown);
        remote_release(r);
    }
    url_free(url);
    return status;
}

struct remote *remote_retain(struct remote *remote)
{
    /* relaxed: who retains holds a reference already */
    atomic_fetch_add_explicit(&remote->holders, 1, memory_order_relaxed);
    return remote;
}

void remote_release(struct remote *remote)
{
    /* acq_rel: what others did with it must have happened before it is freed */
    if (!remote || atomic_fetch_sub_explicit(&remote->holders, 1, memory_order_acq_rel) != 1)
        return;
    ahead_forget(&remote->ahead, 0, UINT64_MAX / 2);
    if (remote->cache)
        disk_cache_close_object(remote->cache, remote->cached);
    object_free(&remote->object);
    origin_release(remote->origin);
    free(remote->beginning);
    free(remote);
}

void remote_stop(struct remote *remote)
{
    /* relaxed: it only has to be seen some time */
    atomic_store_explicit(&remote->ahead.stopped, true, memory_order_relaxed);
    ahead_forget(&remote->ahead, 0, UINT64_MAX / 2);
    if (remote->cache)
        disk_cache_settle(remote->cache);
}

uint64_t remote_size(const struct remote *remote)
{
    return remote->object.size;
}

uint64_t remote_identity(const struct remote *remote)
{
    const struct object *o = &remote->object;
    return hash_xxh3_64(o->target, strlen(o->target)) ^
           hash_xxh3_64(o->validator, strlen(o->validator)) * 0x9e3779b97f4a7c15u ^ o->size;
}

static bool is_in_beginning(const struct remote *r, uint64_t offset, size_t n)
{
    /* relaxed: the bytes were there before the file was open */
    return offset + n <= atomic_load_explicit(&r->beginning_bytes, memory_order_relaxed);
}

static bool read_cached(struct remote *r, const struct extent *range, uint8_t *to, bool peek)
{
    bool bad;
    if (!r->cache)
        return false;
    bool read = disk_cache_read(r->cache, r->cached, range, to, peek, &bad);
    count(&r->origin->traffic.bad_parts, bad);
    if (!read || peek)
        return read;
    count(&r->origin->traffic.hits, 1);
    count(&r->origin->traffic.hit_bytes, range->n);
    return true;
}

static void keep(struct remote *r, const struct extent *range, const uint8_t *from)
{
    int why = r->cache           ? disk_cache_write(r->cache, r->cached, range, from, false)
              : r->origin->cache ? UNKEPT_NAMELESS
                                 : 0;
    if (why)
        origin_not_kept(r->origin, why);
}

apl_status remote_read(struct remote *remote, uint64_t offset, uint8_t *to, size_t n, apl_error *err)
{
    bool found;
    struct extent range = {offset, n};
    if (is_in_beginning(remote, offset, n)) {
        memcpy(to, remote->beginning + offset, n);
        return APL_OK;
    }
    TRY(ahead_take(&remote->ahead, offset, to, n, false, &found, err));
    if (!found && read_cached(remote, &range, to, false))
        return APL_OK;
    if (!found)
        TRY(fetch_kept(remote, &range, &range, 1, to, NULL, err));
    keep(remote, &range, to);
    return APL_OK;
}

enum ahead_asked remote_ahead(struct remote *remote, const struct extent *pieces, unsigned count_of,
                              struct need need)
{
    struct extent wanted[REMOTE_PIECES];
    unsigned n = 0;
    bool before = true, first = true, here = false;
    for (unsigned i = 0; i < count_of && n < REMOTE_PIECES; i++) {
        if (pieces[i].n == 0 || is_in_beginning(remote, pieces[i].offset, pieces[i].n))
            continue;
        bool known = false, is_here = remote->cache && disk_cache_expect(remote->cache, remote->cached,
                                                                         &pieces[i], need.again, &known);
        before = first ? known : before;
        here = first ? is_here : here;
        first = false;
        if (!is_here)
            wanted[n++] = pieces[i];
    }
    enum ahead_asked asked = n ? ahead_add(&remote->ahead, wanted, n, need.late) : ASKED_BEFORE;
    return here && asked != ASK_LATER ? before ? ASKED_BEFORE : ASKED : asked;
}

bool remote_peek(struct remote *remote, uint64_t offset, uint8_t *to, size_t n)
{
    bool found;
    if (is_in_beginning(remote, offset, n))
        return remote_read(remote, offset, to, n, NULL) == APL_OK;
    if (ahead_take(&remote->ahead, offset, to, n, true, &found, NULL) != APL_OK)
        return false;
    return found || read_cached(remote, &(struct extent){offset, n}, to, true);
}

bool remote_call(void (*run)(void *what), void *what)
{
    return ahead_call(run, what);
}

void remote_forget(struct remote *remote, uint64_t offset, size_t n)
{
    ahead_forget(&remote->ahead, offset, n);
    if (remote->cache)
        disk_cache_forget(remote->cache, remote->cached, offset, n);
    if (offset < BEGINNING)
        atomic_store_explicit(&remote->beginning_bytes, 0, memory_order_relaxed);
}

apl_status remote_take_file(struct url *url, const struct remote_options *options, size_t most, bool refetch,
                            struct buffer *bytes, apl_error *err)
{
    struct remote *r;
    TRY(remote_open(url, options, &r, err));
    apl_status status = r->object.size > most ? fail(err, APL_E_CORRUPT, "it is too large") : APL_OK;
    size_t n = (size_t)r->object.size;
    if (status == APL_OK && !buffer_reserve(bytes, n + 1))
        status = fail_nomem(err);
    size_t got = atomic_load_explicit(&r->beginning_bytes, memory_order_relaxed), here = n < got ? n : got;
    if (status == APL_OK) {
        memcpy(bytes->data, r->beginning, here);
        bytes->size = n;
    }
    if (refetch && r->cache)
        disk_cache_forget(r->cache, r->cached, here, n - here);
    if (status == APL_OK && here < n)
        status = remote_read(r, here, bytes->data + here, n - here, err);
    if (status != APL_OK)
        fail_in(err, status, "%s", r->object.shown);
    remote_release(r);
    return status;
}

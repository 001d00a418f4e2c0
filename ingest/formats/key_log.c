/* Hashes in memory, then in a file, sorted part by part: see key_log.h. */
#include "key_log.h"

#include "hash.h"

#include <errno.h>
#include <unistd.h>

#define HELD      ((size_t)1 << 20) /* hashes in memory */
#define TWICE_MAX ((size_t)1 << 16)

/* A hash that came more than once, and the first key that was shown with it. */
struct twice {
    uint64_t hash;
    char *key, *place;
    size_t length;
};

struct key_log {
    const struct format_host *host;
    uint64_t *hashes;
    size_t count;
    uint64_t written; /* hashes in the file */
    int fd;           /* of it; -1: none */
    struct twice *twice;
    size_t twice_count;
};

struct key_log *key_log_new(const struct format_host *host)
{
    struct key_log *log = calloc(1, sizeof *log);
    if (!log)
        return NULL;
    log->host = host;
    log->fd = -1;
    log->hashes = malloc(HELD * sizeof *log->hashes);
    log->twice = calloc(TWICE_MAX, sizeof *log->twice);
    if (log->hashes && log->twice)
        return log;
    key_log_free(log);
    return NULL;
}

void key_log_free(struct key_log *log)
{
    if (!log)
        return;
    for (size_t i = 0; log->twice && i < log->twice_count; i++) {
        free(log->twice[i].key);
        free(log->twice[i].place);
    }
    if (log->fd >= 0)
        close(log->fd);
    free(log->hashes);
    free(log->twice);
    free(log);
}

/* ------------------------------------------------------------------------------------------------- the first time */

static apl_status write_hashes(struct key_log *log, apl_error *err)
{
    const char *data = (const char *)log->hashes;
    size_t left = log->count * sizeof *log->hashes;
    if (log->fd < 0)
        TRY(log->host->scratch(log->host->user, &log->fd, err));
    while (left > 0) {
        ssize_t n = write(log->fd, data, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return log->host->not_the_source(log->host->user,
                                             fail_errno(err, errno, "the list of keys cannot be written"));
        data += n;
        left -= (size_t)n;
    }
    log->written += log->count;
    log->count = 0;
    return APL_OK;
}

apl_status key_log_add(struct key_log *log, const char *key, size_t length, apl_error *err)
{
    if (log->count == HELD)
        TRY(write_hashes(log, err));
    log->hashes[log->count++] = hash_xxh3_64(key, length);
    return APL_OK;
}

/* ---------------------------------------------------------------------------------------------------- in between */

static int by_hash_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int by_hash(const void *a, const void *b)
{
    return by_hash_value(&((const struct twice *)a)->hash, &((const struct twice *)b)->hash);
}

/* Notes a hash; equal ones come one after another. No more are noted than would be left out: the first one that is shown fails. */
static void note_twice(struct key_log *log, uint64_t hash)
{
    size_t n = log->twice_count;
    if (n < TWICE_MAX && (n == 0 || log->twice[n - 1].hash != hash))
        log->twice[log->twice_count++].hash = hash;
}

/* Sorts the hashes in memory, notes those that come twice, and keeps one of each. */
static void sort_hashes(struct key_log *log)
{
    size_t kept = 0;
    qsort(log->hashes, log->count, sizeof *log->hashes, by_hash_value);
    for (size_t i = 0; i < log->count; i++) {
        if (kept > 0 && log->hashes[kept - 1] == log->hashes[i])
            note_twice(log, log->hashes[i]);
        else
            log->hashes[kept++] = log->hashes[i];
    }
    log->count = kept;
}

static apl_status read_hashes(const struct key_log *log, uint64_t from, uint64_t *hashes, size_t count,
                              apl_error *err)
{
    size_t size = count * sizeof *hashes, have = 0;
    while (have < size) {
        ssize_t n = pread(log->fd, (char *)hashes + have, size - have, (off_t)(from * sizeof *hashes + have));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return log->host->not_the_source(
                log->host->user, fail_errno(err, n < 0 ? errno : EIO, "the list of keys cannot be read"));
        have += (size_t)n;
    }
    return APL_OK;
}

/* The hashes of the file that end on `part`, out of 2^bits. */
static apl_status sort_part(struct key_log *log, uint64_t part, unsigned bits, apl_error *err)
{
    uint64_t some[8192];
    log->count = 0;
    for (uint64_t at = 0, n; at < log->written; at += n) {
        n = log->written - at < 8192 ? log->written - at : 8192;
        TRY(read_hashes(log, at, some, (size_t)n, err));
        for (size_t i = 0; i < n; i++) {
            if ((some[i] & ((UINT64_C(1) << bits) - 1)) != part)
                continue;
            if (log->count == HELD)
                sort_hashes(log); /* many are equal: else the part would fit */
            if (log->count == HELD)
                return fail(err, APL_E_UNSUPPORTED, "has more keys than can be compared");
            log->hashes[log->count++] = some[i];
        }
    }
    sort_hashes(log);
    return APL_OK;
}

apl_status key_log_end(struct key_log *log, apl_error *err)
{
    unsigned bits = 0;
    if (log->written == 0)
        sort_hashes(log);
    else {
        TRY(write_hashes(log, err));
        while (log->written >> bits > HELD / 2)
            bits++;
        for (uint64_t part = 0; part >> bits == 0; part++)
            TRY(sort_part(log, part, bits, err));
    }
    if (log->twice_count == TWICE_MAX && log->host->options->skip_bad >= TWICE_MAX)
        return fail(err, APL_E_SOURCE, "more than %zu keys come twice", TWICE_MAX - 1);
    qsort(log->twice, log->twice_count, sizeof *log->twice, by_hash);
    size_t kept = 0;
    for (size_t i = 0; i < log->twice_count; i++)
        if (kept == 0 || log->twice[kept - 1].hash != log->twice[i].hash)
            log->twice[kept++] = log->twice[i];
    log->twice_count = kept;
    free(log->hashes);
    log->hashes = NULL;
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------ the second time */

bool key_log_has_twice(const struct key_log *log)
{
    return log->twice_count > 0;
}

apl_status key_log_show(struct key_log *log, const char *key, size_t length, const char *place,
                        const char **first, apl_error *err)
{
    const struct twice wanted = {.hash = hash_xxh3_64(key, length)};
    struct twice *t = bsearch(&wanted, log->twice, log->twice_count, sizeof wanted, by_hash);
    *first = NULL;
    if (t && t->key) {
        *first = t->length == length && memcmp(t->key, key, length) == 0 ? t->place : NULL;
        return APL_OK;
    }
    if (!t)
        return APL_OK;
    t->key = malloc(length + 1);
    t->place = strdup(place);
    t->length = length;
    if (!t->key || !t->place)
        return fail_nomem(err);
    memcpy(t->key, key, length);
    return APL_OK;
}

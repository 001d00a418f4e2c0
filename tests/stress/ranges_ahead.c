/*
 * Ranges of an object that are fetched ahead (store/remote/ahead.h), by a transport that fails now and then: threads ask for them, read them,
 * and forget them; objects are opened and stopped in the middle of it. Each byte is what it should be. A plain main, to be run under the
 * thread sanitizer too.
 */
#include "check.h"
#include "counts.h"
#include "remote.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SIZE    ((size_t)2 << 20)
#define PIECE   9000u
#define THREADS 6u

static atomic_uint requests, readers;

static uint8_t byte_at(uint64_t offset)
{
    return (uint8_t)(offset * 2654435761u >> 13);
}

/* Every eleventh request fails, in one of several ways. */
static apl_status fail_now_and_then(const struct request *q, struct reply *reply, apl_error *err)
{
    (void)err;
    unsigned number = atomic_fetch_add(&requests, 1);
    uint64_t n = q->bytes < SIZE - q->first ? q->bytes : SIZE - q->first;
    *reply = (struct reply){.status = 206, .ranged = true, .first = q->first, .last = q->first + n - 1};
    reply->total = SIZE;
    reply->got = n;
    reply->first_ms = 1 + number % 30;
    memcpy(reply->validator, "\"one\"", 6);
    reply->has_etag = true;
    if (q->first > 0 && number % 11 == 10) {
        reply->got = number % 2 ? n / 2 : 0;
        reply->trouble = TROUBLE_PASSES;
    }
    for (uint64_t i = 0; i < reply->got; i++)
        q->to[i] = byte_at(q->first + i);
    nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    return APL_OK;
}

static const struct transport transport = {fail_now_and_then};

static struct remote *open_object(void)
{
    struct url url;
    struct remote *r;
    struct remote_options o = {.transport = &transport, .timeout_ms = 60000};
    CHECK(url_parse("https://host/x", &url, NULL) == APL_OK);
    CHECK(remote_open(&url, &o, &r, NULL) == APL_OK);
    return r;
}

static void read_piece(struct remote *r, uint64_t at)
{
    uint8_t bytes[PIECE];
    CHECK(remote_read(r, at, bytes, PIECE, NULL) == APL_OK);
    for (uint64_t i = 0; i < PIECE; i++)
        CHECK(bytes[i] == byte_at(at + i));
}

static void *read_all(void *remote)
{
    unsigned mine = atomic_fetch_add(&readers, 1);
    for (uint64_t at = 70000 + mine % 3 * PIECE; at + 20 * PIECE < SIZE; at += PIECE) {
        for (unsigned k = 1; k < 20; k += 3)
            (void)remote_ahead(remote, &(struct extent){at + k * PIECE, PIECE}, 1,
                               (struct need){k > 10, DUE_UNKNOWN});
        if (at / PIECE % 17 == mine)
            remote_forget(remote, at + PIECE, PIECE);
        read_piece(remote, at);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    unsigned rounds = times(2, 40);
    for (unsigned round = 0; round < rounds; round++) {
        struct remote *r = open_object(), *other = open_object();
        for (unsigned i = 0; i < THREADS; i++)
            CHECK(pthread_create(&threads[i], NULL, read_all, r) == 0);
        for (unsigned i = 1; i < 100; i++)
            (void)remote_ahead(other, &(struct extent){100000 + i * PIECE, PIECE}, 1,
                               (struct need){false, DUE_UNKNOWN});
        remote_stop(other);
        remote_release(other);
        for (unsigned i = 0; i < THREADS; i++)
            CHECK(pthread_join(threads[i], NULL) == 0);
        remote_stop(r);
        remote_release(r);
    }
    printf("%u requests\n", atomic_load(&requests));
    return 0;
}

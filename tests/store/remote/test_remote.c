/* URLs, and ranges of an object by a transport that fails as it is told. */
#include "ahead.h"
#include "aws.h"
#include "remote.h"
#include "reply.h"
#include "shell.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SIZE ((size_t)1 << 20)

static apl_error error;

/* ------------------------------------------------------------------------------------------------- URLs */

static apl_status parse(const char *text)
{
    struct url url;
    apl_status status = url_parse(text, &url, &error);
    if (status == APL_OK)
        url_free(&url);
    return status;
}

Test(remote, urls)
{
    struct url url, below;
    cr_assert(url_is("https://x") && url_is("ftp://x") && !url_is("/a://b") && !url_is("a:b") &&
              !url_is("./x://y"));
    for (size_t i = 0; i < 6; i++)
        cr_expect_eq(parse((const char *[]){"ftp://x/y", "https:///y", "s3://", "https://x y", "http://x#y",
                                            "https://me:hush@x/y"}[i]),
                     APL_E_INVALID);
    cr_assert_null(strstr(error.message, "hush"));
    cr_assert_eq(url_parse("https://host/a/b//?sig=hush", &url, &error), APL_OK);
    cr_expect_str_eq(url.base, "https://host/a/b");
    cr_expect_str_eq(url.query, "?sig=hush");
    cr_assert_eq(url_below(&url, "c d/e", &below, &error), APL_OK);
    char *shown = url_shown(&below);
    cr_expect_str_eq(below.base, "https://host/a/b/c%20d/e");
    cr_expect_str_eq(below.query, "?sig=hush");
    cr_expect_str_eq(shown, "https://host/a/b/c%20d/e");
    free(shown);
    url_free(&below);
    url_free(&url);
}

Test(remote, files)
{
    static const char *const texts[] = {"file:///a%20b/%c3", "file://localhost/x%zz%00", "file:///"};
    static const char *const paths[] = {"/a b/\xc3", "/x%zz%00", "/"};
    struct url url;
    char *path;
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(url_parse(texts[i], &url, &error), APL_OK);
        cr_assert_eq(url_path(&url, &path, &error), APL_OK);
        cr_expect_str_eq(path, paths[i]);
        free(path);
        url_free(&url);
    }
    cr_assert_eq(url_parse("file://elsewhere/x", &url, &error), APL_OK);
    cr_assert_eq(url_path(&url, &path, &error), APL_E_INVALID);
    url_free(&url);
}

Test(remote, this_machine)
{
    static const char *const here[] = {"http://localhost/x", "http://localhost:1", "http://127.0.0.1:80/",
                                       "http://[::1]:9/x"};
    static const char *const there[] = {"http://127.0.0.1.example.org/", "http://localhost.x/",
                                        "http://[::2]/", "http://10.0.0.1/", "https://localhost/"};
    for (size_t i = 0; i < 4; i++)
        cr_expect(url_is_loopback(here[i]), "%s", here[i]);
    for (size_t i = 0; i < 5; i++)
        cr_expect(!url_is_loopback(there[i]), "%s", there[i]);
}

Test(remote, buckets)
{
    char *target, *sign;
    unsetenv("AWS_ENDPOINT_URL");
    unsetenv("AWS_ENDPOINT_URL_S3");
    setenv("AWS_REGION", "eu-west-1", 1);
    const char *paths[] = {"bucket/a b", "buck.et/a"},
               *urls[] = {"https://bucket.s3.eu-west-1.amazonaws.com/a%20b",
                          "https://s3.eu-west-1.amazonaws.com/buck.et/a"};
    for (size_t i = 0; i < 2; i++) {
        cr_assert_eq(aws_locate(paths[i], &target, &sign, &error), APL_OK);
        cr_expect_str_eq(target, urls[i]);
        cr_expect_str_eq(sign, "aws:amz:eu-west-1:s3");
        free(target);
        free(sign);
    }
    setenv("AWS_ENDPOINT_URL", "https://minio.example.org/", 1);
    cr_assert_eq(aws_locate("bucket/a", &target, &sign, &error), APL_OK);
    cr_expect_str_eq(target, "https://minio.example.org/bucket/a");
    free(target);
    free(sign);
    cr_expect_eq(aws_locate("b?/a", &target, &sign, &error), APL_E_INVALID);
    setenv("AWS_REGION", "evil.example.org/", 1);
    cr_expect_eq(aws_locate("bucket/a", &target, &sign, &error), APL_E_INVALID);
}

/* ----------------------------------------------------------------------------------------------- ranges */

/* What the transport does: the given fault, that many times, and then what it should. */
static struct {
    atomic_int times;
    struct reply reply;
    bool half;
    uint64_t first_bad; /* requests that begin below it are answered */
    atomic_uint requests;
    uint8_t other; /* bytes, of an object that is called the same */
} told;

static uint8_t byte_at(uint64_t offset)
{
    return (uint8_t)(offset * 2654435761u >> 13) ^ told.other;
}

static apl_status fake_get(const struct request *q, struct reply *reply, apl_error *err)
{
    (void)err;
    atomic_fetch_add(&told.requests, 1);
    uint64_t n = q->bytes < SIZE - q->first ? q->bytes : SIZE - q->first;
    bool bad = q->first >= told.first_bad && atomic_fetch_sub(&told.times, 1) > 0;
    *reply = (struct reply){
        .status = 206, .ranged = true, .first = q->first, .last = q->first + n - 1, .total = SIZE};
    snprintf(reply->validator, sizeof reply->validator, "\"one\"");
    reply->has_etag = true;
    if (bad && !told.half) {
        *reply = told.reply;
        reply->location = told.reply.location ? strdup(told.reply.location) : NULL;
        return APL_OK;
    }
    reply->got = bad ? n / 2 : n;
    reply->trouble = bad ? TROUBLE_PASSES : TROUBLE_NONE;
    for (uint64_t i = 0; i < reply->got; i++)
        q->to[i] = byte_at(q->first + i);
    return APL_OK;
}

static const struct transport fake = {fake_get};

static void tell(int times, struct reply reply)
{
    atomic_store(&told.times, times);
    told.reply = reply;
    told.half = false;
    told.first_bad = 1;
    atomic_store(&told.requests, 0);
}

static struct remote *open_fake_for(uint64_t timeout_ms)
{
    struct url url;
    struct remote *r;
    struct remote_options o = {.transport = &fake, .timeout_ms = timeout_ms};
    cr_assert_eq(url_parse("https://host/x?hush", &url, &error), APL_OK);
    cr_assert_eq(remote_open(&url, &o, &r, &error), APL_OK, "%s", error.message);
    cr_assert_eq(remote_size(r), SIZE);
    return r;
}

static struct remote *open_fake(void)
{
    return open_fake_for(1500);
}

static void expect_bytes(struct remote *r, uint64_t offset, size_t n)
{
    apl_error own;
    uint8_t *bytes = malloc(n);
    cr_assert_eq(remote_read(r, offset, bytes, n, &own), APL_OK, "%s", own.message);
    for (size_t i = 0; i < n; i++)
        cr_assert_eq(bytes[i], byte_at(offset + i), "byte %zu", i);
    free(bytes);
}

static apl_status read_some(struct remote *r)
{
    uint8_t bytes[1000];
    return remote_read(r, 300000, bytes, sizeof bytes, &error);
}

Test(remote, passes)
{
    static const int passing[] = {408, 429, 500, 502, 503, 504};
    struct remote *r = open_fake();
    for (size_t i = 0; i < 6; i++) {
        tell(1, (struct reply){.status = passing[i]});
        expect_bytes(r, 200000, 5000);
        cr_expect_eq(atomic_load(&told.requests), 2);
    }
    tell(1, (struct reply){.trouble = TROUBLE_PASSES});
    expect_bytes(r, 200000, 5000);
    tell(2, (struct reply){.status = 503});
    told.half = true;
    expect_bytes(r, 200000, 5000);
    tell(1, (struct reply){.status = 206, .ranged = true, .first = 7, .last = 9, .total = SIZE});
    expect_bytes(r, 200000, 5000);
    remote_release(r);
}

Test(remote, headers)
{
    static const char *const plain[] = {"", "identity", "aws-chunked", "gzipped, brr"},
                             *const compressed[] = {"gzip", "GZip", "aws-chunked, zstd", "br,identity"};
    struct reply r = {0};
    for (size_t i = 0; i < 4; i++)
        reply_take_header(&r, "Content-Encoding", plain[i]);
    cr_expect_not(r.encoded);
    for (size_t i = 0; i < 4; i++) {
        r.encoded = false;
        reply_take_header(&r, "content-encoding", compressed[i]);
        cr_expect(r.encoded, "%s", compressed[i]);
    }
    reply_take_header(&r, "Content-Range", "bytes 7-9/10");
    reply_take_header(&r, "last-modified", "today");
    reply_take_header(&r, "ETag", "\"x\"");
    reply_take_header(&r, "Last-Modified", "yesterday");
    reply_take_header(&r, "Retry-After", "3");
    cr_expect(r.ranged && r.first == 7 && r.last == 9 && r.total == 10 && r.has_etag && r.wait_s == 3);
    cr_expect_str_eq(r.validator, "\"x\"");
    static const struct {
        const char *range;
        bool is;
    } ranges[] = {{"bytes 7-7/10", true}, {"bytes 7-8/*", true}, {"bytes 8-7/10", false},
                  {"bytes */10", false},  {"bytes 7-", false},   {"lines 7-9/10", false}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        struct reply one = {0};
        reply_take_header(&one, "Content-Range", ranges[i].range);
        cr_expect_eq(one.ranged, ranges[i].is, "%s", ranges[i].range);
        cr_expect_eq(one.total, i == 0 ? 10 : 0);
    }
}

Test(remote, lasts)
{
    struct remote *r = open_fake();
    static const struct {
        struct reply reply;
        apl_status status;
        const char *says;
    } rows[] = {
        {{.status = 403, .code = "AccessDenied"}, APL_E_IO, "access is denied: AccessDenied"},
        {{.status = 403, .code = "ExpiredToken"}, APL_E_IO, "the credentials have expired: ExpiredToken"},
        {{.status = 401}, APL_E_IO, "asks for a password"},
        {{.status = 404}, APL_E_NOTFOUND, "there is no such object"},
        {{.status = 404, .code = "NoSuchBucket"}, APL_E_NOTFOUND, "there is no such bucket"},
        {{.status = 412}, APL_E_MISMATCH, "has been replaced"},
        {{.status = 416}, APL_E_CORRUPT, "shorter than when it was opened"},
        {{.status = 418}, APL_E_IO, "HTTP 418"},
        {{.status = 302}, APL_E_IO, "not where to go"},
        {{.status = 302, .location = "https://other/y"}, APL_E_IO, "redirects again and again"},
        {{.status = 302, .location = "http://other/y"}, APL_E_IO, "redirects to another scheme"},
        {{.status = 200, .length = SIZE}, APL_E_IO, "does not send ranges"},
        {{.status = 206, .ranged = true, .first = 300000, .last = 300999, .total = SIZE, .encoded = true},
         APL_E_IO,
         "the bytes come compressed (Content-Encoding)"},
        {{.status = 206, .ranged = true, .first = 300000, .last = 300999, .total = SIZE, .too_long = true},
         APL_E_IO,
         "the server sent more bytes than were asked for"},
        {{.status = 206, .ranged = true, .first = 300000, .last = 301000, .total = SIZE},
         APL_E_IO,
         "the server sent bytes 300000 to 301000 where 300000 to 300999 were asked for"},
        {{.status = 206, .ranged = true, .first = 300000, .last = 300999, .total = SIZE + 1},
         APL_E_MISMATCH,
         "replaced"},
        {{.status = 206,
          .ranged = true,
          .first = 300000,
          .last = 300999,
          .total = SIZE,
          .validator = "\"two\"",
          .has_etag = true},
         APL_E_MISMATCH,
         "replaced"},
        {{.status = 503}, APL_E_IO, "gave up after"},
        {{.status = 503, .wait_s = 1000}, APL_E_IO, "gave up after 1 tries"},
        {{.trouble = TROUBLE_LASTS, .what = "a certificate"}, APL_E_IO, "a certificate"},
        {{.trouble = TROUBLE_CANCELLED}, APL_E_CANCELLED, "no longer needed"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tell(1000, rows[i].reply);
        cr_expect_eq(read_some(r), rows[i].status, "%s: %s", rows[i].says, error.message);
        cr_expect(strstr(error.message, rows[i].says), "%s: %s", rows[i].says, error.message);
        cr_expect_null(strstr(error.message, "hush"));
    }
    tell(0, (struct reply){0});
    remote_release(r);
}

static char line_told[1024];
static int times_told;

static void note_line(void *user, const char *line)
{
    ++*(int *)user;
    snprintf(line_told, sizeof line_told, "%s", line);
}

/* Once, though two ranges are tried for long. */
Test(remote, tells_of_retries)
{
    static const char says[] = "https://host/x: the server answered HTTP 503; trying again for up to ";
    tell(0, (struct reply){0});
    struct remote *r = open_fake_for(400);
    apl_on_retry(note_line, &times_told);
    for (int i = 0; i < 2; i++) {
        tell(1000, (struct reply){.status = 503});
        cr_expect_eq(read_some(r), APL_E_IO);
    }
    cr_expect_eq(times_told, 1);
    cr_expect_eq(strncmp(line_told, says, strlen(says)), 0, "%s", line_told);
    apl_on_retry(NULL, NULL);
    remote_release(r);
}

/* How many requests it takes to have all of the file. */
static unsigned take_file(struct origin *origin, bool refetch)
{
    struct url url;
    struct buffer bytes = {0};
    struct remote_options o = {.transport = &fake, .timeout_ms = 1500, .origin = origin};
    tell(0, (struct reply){0});
    cr_assert_eq(url_parse("https://host/list", &url, &error), APL_OK);
    cr_assert_eq(remote_take_file(&url, &o, SIZE, refetch, &bytes, &error), APL_OK, "%s", error.message);
    cr_assert_eq(bytes.size, SIZE);
    for (size_t i = 0; i < SIZE; i++)
        cr_assert_eq(bytes.data[i], byte_at(i), "byte %zu", i);
    buffer_free(&bytes);
    return atomic_load(&told.requests);
}

Test(remote, whole_files)
{
    char place[] = "/tmp/apl-cache-XXXXXX";
    struct origin *origin;
    cr_assert_not_null(mkdtemp(place));
    cr_assert_eq(origin_open(place, 0, &origin, &error), APL_OK);
    cr_expect_eq(take_file(origin, false), 2);
    cr_expect_eq(take_file(origin, false), 1, "the first bytes tell that it is the same");
    cr_expect_eq(take_file(origin, true), 2);
    told.other = 1;
    cr_expect_eq(take_file(origin, false), 2, "another object, though size and ETag are the same");
    origin_release(origin);
    shell("rm -rf %s", place);
}

/* ------------------------------------------------------------------------------------------------ ahead */

static void *read_all(void *remote)
{
    for (uint64_t at = 70000; at < SIZE - 9000; at += 9000) {
        remote_ahead(remote, &(struct extent){at + 18000 < SIZE - 9000 ? at + 18000 : at, 9000}, 1,
                     (struct need){false, DUE_UNKNOWN});
        expect_bytes(remote, at, 9000);
    }
    return NULL;
}

Test(remote, ahead)
{
    pthread_t threads[4];
    tell(3, (struct reply){.status = 503});
    struct remote *r = open_fake();
    for (size_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, read_all, r);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    remote_ahead(r, &(struct extent){500000, 1000}, 1, (struct need){false, DUE_UNKNOWN});
    remote_forget(r, 500000, 1000);
    expect_bytes(r, 500000, 1000);
    remote_ahead(r, &(struct extent){600000, 1000}, 1, (struct need){false, DUE_UNKNOWN});
    remote_stop(r);
    remote_release(r);
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void wait_at_gate(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
}

/* Fetches the pieces that were asked for, and nothing else of the range, as who finds them in a cache does. */
static apl_status fetch_pieces(void *owner, const struct extent *range, const struct extent *pieces,
                               unsigned count, uint8_t *to, apl_error *err)
{
    (void)err;
    memset(to, 0xee, range->n);
    for (unsigned i = 0; i < count; i++)
        for (size_t k = 0; k < pieces[i].n; k++)
            to[pieces[i].offset - range->offset + k] = byte_at(pieces[i].offset + k);
    *(unsigned *)owner = count;
    return APL_OK;
}

static bool always(void *owner)
{
    return owner;
}

static void nothing(void *owner)
{
    (void)owner;
}

/* Who needs a piece before a thread is free for it fetches the range himself; his own piece is one of it. */
Test(remote, fetched_by_who_needs_it)
{
    static const struct extent pieces[] = {{1000, 50}, {1050, 30}, {1080, 20}};
    unsigned told_pieces = 0;
    struct ahead a = {&told_pieces, always, nothing, fetch_pieces, false};
    uint8_t got[50];
    bool found;
    pthread_mutex_lock(&gate);
    for (unsigned i = 0; i < AHEAD_MOST_THREADS; i++)
        cr_assert(ahead_call(wait_at_gate, NULL));
    cr_assert_eq(ahead_add(&a, pieces, 3, false), ASKED);
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(ahead_take(&a, pieces[i].offset, got, pieces[i].n, false, &found, &error), APL_OK);
        cr_assert(found);
        for (size_t k = 0; k < pieces[i].n; k++)
            cr_assert_eq(got[k], byte_at(pieces[i].offset + k), "byte %zu of piece %zu", k, i);
    }
    cr_expect_eq(told_pieces, 3);
    cr_assert_eq(ahead_take(&a, 1000, got, 50, false, &found, &error), APL_OK);
    cr_expect(!found);
    pthread_mutex_unlock(&gate);
}

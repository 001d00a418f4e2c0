/* Requests by libcurl, which is loaded when the first is made: a program that reads files of its own machine neither needs nor
 * loads it. Threads take a handle each from a pool; a handle keeps its connections. After fork() a child begins with an empty pool,
 * since connections cannot be shared. */
#include "reply.h"

#ifdef HAVE_CURL
#include "admission.h"

#include <ctype.h>
#include <curl/curl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_HANDLES 64u
#define CONNECT_MS   10000L
#define ERROR_BODY   2048u
/* By number: the first is deprecated since 7.85, and the only way before; headers before that, and before 7.75, do not have the others. */
enum { OPTION_PROTOCOLS = 181, OPTION_PROTOCOLS_STR = 10318, OPTION_AWS_SIGV4 = 10305 };

static struct {
    void *library;
    CURLcode (*global_init)(long flags);
    CURL *(*easy_init)(void);
    void (*easy_reset)(CURL *);
    void (*easy_cleanup)(CURL *);
    CURLcode (*easy_setopt)(CURL *, CURLoption, ...);
    CURLcode (*easy_perform)(CURL *);
    CURLcode (*easy_getinfo)(CURL *, CURLINFO, ...);
    const char *(*easy_strerror)(CURLcode);
    struct curl_slist *(*slist_append)(struct curl_slist *, const char *);
    void (*slist_free_all)(struct curl_slist *);
} curl;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CURL *idle[MOST_HANDLES];
static unsigned idle_count;

/* --------------------------------------------------------------------------------------------- the library */

static void lock_handles(void)
{
    pthread_mutex_lock(&lock);
}

static void unlock_handles(void)
{
    pthread_mutex_unlock(&lock);
}

/* The parent's connections are not the child's to close. */
static void drop_handles(void)
{
    idle_count = 0;
    pthread_mutex_unlock(&lock);
}

static bool find_symbol(const char *name, void *function)
{
    void *found = dlsym(curl.library, name);
    memcpy(function, &found, sizeof found);
    return found;
}

static bool find_symbols(void)
{
    return find_symbol("curl_global_init", &curl.global_init) &&
           find_symbol("curl_easy_init", &curl.easy_init) &&
           find_symbol("curl_easy_reset", &curl.easy_reset) &&
           find_symbol("curl_easy_cleanup", &curl.easy_cleanup) &&
           find_symbol("curl_easy_setopt", &curl.easy_setopt) &&
           find_symbol("curl_easy_perform", &curl.easy_perform) &&
           find_symbol("curl_easy_getinfo", &curl.easy_getinfo) &&
           find_symbol("curl_easy_strerror", &curl.easy_strerror) &&
           find_symbol("curl_slist_append", &curl.slist_append) &&
           find_symbol("curl_slist_free_all", &curl.slist_free_all) &&
           curl.global_init(CURL_GLOBAL_ALL) == CURLE_OK;
}

static void load_library(void)
{
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
    for (size_t i = 0; i < 2 && !curl.library; i++)
        curl.library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (curl.library && !find_symbols())
        curl.library = NULL;
    pthread_atfork(lock_handles, unlock_handles, drop_handles);
}

/* --------------------------------------------------------------------------------------------- handles */

static CURL *take_handle(void)
{
    CURL *handle = NULL;
    lock_handles();
    if (idle_count)
        handle = idle[--idle_count];
    unlock_handles();
    return handle ? handle : curl.easy_init();
}

/* Of handles beyond MOST_HANDLES, the connections are closed: there are never more than threads that make requests at once. */
static void give_handle(CURL *handle)
{
    curl.easy_reset(handle); /* keeps its connections */
    lock_handles();
    bool kept = idle_count < MOST_HANDLES;
    if (kept)
        idle[idle_count++] = handle;
    unlock_handles();
    if (!kept)
        curl.easy_cleanup(handle);
}

/* --------------------------------------------------------------------------------------------- answers */

struct transfer {
    const struct request *request;
    struct reply *reply;
    char error[ERROR_BODY + 1]; /* the beginning of an error's body */
    size_t error_bytes;
    bool unwanted; /* the body is of no use, and was cut off */
    uint64_t began,
        heard;   /* in ms of monotonic_ms(): the beginning, and the latest byte; heard: 0 before the first */
    bool silent; /* given up, as no byte came for too long */
};

/* Each answer starts over: one may come before the one that counts, such as a proxy's. */
static void begin_answer(struct reply *r, const char *line)
{
    const char *status = strchr(line, ' ');
    *r = (struct reply){.status = status ? atoi(status) : 0};
}

static size_t on_header(char *bytes, size_t one, size_t n, void *user)
{
    struct transfer *t = user;
    char line[1024];
    t->heard = monotonic_ms();
    size_t size = one * n, length = size < sizeof line - 1 ? size : sizeof line - 1;
    memcpy(line, bytes, length);
    while (length && isspace((unsigned char)line[length - 1]))
        length--;
    line[length] = 0;
    char *colon = strchr(line, ':');
    if (strncmp(line, "HTTP/", 5) == 0) {
        begin_answer(t->reply, line);
    } else if (colon) {
        *colon++ = 0;
        reply_take_header(t->reply, line, colon + strspn(colon, " \t"));
    }
    return size;
}

/* Is this the beginning of what was asked for? */
static bool is_asked_for(const struct transfer *t)
{
    const struct reply *r = t->reply;
    if (r->encoded)
        return false;
    if (r->status == 206)
        return r->ranged && r->first == t->request->first;
    return r->status == 200 && t->request->first == 0 && r->length && r->length <= t->request->bytes;
}

static size_t on_body(char *bytes, size_t one, size_t n, void *user)
{
    struct transfer *t = user;
    size_t size = one * n;
    t->heard = monotonic_ms();
    /* is_asked_for() is asked of each part again; it is a few comparisons */
    if (is_asked_for(t)) {
        if (size > t->request->bytes - t->reply->got) {
            t->unwanted = t->reply->too_long = true;
            return 0;
        }
        memcpy(t->request->to + t->reply->got, bytes, size);
        t->reply->got += size;
        return size;
    }
    size_t room = ERROR_BODY - t->error_bytes, some = size < room ? size : room;
    memcpy(t->error + t->error_bytes, bytes, some);
    t->error_bytes += some;
    t->unwanted = size > room || t->reply->status / 100 == 2;
    return t->unwanted ? 0 : size;
}

/* How long may it be silent? What waits for its first byte may only be waiting for its turn at the server. */
static uint64_t silence_allowed(const struct transfer *t)
{
    const struct request *q = t->request;
    uint64_t patience =
        q->patience_ms && !t->heard ? atomic_load_explicit(q->patience_ms, memory_order_relaxed) : 0;
    return patience > q->silence_ms ? patience : q->silence_ms;
}

/* Called all the time, or once a second while nothing comes. Returns whether to give up. */
static int on_progress(void *user, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    struct transfer *t = user;
    (void)a, (void)b, (void)c, (void)d;
    t->silent = monotonic_ms() - (t->heard ? t->heard : t->began) >= silence_allowed(t);
    /* relaxed: it only has to be seen some time */
    return t->silent ||
           (t->request->cancel && atomic_load_explicit(t->request->cancel, memory_order_relaxed));
}

/* The name of an error of S3: <Code>ExpiredToken</Code>. Nothing else of an answer is believed, or shown. */
static void read_code(struct transfer *t)
{
    t->error[t->error_bytes] = 0;
    const char *code = strstr(t->error, "<Code>");
    size_t n = 0;
    for (; code && n + 1 < sizeof t->reply->code && isalnum((unsigned char)code[6 + n]); n++)
        t->reply->code[n] = code[6 + n];
    t->reply->code[n] = 0;
}

static enum trouble trouble_of(CURLcode code)
{
    switch (code) {
    case CURLE_OK:
        return TROUBLE_NONE;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
        return TROUBLE_NO_WAY;
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return TROUBLE_PASSES;
    case CURLE_ABORTED_BY_CALLBACK:
        return TROUBLE_CANCELLED;
    default:
        return TROUBLE_LASTS;
    }
}

/* --------------------------------------------------------------------------------------------- requests */

static bool set_long(CURL *h, int option, long value)
{
    return curl.easy_setopt(h, (CURLoption)option, value) == CURLE_OK;
}

static bool set_text(CURL *h, int option, const char *value)
{
    return curl.easy_setopt(h, (CURLoption)option, value) == CURLE_OK;
}

static bool add_header(struct curl_slist **headers, const char *name, const char *value)
{
    size_t size = strlen(name) + strlen(value) + 3;
    char *line = malloc(size);
    struct curl_slist *longer = NULL;
    if (line) {
        snprintf(line, size, "%s: %s", name, value);
        longer = curl.slist_append(*headers, line);
    }
    free(line);
    *headers = longer ? longer : *headers;
    return longer;
}

static bool set_signing(CURL *h, const struct request *q, struct curl_slist **headers)
{
    if (q->netrc && !set_long(h, CURLOPT_NETRC, CURL_NETRC_OPTIONAL))
        return false;
    if (!q->sign)
        return true;
    return set_text(h, OPTION_AWS_SIGV4, q->sign) && set_text(h, CURLOPT_USERNAME, q->keys->id) &&
           set_text(h, CURLOPT_PASSWORD, q->keys->secret) &&
           add_header(headers, "x-amz-content-sha256", "UNSIGNED-PAYLOAD") &&
           (!q->keys->token || add_header(headers, "x-amz-security-token", q->keys->token));
}

static void set_trust(CURL *h)
{
    static const char *const names[] = {"CURL_CA_BUNDLE", "SSL_CERT_FILE", "AWS_CA_BUNDLE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *file = getenv(names[i]);
        if (file && *file) {
            set_text(h, CURLOPT_CAINFO, file);
            return;
        }
    }
}

/* The times, and what is never done: following redirections by itself, protocols but the two, signals. */
static bool set_manners(CURL *h, const struct request *q)
{
    bool only = set_text(h, OPTION_PROTOCOLS_STR, "http,https") ||
                set_long(h, OPTION_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
    return only && set_long(h, CURLOPT_NOSIGNAL, 1) && set_long(h, CURLOPT_FOLLOWLOCATION, 0) &&
           set_long(h, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS) &&
           set_long(h, CURLOPT_TIMEOUT_MS, (long)q->milliseconds) &&
           set_long(h, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1) &&
           set_long(h, CURLOPT_TCP_KEEPALIVE, 1) &&
           set_text(h, CURLOPT_USERAGENT, "apldata/" APL_VERSION_STRING);
}

static bool set_callbacks(CURL *h, struct transfer *t)
{
    curl.easy_setopt(h, CURLOPT_BUFFERSIZE, 262144L);
    return curl.easy_setopt(h, CURLOPT_HEADERFUNCTION, on_header) == CURLE_OK &&
           curl.easy_setopt(h, CURLOPT_HEADERDATA, t) == CURLE_OK &&
           curl.easy_setopt(h, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK &&
           curl.easy_setopt(h, CURLOPT_WRITEDATA, t) == CURLE_OK &&
           curl.easy_setopt(h, CURLOPT_XFERINFOFUNCTION, on_progress) == CURLE_OK &&
           curl.easy_setopt(h, CURLOPT_XFERINFODATA, t) == CURLE_OK && set_long(h, CURLOPT_NOPROGRESS, 0);
}

static bool prepare_request(CURL *h, struct transfer *t, struct curl_slist **headers)
{
    const struct request *q = t->request;
    char range[64];
    snprintf(range, sizeof range, "%llu-%llu", (unsigned long long)q->first,
             (unsigned long long)(q->first + q->bytes - 1));
    if (!set_manners(h, q) || !set_callbacks(h, t) || !set_signing(h, q, headers) ||
        (q->if_match && !add_header(headers, "If-Match", q->if_match)) ||
        (!q->sign && !add_header(headers, "Accept-Encoding", "identity"))) /* a proxy may change it */
        return false;
    set_trust(h);
    return set_text(h, CURLOPT_URL, q->url) && set_text(h, CURLOPT_RANGE, range) &&
           (!*headers || curl.easy_setopt(h, CURLOPT_HTTPHEADER, *headers) == CURLE_OK);
}

/* Where a redirection leads, without a user and password: libcurl puts in those of ~/.netrc, or a server may. */
static char *copy_location(const char *location)
{
    char *copy = strdup(location), *host = copy ? strstr(copy, "://") : NULL;
    char *at = host ? memchr(host + 3, '@', strcspn(host + 3, "/?#")) : NULL;
    if (at)
        memmove(host + 3, at + 1, strlen(at + 1) + 1);
    return copy;
}

static void take_answer(CURL *h, struct transfer *t, CURLcode code)
{
    struct reply *r = t->reply;
    long status = 0;
    double first_s = 0;
    const char *location = NULL;
    curl.easy_getinfo(h, CURLINFO_RESPONSE_CODE, &status);
    curl.easy_getinfo(h, CURLINFO_REDIRECT_URL, &location);
    curl.easy_getinfo(h, CURLINFO_STARTTRANSFER_TIME, &first_s);
    r->status = (int)status;
    r->location = location ? copy_location(location) : NULL;
    if (code == CURLE_WRITE_ERROR && t->unwanted)
        code = CURLE_OK;
    r->trouble = t->silent && code == CURLE_ABORTED_BY_CALLBACK ? TROUBLE_PASSES : trouble_of(code);
    r->first_ms = t->heard ? first_s * 1000 : (double)(monotonic_ms() - t->began);
    read_code(t);
    snprintf(r->what, sizeof r->what, "%s",
             t->silent ? "no byte came for too long" : curl.easy_strerror(code));
}

static apl_status curl_get(const struct request *request, struct reply *reply, apl_error *err)
{
    struct transfer t = {.request = request, .reply = reply, .began = monotonic_ms()};
    struct curl_slist *headers = NULL;
    *reply = (struct reply){0};
    pthread_once(&once, load_library);
    if (!curl.library)
        return fail(err, APL_E_UNSUPPORTED, "reading URLs needs libcurl.so.4, which is not installed");
    CURL *h = take_handle();
    if (!h)
        return fail_nomem(err);
    bool ready = prepare_request(h, &t, &headers);
    if (ready)
        take_answer(h, &t, curl.easy_perform(h));
    give_handle(h);
    curl.slist_free_all(headers);
    return ready ? APL_OK : fail(err, APL_E_UNSUPPORTED, "this libcurl is too old: 7.75 or later is needed");
}

#else

static apl_status curl_get(const struct request *request, struct reply *reply, apl_error *err)
{
    (void)request, (void)reply;
    return fail(err, APL_E_UNSUPPORTED, "URLs cannot be read: this library was built without libcurl");
}

#endif

const struct transport transport_curl = {curl_get};

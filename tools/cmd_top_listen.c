/* Metrics for Prometheus over HTTP. One thread, which waits for nobody: what is slow, or asks for too much, is closed. */
#define _GNU_SOURCE /* accept4() */
#include "args.h"
#include "cmd_top.h"
#include "interrupt.h"
#include "report.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST_CALLERS 16u
#define MOST_REQUEST 8192u
#define PATIENCE     5.0 /* seconds that a request, and then its answer, may take */
#define TYPE_TEXT    "text/plain; charset=utf-8"
#define TYPE_METRICS "text/plain; version=0.0.4; charset=utf-8"
#define TYPE_OPEN    "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* Who asks. */
struct caller {
    int fd; /* -1: nobody */
    double since;
    char request[MOST_REQUEST + 1];
    size_t size;
    char *answer; /* NULL: it has not asked yet */
    size_t left, at;
};

struct listening {
    const char *directory;
    int fd;
    struct caller callers[MOST_CALLERS];
};

/* ---------------------------------------------------------------------------------------------- the address */

/* Addresses as numbers alone: nobody is asked for names. */
static bool parse_host(const char *host, uint16_t port, struct sockaddr_storage *to, socklen_t *size)
{
    struct sockaddr_in *four = (struct sockaddr_in *)to;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)to;
    memset(to, 0, sizeof *to);
    if (!*host || strcmp(host, "localhost") == 0)
        host = "127.0.0.1";
    if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons(port);
        *size = sizeof *four;
        return true;
    }
    if (inet_pton(AF_INET6, host, &six->sin6_addr) != 1)
        return false;
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    *size = sizeof *six;
    return true;
}

/* HOST:PORT, [HOST]:PORT or PORT. */
static bool parse_where(const char *where, struct sockaddr_storage *to, socklen_t *size)
{
    char host[64] = "";
    const char *colon = strrchr(where, ':'), *port = colon ? colon + 1 : where;
    size_t n = colon ? (size_t)(colon - where) : 0;
    bool brackets = n >= 2 && where[0] == '[' && where[n - 1] == ']';
    uint64_t number;
    if (n >= sizeof host || !parse_number(port, 0, UINT16_MAX, &number) ||
        (!brackets && memchr(where, ':', n)))
        return false;
    memcpy(host, where + brackets, n - 2 * brackets);
    return parse_host(host, (uint16_t)number, to, size);
}

static int begin(struct listening *l, const char *where, struct sockaddr_storage *at, socklen_t size)
{
    int one = 1;
    l->fd = socket(at->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fd >= 0)
        (void)setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (l->fd < 0 || bind(l->fd, (struct sockaddr *)at, size) != 0 || listen(l->fd, 16) != 0)
        return failed_errno(errno, "--listen: cannot listen at %s", shown(where));
    return 0;
}

/* With the port that there is, where 0 was asked for. */
static void tell_where(const struct listening *l)
{
    struct sockaddr_storage at;
    socklen_t size = sizeof at;
    char text[INET6_ADDRSTRLEN] = "?";
    unsigned port = 0;
    if (getsockname(l->fd, (struct sockaddr *)&at, &size) == 0 && at.ss_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)&at;
        (void)inet_ntop(AF_INET, &four->sin_addr, text, sizeof text);
        port = ntohs(four->sin_port);
    } else if (at.ss_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&at;
        (void)inet_ntop(AF_INET6, &six->sin6_addr, text, sizeof text);
        port = ntohs(six->sin6_port);
    }
    printf(strchr(text, ':') ? "serving metrics at http://[%s]:%u/metrics\n"
                             : "serving metrics at http://%s:%u/metrics\n",
           text, port);
    fflush(stdout);
}

/* ----------------------------------------------------------------------------------------------- the answers */

static void answer_text(struct caller *c, const char *status, const char *type, const char *body, bool head)
{
    size_t n = strlen(body), room = n + 512;
    c->answer = malloc(room);
    if (!c->answer)
        return;
    int used = snprintf(c->answer, room,
                        "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                        "Cache-Control: no-store\r\nConnection: close\r\n\r\n%s",
                        status, type, n, head ? "" : body);
    c->left = used > 0 && (size_t)used < room ? (size_t)used : 0;
    c->at = 0;
    c->since = now_seconds();
}

static void answer_metrics(struct caller *c, const char *directory, bool head)
{
    struct top top;
    bool open = strstr(c->request, "application/openmetrics-text") != NULL;
    char *text = top_read(&top, directory) == 0
                     ? top_metrics(&top, open ? APL_METRICS_OPEN : APL_METRICS_PROMETHEUS)
                     : NULL;
    top_free(&top);
    if (text)
        answer_text(c, "200 OK", open ? TYPE_OPEN : TYPE_METRICS, text, head);
    else
        answer_text(c, "500 Internal Server Error", TYPE_TEXT, "the directory cannot be read\n", head);
    free(text);
}

/* The request is there. */
static void answer(struct caller *c, const char *directory)
{
    char *path = strchr(c->request, ' '), *end = path ? strpbrk(path + 1, " ?\r\n") : NULL;
    bool head = strncmp(c->request, "HEAD ", 5) == 0;
    if (!end || !strstr(c->request, " HTTP/1.")) {
        answer_text(c, "400 Bad Request", TYPE_TEXT, "this is not HTTP\n", false);
    } else if (!head && strncmp(c->request, "GET ", 4) != 0) {
        answer_text(c, "405 Method Not Allowed", TYPE_TEXT, "GET /metrics\n", false);
    } else {
        size_t n = (size_t)(end - path - 1);
        if (n == 8 && strncmp(path + 1, "/metrics", n) == 0)
            answer_metrics(c, directory, head);
        else if (n == 1 && path[1] == '/')
            answer_text(c, "200 OK", TYPE_TEXT, "apldata top: the metrics are at /metrics\n", head);
        else
            answer_text(c, "404 Not Found", TYPE_TEXT, "the metrics are at /metrics\n", head);
    }
}

/* ----------------------------------------------------------------------------------------------- the callers */

static void drop(struct caller *c)
{
    close(c->fd);
    free(c->answer);
    c->answer = NULL;
    c->fd = -1;
}

static void hear(struct caller *c, const char *directory)
{
    ssize_t n = recv(c->fd, c->request + c->size, MOST_REQUEST - c->size, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        drop(c);
        return;
    }
    c->size += (size_t)n;
    c->request[c->size] = 0;
    if (strlen(c->request) < c->size)
        answer_text(c, "400 Bad Request", TYPE_TEXT, "this is not HTTP\n", false);
    else if (strstr(c->request, "\r\n\r\n") || strstr(c->request, "\n\n"))
        answer(c, directory);
    else if (c->size == MOST_REQUEST)
        answer_text(c, "431 Request Header Fields Too Large", TYPE_TEXT, "the request is too long\n", false);
    else
        return;
    if (!c->answer)
        drop(c);
}

static void say(struct caller *c)
{
    char rest[512];
    ssize_t n = send(c->fd, c->answer + c->at, c->left, MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    c->at += n > 0 ? (size_t)n : 0;
    c->left -= n > 0 ? (size_t)n : 0;
    if (n > 0 && c->left > 0)
        return;
    (void)shutdown(c->fd, SHUT_WR);
    (void)recv(c->fd, rest, sizeof rest, MSG_DONTWAIT); /* what was not read would reset the connection */
    drop(c);
}

/* Who has waited longest makes room. */
static void take_caller(struct listening *l)
{
    struct caller *c = &l->callers[0];
    int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    for (unsigned i = 1; i < MOST_CALLERS; i++) {
        struct caller *other = &l->callers[i];
        if (c->fd >= 0 && (other->fd < 0 || other->since < c->since))
            c = other;
    }
    if (c->fd >= 0)
        drop(c);
    c->fd = fd;
    c->size = c->left = c->at = 0;
    c->since = now_seconds();
}

static void serve_once(struct listening *l)
{
    struct pollfd polled[MOST_CALLERS + 1];
    for (unsigned i = 0; i < MOST_CALLERS; i++)
        polled[i] =
            (struct pollfd){.fd = l->callers[i].fd, .events = l->callers[i].answer ? POLLOUT : POLLIN};
    polled[MOST_CALLERS] = (struct pollfd){.fd = l->fd, .events = POLLIN};
    if (poll(polled, MOST_CALLERS + 1, 1000) < 0)
        return;
    for (unsigned i = 0; i < MOST_CALLERS; i++) {
        struct caller *c = &l->callers[i];
        if (polled[i].fd >= 0 && polled[i].revents && c->answer)
            say(c);
        else if (polled[i].fd >= 0 && polled[i].revents)
            hear(c, l->directory);
        if (c->fd >= 0 && now_seconds() - c->since > PATIENCE)
            drop(c);
    }
    if (polled[MOST_CALLERS].revents)
        take_caller(l);
}

int top_listen(const char *directory, const char *where, bool quiet)
{
    static struct listening l;
    struct sockaddr_storage at;
    struct top top;
    socklen_t size;
    if (!parse_where(where, &at, &size))
        return misuse("--listen takes HOST:PORT or PORT, the host as a number, not '%s'", shown(where));
    int status = top_read(&top, directory);
    top_free(&top);
    l.directory = directory;
    for (unsigned i = 0; i < MOST_CALLERS; i++)
        l.callers[i].fd = -1;
    if (!status)
        status = begin(&l, where, &at, size);
    if (!status && !quiet)
        tell_where(&l);
    interrupt_catch();
    while (!status && !interrupted())
        serve_once(&l);
    for (unsigned i = 0; i < MOST_CALLERS; i++)
        if (l.callers[i].fd >= 0)
            drop(&l.callers[i]);
    if (l.fd >= 0)
        close(l.fd);
    return status;
}

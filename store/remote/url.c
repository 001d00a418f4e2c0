/* URLs: see url.h. */
#include "url.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct scheme {
    const char *begins;
    enum url_kind kind;
} schemes[] = {{"file://", URL_FILE}, {"http://", URL_HTTP}, {"https://", URL_HTTPS}, {"s3://", URL_S3}};

bool url_is(const char *path)
{
    size_t n = strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");
    return n > 0 && isalpha((unsigned char)path[0]) && strncmp(path + n, "://", 3) == 0;
}

static const struct scheme *find_scheme(const char *path)
{
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncmp(path, schemes[i].begins, strlen(schemes[i].begins)) == 0)
            return &schemes[i];
    return NULL;
}

/* Spaces and control characters would end a request early, or begin another. */
static bool has_no_spaces(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text <= ' ' || *text == 0x7f)
            return false;
    return true;
}

static apl_status check_url(const char *path, const struct scheme *scheme, apl_error *err)
{
    if (!scheme)
        return fail(err, APL_E_INVALID, "the scheme of a URL must be https, http, s3 or file");
    const char *host = path + strlen(scheme->begins);
    size_t host_bytes = strcspn(host, "/?#");
    if (memchr(host, '@', host_bytes))
        return fail(err, APL_E_INVALID, "a URL must not hold a user or password: put them into ~/.netrc");
    if (host_bytes == 0 && scheme->kind != URL_FILE)
        return fail(err, APL_E_INVALID, "the URL names no %s", scheme->kind == URL_S3 ? "bucket" : "host");
    if (scheme->kind != URL_S3 && (!has_no_spaces(path) || strchr(path, '#')))
        return fail(err, APL_E_INVALID, "the URL holds a space, a control character or a '#'");
    return APL_OK;
}

apl_status url_parse(const char *path, struct url *url, apl_error *err)
{
    const struct scheme *scheme = find_scheme(path);
    *url = (struct url){0};
    TRY(check_url(path, scheme, err));
    url->kind = scheme->kind;
    /* a key of S3, and a file, may have a question mark in its name */
    size_t n = url->kind == URL_HTTP || url->kind == URL_HTTPS ? strcspn(path, "?") : strlen(path);
    url->query = strdup(path + n);
    while (n > strlen(scheme->begins) + 1 && path[n - 1] == '/')
        n--;
    url->base = strndup(path, n);
    if (url->base && url->query)
        return APL_OK;
    url_free(url);
    return fail_nomem(err);
}

void url_free(struct url *url)
{
    free(url->base);
    free(url->query);
    *url = (struct url){0};
}

char *url_escape(const char *text)
{
    char *out = malloc(3 * strlen(text) + 1), *to = out;
    for (; out && *text; text++)
        if (isalnum((unsigned char)*text) || strchr("-._~/", *text))
            *to++ = *text;
        else
            to += sprintf(to, "%%%02X", (unsigned)(unsigned char)*text);
    if (out)
        *to = 0;
    return out;
}

apl_status url_below(const struct url *above, const char *name, struct url *url, apl_error *err)
{
    bool raw = above->kind == URL_S3; /* is escaped as a whole, when it is asked for */
    char *escaped = raw ? strdup(name) : url_escape(name);
    size_t size = strlen(above->base) + (escaped ? strlen(escaped) : 0) + 2;
    *url = (struct url){.kind = above->kind, .base = malloc(size), .query = strdup(above->query)};
    bool ok = escaped && url->base && url->query;
    if (ok)
        snprintf(url->base, size, "%s/%s", above->base, escaped);
    else
        url_free(url);
    free(escaped);
    return ok ? APL_OK : fail_nomem(err);
}

char *url_shown(const struct url *url)
{
    size_t size = strlen(url->base) * 4 + 1;
    char *shown = malloc(size);
    return shown ? printable(shown, size, url->base, strlen(url->base)) : NULL;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

apl_status url_path(const struct url *url, char **path, apl_error *err)
{
    const char *from = url->base + strlen("file://");
    if (strncmp(from, "localhost/", 10) == 0)
        from += 9;
    if (*from != '/')
        return fail(err, APL_E_INVALID, "a file URL is file:///, followed by a path");
    char *to = *path = malloc(strlen(from) + 1);
    if (!to)
        return fail_nomem(err);
    for (; *from; from++) {
        int high = *from == '%' ? hex_digit(from[1]) : -1, low = high >= 0 ? hex_digit(from[2]) : -1;
        bool escaped = low >= 0 && (high || low);
        *to++ = escaped ? (char)(high * 16 + low) : *from;
        from += escaped ? 2 : 0;
    }
    *to = 0;
    return APL_OK;
}

bool url_is_loopback(const char *text)
{
    static const char *const hosts[] = {"localhost", "[::1]"};
    if (strncmp(text, "http://", 7) != 0)
        return false;
    const char *host = text + 7;
    size_t n = *host == '[' ? strcspn(host, "/?#]") + 1 : strcspn(host, ":/?#");
    for (size_t i = 0; i < 2; i++)
        if (n == strlen(hosts[i]) && strncmp(host, hosts[i], n) == 0)
            return true;
    /* digits and dots only: not a name such as 127.0.0.1.example.org */
    return n > 4 && strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == n;
}

bool url_same_scheme(const char *a, const char *b)
{
    size_t n = strcspn(a, ":");
    return strncmp(a, b, n + 1) == 0;
}

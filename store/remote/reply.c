/* Headers of an answer: see reply.h. */
#include "reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void read_content_range(const char *value, struct reply *r)
{
    unsigned long long first, last, total;
    int n = sscanf(value, "bytes %llu-%llu/%llu", &first, &last, &total);
    if (n < 2 || last < first)
        return;
    r->ranged = true;
    r->first = first;
    r->last = last;
    r->total = n == 3 ? total : 0;
}

static void keep_validator(struct reply *r, const char *value, bool etag)
{
    if ((r->has_etag && !etag) || strlen(value) >= sizeof r->validator)
        return;
    r->has_etag = etag;
    snprintf(r->validator, sizeof r->validator, "%s", value);
}

/* A list of codings, of which some change nothing, such as S3's aws-chunked. */
static bool is_compressed(const char *value)
{
    static const char *const codings[] = {"gzip",       "x-gzip", "deflate", "compress",
                                          "x-compress", "br",     "zstd"};
    for (; *value; value += strspn(value, ", \t")) {
        size_t n = strcspn(value, ", \t");
        for (size_t i = 0; i < sizeof codings / sizeof *codings; i++)
            if (strlen(codings[i]) == n && strncasecmp(value, codings[i], n) == 0)
                return true;
        value += n;
    }
    return false;
}

void reply_take_header(struct reply *r, const char *name, const char *value)
{
    if (strcasecmp(name, "content-range") == 0)
        read_content_range(value, r);
    else if (strcasecmp(name, "content-length") == 0)
        r->length = strtoull(value, NULL, 10);
    else if (strcasecmp(name, "etag") == 0)
        keep_validator(r, value, true);
    else if (strcasecmp(name, "last-modified") == 0)
        keep_validator(r, value, false);
    else if (strcasecmp(name, "content-encoding") == 0)
        r->encoded |= is_compressed(value);
    else if (strcasecmp(name, "retry-after") == 0)
        r->wait_s = (unsigned)strtoul(value, NULL, 10);
}

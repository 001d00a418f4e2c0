/* Opening a store, or a set, at a URL: see store_file.h. */
#include "node_slots.h"
#include "set.h"
#include "staging.h"
#include "store_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* May there be something else there? Where objects cannot be listed, S3 denies access to those that do not exist. In a bucket that
 * does not exist (ENOENT) there is nothing; what fails to open a cache says nothing of that. */
static bool may_be_elsewhere(const apl_store *store, apl_status status, const apl_error *err)
{
    if (store->remote.origin->cache_failed)
        return false;
    return (status == APL_E_NOTFOUND && err->sys_errno != ENOENT) ||
           (status == APL_E_IO && err->sys_errno == EACCES);
}

static apl_status open_either(apl_store *store, const apl_store_options *o, apl_error *err)
{
    apl_error second;
    apl_status status = store_open_pages_below(store, err);
    if (!may_be_elsewhere(store, status, err))
        return status;
    apl_status other = set_open(store, SET_FILE, o->expected_content, o->io, o->open_shards, &second);
    if (other == APL_OK || !may_be_elsewhere(store, other, &second)) {
        *err = second;
        return other;
    }
    set_close(store->set);
    store->set = NULL;
    return status == APL_E_NOTFOUND
               ? fail(err, APL_E_NOTFOUND, "%s: is not a store (there is no %s or %s in it)", store->name,
                      STORE_FILE, SET_FILE)
               : status;
}

/* Cuts `file` off the end of a URL. */
static bool cut_name(struct url *url, const char **file)
{
    char *slash = strrchr(url->base, '/');
    if (!slash || slash[1] == 0)
        return false;
    *slash = 0;
    *file = slash + 1;
    return true;
}

static bool url_ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

/* A number of bytes, or of K, M, G or T; *bytes is 0 if the text holds none. */
static bool read_budget(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    char *end;
    *bytes = 0;
    if (!text || !*text)
        return true;
    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    *bytes = number << shift;
    return *text >= '0' && *text <= '9' && errno == 0 && *bytes >> shift == number && !end[unit != NULL];
}

static apl_status open_origin(const apl_store_options *o, struct origin **origin, apl_error *err)
{
    uint64_t budget;
    const char *said = getenv("APL_CACHE_BUDGET");
    if (!read_budget(said, &budget))
        return fail(err, APL_E_INVALID,
                    "APL_CACHE_BUDGET is a number of bytes, or of K, M, G or T, such as 100G");
    return origin_open(o->cache ? o->cache : getenv("APL_CACHE"), o->cache_budget ? o->cache_budget : budget,
                       origin, err);
}

/* 0: nobody has said. */
static apl_status read_requests(const apl_store_options *o, unsigned *requests, apl_error *err)
{
    char *end = "";
    const char *said = getenv("APL_REMOTE_REQUESTS");
    unsigned long number = o->requests;
    if (!number && said && *said) {
        number = strtoul(said, &end, 10);
        if (*said < '1' || *said > '9' || *end || number > NODE_SLOTS)
            return fail(err, APL_E_INVALID, "APL_REMOTE_REQUESTS is a number of requests, 1 to %u",
                        NODE_SLOTS);
    }
    if (number > NODE_SLOTS)
        return fail(err, APL_E_INVALID, "requests: at most %u can be in flight", NODE_SLOTS);
    *requests = (unsigned)number;
    return APL_OK;
}

apl_status store_open_url(apl_store *store, const char *path, const apl_store_options *options,
                          apl_error *err)
{
    const char *file;
    apl_status status = url_parse(path, &store->url, err);
    if (status != APL_OK)
        return fail_in(err, status, "%s", store->name);
    store->remote = (struct remote_options){.plain = options->plain_http,
                                            .timeout_ms = (uint64_t)options->remote_timeout_s * 1000};
    TRY(read_requests(options, &store->remote.requests, err));
    TRY(open_origin(options, &store->remote.origin, err));
    bool list = url_ends_with(store->url.base, ".apl"),
         pages = url_ends_with(store->url.base, "/" STORE_FILE);
    if (!(list || pages) || !cut_name(&store->url, &file))
        return open_either(store, options, err);
    free(store->name);
    if (!(store->name = url_shown(&store->url)))
        return fail_nomem(err);
    return pages ? store_open_pages_below(store, err)
                 : set_open(store, file, NULL, options->io, options->open_shards, err);
}

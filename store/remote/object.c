/* What a URL stands for: see object.h. */
#include "object.h"

#include "admission.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long a range may take, unless the caller or APL_REMOTE_TIMEOUT says otherwise. */
#define TIMEOUT_MS 120000u

/* Credentials that were in use; those of an object that is open may be renewed. */
struct key_list {
    struct aws_keys keys;
    struct key_list *before;
};

static apl_status push_keys(struct object *o, const struct aws_keys *keys, apl_error *err)
{
    struct key_list *k = malloc(sizeof *k);
    if (!k)
        return fail_nomem(err);
    k->keys = *keys;
    k->before = atomic_load_explicit(&o->keys, memory_order_relaxed);
    /* release: who sees them sees what they point at */
    while (!atomic_compare_exchange_weak_explicit(&o->keys, &k->before, k, memory_order_release,
                                                  memory_order_relaxed))
        ;
    return APL_OK;
}

static apl_status load_keys(struct object *o, apl_error *err)
{
    struct aws_keys keys;
    TRY(aws_load_keys(&keys, err));
    apl_status status = push_keys(o, &keys, err);
    if (status != APL_OK)
        aws_free_keys(&keys);
    return status;
}

const struct aws_keys *object_keys(const struct object *o)
{
    const struct key_list *k = atomic_load_explicit(&o->keys, memory_order_acquire);
    return k ? &k->keys : NULL;
}

bool object_renew_keys(struct object *o, const struct aws_keys *used)
{
    struct aws_keys keys;
    if (!o->sign || aws_load_keys(&keys, NULL) != APL_OK)
        return false;
    if ((used && aws_same_keys(used, &keys)) || push_keys(o, &keys, NULL) != APL_OK) {
        aws_free_keys(&keys);
        return false;
    }
    return true;
}

static apl_status locate(struct object *o, apl_error *err)
{
    size_t size = strlen(o->url.base) + strlen(o->url.query) + 1;
    if (o->url.kind == URL_S3) {
        TRY(aws_locate(o->url.base + strlen("s3://"), &o->target, &o->sign, err));
        return load_keys(o, err);
    }
    o->target = malloc(size);
    if (!o->target)
        return fail_nomem(err);
    snprintf(o->target, size, "%s%s", o->url.base, o->url.query);
    return APL_OK;
}

apl_status object_check_plain(const struct object *o, const char *target, apl_error *err)
{
    if (o->plain || strncmp(target, "http://", 7) != 0 || url_is_loopback(target))
        return APL_OK;
    return fail(
        err, APL_E_INVALID,
        "http:// is open to anybody on the way, and allowed to this machine alone; use https://, or set "
        "APL_ALLOW_HTTP=1");
}

apl_status object_init(struct object *object, struct url *url, const struct transport *transport, bool plain,
                       uint64_t timeout_ms, struct traffic *traffic, apl_error *err)
{
    *object = (struct object){.transport = transport, .url = *url, .plain = plain, .traffic = traffic};
    *url = (struct url){0};
    object->timeout_ms = timeout_ms ? timeout_ms : TIMEOUT_MS;
    object->shown = url_shown(&object->url);
    apl_status status = object->shown ? locate(object, err) : fail_nomem(err);
    if (status == APL_OK)
        status = object_check_plain(object, object->target, err);
    if (status == APL_OK)
        object->server = admission_server(object->target);
    return status;
}

void object_free(struct object *object)
{
    struct key_list *k = atomic_load_explicit(&object->keys, memory_order_relaxed);
    while (k) {
        struct key_list *before = k->before;
        aws_free_keys(&k->keys);
        free(k);
        k = before;
    }
    url_free(&object->url);
    free(object->shown);
    free(object->target);
    free(object->sign);
}

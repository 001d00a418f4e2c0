/* Verifying a set: see set_verify.h. */
#include "set_verify.h"

#include "set.h"
#include "store_file.h"

#include <stdio.h>
#include <stdlib.h>

struct verifier {
    apl_store *set;
    const apl_verify_options *options;
    uint32_t shard;  /* at hand */
    uint64_t before; /* records of the shards before it */
    apl_status nomem;
};

static int tell_progress(void *user, uint64_t records, uint64_t of)
{
    struct verifier *v = user;
    (void)of;
    return v->options->progress
               ? v->options->progress(v->options->user, v->before + records, v->set->manifest.info.records)
               : 0;
}

/* The run of the shard that has its record `own`. */
static const struct run *run_of(const struct verifier *v, uint64_t own)
{
    const struct set_list *list = set_list_of(v->set->set);
    for (uint32_t i = 0; i < list->run_count; i++)
        if (list->runs[i].shard == v->shard && own - list->runs[i].own_first < list->runs[i].count)
            return &list->runs[i];
    return NULL; /* unreached: runs have all records of all shards */
}

static void tell_bad(void *user, const apl_bad_block *block)
{
    struct verifier *v = user;
    char member[APL_MAX_NAME + SET_MAX_NAME + 2];
    const struct run *run = run_of(v, block->first);
    if (!v->options->bad_block || !run)
        return;
    uint64_t *bad = malloc((block->bad_count + 1) * sizeof *bad);
    if (!bad) {
        v->nomem = APL_E_NOMEM;
        return;
    }
    apl_bad_block moved = *block;
    snprintf(member, sizeof member, "%s/%s", set_shard(v->set->set, v->shard)->name, block->member);
    for (size_t i = 0; i < block->bad_count; i++)
        bad[i] = block->bad[i] - run->own_first + run->first;
    moved.member = member;
    moved.first = block->first - run->own_first + run->first;
    moved.bad = bad;
    v->options->bad_block(v->options->user, &moved);
    free(bad);
}

/* All records of the shard are lost. */
static apl_status tell_lost(struct verifier *v, const char *message, apl_error *err)
{
    const struct set_list *list = set_list_of(v->set->set);
    for (uint32_t i = 0; v->options->bad_block && i < list->run_count; i++) {
        const struct run *run = &list->runs[i];
        if (run->shard != v->shard)
            continue;
        uint64_t *bad = malloc(run->count * sizeof *bad);
        if (!bad)
            return fail_nomem(err);
        for (uint64_t k = 0; k < run->count; k++)
            bad[k] = run->first + k;
        v->options->bad_block(v->options->user,
                              &(apl_bad_block){.member = set_shard(v->set->set, v->shard)->name,
                                               .first = run->first,
                                               .count = run->count,
                                               .bad = bad,
                                               .bad_count = run->count,
                                               .message = message});
        free(bad);
    }
    return APL_OK;
}

static apl_status verify_shard(struct verifier *v,
                               apl_status (*verify)(apl_store *, const apl_verify_options *, apl_error *),
                               apl_error *err)
{
    apl_verify_options o = {sizeof o, v->options->threads, v, tell_progress, tell_bad};
    const struct set_list *list = set_list_of(v->set->set);
    apl_store *shard;
    apl_status status = set_take(v->set, v->shard, &shard, err);
    if (status == APL_E_CORRUPT || status == APL_E_VERSION) {
        apl_error nomem;
        if (tell_lost(v, err->message, &nomem) != APL_OK)
            return *err = nomem, nomem.status;
    } else if (status == APL_OK) {
        status = verify(shard, &o, err);
        store_release_file(shard);
    }
    if (status == APL_OK)
        return v->nomem == APL_OK ? APL_OK : fail_nomem(err);
    const struct run *run = err->records ? run_of(v, err->first_record) : NULL;
    if (run)
        fail_records(err, status, err->first_record - run->own_first + run->first, err->records);
    return fail_in(err, status, "%s: shard %s", v->set->name, list->shards[v->shard].name);
}

apl_status set_verify(apl_store *set, const apl_verify_options *options,
                      apl_status (*verify)(apl_store *shard, const apl_verify_options *options,
                                           apl_error *err),
                      apl_error *err)
{
    struct verifier v = {.set = set, .options = options};
    const struct set_list *list = set_list_of(set->set);
    apl_status first = APL_OK;
    for (; v.shard < list->count; v.before += list->shards[v.shard++].records) {
        apl_error one;
        apl_status status = verify_shard(&v, verify, &one);
        if (status != APL_OK && first == APL_OK)
            *err = one;
        first = first == APL_OK ? status : first;
        if (status != APL_OK && status != APL_E_CORRUPT && status != APL_E_VERSION)
            return *err = one, status;
    }
    return first;
}

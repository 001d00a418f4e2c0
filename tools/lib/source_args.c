/* What to read, by options: see source_args.h. */
#include "source_args.h"

#include "expect_args.h"
#include "report.h"
#include "where.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static apl_status no_memory(apl_error *err)
{
    snprintf(err->message, sizeof err->message, "out of memory");
    err->status = APL_E_NOMEM;
    return err->status;
}

/* -------------------------------------------------------------------------------------- DB[:SPLIT][=WEIGHT] */

/* Cuts a weight off the end of the text and returns it; 0 if it has none. */
static apl_status cut_weight(char *text, double *weight, apl_error *err)
{
    char *equals = strrchr(text, '='), *end;
    *weight = 0;
    if (!equals || !equals[1] || strspn(equals + 1, "0123456789.") != strlen(equals + 1))
        return APL_OK;
    *weight = strtod(equals + 1, &end);
    if (*end || !(*weight > 0)) {
        snprintf(err->message, sizeof err->message, "--with: a weight is a number above 0, not '%s'",
                 shown(equals + 1));
        return err->status = APL_E_INVALID;
    }
    *equals = 0;
    return APL_OK;
}

/* The text after the last ':', if no '/' follows it. */
static char *cut_split(char *text)
{
    char *colon = strrchr(text, ':');
    if (!colon || !colon[1] || strchr(colon, '/'))
        return NULL;
    *colon = 0;
    return colon + 1;
}

static apl_status open_source(apl_source *source, const char *item, apl_error *err)
{
    char *text = strdup(item);
    if (!text)
        return no_memory(err);
    *source = (apl_source)APL_SOURCE_INIT;
    apl_status status = cut_weight(text, &source->weight, err);
    const char *split = status == APL_OK ? cut_split(text) : NULL;
    if (status == APL_OK)
        status = apl_store_open(text, NULL, &source->store, err);
    if (status == APL_OK && split && !(source->split = strdup(split)))
        status = no_memory(err);
    free(text);
    return status;
}

static apl_status open_mix(struct source_args *s, const struct reader_args *args, apl_error *err)
{
    size_t count;
    char *const *items = reader_args_items(args, "with", &count);
    if (count && expect_given()) {
        snprintf(
            err->message, sizeof err->message,
            "--expect is the digest of one DB, and says nothing of those of --with: join them into a set, "
            "which has one of its own");
        return err->status = APL_E_INVALID;
    }
    s->mix = calloc(count + 1, sizeof *s->mix);
    apl_status status = s->mix ? APL_OK : no_memory(err);
    for (; status == APL_OK && s->mix_count < count; s->mix_count++)
        status = open_source(&s->mix[s->mix_count], items[s->mix_count], err);
    return status;
}

/* ---------------------------------------------------------------------------------------------- records */

/* Appends the ids of the split for which all conditions hold; the store's ids begin at `first`. */
static apl_status sift(struct source_args *s, const struct reader_args *args, apl_store *store,
                       const char *split, uint64_t first, apl_error *err)
{
    size_t conditions;
    char *const *condition = reader_args_items(args, "where", &conditions);
    const char *name = split ? split : apl_store_split(store, 0)->name;
    uint64_t count = 0;
    apl_status status = apl_split_ids(store, name, NULL, &count, err);
    if (status != APL_OK)
        return status;
    uint64_t *grown = realloc(s->ids, (s->id_count + (size_t)count + 1) * sizeof *grown);
    if (!grown)
        return no_memory(err);
    s->ids = grown;
    grown += s->id_count;
    status = apl_split_ids(store, name, grown, &count, err);
    for (size_t i = 0; i < conditions && status == APL_OK; i++)
        status = where_sift(store, name, condition[i], grown, &count, err);
    for (uint64_t i = 0; i < count; i++)
        grown[i] += first;
    s->id_count += (size_t)count;
    return status;
}

static apl_status sift_all(struct source_args *s, const struct reader_args *args, apl_store *store,
                           const char *split, apl_error *err)
{
    uint64_t first = apl_store_info(store)->records;
    apl_status status = sift(s, args, store, split, 0, err);
    for (size_t i = 0; i < s->mix_count && status == APL_OK; i++) {
        status = sift(s, args, s->mix[i].store, s->mix[i].split, first, err);
        first += apl_store_info(s->mix[i].store)->records;
    }
    if (status != APL_OK || s->id_count > 0)
        return status;
    snprintf(err->message, sizeof err->message, "--where: no record is like that");
    err->status = APL_E_INVALID;
    return err->status;
}

/* ------------------------------------------------------------------------------------------- the whole */

apl_status source_args_open(struct source_args *s, const struct reader_args *args, apl_store *store,
                            const char *split, apl_error *err)
{
    *s = (struct source_args){.mix = NULL};
    apl_status status = open_mix(s, args, err);
    if (status == APL_OK && reader_args_given(args, "where"))
        status = sift_all(s, args, store, split, err);
    return status;
}

void source_args_set(struct source_args *s, apl_reader_options *options)
{
    bool any = options->mix.weight != 0;
    for (size_t i = 0; i < s->mix_count; i++)
        any |= s->mix[i].weight != 0;
    for (size_t i = 0; any && i < s->mix_count; i++)
        s->mix[i].weight = s->mix[i].weight != 0 ? s->mix[i].weight : 1;
    options->mix.weight = any && options->mix.weight == 0 ? 1 : options->mix.weight;
    options->mix.sources = s->mix;
    options->mix.count = s->mix_count;
    options->ids = s->ids;
    options->id_count = s->id_count;
}

void source_args_close(struct source_args *s)
{
    for (size_t i = 0; s->mix && i < s->mix_count; i++) {
        apl_store_close(s->mix[i].store);
        free((char *)s->mix[i].split);
    }
    free(s->mix);
    free(s->ids);
    *s = (struct source_args){.mix = NULL};
}

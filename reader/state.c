/*
 * The state of a reader, little-endian:
 *
 *     offset  bytes
 *          0      4  magic "APLS"
 *          4      4  version, 2
 *          8     32  content digest of the store; of several, SHA-256 of theirs, one after another
 *         40      8  XXH3-64 of what shapes the order
 *         48      8  one byte of the hash of each part of that: see state_identity.c
 *         56      8  seed
 *         64      8  epoch
 *         72      8  position: deliveries of the epoch that have been handed out, over all ranks; of readers that pack, tokens
 *         80      8  bytes of the whole state
 *         88      8  XXH3-64 of the bytes 0 ... 87 and 96 ...
 *         96      8  sum of hashes of the fields that were read, of name and kind: see field_kinds.h; 0: none had any
 *        104      8  hash of the columns that were added to the store; 0: none
 *        112     16  0
 *        128         free order: a bit for each delivery of the epoch that has been handed out
 *
 * States of version 1, of 96 bytes, have no hashes of kinds and columns. They are of another order, but where nothing is shuffled.
 */
#include "state.h"

#include "field_kinds.h"
#include "hash.h"
#include "inside.h"
#include "set.h"
#include "sized.h"

#include <stdlib.h>

#define STATE_MAGIC   0x534c5041u /* "APLS" */
#define STATE_VERSION 2u
#define FIRST_BYTES   96u /* of states of version 1; checksums of both leave out the 8 before */
#define LAST_EPOCH \
    (UINT64_MAX / 2) /* to begin with: epochs are counted up, and never get past the last number */

static uint64_t checksum(const uint8_t *state, size_t size)
{
    uint64_t parts[2] = {hash_xxh3_64(state, FIRST_BYTES - 8),
                         hash_xxh3_64(state + FIRST_BYTES, size - FIRST_BYTES)};
    return hash_xxh3_64(parts, sizeof parts);
}

static size_t state_bytes(const apl_reader *r)
{
    return APL_STATE_BYTES + (r->spec.options.free_order ? (size_t)(r->outlets[0].tally.length + 7) / 8 : 0);
}

static apl_status save(apl_reader *r, const struct epoch_tally *t, void *state, size_t *size, apl_error *err)
{
    size_t room = *size, needed = state_bytes(r);
    *size = needed;
    if (!state)
        return APL_OK;
    if (room < needed)
        return fail(err, APL_E_INVALID, "a state takes %zu bytes, not %zu", needed, room);
    uint8_t *p = state;
    memset(p, 0, APL_STATE_BYTES);
    store_le(p, STATE_MAGIC, 4);
    store_le(p + 4, STATE_VERSION, 4);
    memcpy(p + 8, r->identity.content, 32);
    store_le(p + 40, r->identity.order.low, 8);
    store_le(p + 48, r->identity.order.high, 8);
    store_le(p + 56, r->spec.options.plan.seed, 8);
    pthread_mutex_lock(&r->lock);
    store_le(p + 64, t->epoch, 8);
    store_le(p + 72, t->position, 8);
    if (r->spec.options.free_order)
        memcpy(p + APL_STATE_BYTES, t->delivered, needed - APL_STATE_BYTES);
    pthread_mutex_unlock(&r->lock);
    store_le(p + 80, needed, 8);
    store_le(p + 96, r->identity.kinds, 8);
    store_le(p + 88, checksum(p, needed), 8);
    return APL_OK;
}

apl_status apl_reader_state(apl_reader *r, void *state, size_t *size, apl_error *err)
{
    struct outlet *o;
    if (!r || !size)
        return fail(err, APL_E_INVALID, "apl_reader_state: reader or size is NULL");
    TRY(reader_enter(r, err));
    apl_status status = outlet_only(r, &o, err);
    if (status == APL_OK)
        status = save(r, &o->tally, state, size, err);
    reader_leave(r);
    return status;
}

apl_status apl_reader_state_of(apl_reader *r, unsigned rank, void *state, size_t *size, apl_error *err)
{
    struct outlet *o;
    if (!r || !size)
        return fail(err, APL_E_INVALID, "apl_reader_state_of: reader or size is NULL");
    TRY(reader_enter(r, err));
    apl_status status = outlet_find(r, rank, &o, err);
    if (status == APL_OK)
        status = save(r, &o->tally, state, size, err);
    reader_leave(r);
    return status;
}

static apl_status check_state(const uint8_t *p, size_t size, apl_error *err)
{
    if (!p || size < FIRST_BYTES || load_le(p, 4) != STATE_MAGIC || load_le(p + 80, 8) != size ||
        load_le(p + 88, 8) != checksum(p, size))
        return fail(err, APL_E_INVALID, "not a valid reader state");
    uint64_t version = load_le(p + 4, 4);
    if (version == 0 || version > STATE_VERSION)
        return fail(err, APL_E_VERSION, "a state of version %llu; this library knows version %u",
                    (unsigned long long)version, STATE_VERSION);
    if (version == STATE_VERSION && size < APL_STATE_BYTES)
        return fail(err, APL_E_INVALID, "not a valid reader state");
    return APL_OK;
}

apl_status apl_state_position(const void *state, size_t size, uint64_t *epoch, uint64_t *position,
                              apl_error *err)
{
    if (!epoch || !position)
        return fail(err, APL_E_INVALID, "apl_state_position: epoch or position is NULL");
    TRY(check_state(state, size, err));
    const uint8_t *p = state;
    *epoch = load_le(p + 64, 8);
    *position = load_le(p + 72, 8);
    return APL_OK;
}

/* Of a set that has grown, the list that the state belongs to is still there. */
static apl_status other_content(const apl_reader *r, const uint8_t *content, apl_error *err)
{
    char list[SET_KEPT_BYTES];
    const apl_store *store = r->spec.sources.source[0].store;
    if (r->spec.sources.count > 1)
        return fail(err, APL_E_MISMATCH, "the state is of stores with other contents or in another order");
    if (!store->set)
        return fail(err, APL_E_MISMATCH, "the state is of a store with another content");
    if (set_kept_list(store->set, content, list))
        return fail(err, APL_E_MISMATCH,
                    "the state is of another list of this set: to resume from it, open %s/%s", store->name,
                    list);
    return fail(err, APL_E_MISMATCH,
                "the state does not belong to the content of %s, and there is no older list %s", store->name,
                list);
}

/* Is a state of the order of this reader? */
static apl_status check_state_order(const apl_reader *r, const uint8_t *p, apl_error *err)
{
    if (load_le(p + 4, 4) == STATE_VERSION)
        return identity_check(&r->identity, load_le(p + 40, 8), load_le(p + 48, 8), err);
    if (identity_is_first(r, load_le(p + 40, 8)))
        return APL_OK;
    return fail(
        err, APL_E_MISMATCH,
        "the state is of order 1, by a library before 0.1.0: begin its epoch, %llu, anew (first_epoch)",
        (unsigned long long)load_le(p + 64, 8));
}

/* Kinds do not shape the order, but what is done with the rest of the epoch would differ from what was done with its beginning. */
static apl_status check_state_kinds(const apl_reader *r, const uint8_t *p, apl_error *err)
{
    char text[APL_KIND_BYTES];
    if (load_le(p + 4, 4) < STATE_VERSION || kinds_agree(&r->spec, load_le(p + 96, 8)))
        return APL_OK;
    return fail(err, APL_E_MISMATCH,
                "the state is of a reader in which a field had another kind than here: %s (declare it as it "
                "was then, or "
                "begin the epoch anew)",
                kinds_list(&r->spec, text, sizeof text));
}

apl_status state_resume(apl_reader *r, const void *state, size_t size, uint64_t *epoch, uint64_t *position,
                        apl_error *err)
{
    *epoch = r->spec.options.first_epoch;
    *position = 0;
    if (*epoch > LAST_EPOCH)
        return fail(err, APL_E_INVALID, "first_epoch is %llu, more than 2^63 - 1",
                    (unsigned long long)*epoch);
    if (!state)
        return APL_OK;
    const uint8_t *p = state;
    TRY(check_state(p, size, err));
    if (memcmp(p + 8, r->identity.content, 32) != 0)
        return other_content(r, p + 8, err);
    if (load_le(p + 56, 8) != r->spec.options.plan.seed)
        return fail(err, APL_E_MISMATCH, "the state is of seed %llu", (unsigned long long)load_le(p + 56, 8));
    TRY(check_state_order(r, p, err));
    TRY(check_state_kinds(r, p, err));
    if (size != state_bytes(r) && load_le(p + 4, 4) == STATE_VERSION)
        return fail(err, APL_E_MISMATCH, "the state is of another order: it is not as long as one of this");
    *epoch = load_le(p + 64, 8);
    *position = load_le(p + 72, 8);
    if (*epoch > LAST_EPOCH)
        return fail(err, APL_E_INVALID, "the state is of an epoch that cannot be");
    if (*position > r->outlets[0].tally.length)
        return fail(err, APL_E_INVALID, "the state is past the end of its epoch");
    return r->spec.options.free_order ? tally_resume(&r->outlets[0].tally, p + APL_STATE_BYTES,
                                                     size - APL_STATE_BYTES, *epoch, *position, err)
                                      : APL_OK;
}

static void give_receipt(apl_reader *r, const struct outlet *o, apl_receipt *receipt, size_t size)
{
    apl_receipt now;
    pthread_mutex_lock(&r->lock);
    tally_receipt(&o->tally, &now);
    pthread_mutex_unlock(&r->lock);
    options_give(receipt, size, &now, sizeof now);
}

static apl_status check_receipt(const apl_reader *r, const apl_receipt *receipt, size_t size,
                                const char *call, apl_error *err)
{
    if (!r || !receipt)
        return fail(err, APL_E_INVALID, "%s: reader or receipt is NULL", call);
    return room_ok(size)
               ? APL_OK
               : fail(err, APL_E_INVALID, "%s: size is %zu, and not sizeof(apl_receipt)", call, size);
}

apl_status apl_reader_receipt(apl_reader *r, apl_receipt *receipt, size_t size, apl_error *err)
{
    struct outlet *o;
    TRY(check_receipt(r, receipt, size, "apl_reader_receipt", err));
    TRY(reader_enter(r, err));
    apl_status status = outlet_only(r, &o, err);
    if (status == APL_OK)
        give_receipt(r, o, receipt, size);
    reader_leave(r);
    return status;
}

apl_status apl_reader_receipt_of(apl_reader *r, unsigned rank, apl_receipt *receipt, size_t size,
                                 apl_error *err)
{
    struct outlet *o;
    TRY(check_receipt(r, receipt, size, "apl_reader_receipt_of", err));
    TRY(reader_enter(r, err));
    apl_status status = outlet_find(r, rank, &o, err);
    if (status == APL_OK)
        give_receipt(r, o, receipt, size);
    reader_leave(r);
    return status;
}

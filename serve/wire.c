/* What server and client say to each other: see wire.h. */
#include "wire.h"

#include <string.h>

/* The size that a message of this type must have, as far as that is known before its counts are; 0: there is no such type. */
static size_t least_size(unsigned type)
{
    switch (type) {
    case WIRE_HELLO:
        return sizeof(struct wire_hello);
    case WIRE_NEXT:
    case WIRE_RELEASE:
        return wire_tokens_size(0);
    case WIRE_WHY:
        return sizeof(struct wire_header);
    case WIRE_EPOCH:
    case WIRE_BEGUN:
    case WIRE_END:
        return sizeof(struct wire_epoch);
    case WIRE_WELCOME:
        return sizeof(struct wire_welcome);
    case WIRE_BATCH:
        return wire_batch_size(0);
    case WIRE_ERROR:
        return sizeof(struct wire_error);
    default:
        return 0;
    }
}

/* Of what has a count, the size that goes with it; 0: the count cannot be. */
static size_t exact_size(const union wire_any *m)
{
    if (m->h.type == WIRE_NEXT || m->h.type == WIRE_RELEASE)
        return m->tokens.count <= WIRE_TOKENS ? wire_tokens_size(m->tokens.count) : 0;
    if (m->h.type == WIRE_BATCH)
        return m->batch.columns <= WIRE_COLUMNS ? wire_batch_size(m->batch.columns) : 0;
    return least_size(m->h.type);
}

/* The other end may be anything: what it says ends, and can be printed. */
static void clean_message(apl_error *err)
{
    char said[sizeof err->message];
    memcpy(said, err->message, sizeof said);
    printable(err->message, sizeof err->message, said, strnlen(said, sizeof said));
}

apl_status wire_check(union wire_any *m, size_t size, apl_error *err)
{
    if (size < sizeof m->h || m->h.magic != WIRE_MAGIC)
        return fail(err, APL_E_INVALID, "a message that is not of apldata serve");
    if (m->h.version != WIRE_VERSION)
        return fail(err, APL_E_VERSION,
                    "a message of version %u of the protocol; this library knows version %u", m->h.version,
                    WIRE_VERSION);
    size_t least = least_size(m->h.type);
    if (least == 0 || m->h.size != size || m->h.zero != 0 || size < least || size != exact_size(m))
        return fail(err, APL_E_INVALID, "a message of type %u and %zu bytes breaks the protocol", m->h.type,
                    size);
    if (m->h.type == WIRE_HELLO && (m->hello.where > WIRE_LEAVE || m->hello.zero != 0))
        return fail(err, APL_E_INVALID, "a hello that asks for an unknown place breaks the protocol");
    if (m->h.type == WIRE_ERROR)
        clean_message(&m->error.error);
    return APL_OK;
}

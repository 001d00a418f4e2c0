/* Reading an index of tokens: see token_index.h. */
#include "token_index.h"

#include <inttypes.h>

#define HEADER_BYTES 34u

bool token_index_is(const uint8_t *head, size_t size)
{
    return size >= HEADER_BYTES && memcmp(head, "MMIDIDX\0\0", 9) == 0;
}

static apl_dtype token_dtype(unsigned code)
{
    static const apl_dtype dtypes[] = {0, APL_U8, APL_I8, APL_I16, APL_I32, APL_I64, 0, 0, APL_U16};
    return code < sizeof dtypes / sizeof *dtypes ? dtypes[code] : (apl_dtype)0;
}

static apl_status check_places(struct token_index *x, uint64_t size, apl_error *err)
{
    uint64_t most = (uint64_t)1 << 56;
    if (x->sequences > most || x->documents > most)
        return fail(err, APL_E_SOURCE, "its index has more sequences or documents than any file");
    x->lengths_at = HEADER_BYTES;
    x->pointers_at = x->lengths_at + 4 * x->sequences;
    x->documents_at = x->pointers_at + 8 * x->sequences;
    x->end = x->documents_at + 8 * x->documents;
    if (size == UINT64_MAX || size == x->end || size == x->end + x->sequences)
        return APL_OK;
    return fail(err, size < x->end ? APL_E_INCOMPLETE : APL_E_SOURCE,
                "has %" PRIu64 " bytes, but its %s and list of %s need %" PRIu64 "%s", size,
                number_of(x->sequences, "sequence", "sequences"),
                number_of(x->documents, "document", "documents"), x->end,
                size < x->end ? ": it is truncated" : "");
}

apl_status token_index_read(struct cursor *c, uint64_t size, struct token_index *x, apl_error *err)
{
    const uint8_t *magic = cursor_take(c, 9);
    bool known = magic && memcmp(magic, "MMIDIDX\0\0", 9) == 0;
    uint64_t version = cursor_u64(c);
    unsigned code = cursor_u8(c);
    *x = (struct token_index){.dtype = token_dtype(code), .sequences = cursor_u64(c)};
    x->documents = cursor_u64(c);
    if (!cursor_ok(c))
        return fail(err, APL_E_INCOMPLETE, "ends within its header: it is truncated");
    if (!known || version != 1)
        return fail(err, APL_E_SOURCE, "is not a token index of version 1");
    if ((int)x->dtype == 0)
        return fail(err, APL_E_UNSUPPORTED, "its tokens are of type %u, which are not integers", code);
    return check_places(x, size, err);
}

static bool skip_to(struct cursor *c, uint64_t to)
{
    for (uint64_t left = to, n; left > 0; left -= n) {
        n = left < 65536 ? left : 65536;
        if (!cursor_take(c, (size_t)n))
            return false;
    }
    return true;
}

static apl_status index_cut(apl_error *err)
{
    return fail(err, APL_E_INCOMPLETE, "ends early: it is truncated");
}

/* Takes the sequence with which the next document that has any begins. */
static apl_status next_document(struct token_index_reader *r, apl_error *err)
{
    uint64_t before = r->document_end;
    while (r->document_end == before) {
        if (r->documents_read == r->index.documents)
            return fail(err, APL_E_SOURCE, "the list of documents ends at sequence %" PRIu64 " of %" PRIu64,
                        before, r->index.sequences);
        uint64_t next = cursor_u64(r->documents);
        if (!cursor_ok(r->documents))
            return index_cut(err);
        if (next < before || next > r->index.sequences || (r->documents_read == 0 && next != 0))
            return fail(err, APL_E_SOURCE,
                        "document %" PRIu64 " begins with sequence %" PRIu64 ", which cannot be",
                        r->documents_read, next);
        r->documents_read++;
        r->document_end = next;
        r->empty += next == before && r->documents_read > 1;
    }
    return APL_OK;
}

/* After the last sequence: what is left of the list says that nothing follows. */
static apl_status end_documents(struct token_index_reader *r, apl_error *err)
{
    while (r->documents_read < r->index.documents) {
        uint64_t next = cursor_u64(r->documents);
        if (!cursor_ok(r->documents))
            return index_cut(err);
        if (next != r->index.sequences)
            return fail(err, APL_E_SOURCE,
                        "document %" PRIu64 " begins with sequence %" PRIu64 ", which cannot be",
                        r->documents_read, next);
        r->empty += r->documents_read > 0;
        r->documents_read++;
    }
    return APL_END;
}

apl_status token_index_open(struct token_index_reader *r, uint64_t size, struct cursor *header,
                            struct cursor *lengths, struct cursor *pointers, struct cursor *documents,
                            apl_error *err)
{
    *r = (struct token_index_reader){.lengths = lengths, .pointers = pointers, .documents = documents};
    TRY(token_index_read(header, size, &r->index, err));
    return skip_to(lengths, r->index.lengths_at) && skip_to(pointers, r->index.pointers_at) &&
                   skip_to(documents, r->index.documents_at)
               ? APL_OK
               : index_cut(err);
}

apl_status token_index_next(struct token_index_reader *r, uint64_t *length, bool *ends, apl_error *err)
{
    if (r->sequence == r->index.sequences)
        return end_documents(r, err);
    uint32_t tokens = cursor_u32(r->lengths);
    uint64_t at = cursor_u64(r->pointers);
    if (!cursor_ok(r->lengths) || !cursor_ok(r->pointers))
        return index_cut(err);
    if (tokens > INT32_MAX || at != r->at)
        return fail(err, APL_E_SOURCE,
                    "sequence %" PRIu64 " has %" PRId32 " tokens from byte %" PRIu64
                    " on, but the one before it ends at %" PRIu64,
                    r->sequence, (int32_t)tokens, at, r->at);
    if (r->sequence == r->document_end)
        TRY(next_document(r, err));
    r->at += tokens * (uint64_t)apl_dtype_size(r->index.dtype);
    r->sequence++;
    *length = tokens;
    *ends = r->sequence == r->document_end;
    return APL_OK;
}

/* A manifest: what can be decoded can be asked, and is the same after being encoded and decoded again. */
#include "fuzz.h"
#include "manifest.h"

/* Finding one's way, at the edges and in the middle. */
static void find(const struct manifest *m)
{
    const uint64_t n = m->info.records, ids[] = {0, n / 2, n - 1};
    for (unsigned i = 0; n && i < 3; i++) {
        uint64_t first, block = manifest_block_of(m, ids[i]);
        uint32_t count, split = manifest_split_of(m, ids[i]);
        MUST(block < m->info.blocks);
        manifest_block_ids(m, block, &first, &count);
        MUST(first <= ids[i] && ids[i] - first < count && count <= m->info.block_records);
        MUST(split < m->split_count && m->splits[split].first <= ids[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct manifest m, again;
    struct buffer one = {0}, two = {0};
    uint8_t digest[32];
    apl_error err;
    if (manifest_decode(data, size, &m, &err) != APL_OK)
        return 0;
    find(&m);
    MUST(manifest_content_digest(&m.schema, digest, &err) == APL_OK);
    MUST(manifest_encode(&m, &one, &err) == APL_OK);
    MUST(manifest_decode(one.data, one.size, &again, &err) == APL_OK);
    MUST(manifest_encode(&again, &two, &err) == APL_OK);
    MUST(one.size == two.size && memcmp(one.data, two.data, one.size) == 0);
    manifest_free(&m);
    manifest_free(&again);
    buffer_free(&one);
    buffer_free(&two);
    return 0;
}

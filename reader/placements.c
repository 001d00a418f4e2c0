/* Where the crops of a finished batch fell: apl.h says for whom. */
#include "augment.h"
#include "batch.h"
#include "finish.h"
#include "images.h"
#include "photo_transform.h"
#include "transform.h"

apl_status apl_batch_placements(const apl_store *store, const apl_transform *transform, uint64_t seed,
                                const apl_batch *batch, apl_placement *placements, apl_error *err)
{
    if (!store || !transform || !batch || (batch->rows && !placements))
        return fail(err, APL_E_INVALID, "apl_batch_placements: an argument is NULL");
    if (!batch->copies)
        return fail(err, APL_E_INVALID, "apl_batch_placements: the batch is not one of a reader");
    apl_transform t;
    unsigned field = 0;
    struct augment a;
    TRY(transform_take(&t, transform, 0, err));
    TRY(transform_geometry(store, NULL, &t, &field, err));
    const struct schema *schema = &store->manifest.schema;
    if (photo_transform_makes(&schema->fields[field], &t))
        return fail(
            err, APL_E_INVALID,
            "apl_batch_placements: the images of field %s are not of one size, or are resized, or padded by "
            "more than zeros or reflections that a crop takes",
            schema->fields[field].name);
    if (finish_needed(&t))
        return fail(err, APL_E_INVALID,
                    "apl_batch_placements: field %s is erased or turned, or its colours change, which the "
                    "reader alone does",
                    schema->fields[field].name);
    augment_init(&a, image_shape(&schema->fields[field]), image_stream(schema), &t, seed, batch->epoch);
    for (size_t i = 0; i < batch->rows; i++) {
        struct placement p;
        augment_draw(&a, &batch->ids[i], &batch->copies[i], 1, &p);
        placements[i] = (apl_placement){p.top, p.left, p.flip | p.vertical_flip << 1, p.cut_top, p.cut_left};
    }
    return APL_OK;
}

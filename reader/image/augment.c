/* Where crop, flip and square of a record fall: see augment.h. */
#include "augment.h"

#include "random.h"

void augment_init(struct augment *a, struct image_shape of, unsigned stream, const apl_transform *transform,
                  uint64_t seed, uint64_t epoch)
{
    *a = (struct augment){.key = random_epoch_key(seed, epoch, RANDOM_AUGMENT).low,
                          .side_key = random_key(seed, RANDOM_FLIP_SIDE).low,
                          .epoch = epoch,
                          .transform = transform,
                          .stream = stream};
    a->height_room = of.height + 2 * transform->pad - transform->crop_height + 1;
    a->width_room = of.width + 2 * transform->pad - transform->crop_width + 1;
}

bool augment_is_random(const struct augment *a)
{
    const apl_transform *t = a->transform;
    return t->flip != APL_FLIP_NONE || t->vertical_flip_p > 0 || t->cutout ||
           (!t->crop_centre && (a->height_room > 1 || a->width_room > 1));
}

static int32_t scaled(uint32_t random, uint32_t bound)
{
    return (int32_t)((uint64_t)random * bound >> 32);
}

/* With probability p. The lowest bit decides for one half; what happens for one p happens for all larger ones. */
static bool happens(uint32_t random, double p)
{
    uint32_t turned = random >> 1 | random << 31;
    return (double)(uint32_t)~turned < p * 0x1p32;
}

static struct placement place(const struct augment *a, uint64_t id, uint32_t copy)
{
    const apl_transform *t = a->transform;
    uint32_t counter[4] = {(uint32_t)id, (uint32_t)(id >> 32), copy, a->stream}, x[4];
    struct placement p;
    philox(a->key, counter, x);
    p.top = t->crop_centre ? assemble_middle(a->height_room - 1) : scaled(x[0], a->height_room);
    p.left = t->crop_centre ? assemble_middle(a->width_room - 1) : scaled(x[1], a->width_room);
    p.flip = t->flip == APL_FLIP_RANDOM && happens(x[2], t->flip_p > 0 ? t->flip_p : 0.5);
    p.vertical_flip = happens(x[3], t->vertical_flip_p);
    p.cut_top = (int32_t)t->crop_height; /* no square: it lies outside */
    p.cut_left = (int32_t)t->crop_width;
    if (t->flip == APL_FLIP_ALTERNATING) {
        counter[3] = 0;
        philox(a->side_key, counter, x);
        p.flip = (x[0] ^ a->epoch) & 1;
    }
    if (t->cutout) { /* its middle is uniform over the result */
        counter[3] = a->stream | 1u << 31;
        philox(a->key, counter, x);
        p.cut_top = scaled(x[0], t->crop_height) - (int32_t)(t->cutout / 2);
        p.cut_left = scaled(x[1], t->crop_width) - (int32_t)(t->cutout / 2);
    }
    return p;
}

void augment_draw(const struct augment *a, const uint64_t *ids, const uint32_t *copies, size_t n,
                  struct placement *placements)
{
    for (size_t i = 0; i < n; i++)
        placements[i] = place(a, ids[i], copies[i]);
}

/* Counts kinds and shapes: see survey.h. */
#include "survey.h"

#include "image_kind.h"
#include "member.h"
#include "resize.h"

#include <strings.h>

#define JPEGS_LOOKED_AT 256 /* of those that are called so */
#define MAGIC           16

static bool is_called_jpeg(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && (strcasecmp(dot, ".jpg") == 0 || strcasecmp(dot, ".jpeg") == 0);
}

bool survey_wants(struct survey *s, const struct format_host *host, const char *name)
{
    bool known = s->other == 0 && s->jpeg >= JPEGS_LOOKED_AT && host->images.form != IMAGES_PIXELS;
    if (!known || !is_called_jpeg(name))
        return true;
    s->passed++;
    return false;
}

static void take_shape(struct survey *s, const struct image_rules *rules, const struct image_info *info)
{
    bool turns = rules->orient && info->orientation >= 5;
    uint32_t shape[3] = {info->channels, turns ? info->width : info->height,
                         turns ? info->height : info->width};
    resize_size(&rules->sizes, &shape[1], &shape[2]);
    if (s->shaped++ == 0)
        memcpy(s->shape, shape, sizeof shape);
    s->varies |= memcmp(s->shape, shape, sizeof shape) != 0;
    s->wide += info->bits == 16;
    s->turned += info->orientation > 1;
    s->changed += info->palette || info->scaled || info->inverse;
}

apl_status survey_take(struct survey *s, const struct format_host *host, struct image_decoder *decoder,
                       const struct format_member *m, struct buffer *bytes, apl_error *err)
{
    struct image_info info;
    apl_error damage;
    if (m->size == 0 || m->size > APL_MAX_VALUE)
        return APL_OK;
    size_t known = m->size < MAGIC ? (size_t)m->size : MAGIC;
    const uint8_t *magic = cursor_take(m->cursor, known);
    if (!magic)
        return APL_OK;
    const char *kind = image_kind(magic, known);
    bool jpeg = kind && strcmp(kind, "JPEG") == 0;
    s->jpeg += jpeg;
    if (!kind || (jpeg && host->images.form != IMAGES_PIXELS))
        return APL_OK;
    bytes->size = 0;
    buffer_put(bytes, magic, known);
    TRY(member_append(m, m->size - known, bytes, err));
    apl_status status = image_decoder_probe(decoder, bytes->data, bytes->size, &info, &damage);
    if (status != APL_OK)
        return status == APL_E_NOMEM ? fail_nomem(err) : APL_OK;
    s->other += !jpeg;
    take_shape(s, &host->images, &info);
    return APL_OK;
}

struct image_plan survey_plan(const struct survey *s, const struct format_host *host)
{
    uint64_t jpeg = s->jpeg + s->passed;
    /* The shapes of all are known, and JPEG files, if they are among those, have 8 bits. */
    bool known = s->shaped > 0 && (jpeg == 0 || host->images.form == IMAGES_PIXELS);
    struct image_plan plan = {.bits = 8};
    plan.keep = host->images.form == IMAGES_JPEG || (host->images.form == IMAGES_AUTO && jpeg >= s->other);
    plan.fixed = known && !s->varies;
    plan.rules = host->images;
    plan.orientations = !plan.keep && s->turned > 0 && !plan.rules.orient;
    if (!plan.keep && known && s->wide == s->shaped)
        plan.bits = 16;
    memcpy(plan.shape, s->shape, sizeof plan.shape);
    return plan;
}

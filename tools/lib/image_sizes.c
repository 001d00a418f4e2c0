/* Sides of images are counted by their length: see image_sizes.h. */
#include "image_sizes.h"

#include "args.h"
#include "image_read.h"
#include "report.h"
#include "table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SIDE     65536u     /* longer ones count as this */
#define MOST_CHANNELS 4u         /* more count as this */
#define MOST_RECORDS  (1u << 17) /* that are read without being asked for, and none over a network */

struct image_sizes {
    uint64_t images, channels[MOST_CHANNELS + 1];
    uint64_t side[2][MOST_SIDE + 1]; /* heights, widths: how many images have each */
};

static int take_shape(void *user, uint64_t id, const void *value, size_t bytes)
{
    struct image_sizes *s = user;
    uint32_t shape[3];
    (void)id;
    if (bytes != sizeof shape)
        return 0;
    memcpy(shape, value, sizeof shape);
    s->images++;
    s->channels[shape[0] < MOST_CHANNELS ? shape[0] : MOST_CHANNELS]++;
    for (int k = 0; k < 2; k++)
        s->side[k][shape[1 + k] < MOST_SIDE ? shape[1 + k] : MOST_SIDE]++;
    return 0;
}

bool image_sizes_are_near(const apl_store *store, const char *path)
{
    return apl_store_info(store)->records <= MOST_RECORDS && !strstr(path, "://");
}

/* Those of field `i`; NULL: it has none, or they cannot be read. */
static struct image_sizes *read_sizes(apl_store *store, unsigned i)
{
    const apl_info *info = apl_store_info(store);
    char name[APL_MAX_NAME + 8];
    apl_error err;
    if (!image_shape_field(store, i, name))
        return NULL;
    struct image_sizes *s = calloc(1, sizeof *s);
    for (unsigned k = 0; s && k < info->splits; k++) {
        uint64_t count = 0;
        if (apl_store_where(store, apl_store_split(store, k)->name, name, take_shape, s, NULL, &count,
                            &err) == APL_OK)
            continue;
        note("%s", err.message);
        free(s);
        return NULL;
    }
    return s;
}

struct side_range {
    uint32_t least, median, most;
};

static struct side_range range_of(const uint64_t *counts, uint64_t images)
{
    struct side_range r = {.least = MOST_SIDE};
    uint64_t below = 0;
    for (uint32_t side = 0; side <= MOST_SIDE; side++) {
        if (counts[side] == 0)
            continue;
        r.least = side < r.least ? side : r.least;
        if (below <= (images - 1) / 2)
            r.median = side;
        r.most = side;
        below += counts[side];
    }
    return r;
}

/* ------------------------------------------------------------------------------------------------- in words */

static void add_side(struct table *table, const uint64_t *counts, uint64_t images)
{
    struct side_range r = range_of(counts, images);
    table_add(table, count_text(r.least));
    table_add(table, count_text(r.median));
    table_add(table, count_text(r.most));
}

/* "3", or "3 (1,998), 1 (2)". */
static void add_channels(struct table *table, const struct image_sizes *s)
{
    char text[128] = "";
    for (unsigned c = MOST_CHANNELS + 1; c-- > 0;) {
        size_t length = strlen(text);
        if (s->channels[c] == s->images)
            snprintf(text, sizeof text, "%u", c);
        else if (s->channels[c])
            snprintf(text + length, sizeof text - length, "%s%u (%s)", length ? ", " : "", c,
                     count_text(s->channels[c]));
    }
    table_add(table, text);
}

int image_sizes_describe(apl_store *store)
{
    struct table table = TABLE("llrrrrrrl");
    static const char *const titles[] = {"images", "media",  "width", "median",  "to",
                                         "height", "median", "to",    "channels"};
    bool any = false;
    for (unsigned i = 0; i < apl_store_info(store)->fields; i++) {
        struct image_sizes *s = read_sizes(store, i);
        const apl_field *f = apl_store_field(store, i);
        for (size_t k = 0; s && s->images && !any && k < sizeof titles / sizeof *titles; k++)
            table_add(&table, titles[k]);
        if (s && s->images) {
            any = true;
            table_add(&table, shown(f->name));
            table_add(&table, f->media ? shown(f->media) : "pixels");
            add_side(&table, s->side[1], s->images);
            add_side(&table, s->side[0], s->images);
            add_channels(&table, s);
        }
        free(s);
    }
    if (any)
        putchar('\n');
    return table_print(&table);
}

/* -------------------------------------------------------------------------------------------------- as JSON */

static json_t *side_json(const uint64_t *counts, uint64_t images)
{
    struct side_range r = range_of(counts, images);
    return json_pack("{s:i, s:i, s:i}", "least", (int)r.least, "median", (int)r.median, "most", (int)r.most);
}

static json_t *channels_json(const struct image_sizes *s)
{
    json_t *counts = json_object();
    for (unsigned c = 0; c <= MOST_CHANNELS; c++) {
        char name[16];
        snprintf(name, sizeof name, "%u", c);
        if (s->channels[c])
            json_object_set_new(counts, name, json_count(s->channels[c]));
    }
    return counts;
}

json_t *image_sizes_json(apl_store *store)
{
    json_t *fields = json_object();
    for (unsigned i = 0; i < apl_store_info(store)->fields; i++) {
        struct image_sizes *s = read_sizes(store, i);
        if (s && s->images)
            json_object_set_new(fields, apl_store_field(store, i)->name,
                                json_pack("{s:o, s:o, s:o, s:o}", "images", json_count(s->images), "width",
                                          side_json(s->side[1], s->images), "height",
                                          side_json(s->side[0], s->images), "channels", channels_json(s)));
        free(s);
    }
    return fields;
}

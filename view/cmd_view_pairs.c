/* apldata view: records that are alike, and labels that their neighbours do not have. */
#include "args.h"
#include "cmd_view.h"
#include "near.h"
#include "suspects.h"

#include <stdlib.h>

#define NEAR_BITS     10u             /* of 128 in which hashes of images that look alike may differ, */
#define NEAR_FEATURES (6u * FEATURES) /* and how far apart their features may be, in all */
#define MOST_SUSPECTS 60u
#define MOST_LIKE     3u /* neighbours that are shown beside a suspect */

struct like {
    uint32_t at, other;
    unsigned bits;     /* 0 if their inputs are equal */
    bool equal;        /* to the byte */
    uint32_t distance; /* of features */
};

struct alike {
    struct view *view;
    struct like *list;
    size_t count;
    uint32_t *group; /* the first record with the same inputs */
};

/* ----------------------------------------------------------------------------------------- equal inputs */

struct digested {
    uint64_t digest;
    uint32_t at;
};

static int by_digest(const void *a, const void *b)
{
    const struct digested *x = a, *y = b;
    if (x->digest != y->digest)
        return x->digest < y->digest ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static uint32_t distance_of(const struct view *view, uint32_t a, uint32_t b)
{
    if (!view->features)
        return 0;
    return features_distance(view->features + (size_t)a * FEATURES, view->features + (size_t)b * FEATURES);
}

static bool find_equal(struct alike *alike)
{
    const struct view *view = alike->view;
    struct digested *all = malloc(((size_t)view->n + 1) * sizeof *all);
    for (uint32_t i = 0; i < view->n; i++)
        alike->group[i] = i;
    for (uint32_t i = 0; all && view->digests && i < view->n; i++)
        all[i] = (struct digested){view->digests[i], i};
    if (all && view->digests)
        qsort(all, view->n, sizeof *all, by_digest);
    for (uint32_t i = 1; all && view->digests && i < view->n; i++)
        if (all[i].digest == all[i - 1].digest) {
            alike->group[all[i].at] = alike->group[all[i - 1].at];
            alike->list[alike->count++] = (struct like){alike->group[all[i].at], all[i].at, 0, true, 0};
        }
    free(all);
    return all != NULL;
}

/* ------------------------------------------------------------------------------------ images that look alike */

/* Each record with the one nearest to it; of two that are nearest to each other, the pair comes once. */
static int find_near(struct alike *alike)
{
    struct view *view = alike->view;
    uint32_t *nearest = malloc(((size_t)view->n + 1) * sizeof *nearest);
    struct near_index *index = near_index_new(view->hashes, view->is_image, view->n);
    bool ok = nearest && index, stopped = false;
    for (uint32_t i = 0; ok && !stopped && i < view->n; i++) {
        struct near_pair pair;
        bool found = near_find(index, i, NEAR_BITS, view->is_image, alike->group, &pair);
        nearest[i] = found ? pair.other : UINT32_MAX;
        bool twice = found && pair.other < i && nearest[pair.other] == i;
        uint32_t distance = found ? distance_of(view, i, pair.other) : UINT32_MAX;
        if (found && !twice && distance <= NEAR_FEATURES && alike->group[i] == i)
            alike->list[alike->count++] =
                (struct like){pair.other < i ? pair.other : i, pair.other < i ? i : pair.other, pair.distance,
                              false, distance};
        stopped = i % 1024 == 0 && !view_goes_on(view, "pairing", i, view->n);
    }
    near_index_free(index);
    free(nearest);
    return stopped ? EXIT_FAILURE : ok ? 0 : failed("out of memory");
}

/* ------------------------------------------------------------------------------------------------ pairs */

static bool crosses_splits(const struct view *view, const struct like *p)
{
    return !(view->in_splits[p->at] & view->in_splits[p->other]);
}

static bool crosses_classes(const struct view *view, const struct like *p)
{
    return view->classes[p->at] != view->classes[p->other];
}

static const struct view *compared; /* qsort() takes no argument */

/* First those that matter most: of different splits, of different classes, equal, near. */
static int by_matter(const void *a, const void *b)
{
    const struct like *x = a, *y = b;
    int cross = crosses_splits(compared, y) - crosses_splits(compared, x);
    int cls = crosses_classes(compared, y) - crosses_classes(compared, x);
    if (cross || cls)
        return 2 * cross + cls;
    if (x->equal != y->equal)
        return y->equal - x->equal;
    if (x->bits != y->bits || x->distance != y->distance)
        return x->bits != y->bits ? (x->bits < y->bits ? -1 : 1) : x->distance < y->distance ? -1 : 1;
    return x->at != y->at ? (x->at < y->at ? -1 : 1) : (x->other > y->other) - (x->other < y->other);
}

static json_t *pairs_json(struct alike *alike)
{
    struct view *view = alike->view;
    json_t *list = json_array();
    size_t splits = 0, classes = 0, equal = 0;
    compared = view;
    if (alike->count > 0)
        qsort(alike->list, alike->count, sizeof *alike->list, by_matter);
    for (size_t i = 0; i < alike->count; i++) {
        const struct like *p = &alike->list[i];
        bool cross = crosses_splits(view, p), cls = crosses_classes(view, p);
        splits += cross;
        classes += cls;
        equal += p->equal;
        if (i < MOST_PAIRS)
            json_array_append_new(list,
                                  json_pack("{s:o, s:o, s:b, s:i, s:b, s:b}", "a", view_record(view, p->at),
                                            "b", view_record(view, p->other), "equal", p->equal, "bits",
                                            (int)p->bits, "splits", cross, "classes", cls));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:b, s:b}", "count", json_count(alike->count), "equal",
                     json_count(equal), "splits", json_count(splits), "classes", json_count(classes), "list",
                     list, "images", view->hashes != NULL, "inputs", view->digests != NULL);
}

static int find_pairs(struct view *view)
{
    struct alike alike = {.view = view};
    alike.list = malloc((2 * (size_t)view->n + 1) * sizeof *alike.list);
    alike.group = malloc(((size_t)view->n + 1) * sizeof *alike.group);
    int status = 0;
    if (!alike.list || !alike.group || !find_equal(&alike))
        status = failed("out of memory");
    if (!status && view->hashes)
        status = find_near(&alike);
    if (!status)
        json_object_set_new(view->document, "pairs", pairs_json(&alike));
    free(alike.list);
    free(alike.group);
    return status;
}

/* --------------------------------------------------------------------------------------------- neighbours */

static bool keeps_comparing(void *user, uint32_t done)
{
    struct view *view = user;
    return view_goes_on_with(view, "comparing", "pair", (uint64_t)done * done, (uint64_t)view->n * view->n);
}

static json_t *suspect_json(struct view *view, const struct suspect *s)
{
    json_t *like = json_array();
    const struct neighbour *mine = view->neighbours + (size_t)s->at * NEIGHBOURS;
    for (unsigned k = 0; k < NEIGHBOURS && json_array_size(like) < MOST_LIKE; k++)
        if (mine[k].at != UINT32_MAX && view->classes[mine[k].at] == s->cls)
            json_array_append_new(like, view_record(view, mine[k].at));
    return json_pack("{s:o, s:i, s:i, s:i, s:o}", "record", view_record(view, s->at), "class", (int)s->cls,
                     "votes", (int)s->votes, "own", (int)s->own, "like", like);
}

static void add_suspects(struct view *view)
{
    struct suspect list[MOST_SUSPECTS];
    struct agreement a = suspects_find(view->classes, view->n, view->neighbours, list, MOST_SUSPECTS);
    json_t *suspects = json_array();
    for (size_t i = 0; i < a.listed; i++)
        json_array_append_new(suspects, suspect_json(view, &list[i]));
    json_object_set_new(view->document, "suspects",
                        json_pack("{s:o, s:f, s:f, s:o, s:o, s:i}", "judged", json_count(a.judged), "agree",
                                  a.agree, "chance", a.chance, "count", json_count(a.suspects), "list",
                                  suspects, "neighbours", (int)NEIGHBOURS));
}

int view_pairs(struct view *view)
{
    int status = find_pairs(view);
    if (status || !view->features || view->class_field < 0)
        return status;
    view->neighbours = malloc(((size_t)view->n * NEIGHBOURS + 1) * sizeof *view->neighbours);
    if (!view->neighbours)
        return failed("out of memory");
    if (!neighbours_find(view->features, view->is_image, view->n, view->neighbours, keeps_comparing, view))
        return EXIT_FAILURE;
    add_suspects(view);
    return 0;
}

/* Boxes as corners, and back: see boxes.h. */
#include "boxes.h"

#include <math.h>

/* Left, top, right, bottom. */
struct corners {
    float x[2], y[2];
};

static struct corners corners_of(apl_form form, const float b[BOX_NUMBERS])
{
    if (form == APL_FORM_XYWH)
        return (struct corners){{b[0], b[0] + b[2]}, {b[1], b[1] + b[3]}};
    if (form == APL_FORM_CXCYWH) {
        float half_width = b[2] * 0.5f, half_height = b[3] * 0.5f;
        return (struct corners){{b[0] - half_width, b[0] + half_width},
                                {b[1] - half_height, b[1] + half_height}};
    }
    return (struct corners){{b[0], b[2]}, {b[1], b[3]}};
}

static void write_corners(apl_form form, const struct corners *c, float b[BOX_NUMBERS])
{
    float width = c->x[1] - c->x[0], height = c->y[1] - c->y[0];
    bool corners = form == APL_FORM_XYXY, middle = form == APL_FORM_CXCYWH;
    b[0] = middle ? (c->x[0] + c->x[1]) * 0.5f : c->x[0];
    b[1] = middle ? (c->y[0] + c->y[1]) * 0.5f : c->y[0];
    b[2] = corners ? c->x[1] : width;
    b[3] = corners ? c->y[1] : height;
}

/* One side of the image: what is taken of it, in pixels as it is stored, is scaled, and the window is taken of that. */
struct side {
    uint32_t image, from, length, size, window;
    int32_t at;
    bool flip, clamp;
};

/* NaN stays what it is. */
static float clamped(float v, uint32_t most)
{
    return v < 0 ? 0 : v > (float)most ? (float)most : v;
}

/* Flipping makes the right edge the left one. */
static void follow_side(const struct side *s, float edge[2])
{
    for (int i = 0; i < 2; i++) {
        float v = edge[i] - (float)s->from;
        if (s->length != s->image)
            v = clamped(v, s->length);
        if (s->size != s->length)
            v = v * (float)((double)s->size / s->length);
        v -= (float)s->at;
        edge[i] = s->clamp ? clamped(v, s->window) : v;
    }
    if (!s->flip)
        return;
    float right = (float)s->window - edge[0];
    edge[0] = (float)s->window - edge[1];
    edge[1] = right;
}

/* The corners of what a box becomes that is moved: of the upright one around it, as far as it is in the image. */
static void move_corners(const struct warp *warp, uint32_t width, uint32_t height, struct corners *c)
{
    struct corners around = {{INFINITY, -INFINITY}, {INFINITY, -INFINITY}};
    if (isnan(c->x[0] + c->x[1] + c->y[0] + c->y[1])) {
        *c = (struct corners){{NAN, NAN}, {NAN, NAN}};
        return;
    }
    for (int i = 0; i < 4; i++) {
        double corner[2] = {(double)c->x[i & 1], (double)c->y[i >> 1]}, to[2];
        warp->point(warp->map, corner, to);
        around.x[0] = fminf(around.x[0], (float)to[0]);
        around.x[1] = fmaxf(around.x[1], (float)to[0]);
        around.y[0] = fminf(around.y[0], (float)to[1]);
        around.y[1] = fmaxf(around.y[1], (float)to[1]);
    }
    for (int i = 0; i < 2; i++) {
        c->x[i] = clamped(around.x[i], width);
        c->y[i] = clamped(around.y[i], height);
    }
}

static void move_by_affine(const void *map, const double from[2], double to[2])
{
    affine_point(map, from, to);
}

void boxes_warp(const struct warp *warp, uint32_t width, uint32_t height, apl_form form, float *boxes,
                size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct corners c = corners_of(form, boxes + i * BOX_NUMBERS);
        move_corners(warp, width, height, &c);
        write_corners(form, &c, boxes + i * BOX_NUMBERS);
    }
}

static bool takes_all(const struct geometry *g)
{
    const struct crop_plan *p = &g->plan;
    return p->box.width == g->width && p->box.height == g->height && p->window.left == 0 &&
           p->window.top == 0 && p->window.width == p->width && p->window.height == p->height;
}

static bool is_finite(const struct corners *c)
{
    return isfinite(c->x[0]) && isfinite(c->x[1]) && isfinite(c->y[0]) && isfinite(c->y[1]);
}

/* A box that reaches beyond the image is moved as it is, unless a crop cuts it before, or infinity would become NaN. */
void boxes_follow(const struct geometry *g, apl_form form, bool warped, const float *boxes, size_t n,
                  float *out)
{
    const struct crop_plan *p = &g->plan;
    struct side across = {g->width,        p->box.left,    p->box.width, p->width,
                          p->window.width, p->window.left, g->flip,      true};
    struct side down = {g->height,        p->box.top,    p->box.height,    p->height,
                        p->window.height, p->window.top, g->vertical_flip, true};
    const struct warp affine = {.point = move_by_affine, .map = &g->map};
    bool later = (g->moved || warped) && takes_all(g);
    for (size_t i = 0; i < n; i++) {
        struct corners c = corners_of(form, boxes + i * BOX_NUMBERS);
        across.clamp = down.clamp = !later || !is_finite(&c);
        follow_side(&across, c.x);
        follow_side(&down, c.y);
        if (g->moved)
            move_corners(&affine, p->window.width, p->window.height, &c);
        write_corners(form, &c, out + i * BOX_NUMBERS);
    }
}

/* What a box that was clamped may lie beyond an edge, as the middle and the sides are rounded. */
#define BOX_SLACK 1e-6f

/* Comparisons with NaN are false. */
bool boxes_keep(const struct geometry *g, apl_form form, double size, double area,
                const float box[BOX_NUMBERS])
{
    struct corners c = corners_of(form, box);
    float width = c.x[1] - c.x[0], height = c.y[1] - c.y[0];
    bool large = (double)width >= size && (double)height >= size && (double)(width * height) >= area;
    float right = (float)g->plan.window.width, bottom = (float)g->plan.window.height;
    return large && c.x[0] >= -right * BOX_SLACK && c.y[0] >= -bottom * BOX_SLACK &&
           c.x[1] <= right * (1 + BOX_SLACK) && c.y[1] <= bottom * (1 + BOX_SLACK);
}

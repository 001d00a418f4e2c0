/* apldata view: what its files share. */
#include "base64.h"
#include "cmd_view.h"
#include "interrupt.h"

#include <stdlib.h>
#include <string.h>

#define SHARP   64u /* images up to that side are kept as they are, without loss */
#define QUALITY 75

bool view_goes_on(struct view *view, const char *what, uint64_t done, uint64_t of)
{
    return view_goes_on_with(view, what, NULL, done, of);
}

bool view_goes_on_with(struct view *view, const char *what, const char *unit, uint64_t done, uint64_t of)
{
    struct progress_state state = {
        .what = what, .unit = unit, .records = done, .fraction = of ? (double)done / (double)of : -1};
    progress_show(&view->progress, &state);
    return !interrupted();
}

uint32_t view_place(const struct view *view, uint64_t id)
{
    uint32_t low = 0, high = view->n;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (view->ids[middle] <= id)
            low = middle;
        else
            high = middle;
    }
    return low;
}

json_t *view_record(struct view *view, uint32_t at)
{
    view->wanted[at] = 1;
    return json_count(view->ids[at]);
}

bool view_reads(const struct view *view, unsigned field)
{
    (void)view;
    return !apl_store_field(view->store, field)->media;
}

json_t *view_data_uri(const struct image *image)
{
    static const char png[] = "data:image/png;base64,", jpeg[] = "data:image/jpeg;base64,";
    bool sharp = image->width <= SHARP && image->height <= SHARP;
    struct bytes file = sharp ? image_png(image) : image_jpeg(image, QUALITY);
    size_t head = sharp ? sizeof png - 1 : sizeof jpeg - 1;
    char *text = file.data ? malloc(head + BASE64_SIZE(file.size)) : NULL;
    json_t *uri = NULL;
    if (text) {
        memcpy(text, sharp ? png : jpeg, head);
        base64_encode(text + head, file.data, file.size);
        uri = json_stringn(text, head + BASE64_SIZE(file.size));
    } else {
        report_starved();
    }
    free(text);
    free(file.data);
    return uri;
}

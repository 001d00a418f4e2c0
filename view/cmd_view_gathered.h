/* What apldata view gathers of a field, and how it is described. */
#ifndef CMD_VIEW_GATHERED_H
#define CMD_VIEW_GATHERED_H

#include "cmd_view.h"

#define PER_RECORD 8u /* elements of a record that are described, spread evenly over it */

enum oddity { ODD_NAN, ODD_INFINITE, ODD_EMPTY, ODDITIES };

/* What is gathered of a field. */
struct gathered {
    unsigned number;
    const apl_field *f;
    double *values; /* of numbers, and the record of each */
    uint32_t *at;
    size_t count, room;
    bool part;              /* records have more numbers than PER_RECORD */
    double *lengths;        /* of each record: elements, or characters of text; NULL: all are the same */
    uint64_t *hashes;       /* of text */
    uint64_t odd[ODDITIES]; /* records */
    uint32_t odd_at[ODDITIES][MOST_EXAMPLES];
};

/* What the page says of a field. The caller owns it. Sorts the hashes. */
json_t *gathered_json(struct view *view, struct gathered *g);

/* Adds widths, heights and aspect ratios to the document, where there are images. */
void view_add_sizes(struct view *view);

#endif

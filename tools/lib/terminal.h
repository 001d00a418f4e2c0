/* What the terminal on stdout can show. */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>

/* How images are shown: not at all, by coloured half blocks, by sixels, or by kitty's graphics protocol. */
enum terminal_images { IMAGES_NONE, IMAGES_BLOCKS, IMAGES_SIXEL, IMAGES_KITTY };

struct terminal {
    enum terminal_images images;
    bool truecolor; /* else 256 colours */
    bool utf8;
    unsigned columns, rows;           /* 80 x 24 if they cannot be known */
    unsigned cell_width, cell_height; /* in pixels; 8 x 16 likewise */
};

/* By the environment and the size of the window: nothing is asked of the terminal, which might not answer. */
void terminal_find(struct terminal *terminal);

/* Columns of the window on a terminal, 80 if they cannot be known. Windows change size. */
unsigned terminal_columns(int fd);

/* Columns of the window on stdout; 0 where stdout is no terminal. */
unsigned terminal_room(void);

#endif

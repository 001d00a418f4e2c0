/* PNG's filters for arm64 against those in plain C; runs under an emulator too. */
#include "png_filters.h"

int main(void)
{
    int wrong = compare_png_filters();
    printf("filters by pixels: %s\n", wrong ? "different" : "the same bytes");
    return wrong != 0;
}

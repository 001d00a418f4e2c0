/* The kernels for arm64 against those in plain C; runs under an emulator too. */
#include "kernels.h"

int main(void)
{
    int wrong = compare_tables(&filter_neon, &filter_scalar, "neon");
    printf("neon against scalar: %s\n", wrong ? "different" : "the same bytes");
    return wrong != 0;
}

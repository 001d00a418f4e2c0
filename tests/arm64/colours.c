/* Kernels of colours for arm64: the bytes that other machines get; runs under an emulator too. */
#include "colour_cases.h"

#include <stdio.h>

int main(void)
{
    uint64_t digest = colours_digest(&colour_scalar);
    printf("colours: %s\n", digest == COLOURS_DIGEST ? "the bytes of every machine" : "different");
    return digest != COLOURS_DIGEST;
}

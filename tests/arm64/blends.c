/* Kernels that mix images for arm64: the bytes that other machines get; runs under an emulator too. */
#include "blends.h"

int main(void)
{
    uint64_t digest = blends_digest(&blend_scalar);
    printf("blends: %s\n", digest == BLENDS_DIGEST ? "the bytes of every machine" : "different");
    return digest != BLENDS_DIGEST;
}

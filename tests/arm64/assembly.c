/* Assembly for arm64 against that in plain C; runs under an emulator too. */
#include "assemblies.h"

int main(void)
{
    int wrong = compare_assemblies(assemble_neon, assemble_scalar, 1, 1000, "neon");
    wrong += compare_all_roundings(assemble_neon, assemble_scalar, APL_F16);
    wrong += compare_all_roundings(assemble_neon, assemble_scalar, APL_BF16);
    printf("neon against scalar: %s\n", wrong ? "different" : "the same bytes");
    return wrong != 0;
}

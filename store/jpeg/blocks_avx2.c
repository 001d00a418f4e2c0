/* With BMI2, which shifts by any number of bits without touching flags. */
#include "blocks_body.h"

const struct blocks_kernels blocks_avx2 = {decode_mcu, encode_mcu, count_mcu};

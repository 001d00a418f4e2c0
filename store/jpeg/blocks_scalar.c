/* The reference. */
#include "blocks_body.h"

const struct blocks_kernels blocks_scalar = {decode_mcu, encode_mcu, count_mcu};

/* With vectors of eight. */
#include "colour_products_body.h"

colour_products_fn *const colour_products_avx2 = colour_products;

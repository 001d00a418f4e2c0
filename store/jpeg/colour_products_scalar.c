/* The reference. */
#include "colour_products_body.h"

colour_products_fn *const colour_products_scalar = colour_products;

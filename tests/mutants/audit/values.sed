# Of every eighth block, the first record has the second one's values.
# file: reader/load.c
# caught by: values
# audit: orders --load
s/status = block_decode_rows\(.*/& if (status == APL_OK \&\& index % 8 == 0) __builtin_memcpy(w->rows[0], w->rows[1], r->spec.schema->fields[f].value_bytes);/

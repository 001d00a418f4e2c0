/* The installed headers as a C++17 program sees them, with nothing but themselves. */
#include "apl_ingest.h"

#include "apl.h"
#include "apl_ingest.h"

int main()
{
    apl_store_options open = APL_STORE_OPTIONS_INIT;
    apl_get_options get = APL_GET_OPTIONS_INIT;
    apl_verify_options verify = APL_VERIFY_OPTIONS_INIT;
    apl_writer_options writer = APL_WRITER_OPTIONS_INIT;
    apl_ingest_options ingest = APL_INGEST_OPTIONS_INIT;
    int sizes_told = open.size == sizeof open && get.size == sizeof get && verify.size == sizeof verify &&
                     writer.size == sizeof writer && ingest.size == sizeof ingest;
    return sizes_told && apl_status_text(APL_OK) && ingest.writer == NULL ? 0 : 1;
}

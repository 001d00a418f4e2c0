/* Stores of JPEG files. */
#ifndef JPEG_WRITER_H
#define JPEG_WRITER_H

#include "store_fixture.h"

/* A writer of files, all in "train". */
static inline apl_writer *writer_of_files(const char *name, bool indexed, const apl_writer_options *options)
{
    static const int64_t any[1] = {-1};
    apl_writer *w = NULL;
    OK(apl_writer_open(fx_path(name), options, &w, &fx_err));
    OK(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 1, any, &fx_err));
    OK(apl_writer_set_media(w, "image", "image/jpeg", &fx_err));
    if (indexed)
        OK(apl_writer_set_indexed(w, "image", &fx_err));
    OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
    return w;
}

static inline void append_bytes(apl_writer *w, const void *data, size_t size)
{
    const int64_t shape[1] = {(int64_t)size};
    OK(apl_writer_append(w, (apl_value[]){{data, shape}}, &fx_err));
}

static inline apl_store *finished(apl_writer *w, const char *name)
{
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
    return fx_open(fx_path(name));
}

#endif

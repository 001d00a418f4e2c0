/* Goes through the records of a TFRecord file: see tf_reading.h. */
#include "tf_reading.h"

#include <inttypes.h>
#include <stdio.h>

#define PLACE_BYTES 1100

/* The current record, by its number. */
static const char *record_place(const struct tfrecord *t, size_t file, char place[PLACE_BYTES])
{
    snprintf(place, PLACE_BYTES, "%s: record %" PRIu64, t->host->files[file].path, t->frame.record - 1);
    return place;
}

const char *tf_where(const void *state, char *out, size_t size)
{
    const struct tfrecord *t = state;
    char place[PLACE_BYTES];
    snprintf(out, size, "%s", record_place(t, t->file, place));
    return out;
}

/* A record that is bad in itself: what is wrong with it. */
static apl_status bad_record(const struct tfrecord *t, size_t file, const apl_error *why, apl_error *err)
{
    char place[PLACE_BYTES];
    return t->host->bad(t->host->user, record_place(t, file, place), why, err);
}

void tf_tally(struct tfrecord *t, size_t file, const char *field, const struct made_image *image)
{
    char place[PLACE_BYTES], path[PLACE_BYTES + APL_MAX_NAME + 16];
    snprintf(path, sizeof path, "%s: feature %s", record_place(t, file, place), field);
    image_tally_take(&t->tally, t->host, path, image);
}

/* The frame's next record, parsed. */
static apl_status next_example(struct tfrecord *t, bool *bad, apl_error *why)
{
    const uint8_t *data;
    size_t size;
    apl_status status = tf_frame_next(&t->frame, &data, &size, why);
    *bad = status == APL_E_CORRUPT;
    if (status != APL_OK)
        return *bad ? APL_OK : status;
    *bad = tf_example_parse(data, size, &t->example, why) != APL_OK;
    return APL_OK;
}

static apl_status end_of_records(struct tfrecord *t, size_t file, struct format_stream *stream,
                                 apl_status status, const apl_error *why, apl_error *err)
{
    const struct format_host *host = t->host;
    if (status == APL_END)
        return host->close_file(host->user, stream, err);
    if (status == APL_E_INCOMPLETE) {
        apl_status broken = host->cut_off(host->user, stream, err);
        if (broken != APL_E_INCOMPLETE)
            return broken;
    }
    return fail(err, status, "%s: record %" PRIu64 ": %s", host->files[file].path, t->frame.record,
                why->message);
}

/* Is the next record another part's? Where nothing but those follows, the file is left. */
static bool is_others(struct tfrecord *t, const char *split)
{
    const struct format_host *host = t->host;
    if (!split || !host->part)
        return false;
    t->left = !host->coming(host->user, split, INT64_MAX);
    return t->left || !host->own(host->user, split, 1);
}

apl_status tf_each_record(struct tfrecord *t, size_t file, const char *split, tf_take take, bool tell,
                          apl_error *err)
{
    struct format_stream *stream;
    apl_status status;
    apl_error why;
    bool bad;
    TRY(t->host->open_file(t->host->user, file, &stream, err));
    t->frame.cursor = stream->cursor;
    t->frame.record = 0;
    t->file = file;
    t->left = false;
    while ((status = next_example(t, &bad, &why)) == APL_OK) {
        if (is_others(t, split)) {
            if (!t->left)
                continue;
            t->host->drop_file(t->host->user, stream);
            return APL_OK;
        }
        if (!bad)
            TRY(take(t, file, &bad, &why, err));
        if (bad && tell)
            TRY(bad_record(t, file, &why, err));
    }
    return end_of_records(t, file, stream, status, &why, err);
}

apl_status tf_any_written(const struct tfrecord *t, apl_error *err)
{
    return t->written > 0 ? APL_OK
                          : fail(err, APL_E_SOURCE, "%s: all of its records are bad", t->host->source);
}

#include "shards.h"

#include "args.h"

#include <stdio.h>
#include <stdlib.h>

bool shards_have_room(const struct shards *s, uint64_t bytes)
{
    if (s->file < 0)
        return false;
    if (s->records == 0)
        return true; /* a record alone may be larger than a shard should be */
    return (!s->most_records || s->records < s->most_records) &&
           (!s->most_bytes || (s->bytes < s->most_bytes && bytes <= s->most_bytes - s->bytes));
}

int shards_begin(struct shards *s)
{
    char name[512];
    snprintf(name, sizeof name, "%s-%06u.%s", s->split, s->number, s->ending);
    s->file = outset_add(s->out, name);
    s->number++;
    s->bytes = s->records = 0;
    return s->file < 0 ? EXIT_FAILURE : 0;
}

int shards_write(struct shards *s, const void *data, size_t size)
{
    s->bytes += size;
    return outset_write(s->out, s->file, data, size);
}

int shards_end(struct shards *s)
{
    int file = s->file;
    s->file = -1;
    return file < 0 ? 0 : outset_finish(s->out, file);
}

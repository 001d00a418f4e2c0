/* The entries of a manifest that say where records are: splits, members, segments. Each has one function that writes it and
 * one that reads it, side by side. */
#include "manifest_entry.h"

/* SPLIT, in order: name (text), first id (8), records (8) */
void put_split(struct buffer *b, const struct split *split)
{
    size_t at = entry_begin(b, TAG_SPLIT, ENTRY_REQUIRED);
    text_put(b, split->name);
    buffer_le(b, split->first, 8);
    buffer_le(b, split->count, 8);
    entry_end(b, at);
}

apl_status get_split(struct cursor *c, struct manifest *m, apl_error *err)
{
    TRY(grow_list(&m->splits, m->split_count, sizeof *m->splits, err));
    struct split *split = &m->splits[m->split_count++];
    *split = (struct split){0};
    TRY(get_name(c, false, &split->name, err));
    split->first = cursor_u64(c);
    split->count = cursor_u64(c);
    return APL_OK;
}

/* MEMBER, in order: name (text), split (4), number (4), first source position (8), records (8) */
void put_member(struct buffer *b, const struct member *member)
{
    size_t at = entry_begin(b, TAG_MEMBER, ENTRY_REQUIRED);
    text_put(b, member->name);
    buffer_le(b, member->split, 4);
    buffer_le(b, member->number, 4);
    buffer_le(b, member->first, 8);
    buffer_le(b, member->count, 8);
    entry_end(b, at);
}

apl_status get_member(struct cursor *c, struct manifest *m, apl_error *err)
{
    TRY(grow_list(&m->members, m->member_count, sizeof *m->members, err));
    struct member *member = &m->members[m->member_count++];
    *member = (struct member){0};
    TRY(get_name(c, false, &member->name, err));
    member->split = cursor_u32(c);
    member->number = cursor_u32(c);
    member->first = cursor_u64(c);
    member->count = cursor_u64(c);
    return APL_OK;
}

/* SEGMENT, in order: number (4), first id (8), records (8) */
void put_segment(struct buffer *b, const struct segment *segment)
{
    size_t at = entry_begin(b, TAG_SEGMENT, ENTRY_REQUIRED);
    buffer_le(b, segment->number, 4);
    buffer_le(b, segment->first_id, 8);
    buffer_le(b, segment->count, 8);
    entry_end(b, at);
}

apl_status get_segment(struct cursor *c, struct manifest *m, apl_error *err)
{
    TRY(grow_list(&m->segments, m->segment_count, sizeof *m->segments, err));
    struct segment *segment = &m->segments[m->segment_count++];
    segment->number = cursor_u32(c);
    segment->first_id = cursor_u64(c);
    segment->count = cursor_u64(c);
    return APL_OK;
}

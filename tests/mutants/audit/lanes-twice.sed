# A lane is given a position twice, and another to none.
# file: reader/planner.c
# caught by: exactly once
# audit: orders --world 3 --lanes 3
s/(struct job \*job = )(outlets_planning\(r, )(rank\));/\1rank == 2 ? NULL : rank == 0 \&\& \22) ? \22) : \2\3;/

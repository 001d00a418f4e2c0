# One rank is given a position twice, and another to none.
# file: reader/planner.c
# caught by: exactly once
# audit: orders --world 3
s/take_delivery\(job, position \+ k, drawn\[k\]\)/take_delivery(job, position + k, drawn[k - (rank == 1)])/

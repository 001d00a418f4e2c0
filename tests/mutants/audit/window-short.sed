# A window that covers the split has nine tenths of it.
# file: reader/order/plan.c
# caught by: blocks at both ends
# audit: orders
s/s\.window = o->window \/ s\.lanes \* each;/s.window = subset->records * 9 \/ 10;/
s/s\.whole = o->arriving \|\| .*/s.whole = o->arriving;/

apldata get "$SHARED/store" 5 -o a.png
apldata get "$SHARED/store" 5 --format png | cmp a.png
od -An -c -N 8 a.png
need pngtopnm
pngtopnm a.png | cmp - <(apldata get "$SHARED/store" 5 --format ppm)

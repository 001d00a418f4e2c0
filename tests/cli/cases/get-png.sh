need python3
ids=$(seq 0 16)
apldata get "$SHARED/store" $ids -o a.png
apldata get "$SHARED/store" $ids --format png | cmp a.png
apldata get "$SHARED/store" $ids -o A.PNG
cmp a.png A.PNG
od -An -c -N 8 a.png
apldata get "$SHARED/store" $ids --format ppm | tail -c $((512 * 64 * 3)) >want
python3 "$CLI/read_png.py" <a.png | cmp - want

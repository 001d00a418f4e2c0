exec 2>&1
run apldata get "$SHARED/store" 900
run apldata get "$SHARED/store" 0 18446744073709551615
run apldata get "$SHARED/store" 0 --fields nonsense
run apldata get "$SHARED/store" 0 --format raw
run apldata get "$SHARED/store" 0 --fields label -o a.png
echo mine >a.png
run apldata get "$SHARED/store" 0 -o a.png
cat a.png
run apldata get "$SHARED/store" 0 -o a.png --force
head -c 4 a.png | tail -c 3
echo
run apldata get "$SHARED/store" 0 -o nowhere/a.png
ls -A

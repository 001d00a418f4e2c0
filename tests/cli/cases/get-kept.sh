# A kept file comes out as it came: the store of tests/golden has one of 407 bytes in record 11.
exec 2>&1
db=kept
cp -r "$CLI/../golden/kept" .
apldata info "$db" | sed -n '/^field/,/^$/p'
apldata get "$db" 11
apldata get "$db" 11 -o out.jpeg
wc -c <out.jpeg
apldata get "$db" 11 --fields image -o out
apldata get "$db" 11 --format file | cmp - out
apldata get "$db" 11 --fields image --format raw -o - | cmp - out
cmp out out.jpeg
run apldata get "$db" 11 -o out
run apldata get "$db" 11 12 -o more.jpeg
run apldata get "$db" 11 -o out.png
run apldata get "$db" 11 --fields label --format file -o out2
run apldata get "$db" 11 --fields label -o out2
run apldata get "$SHARED/store" 1 --format file
run apldata get "$SHARED/store" 1 -o file.jpeg
apldata verify "$db"
ls -A

# Row 3 of the second member is the record 153; its picture comes after its label.
tail -c +$((3 * 3073 + 2)) "$SHARED/b/$B/data_batch_2.bin" | head -c 3072 >want
apldata get "$SHARED/store" 153 --fields image -o got.raw
cmp want got.raw
apldata get "$SHARED/store" 153 --fields image --format raw | cmp want -
apldata get "$SHARED/store" 153 153 --fields image --format raw -o - | cmp - <(cat want want)
ls -A

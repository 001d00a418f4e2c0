exec 2>&1
# mkshapes writes the shape (150, 3072) as K\226M\000\014 and the dtype as "u1".
for change in 'M\x00\x0c/M\x01\x0c' 'K\x96M/K\x95M' 'u1/i1' 'u1/u2' '\x06labels/\x06tables'; do
    cp "$SHARED/p/$P/data_batch_1" was
    unpacked p
    replace x/$P/data_batch_1 "${change%/*}" "${change#*/}"
    cmp -s was x/$P/data_batch_1 && echo "nothing to change: $change"
    pack x.tar x
    run refused x.tar
    rm -r x
done

# Images are normalised by the split train, or by what an extract has kept of it, and otherwise not.
exec 2>&1
as="--scale normalise --dtype f32 --fields image --sequential"
apldata stream "$SHARED/store" $as --split test >whole
apldata extract -q "$SHARED/store" test.db --split test
apldata stream test.db $as | cmp - whole && echo as in training
apldata extract -q test.db again.db
apldata stream again.db $as | cmp - whole && echo and of an extract
apldata extract -q "$SHARED/store" both.db --split test --split train
apldata stream both.db $as --split test | cmp - whole && echo and beside train
mkdir -p val/cat
for i in 1 2 3; do printf "P5 2 2 255\n\\$i\\1\\2\\3" >val/cat/$i.pgm; done
run aplingest -q val val.db
run apldata stream val.db --scale normalise --dtype f32
run apldata serve val.db --socket s --ranks 0 --scale normalise --dtype f32
run apldata bench val.db --scale normalise --dtype f32
apldata info test.db | grep -A 4 deviation

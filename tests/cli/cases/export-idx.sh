# The files of MNIST, which are big-endian.
exec 2>&1
run apldata export "$SHARED/store" out --format idx
ls -A out
head -c 20 out/t10k-images-idx4-ubyte | od -An -tx1
tail -c +21 out/t10k-images-idx4-ubyte | head -c 3072 | cmp - <(apldata get "$SHARED/store" 750 --fields image --format raw)
head -c 8 out/train-labels-idx1-ubyte | od -An -tx1
tail -c +9 out/train-labels-idx1-ubyte | cmp - <(apldata get "$SHARED/store" $(seq 0 749) --fields label --format raw)
cp -r "$CLI/../golden/kept" .
run apldata export kept refused --format idx
run apldata export kept label --format idx --fields label
ls -A label .

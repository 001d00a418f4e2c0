apldata export "$SHARED/pstore" out --format npy
ls -A out
head -c 80 out/test_image.npy | tail -c 70
echo
tail -c +129 out/test_image.npy | head -c 3072 | cmp - <(apldata get "$SHARED/store" 750 --fields image --format raw)
echo "# text that NumPy would cut"
mkdir texts && printf 'a\0b' >texts/1.txt && printf 'c\0' >texts/2.txt
tar -cf texts.tar -C texts 1.txt 2.txt
aplingest -q --format webdataset texts.tar texts.db
run apldata export texts.db cut --format npy 2>&1
run apldata export -q texts.db cut --format npy --fields __key__
ls cut

python=${APL_PYTHON:-python3}
"$python" -c 'import numpy' 2>/dev/null || skip "there is no numpy"
"$python" - <<'P'
import glob, numpy
for name in sorted(glob.glob("out/*")):
    a = numpy.load(name)
    print(name, a.dtype, a.shape, a.flat[0])
P

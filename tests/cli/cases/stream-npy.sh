apldata export -q "$SHARED/store" out --format npy
apldata stream "$SHARED/store" --format npy --ids --batch-size 200 --pad 2 --crop 30x28 --flip random --dtype f32 \
    --layout nhwc --epochs 2 >augmented
apldata stream "$SHARED/store" --format npy --ids --batch-size 200 >plain
head -c 80 plain | tail -c 70
echo
python=${APL_PYTHON:-python3}
"$python" -c 'import numpy' 2>/dev/null || skip "there is no numpy"
"$python" - <<'P'
import numpy
images, labels = numpy.load("out/train_image.npy"), numpy.load("out/train_label.npy")
with open("plain", "rb") as f:
    seen = []
    while f.peek(1):
        ids, x, y = numpy.load(f), numpy.load(f), numpy.load(f)
        print(ids.dtype, ids.shape, x.dtype, x.shape, y.dtype, y.shape, (x == images[ids]).all(), (y == labels[ids]).all())
        seen += list(ids)
    print(sorted(seen) == list(range(750)))
with open("augmented", "rb") as f:
    while f.peek(1):
        ids, x, y = numpy.load(f), numpy.load(f), numpy.load(f)
        print(x.dtype, x.shape, 0 <= x.min() < x.max() <= 1, (y == labels[ids]).all())
P

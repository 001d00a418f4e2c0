#!/bin/sh
# Tries a wheel where it is to run: below a folder with another distribution's root, as root.
#
#   tools/wheels/try.sh WHEEL ROOT    ROOT, such as by: debootstrap --variant=minbase --include=python3,python3-venv trixie ROOT
#
# With Python 3.11 or later there, the wheel is installed beside NumPy, writes a store and reads it; otherwise its commands run,
# which need nothing but the C library.
set -eu
wheel=$1 root=$2
tried=$root/tmp/apl-tried
rm -rf "$tried"
mkdir -p "$tried"
cp "$wheel" "$tried"
cp /etc/resolv.conf "$root/etc/resolv.conf"
# The loader finds libraries beside a program by /proc.
if [ ! -e "$root/proc/self" ]; then
    mount -t proc proc "$root/proc"
    trap 'umount "$root/proc"' EXIT
fi
cat >"$tried/loads.py" <<'END'
import numpy as np, apldata
from apldata import _ingest

with apldata.Writer("db", {"image": ("u8", (3, 8, 8)), "label": "u8"}) as writer:
    numbers = np.arange(19200, dtype=np.uint8)
    writer.extend(image=numbers.reshape(100, 3, 8, 8), label=numbers[:100])
loader = apldata.Loader("db", split="train", batch_size=20, seed=1)
assert sum(int(batch["label"].astype(int).sum()) for batch in loader) == 4950
END
cat >"$tried/try.sh" <<'END'
set -eu
cd /tmp/apl-tried
export PATH=/usr/local/bin:/usr/bin:/bin
if python3 -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    python3 -m venv venv
    venv/bin/pip -q --disable-pip-version-check install --only-binary :all: *.whl
    venv/bin/python loads.py
    bin=venv/bin
else
    bin=wheel/apldata/bin
    chmod +x $bin/*
fi
$bin/apldata --version
$bin/aplingest --version
mkdir -p images/train/a images/train/b
printf 'P6\n2 2\n255\n123456789012' | tee images/train/a/1.ppm images/train/a/2.ppm images/train/b/3.ppm >/dev/null
$bin/aplingest -q images photos
$bin/apldata verify -q photos
$bin/apldata info photos | head -n 1
END
(cd "$tried" && python3 -m zipfile -e ./*.whl wheel)
chroot "$root" sh /tmp/apl-tried/try.sh
echo "$(basename "$wheel") works below $root: $(chroot "$root" sh -c '. /etc/os-release; echo "$PRETTY_NAME"; ldd --version 2>&1 | head -n 1' | paste -sd,)"
rm -rf "$tried"

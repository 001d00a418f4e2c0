"""A second reader of split files, written from docs/FORMAT.md alone: plain Python on top of format_reader.py.

    format_splits.py STORE...

Reads every split file beside each store and computes anew which side every record is on. Prints a line a file; exits
with 1 if anything disagrees.
"""

import glob
import os
import sys

from format_reader import INPUT, Bytes, Wrong, check_xxh3, frame, must, read_store, siphash, xxhash

HASH, STRATIFIED = 1, 2
M32 = (1 << 32) - 1


class Split:
    def __init__(self, data):
        must(data[:4] == b"APLP", "magic")
        c = Bytes(data[:-8])
        c.take(4)
        major, _, size = c.numbers("HHQ")
        must(major == 1 and size == len(data), "version or size")
        check_xxh3(data[:-8], int.from_bytes(data[-8:], "little"), "checksum")
        self.content = c.take(32)
        self.rule = c.number("B")
        c.take(3)
        self.generation, self.ratio, self.seed, self.first, self.count, part, rest = c.numbers("IQQQQQQ")
        self.name, self.parent, self.source, self.field = (c.text() for _ in range(4))
        self.part, self.rest = self.table(c), self.table(c)
        must((len(self.part), len(self.rest)) == (part, rest), "counts")
        must(not self.part & self.rest, "a record on two sides")

    def table(self, c):
        """The ids that are marked."""
        coding, size = c.number("B"), c.number("Q")
        data, size = c.take(size), (self.count + 7) // 8
        bits = int.from_bytes(frame(data, size) if coding else data, "little")
        must(bits >> self.count == 0, "marks behind the last record")
        return {self.first + i for i in range(self.count) if bits >> i & 1}


def record_hashes(manifest, columns):
    inputs = [column for field, column in zip(manifest.fields, columns) if field.mark == INPUT]
    for values in zip(*inputs):
        data = b"".join(values)
        digest = xxhash.XXH3_128bits(data, len(data))
        yield digest.low, digest.high


def keys(split):
    p = [siphash(0x0706050403020100, 0x0F0E0D0C0B0A0908, split.seed, 8, i) for i in (0, 1)]
    return [siphash(*p, split.generation, i) for i in (0, 1)]


def share(ratio, n):
    return ((ratio >> 32) * n + ((ratio & M32) * n >> 32) + (1 << 31)) >> 32


def stratified(split, hashes, order, classes):
    groups = {}
    for i in split.part | split.rest:
        low, high = hashes[i]
        groups.setdefault((order[i], high, low), []).append(i)
    by_class = {}
    for key, ids in groups.items():
        by_class.setdefault(min(classes[i] for i in ids), []).append((key, ids))
    part = set()
    for members in by_class.values():
        wanted, taken = share(split.ratio, sum(len(ids) for _, ids in members)), 0
        for _, ids in sorted(members):
            taken += len(ids)
            if taken > wanted:
                break
            part.update(ids)
    return part


def check_split(path, manifest, columns, hashes):
    with open(path, "rb") as f:
        split = Split(f.read())
    must(os.path.basename(path) == split.name + ".split", "name")
    must(split.content == manifest.content, "content digest")
    must((split.source, split.first, split.count) in [tuple(s) for s in manifest.splits], "split of the source")
    k = keys(split)
    order = {i: siphash(*k, *hashes[i]) for i in split.part | split.rest}
    if split.rule == HASH:
        part = {i for i, h in order.items() if h < split.ratio}
    else:
        names = [f.name for f in manifest.fields]
        classes = [int.from_bytes(v, "little") for v in columns[names.index(split.field)]]
        part = stratified(split, hashes, order, classes)
    must(part == split.part, "a record on the wrong side")
    print(f"{path}: {len(split.part)} of {len(order)} records of {split.parent}")


def main(stores):
    if not xxhash:
        print("the rule is not checked, for want of libxxhash")
        return
    for store in stores:
        manifest, columns, _ = read_store(store)
        hashes = list(record_hashes(manifest, columns))
        paths = sorted(glob.glob(os.path.join(store, "*.split")))
        must(paths, f"{store}: no split files")
        for path in paths:
            try:
                check_split(path, manifest, columns, hashes)
            except Wrong as e:
                raise Wrong(f"{path}: {e}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Wrong as e:
        sys.exit(f"{e}")

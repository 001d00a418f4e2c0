"""A second reader of split files, written from docs/FORMAT.md alone: plain Python on top of format_reader.py.

    format_splits.py STORE...

Reads every split file beside each store and computes by itself which side every record is on. Prints a line a
file; exits with 1 if anything disagrees.
"""

import collections
import glob
import os
import sys

from format_bytes import Bytes, Wrong, check_xxh3, frame, must, xxhash
from format_manifest import INPUT, POSITION
from format_reader import read_store, siphash

HASH, STRATIFIED, PARTS_HASH, PARTS_STRATIFIED, PARTS_DIRICHLET = 1, 2, 3, 4, 5
BY_CONTENT, BY_KEY, BY_ID, BY_GROUP = range(4)
UNIT = 1000000
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
        rule = c.number("B")
        self.rule, self.by = rule % 16, rule // 16
        c.take(3)
        self.generation, self.ratio, self.seed, self.first, self.count, part, rest = c.numbers("IQQQQQQ")
        self.name, self.parent, self.source, self.field = (c.text() for _ in range(4))
        must(1 <= self.rule <= PARTS_DIRICHLET and self.by <= BY_GROUP, "rule")
        self.group = c.text() if self.by == BY_GROUP else None
        self.part, self.rest = self.table(c), self.table(c)
        must((len(self.part), len(self.rest)) == (part, rest), "counts")
        must(not self.part & self.rest, "a record on two sides")
        self.number = self.parts = self.concentration = 0
        if self.rule >= PARTS_HASH:
            self.number, self.parts, self.concentration = c.numbers("IIQ")
            must(self.number < self.parts, "number of the part")
            must((self.rule == PARTS_DIRICHLET) == (self.concentration > 0), "concentration")

    def table(self, c):
        """The ids that are marked."""
        coding, size = c.number("B"), c.number("Q")
        data, size = c.take(size), (self.count + 7) // 8
        bits = int.from_bytes(frame(data, size) if coding else data, "little")
        must(bits >> self.count == 0, "marks behind the last record")
        return {self.first + i for i in range(self.count) if bits >> i & 1}


def record_hashes(manifest, columns):
    inputs = [column for field, column in zip(manifest.fields, columns) if field.role == INPUT]
    for values in zip(*inputs):
        data = b"".join(values)
        digest = xxhash.XXH3_128bits(data, len(data))
        yield digest.low, digest.high


def source_keys(manifest, columns):
    """Number of the member and row there, of each record."""
    roles = [field.role for field in manifest.fields]
    positions = range(len(columns[0]))
    if POSITION in roles:
        positions = [int.from_bytes(v, "little") for v in columns[roles.index(POSITION)]]
    by_position = [(m << 32) + row for _, _, m, _, count in manifest.members for row in range(count)]
    return [(by_position[p], 0) for p in positions]


def units(split, manifest, columns, hashes):
    """What each record is known by: (low, high)."""
    if split.by == BY_KEY:
        return source_keys(manifest, columns)
    if split.by == BY_ID:
        return [(i, 0) for i in range(len(hashes))]
    if split.by == BY_GROUP:
        names = [f.name for f in manifest.fields]
        digests = (xxhash.XXH3_128bits(v, len(v)) for v in columns[names.index(split.group)])
        return [(d.low, d.high) for d in digests]
    return hashes


def keys(split):
    p = [siphash(0x0706050403020100, 0x0F0E0D0C0B0A0908, split.seed, 8, i) for i in (0, 1)]
    return [siphash(*p, split.generation, i) for i in (0, 1)]


def share(ratio, n):
    return ((ratio >> 32) * n + ((ratio & M32) * n >> 32) + (1 << 31)) >> 32


def classes_of(split, hashes, order, classes):
    """Of each class its groups, in order: lists of ids."""
    groups = {}
    for i in split.part | split.rest:
        low, high = hashes[i]
        groups.setdefault((order[i], high, low), []).append(i)
    by_class = {}
    for key, ids in groups.items():
        counts = collections.Counter(classes[i] for i in ids)
        cls = min(counts, key=lambda c: (-counts[c], c)) if split.by == BY_GROUP else min(counts)
        by_class.setdefault(cls, []).append((key, ids))
    return {cls: [ids for _, ids in sorted(members)] for cls, members in by_class.items()}


def bound(split, number, n):
    """How many records of a class of n go to the parts 0 to number."""
    if split.rule == STRATIFIED:
        return n if number else share(split.ratio, n)
    return (2 * (number + 1) * n + split.parts) // (2 * split.parts)


def cut(split, groups):
    """The number of the part of each group of a class."""
    n, taken, number = sum(map(len, groups)), 0, 0
    for ids in groups:
        taken += len(ids)
        while taken > bound(split, number, n):
            number += 1
        yield number


def deal(split, k, cls, groups):
    """The same by the urn."""
    fresh, dealt = split.parts * split.concentration, []
    for g in range(len(groups)):
        weight = fresh + g * UNIT
        attempt, x = 0, siphash(*k, cls, g, 0)
        while x < (1 << 64) % weight:
            attempt += 1
            x = siphash(*k, cls, g, attempt)
        x %= weight
        dealt.append(x // split.concentration if x < fresh else dealt[(x - fresh) // UNIT])
    return dealt


def by_class(split, k, hashes, order, classes):
    """The ids of the part."""
    part = set()
    for cls, groups in classes_of(split, hashes, order, classes).items():
        numbers = deal(split, k, cls, groups) if split.rule == PARTS_DIRICHLET else cut(split, groups)
        for ids, number in zip(groups, numbers):
            if number == split.number:
                part.update(ids)
    return part


def check_split(path, manifest, columns, hashes):
    with open(path, "rb") as f:
        split = Split(f.read())
    must(os.path.basename(path) == split.name + ".split", "name")
    must(split.content == manifest.content, "content digest")
    place = (split.source, split.first, split.count)
    must(place in [tuple(s) for s in manifest.splits], "split of the source")
    names = {split.name, f"{split.parent}-{split.name}"} | ({split.parent} if split.generation else set())
    must(not names & {s[0] for s in manifest.splits}, "a name of the source")
    k = keys(split)
    hashes = units(split, manifest, columns, hashes)
    order = {i: siphash(*k, *hashes[i]) for i in split.part | split.rest}
    if split.rule == HASH:
        part = {i for i, h in order.items() if h < split.ratio}
    elif split.rule == PARTS_HASH:
        part = {i for i, h in order.items() if h * split.parts >> 64 == split.number}
    else:
        names = [f.name for f in manifest.fields]
        classes = [int.from_bytes(v, "little") for v in columns[names.index(split.field)]]
        part = by_class(split, k, hashes, order, classes)
    must(part == split.part, "a record on the wrong side")
    print(f"{path}: {len(split.part)} of {len(order)} records of {split.parent}")


def main(stores):
    if not xxhash:
        print("the rule is not checked, for lack of libxxhash")
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
                raise Wrong(f"{path}: {e}") from None


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Wrong as e:
        sys.exit(f"{e}")

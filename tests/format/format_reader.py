"""A second reader of stores, written from docs/FORMAT.md alone: plain Python, py-lmdb and the zstd command;
format_*.py beside it are its parts.

    format_reader.py [--digest DIGEST] STORE...

Reads every field of every record, and compares checksums, record hashes, digests, statistics and the order of
shuffled stores with what the store says, and with a digest that it must have. Prints a line a store; exits with 1 if anything disagrees. Without
libxxhash the XXH3 checks are left out, and the line says so.
"""

import hashlib
import os
import shutil
import struct
import sys

try:
    import lmdb
except ImportError:
    lmdb = None

from format_bytes import Bytes, Wrong, check_xxh3, must, xxhash
from format_codecs import decode
from format_indexed import read_indexed
from format_manifest import INDEXED, INPUT, KEPT, POSITION, TARGET, Manifest

RUN = 1024


# ---------------------------------------------------------------------------------------------- the blocks


def images(field, raw, n):
    """The image of each value of a column: varying dimensions and elements."""
    out, v = [], field.varying
    at = 4 * v * n
    for i in range(n):
        head = raw[4 * v * i : 4 * v * (i + 1)]
        size = field.value_bytes(struct.unpack(f"<{v}I", head))
        must(at + size <= len(raw), "values reach beyond their column")
        out.append(head + raw[at : at + size])
        at += size
    must(at == len(raw), "bytes behind the values of a column")
    return out


def kept_index(coded, n):
    """Of each value of a kept column where it lies in the coded bytes, its size and its checksum."""
    c = Bytes(coded)
    sizes, sums = c.numbers("I" * n), c.numbers("Q" * n)
    places, at = [], c.at
    for size, checksum in zip(sizes, sums):
        places.append((at, size, checksum))
        at += size
    must(at == len(coded), "values of a kept column")
    return places


def read_kept(coded, coded_sum, n, field):
    """The raw bytes: the sizes, and the values, each with a checksum of its own."""
    check_xxh3(coded[: 12 * n], coded_sum, f"{field.name}: index")
    values = []
    for i, (at, size, checksum) in enumerate(kept_index(coded, n)):
        values.append(coded[at : at + size])
        check_xxh3(values[-1], checksum, f"{field.name}: value {i}")
    return coded[: 4 * n] + b"".join(values)


class Totals:
    def __init__(self):
        self.raw = self.coded = 0
        self.indexed = self.progressive = 0
        self.colours = []  # of each value of an indexed field
        self.codecs = set()


def read_block(data, manifest, place, totals):
    """The images of the block's values, field by field."""
    segment, _, first, _, n = place
    fields = manifest.fields
    c = Bytes(data)
    must(c.take(4) == b"APLB", "no block")
    head, checksum = c.numbers("IQ")
    must(head == 40 + 40 * len(fields) + 16 * n, "size of the header")
    check_xxh3(data[16:head], checksum, "header")
    must(c.numbers("IIQI") == [n, segment, first, len(fields)], "the block belongs elsewhere")
    c.take(4)
    entries = []
    for _ in fields:
        codec = c.number("B")
        c.take(7)
        entries.append((codec, *c.numbers("QQQQ")))
    hashes = [c.take(16) for _ in range(n)]
    must(c.at == head, "the header")
    columns = []
    for field, total, (codec, raw_size, coded_size, raw_sum, coded_sum) in zip(fields, totals, entries):
        coded = c.take(coded_size)
        kept = None if field.media is None else KEPT if field.indexed is None else INDEXED
        must(codec == kept or (kept is None and codec not in (KEPT, INDEXED)), f"{field.name}: codec {codec}")
        if codec == KEPT:
            raw = read_kept(coded, coded_sum, n, field)
        elif codec == INDEXED:
            raw, indexed, progressive, colours = read_indexed(coded, coded_sum, n, field.name)
            total.indexed += indexed
            total.progressive += progressive
            total.colours += colours
        else:
            check_xxh3(coded, coded_sum, f"{field.name}: coded bytes")
            raw = decode(codec, coded, raw_size, n, field)
        must(len(raw) == raw_size, f"{field.name}: size")
        check_xxh3(raw, raw_sum, f"{field.name}: raw bytes")
        columns.append(images(field, raw, n))
        total.raw += raw_size
        total.coded += coded_size
        total.codecs.add(codec)
    must(c.left() == 0, "bytes behind the last column")
    check_hashes(fields, columns, hashes)
    return columns


def check_hashes(fields, columns, hashes):
    if not xxhash:
        return
    inputs = [column for field, column in zip(fields, columns) if field.role == INPUT]
    for i, stored in enumerate(hashes):
        value = b"".join(column[i] for column in inputs)
        found = xxhash.XXH3_128bits(value, len(value))
        must(struct.pack("<QQ", found.low, found.high) == stored, f"hash of record {i} of the block")


# ---------------------------------------------------------------------------------------- digests and sums


def field_digest(values):
    runs = (values[at : at + RUN] for at in range(0, len(values), RUN))
    return hashlib.sha256(b"".join(hashlib.sha256(b"".join(run)).digest() for run in runs)).digest()


def content_digest(manifest):
    sha = hashlib.sha256()
    for f in manifest.fields:
        if f.role in (INPUT, TARGET):
            sha.update(f.name.encode() + b"\0" + bytes((f.role, f.dtype, len(f.shape), 0)))
            sha.update(struct.pack(f"<{len(f.shape)}q", *f.shape) + f.digest)
    return sha.digest()


def plane_colours(value):
    """What an image of pixels adds to IMAGES, or None: grey counts as three colours, alpha as none."""
    channels, height, width = struct.unpack_from("<3I", value)
    size = height * width
    if not 1 <= channels <= 4 or not size:
        return None
    planes = [value[12 + c * size : 12 + (c + 1) * size] for c in ((0, 0, 0) if channels < 3 else (0, 1, 2))]
    return (1, size, *map(sum, planes), *(sum(x * x for x in p) for p in planes), 0, 0, 0)


def check_colours(manifest, stored, field, of_files, values):
    taken = of_files if field.media else map(plane_colours, values)
    sums = [sum(parts) for parts in zip(*(t for t in taken if t))]
    must(stored or not sums or manifest.minor < 3, f"{field.name}: sums over images are missing")
    products = len(stored) > 11 or field.colours() == 0
    must(products or not stored or manifest.minor < 5, f"{field.name}: products of colours are missing")
    must(sums[: len(stored)] == stored, f"{field.name}: sums over images: {stored}, not {sums}")


def check_statistics(manifest, columns, totals):
    for s, (_, first, count) in enumerate(manifest.splits):
        for f, field in enumerate(manifest.fields):
            values = [v[4 * field.varying :] for v in columns[f][first : first + count]]
            if (s, f) in manifest.moments:
                check_moments(manifest.moments[s, f], field.channels(), values, field.name)
            if field.colours() is not None:
                of_files, part = totals[f].colours[first : first + count], columns[f][first : first + count]
                check_colours(manifest, manifest.colours.get((s, f), []), field, of_files, part)
            if (s, f) in manifest.class_counts:
                counts = [0] * len(field.classes)
                for v in values:
                    counts[int.from_bytes(v, "little")] += 1
                must(counts == manifest.class_counts[s, f], f"{field.name}: class counts")


def check_moments(stored, channels, values, name):
    must(len(stored) == channels, f"{name}: channels")
    for c, (elements, total, squares) in enumerate(stored):
        parts = [v[c * (len(v) // channels) : (c + 1) * (len(v) // channels)] for v in values]
        must(elements == sum(map(len, parts)), f"{name}: elements")
        must(total == sum(map(sum, parts)), f"{name}: sum")
        must(squares == sum(x * x for part in parts for x in part), f"{name}: squares")


# ------------------------------------------------------------------------------------------- shuffled stores

M64 = (1 << 64) - 1


def siphash(k0, k1, *words):
    v0, v1 = k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D
    v2, v3 = k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573

    def rotate(x, b):
        return (x << b | x >> 64 - b) & M64

    def rounds(n):
        nonlocal v0, v1, v2, v3
        for _ in range(n):
            v0, v2 = v0 + v1 & M64, v2 + v3 & M64
            v1, v3 = rotate(v1, 13) ^ v0, rotate(v3, 16) ^ v2
            v0 = rotate(v0, 32)
            v2, v0 = v2 + v1 & M64, v0 + v3 & M64
            v1, v3 = rotate(v1, 17) ^ v2, rotate(v3, 21) ^ v0
            v2 = rotate(v2, 32)

    for m in (*words, len(words) * 8 << 56 & M64):
        v3 ^= m
        rounds(2)
        v0 ^= m
    v2 ^= 0xFF
    rounds(4)
    return v0 ^ v1 ^ v2 ^ v3


def check_order(manifest, positions):
    root = 0x0706050403020100, 0x0F0E0D0C0B0A0908
    k0, k1 = (siphash(*root, manifest.seed, 1, i) for i in (0, 1))
    expected = []
    for s in range(len(manifest.splits)):
        keyed = []
        for _, split, m, first, count in manifest.members:
            if split == s:
                keyed += [(siphash(k0, k1, m << 32 | r), m << 32 | r, first + r) for r in range(count)]
        expected += [position for _, _, position in sorted(keyed)]
    must(positions == expected, "the order of the records")


# ------------------------------------------------------------------------------------------------- the whole


def read_store(path):
    with lmdb.open(path, readonly=True, lock=False) as env, env.begin() as txn:
        values = {struct.unpack(">III", key): bytes(value) for key, value in txn.cursor()}
    must((1, 0, 0) in values, "no manifest")
    manifest = Manifest(values.pop((1, 0, 0)))
    manifest.check()
    columns = [[] for _ in manifest.fields]
    totals = [Totals() for _ in manifest.fields]
    for i, place in enumerate(manifest.blocks()):
        key = (2, place[0], place[1])
        must(key in values, f"block {key} is missing")
        try:
            found = hashlib.sha256(values[key]).digest()
            must(not manifest.digests or found == manifest.digests[i], "digest")
            for column, part in zip(columns, read_block(values.pop(key), manifest, place, totals)):
                column += part
        except Wrong as e:
            raise Wrong(f"block {key}: {e}") from None
    must(not any(key[0] <= 2 for key in values), "blocks that the manifest does not know")
    return manifest, columns, totals


def check_whole(manifest, columns, totals):
    manifest.check_minor()
    for field, column, total in zip(manifest.fields, columns, totals):
        must(field_digest(column) == field.digest, f"{field.name}: digest")
        must((field.raw, field.coded) == (total.raw, total.coded), f"{field.name}: bytes in all")
        must((field.indexed or 0) == total.indexed, f"{field.name}: indexed values")
        must(field.progressive == total.progressive, f"{field.name}: values of progressive files")
    must(content_digest(manifest) == manifest.content, "content digest")
    check_statistics(manifest, columns, totals)
    if manifest.shuffled:
        position = manifest.fields[-1]
        must(position.role == POSITION, "a shuffled store without positions")
        check_order(manifest, [int.from_bytes(v, "little") for v in columns[-1]])


def check_store(path, digest):
    manifest, columns, totals = read_store(path)
    must(digest is None or manifest.digest == digest, "the digest is not the one expected")
    check_whole(manifest, columns, totals)
    codecs = sorted(set().union(*(t.codecs for t in totals)))
    note = "" if xxhash else "; XXH3 left out for lack of libxxhash"
    print(
        f"{path}: {manifest.records} records, {len(manifest.fields)} fields, codecs {codecs}, "
        f"content {manifest.content.hex()}{note}"
    )


def main(paths):
    if not lmdb or not shutil.which("zstd"):
        print(f"skipped format reader ({'no py-lmdb' if not lmdb else 'no zstd command'})")
        return 0
    status, digest = 0, None
    if paths[:1] == ["--digest"]:
        digest, paths = bytes.fromhex(paths[1]), paths[2:]
    for path in paths:
        try:
            check_store(path, digest)
        except Wrong as e:
            print(f"{os.fspath(path)}: {e}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

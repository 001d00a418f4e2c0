"""A second reader of stores, written from docs/FORMAT.md alone: plain Python, py-lmdb and the zstd command.

    format_reader.py STORE...

Reads every field of every record, and compares checksums, record hashes, digests, statistics and the order of
shuffled stores with what the store says. Prints a line a store; exits with 1 if anything disagrees. Without
libxxhash the XXH3 checks are left out, and the line says so.
"""

import ctypes
import ctypes.util
import hashlib
import os
import re
import shutil
import struct
import subprocess
import sys

try:
    import lmdb
except ImportError:
    lmdb = None


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


try:
    xxhash = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
    xxhash.XXH3_64bits.argtypes = xxhash.XXH3_128bits.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
    xxhash.XXH3_64bits.restype, xxhash.XXH3_128bits.restype = ctypes.c_uint64, Hash128
except OSError:
    xxhash = None

U8, UTF8 = 1, 14
ELEMENT_BYTES = dict(zip(range(1, 15), (1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 1, 1)))
INPUT, TARGET, NAME, POSITION = 1, 2, 3, 4
RAW, ZSTD, SHUFFLE, DELTA, PICTURE, KEPT = range(6)
REQUIRED = 1
MEDIA_TYPE = r"[a-z0-9][-a-z0-9!#$&^_.+]*/[a-z0-9][-a-z0-9!#$&^_.+]*"
RUN = 1024


class Wrong(Exception):
    pass


def must(condition, what):
    if not condition:
        raise Wrong(what)


class Bytes:
    """Numbers from the front of some bytes."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        must(self.at + n <= len(self.data), "cut")
        self.at += n
        return self.data[self.at - n : self.at]

    def number(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize(form)))[0]

    def numbers(self, forms):
        return [self.number(form) for form in forms]

    def text(self):
        return self.take(self.number("H")).decode()

    def left(self):
        return len(self.data) - self.at


def xxh3_64(data):
    return xxhash.XXH3_64bits(bytes(data), len(data))


def check_xxh3(data, expected, what):
    if xxhash:
        must(xxh3_64(data) == expected, f"{what}: XXH3-64")


# --------------------------------------------------------------------------------------------- the manifest


class Field:
    def __init__(self, c):
        self.name = c.text()
        self.dtype, self.role, dims, self.codec = c.numbers("BBBB")
        self.level = c.number("b")
        c.take(3)
        self.shape = c.numbers("q" * dims)
        self.raw, self.coded = c.numbers("QQ")
        self.digest = c.take(32)
        self.classes, self.media = [], None
        self.element = ELEMENT_BYTES[self.dtype]
        self.varying = sum(d == -1 for d in self.shape)

    def value_bytes(self, varying=()):
        varying, size = list(varying), self.element
        for d in self.shape:
            size *= varying.pop(0) if d == -1 else d
        return size

    def channels(self):
        if self.dtype != U8 or self.role != INPUT or self.media:
            return 0
        return self.shape[0] if len(self.shape) == 3 and 1 <= self.shape[0] <= 64 else 1


class Manifest:
    def __init__(self, data):
        c = Bytes(data)
        must(c.take(4) == b"APLM", "no manifest")
        self.major, self.minor, size, checksum = c.numbers("HHQQ")
        must(self.major == 1, f"format {self.major}.{self.minor} is not known")
        must(size == len(data), "the manifest's size")
        check_xxh3(data[24:], checksum, "manifest")
        self.fields, self.splits, self.members, self.segments = [], [], [], []
        self.moments, self.class_counts = {}, {}
        self.tool = self.source = None
        while c.left():
            tag, flags, length = c.numbers("HHI")
            self.entry(tag, flags, Bytes(c.take(length)))

    def entry(self, tag, flags, c):
        if tag == 1:
            self.records, self.block, store_flags, self.seed = c.numbers("QIIQ")
            self.shuffled = store_flags & 1
            self.content = c.take(32)
        elif tag == 2:
            self.tool = c.text()
        elif tag == 3:
            self.source = c.number("B"), c.take(32), c.text()
        elif tag == 4:
            self.fields.append(Field(c))
        elif tag == 5:
            field, count = c.numbers("II")
            self.fields[field].classes = [c.text() for _ in range(count)]
        elif tag == 6:
            self.splits.append((c.text(), *c.numbers("QQ")))
        elif tag == 7:
            self.members.append((c.text(), *c.numbers("IIQQ")))
        elif tag == 8:
            self.segments.append(c.numbers("IQQ"))
        elif tag == 9:
            split, field, channels = c.numbers("III")
            self.moments[split, field] = [c.numbers("QQQ") for _ in range(channels)]
        elif tag == 10:
            split, field = c.numbers("II")
            self.class_counts[split, field] = c.numbers("Q" * (c.left() // 8))
        elif tag == 12:
            self.skipped, listed = c.numbers("QI")
            must(listed <= min(self.skipped, 10000), "skipped files")
            self.skipped_files = [(c.text(), c.text()) for _ in range(listed)]
            must(c.left() == 0 and all(map(all, self.skipped_files)), "skipped files")
        elif tag == 11:
            field, media = c.number("I"), c.text()
            kept = self.fields[field]
            must((kept.dtype, kept.shape, kept.media) == (U8, [-1], None), "a kept field")
            must(re.fullmatch(MEDIA_TYPE, media), "a media type")
            kept.media = media
        else:
            must(not flags & REQUIRED, f"entry {tag} is not known")

    def check(self):
        for what, ranges in (
            ("splits", self.splits),
            ("members", self.members),
            ("segments", self.segments),
        ):
            at = 0
            for entry in ranges:
                first, count = entry[-2:]
                must(first == at, f"{what} leave a gap")
                at += count
            must(at == self.records, f"{what} do not cover the records")
        numbers = [s[0] for s in self.segments]
        must(numbers == sorted(set(numbers)), "numbers of segments")

    def blocks(self):
        """Of each block in the order of ids: segment, number, first within the segment, first id, records."""
        for number, first, count in self.segments:
            for b in range((count + self.block - 1) // self.block):
                at = b * self.block
                yield number, b, at, first + at, min(self.block, count - at)


# ----------------------------------------------------------------------------------------------- the codecs


def frame(data, size):
    result = subprocess.run(["zstd", "-dcq"], input=data, stdout=subprocess.PIPE)
    must(result.returncode == 0 and len(result.stdout) == size, "a zstd frame")
    return result.stdout


def unshuffle(data, e):
    m = len(data) // e
    out = bytearray(len(data))
    for b in range(e):
        out[b::e] = data[b * m : (b + 1) * m]
    return bytes(out)


def undo_delta(data, e):
    out, value = bytearray(), 0
    for at in range(0, len(data), e):
        value = value + int.from_bytes(data[at : at + e], "little") & (1 << 8 * e) - 1
        out += value.to_bytes(e, "little")
    return bytes(out)


def undo_prediction(residuals, h, w):
    plane = bytearray(residuals)
    for y in range(h):
        for x in range(w):
            at = y * w + x
            if x and y:
                west, north, corner = plane[at - 1], plane[at - w], plane[at - w - 1]
                low, high = (west, north) if west < north else (north, west)
                p = west + north - (low if corner < low else high if corner > high else corner)
            else:
                p = plane[at - 1] if x else plane[at - w] if y else 128
            plane[at] = plane[at] + p & 255
    return plane


def picture_planes(data, n, channels, h, w):
    """planes[channel][record], green not yet added."""
    order = {3: (1, 0, 2), 4: (1, 0, 2, 3)}.get(channels, range(channels))
    p, groups = (1, (n + 31) // 32) if n <= 256 else (2, (n + 31) // 32)
    c = Bytes(data)
    orders = [[c.number("BH"[p - 1]) for _ in range(n)] for _ in range(channels)]
    sizes = [c.numbers("I" * groups) for _ in range(channels)]
    planes = {}
    for j, channel in enumerate(order):
        must(sorted(orders[j]) == list(range(n)), "an order holds each record once")
        planes[channel] = [None] * n
        for g, size in enumerate(sizes[j]):
            members = orders[j][32 * g : 32 * g + 32]
            k = len(members)
            group = frame(c.take(size), h * w * k)
            for i, record in enumerate(members):
                planes[channel][record] = undo_prediction(group[i::k], h, w)
    must(c.left() == 0, "bytes after the last frame")
    return planes


def decode_pictures(data, n, shape):
    channels, h, w = shape if len(shape) == 3 else (1, *shape)
    planes = picture_planes(data, n, channels, h, w)
    out = bytearray()
    for record in range(n):
        for channel in range(channels):
            plane = planes[channel][record]
            if channels in (3, 4) and channel in (0, 2):
                plane = bytes(a + g - 128 & 255 for a, g in zip(plane, planes[1][record]))
            out += plane
    return bytes(out)


def decode(codec, data, raw_size, n, field):
    if codec == RAW:
        return data
    if codec == ZSTD:
        return frame(data, raw_size)
    must(field.varying == 0, "a codec for fixed shapes only")
    if codec == PICTURE:
        return decode_pictures(data, n, field.shape)
    must(codec in (SHUFFLE, DELTA), f"codec {codec} is not known")
    raw = unshuffle(frame(data, raw_size), field.element)
    return undo_delta(raw, field.element) if codec == DELTA else raw


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
        must((codec == KEPT) == (field.media is not None), f"{field.name}: codec {codec}")
        if codec == KEPT:
            raw = read_kept(coded, coded_sum, n, field)
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


def check_statistics(manifest, columns):
    for s, (_, first, count) in enumerate(manifest.splits):
        for f, field in enumerate(manifest.fields):
            values = [v[4 * field.varying :] for v in columns[f][first : first + count]]
            if (s, f) in manifest.moments:
                check_moments(manifest.moments[s, f], field.channels(), values, field.name)
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
    for place in manifest.blocks():
        key = (2, place[0], place[1])
        must(key in values, f"block {key} is missing")
        try:
            for column, part in zip(columns, read_block(values.pop(key), manifest, place, totals)):
                column += part
        except Wrong as e:
            raise Wrong(f"block {key}: {e}") from None
    must(not any(key[0] <= 2 for key in values), "blocks that the manifest does not know")
    return manifest, columns, totals


def check_store(path):
    manifest, columns, totals = read_store(path)
    for field, column, total in zip(manifest.fields, columns, totals):
        must(field_digest(column) == field.digest, f"{field.name}: digest")
        must((field.raw, field.coded) == (total.raw, total.coded), f"{field.name}: bytes in all")
    must(content_digest(manifest) == manifest.content, "content digest")
    check_statistics(manifest, columns)
    if manifest.shuffled:
        position = manifest.fields[-1]
        must(position.role == POSITION, "a shuffled store without positions")
        check_order(manifest, [int.from_bytes(v, "little") for v in columns[-1]])
    codecs = sorted(set().union(*(t.codecs for t in totals)))
    note = "" if xxhash else "; XXH3 left out for want of libxxhash"
    print(
        f"{path}: {manifest.records} records, {len(manifest.fields)} fields, codecs {codecs}, "
        f"content {manifest.content.hex()}{note}"
    )


def main(paths):
    if not lmdb or not shutil.which("zstd"):
        print(f"skipped format reader ({'no py-lmdb' if not lmdb else 'no zstd command'})")
        return 0
    status = 0
    for path in paths:
        try:
            check_store(path)
        except Wrong as e:
            print(f"{os.fspath(path)}: {e}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

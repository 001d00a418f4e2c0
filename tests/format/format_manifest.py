"""The manifest of a store, as docs/FORMAT.md has it."""

import hashlib
import math
import re

from format_bytes import Bytes, check_xxh3, must
from format_kinds import Kind, check_names

U8, UTF8 = 1, 14
ELEMENT_BYTES = dict(zip(range(1, 15), (1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 1, 1)))
INPUT, TARGET, NAME, POSITION = 1, 2, 3, 4
RAW, ZSTD, SHUFFLE, DELTA, PICTURE, KEPT, INDEXED, VARYING = range(8)
REQUIRED = 1
MEDIA_TYPE = r"[a-z0-9][-a-z0-9!#$&^_.+]*/[a-z0-9][-a-z0-9!#$&^_.+]*"


class Field:
    def __init__(self, c):
        self.name = c.text()
        self.dtype, self.role, dims, self.codec = c.numbers("BBBB")
        self.level = c.number("b")
        c.take(3)
        self.shape = c.numbers("q" * dims)
        self.raw, self.coded = c.numbers("QQ")
        self.digest = c.take(32)
        self.classes, self.media, self.kind = [], None, None
        self.indexed = None  # or how many values are
        self.progressive = 0  # of them
        self.varying_level = None  # zstd's, where the codec 7 may occur
        self.element = ELEMENT_BYTES[self.dtype]
        self.varying = sum(d == -1 for d in self.shape)
        must(self.dtype != UTF8 or self.shape[-1:] == [-1], "the shape of utf8")

    def keep(self, media):
        must((self.dtype, self.shape, self.media, self.codec) == (U8, [-1], None, 0), "a kept field")
        must(re.fullmatch(MEDIA_TYPE, media), "a media type")
        self.media = media

    def coding(self):
        """Codec and level that the writer chose."""
        return (self.codec, self.level) if self.varying_level is None else (VARYING, self.varying_level)

    def lists_texts(self):
        return self.dtype == UTF8 and len(self.shape) > 1

    def whole_shape(self, varying=()):
        varying = iter(varying)
        return [next(varying) if d == -1 else d for d in self.shape]

    def value_bytes(self, varying=()):
        return self.element * math.prod(self.whole_shape(varying))

    def channels(self):
        if self.dtype != U8 or self.role != INPUT or self.media:
            return 0
        return self.shape[0] if len(self.shape) == 3 and 1 <= self.shape[0] <= 64 else 1

    def colours(self):
        """Of what there are sums over images: 0: red, green and blue; 1: luma and chroma; None: nothing."""
        if self.dtype != U8 or self.role != INPUT:
            return None
        if self.media:
            return None if self.indexed is None else 1
        return 0 if len(self.shape) == 3 and self.shape[0] == -1 else None


class Manifest:
    def __init__(self, data):
        c = Bytes(data)
        must(c.take(4) == b"APLM", "no manifest")
        self.major, self.minor, size, checksum = c.numbers("HHQQ")
        must(self.major == 1, f"format {self.major}.{self.minor} is not known")
        must(size == len(data), "the manifest's size")
        check_xxh3(data[24:], checksum, "manifest")
        self.fields, self.splits, self.members, self.segments = [], [], [], []
        self.moments, self.class_counts, self.colours = {}, {}, {}
        self.tool = self.source = None
        self.skipped, self.skipped_files = 0, []
        self.digests, self.digest = None, None
        self.text_lists = 0
        while c.left():
            tag, flags, length = c.numbers("HHI")
            self.entry(tag, flags, Bytes(c.take(length)))
        if self.digests:
            self.digest = hashlib.sha256(data).digest()

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
            self.fields[c.number("I")].keep(c.text())
        elif tag == 13:
            field, indexed = c.numbers("IQ")
            kept = self.fields[field]
            must(kept.media is not None and kept.indexed is None, "an indexed field")
            kept.indexed = indexed
        elif tag == 16:
            field, progressive = c.numbers("IQ")
            must(1 <= progressive <= (self.fields[field].indexed or 0), "values of progressive files")
            must(self.fields[field].progressive == 0, "values of progressive files")
            self.fields[field].progressive = progressive
        elif tag == 15:
            split, field, kind = c.numbers("III")
            must(kind == self.fields[field].colours(), "sums over images: kind")
            self.colours[split, field] = c.numbers("QQqqqQQQqqq")
            images, pixels = self.colours[split, field][:2]
            must(1 <= images <= min(pixels, self.splits[split][2]), "sums over images: count")
        elif tag == 17:
            split, field = c.numbers("II")
            must(self.fields[field].colours() == 1, "products of colours: kind")
            must(len(self.colours[split, field]) == 11, "products of colours: not after sums over images")
            self.colours[split, field] += c.numbers("qqq")
        elif tag == 14:
            field, level = c.numbers("Ib")
            varying = self.fields[field]
            must(varying.dtype == U8 and len(varying.shape) == 3 and varying.varying, "varying images")
            must(varying.varying_level is None and varying.codec == 0, "varying images")
            varying.varying_level = level
        elif tag == 18:
            must(self.digests is None, "two entries with digests")
            self.digests = [c.take(32) for _ in range(c.number("Q"))]
        elif tag == 21:
            must(not self.fields and not self.text_lists, "lists of texts: twice, or behind a field")
            self.text_lists = c.number("I")
        elif tag == 19:
            field = self.fields[c.number("I")]
            must(field.kind is None, "two kinds of a field")
            field.kind = Kind(c, field, self.minor)
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
        if self.digests is not None:
            must(len(self.digests) == len(list(self.blocks())), "number of digests")
        check_names(self.fields)
        self.check_text_lists()
        numbers = [s[0] for s in self.segments]
        must(numbers == sorted(set(numbers)), "numbers of segments")

    def check_text_lists(self):
        must(self.text_lists == sum(f.lists_texts() for f in self.fields), "fields of lists of texts")

    def check_minor(self):
        """Writers state the oldest version that has everything in the store."""
        products = any(len(sums) > 11 for sums in self.colours.values())
        newest = any(f.progressive for f in self.fields)
        newer = any(f.varying_level is not None for f in self.fields)
        kinds = any(f.kind for f in self.fields)
        new = self.skipped or any(f.media for f in self.fields)
        must(
            self.minor
            == (6 if self.digests or kinds or self.text_lists else 5 if products else 4 if newest else 3 if self.colours else 2 if newer else 1 if new else 0),
            f"minor version {self.minor}",
        )

    def blocks(self):
        """Of each block in the order of ids: segment, number, first within the segment, first id, records."""
        for number, first, count in self.segments:
            for b in range((count + self.block - 1) // self.block):
                at = b * self.block
                yield number, b, at, first + at, min(self.block, count - at)

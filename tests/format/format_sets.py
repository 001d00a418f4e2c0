"""A second reader of sets, written from docs/FORMAT.md alone: plain Python on top of format_reader.py.

    format_sets.py APLDATA SET...

Reads the list of each set and all of its shards, puts their records together, and compares them with what the
program APLDATA says of the set. Prints a line a set; exits with 1 if anything disagrees.
"""

import hashlib
import json
import os
import subprocess
import sys

import numpy as np
from format_bytes import Bytes, Wrong, check_xxh3, must
from format_kinds import check_names
from format_manifest import POSITION, REQUIRED, Manifest
from format_reader import check_whole, read_store

SET, SHARD = 64, 65
FIELD, KEPT, CLASSES, DIGESTS, KIND, TEXT_LISTS = 4, 11, 5, 18, 19, 21


def varint(c):
    value, shift = 0, 0
    while True:
        byte = c.number("B")
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            must(byte or shift == 7, "a varint that is not the shortest")
            return value


def class_counts(c, field):
    counts, at = [0] * len(field.classes), 0
    for _ in range(varint(c)):
        at += varint(c)
        must(at < len(counts), "no such class")
        counts[at] = varint(c)
        must(counts[at] > 0, "a class without records")
        at += 1
    return counts


class Shard:
    """What a SHARD says of a store."""

    def __init__(self, c, fields):
        self.name, self.size, self.content = c.text(), c.number("Q"), c.take(32)
        self.block, self.seed, self.skipped, splits, members = c.numbers("IQQII")
        self.splits = [(c.text(), c.number("Q")) for _ in range(splits)]
        self.members = [(c.text(), *c.numbers("IIQ")) for _ in range(members)]
        self.fields = [(*c.numbers("BbQQQ"), c.take(32)) for _ in fields]
        self.moments, self.class_counts = {}, {}
        for s in range(splits):
            for f, field in enumerate(fields):
                if field.channels():
                    self.moments[s, f] = [c.numbers("QQQ") for _ in range(field.channels())]
                if field.classes:
                    self.class_counts[s, f] = class_counts(c, field)
        must(c.left() == 0, "bytes behind a shard")
        parts = self.name.split("/")
        must(1 <= len(self.name.encode()) <= 1024 and not {"", ".", ".."} & set(parts), "name of a shard")

    def check(self, manifest, size):
        """Is it the store of that manifest and size?"""
        m = manifest
        must((self.size, self.content, self.block) == (size, m.content, m.block), "size, content or block")
        must((self.seed, self.skipped) == (m.seed, m.skipped), "seed or skipped files")
        must(self.splits == [(name, count) for name, _, count in m.splits], "splits")
        must(self.members == [(n, s, number, count) for n, s, number, _, count in m.members], "members")
        fields = [(*f.coding(), f.raw, f.coded, f.indexed or 0, f.digest) for f in m.fields]
        must(self.fields == fields, "codecs, sizes or digests of fields")
        filled = {s for s, (_, _, count) in enumerate(m.splits) if count}
        for mine, others in ((self.moments, m.moments), (self.class_counts, m.class_counts)):
            must({k: v for k, v in mine.items() if k[0] in filled or k in others} == others, "statistics")


class List(Manifest):
    """The list of a set: its entries for fields are those of a manifest."""

    def __init__(self, data):
        c = Bytes(data)
        must(c.take(4) == b"APLS", "magic")
        major, self.minor, size, checksum = c.numbers("HHQQ")
        must(major == 1 and size == len(data), "version or size")
        check_xxh3(data[24:], checksum, "list")
        self.fields, self.shards, tags = [], [], []
        self.text_lists = 0
        self.digests, self.digest = None, None
        while c.left():
            tag, flags, length = c.numbers("HHI")
            payload = Bytes(c.take(length))
            must(tag in (CLASSES, KIND, DIGESTS) or flags & REQUIRED, f"entry {tag} is not required")
            tags.append(tag)
            if tag == SET:
                self.count, flags, self.content, self.source = (
                    *payload.numbers("II"),
                    payload.take(32),
                    payload.text(),
                )
                self.shuffled = flags & 1
            elif tag == SHARD:
                self.shards.append(Shard(payload, self.fields))
            else:
                must(tag in (FIELD, KEPT, CLASSES, KIND, DIGESTS, TEXT_LISTS), f"entry {tag} is not known")
                self.entry(tag, flags, payload)
        must(tags == sorted(tags, key=(SET, TEXT_LISTS, FIELD, KEPT, CLASSES, KIND, SHARD, DIGESTS).index), "order of entries")
        check_names(self.fields)
        self.check_text_lists()
        kinds = any(f.kind for f in self.fields)
        must(self.minor == (self.digests is not None or kinds or self.text_lists > 0), "minor version")
        if self.digests:
            self.digest = hashlib.sha256(data).digest()
            must(len(self.digests) == len(self.shards), "number of digests")
        must(self.count == len(self.shards) >= 1, "number of shards")
        for f in self.fields:
            must((f.codec, f.level, f.raw, f.coded, f.digest) == (0, 0, 0, 0, bytes(32)), "fields of a set")
        names = [shard.name for shard in self.shards]
        must(len(set(names)) == len(names), "a name comes twice")
        contents = b"".join(shard.content for shard in self.shards)
        must(self.content == hashlib.sha256(contents).digest(), "content digest")


def schema(fields):
    kinds = [f.kind and f.kind.same() for f in fields]
    return [(f.name, f.dtype, f.role, f.shape, f.media, f.classes, k) for f, k in zip(fields, kinds)]


class Whole:
    """A set as one store: of each field all values; splits and members with first id and records."""

    def __init__(self, path):
        with open(os.path.join(path, "set.apl"), "rb") as file:
            self.list = List(file.read())
        self.fields, self.stores = self.list.fields, []
        for i, shard in enumerate(self.list.shards):
            self.stores.append(self.open(path, shard))
            digest = self.stores[-1][0].digest
            must(not self.list.digests or self.list.digests[i] == digest, f"{shard.name}: digest")
        has_all = all(manifest.digest for manifest, _ in self.stores)
        must(has_all == (self.list.digests is not None), "digests of shards")
        self.splits, self.columns = [], [[] for _ in self.fields]
        self.members = {}  # of shard and member, the first id and the records
        for name in dict.fromkeys(name for shard in self.list.shards for name, _ in shard.splits):
            self.put_split(name)

    def open(self, path, shard):
        path = os.path.join(path, shard.name)
        manifest, columns, totals = read_store(path)
        check_whole(manifest, columns, totals)
        shard.check(manifest, os.path.getsize(os.path.join(path, "data.mdb")))
        must(schema(manifest.fields) == schema(self.fields), f"{shard.name}: schema")
        must(manifest.shuffled == self.list.shuffled, f"{shard.name}: shuffled")
        return manifest, columns

    def put_split(self, name):
        first = len(self.columns[0])
        for number, (manifest, columns) in enumerate(self.stores):
            for s, (split, start, count) in enumerate(manifest.splits):
                if split == name:
                    at = len(self.columns[0])
                    for field, mine, values in zip(self.fields, self.columns, columns):
                        mine += self.moved(field, values[start : start + count], at - start)
                    for m, (_, of, _, source, records) in enumerate(manifest.members):
                        if of == s:
                            self.members[number, m] = source - start + at, records
        self.splits.append((name, first, len(self.columns[0]) - first))

    def moved(self, field, values, by):
        if field.role != POSITION:
            return values
        return [(int.from_bytes(v, "little") + by).to_bytes(8, "little") for v in values]

    def sums(self, kind, f, split):
        """Of the lists that the shards have of a split and a field: `kind` is "moments" or "class_counts"."""
        found = [
            getattr(shard, kind)[s, f]
            for shard in self.list.shards
            for s, (name, _) in enumerate(shard.splits)
            if name == split and (s, f) in getattr(shard, kind)
        ]
        return np.array(found, dtype=object).sum(axis=0).tolist() if found else []

    def colours(self, f, split):
        """The sums over images that the shards themselves have."""
        found = [
            manifest.colours[s, f]
            for manifest, _ in self.stores
            for s, (name, _, _) in enumerate(manifest.splits)
            if name == split and (s, f) in manifest.colours
        ]
        return [sum(parts) for parts in zip(*found)]

    def member_list(self):
        """As they follow each other: name, split, first id, records."""
        out = []
        for split, _, _ in self.splits:
            for (number, m), (first, records) in sorted(self.members.items()):
                shard = self.list.shards[number]
                name, of, _, _ = shard.members[m]
                if shard.splits[of][0] == split:
                    out.append((f"{shard.name}/{name}", split, first, records))
        return out


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE)
    must(result.returncode == 0, f"exit status {result.returncode} of {' '.join(command[:2])}")
    return result.stdout


def compare(apldata, path):
    whole = Whole(path)
    said = json.loads(run(apldata, "info", "--json", path))
    must(said["records"] == len(whole.columns[0]), "records")
    must(said["content_sha256"] == whole.list.content.hex(), "content digest")
    must(said["digest"] == (whole.list.digest and whole.list.digest.hex()), "digest")
    must([(s["name"], s["first"], s["count"]) for s in said["splits"]] == whole.splits, "splits")
    members = [(m["name"], m["split"], m["first"], m["count"]) for m in said["members"]]
    must(members == whole.member_list(), "members")
    for split in said["splits"]:
        for f, field in enumerate(whole.fields):
            compare_statistics(whole, f, field, split)
    for field, column in zip(whole.fields, whole.columns):
        compare_values(apldata, path, field, column)
    records = len(whole.columns[0])
    print(f"{path}: {whole.list.count} shards, {records} records, content {whole.list.content.hex()}")


def of_planes(n, sums, squares, _):
    return [(s / n, q / n - (s / n) ** 2) for s, q in zip(sums, squares)]


def of_luma(n, sums, squares, products):
    """Red, green and blue, of which luma and chroma are known."""
    weights = np.array([[1, 0, 1.402], [1, -0.344136, -0.714136], [1, 1.772, 0]])
    mean, matrix = np.array(sums) / n, np.diag(np.array(squares, float))
    matrix[[0, 0, 1], [1, 2, 2]] = matrix[[1, 2, 2], [0, 0, 1]] = products
    covariance = weights @ (matrix / n - np.outer(mean, mean)) @ weights.T
    return list(zip(128 + weights @ mean, covariance.diagonal()))


def compare_colours(said, sums, field):
    products = sums[11:] or sums[8:]  # over pixels, if all shards have them
    wanted = (of_luma if field.media else of_planes)(sums[1], sums[2:5], sums[5:8], products)
    found = zip(said["mean"], np.square(said["deviation"]))
    must(np.allclose(list(found), wanted), f"{field.name}: moments, of images")


def compare_statistics(whole, f, field, split):
    if field.classes:
        counts = whole.sums("class_counts", f, split["name"])
        must(split["class_counts"][field.name] == counts, f"{field.name}: class counts")
    if field.name in split["moments"]:
        said, colours = split["moments"][field.name], whole.colours(f, split["name"])
        if colours and colours[0] >= split["count"] - split["count"] // 20:
            return compare_colours(said, colours, field)
        moments = whole.sums("moments", f, split["name"])
        means = [s / n for n, s, _ in moments]
        deviations = [(q / n - (s / n) ** 2) ** 0.5 for n, s, q in moments]
        must(np.allclose([said["mean"], said["deviation"]], [means, deviations]), f"{field.name}: moments")


def compare_values(apldata, path, field, column):
    """All values together, and some one by one: that is where they begin."""
    some = range(0, len(column), max(1, len(column) // 5))
    for ids in (range(len(column)), *([i] for i in some)):
        got = run(apldata, "get", path, *map(str, ids), "--fields", field.name, "--format", "raw", "-o", "-")
        must(got == b"".join(column[i][4 * field.varying :] for i in ids), f"{field.name}: values {ids}")


def main(apldata, *paths):
    status = 0
    for path in paths:
        try:
            compare(apldata, path)
        except Wrong as e:
            print(f"{path}: {e}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

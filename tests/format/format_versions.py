"""Rewrites a store as later versions of the format might: see "Versions" in docs/FORMAT.md.

    format_versions.py STORE OUT

Makes OUT/accepted-* , which readers of today must read, and OUT/refused-*, which they must refuse.
"""

import os
import struct
import sys

import lmdb
from format_bytes import Bytes, xxh3_64

MANIFEST = struct.pack(">III", 1, 0, 0)
FIELD, MEMBER, KEPT, SKIPPED, DIGESTS, KIND = 4, 7, 11, 12, 18, 19


def entries(manifest):
    c = Bytes(manifest[24:])
    while c.left():
        tag, flags, length = c.numbers("HHI")
        yield tag, flags, c.take(length)


def build(parts, major=1, minor=0):
    body = b"".join(struct.pack("<HHI", tag, flags, len(data)) + data for tag, flags, data in parts)
    head = b"APLM" + struct.pack("<HHQQ", major, minor, len(body) + 24, xxh3_64(body))
    return head + body


def variants(parts):
    """Name, manifest, further keys."""
    longer = [(tag, flags, data + b"later") for tag, flags, data in parts if tag not in (10,)]
    first_field = next(i for i, part in enumerate(parts) if part[0] == FIELD)
    name = Bytes(parts[first_field][2]).text().encode()
    codec = list(parts)
    tag, flags, data = codec[first_field]
    at = 2 + len(name) + 3
    codec[first_field] = tag, flags, data[:at] + b"\x63" + data[at + 1 :]
    later_kind = {struct.pack(">III", 3, 0, 0): b"of a later version"}
    yield "accepted-as-it-is", build(parts), {}
    yield "accepted-minor", build(parts, minor=9), {}
    yield "accepted-optional-entry", build([*parts, (4000, 0, b"?")]), {}
    yield "accepted-longer-payloads", build(longer), {}
    yield "accepted-kind", build(parts), later_kind
    yield "refused-major", build(parts, major=2), {}
    yield "refused-required-entry", build([*parts, (4000, 1, b"?")]), {}
    yield "refused-codec", build(codec), {}
    yield "refused-without-members", build([p for p in parts if p[0] != MEMBER]), {}
    kept = [i for i, part in enumerate(parts) if part[0] == KEPT]
    if kept:
        at = kept[0]
        yield "refused-kept-twice", build([*parts[:at], parts[at], *parts[at:]], minor=1), {}
        yield (
            "refused-no-media-type",
            build([*parts[:at], (KEPT, 1, parts[at][2][:6] + b"Image/jpeg"), *parts[at + 1 :]]),
            {},
        )
        yield (
            "refused-kept-of-no-field",
            build([*parts[:at], (KEPT, 1, b"\x40" + parts[at][2][1:]), *parts[at + 1 :]]),
            {},
        )
        yield "accepted-kept-of-1.0", build(parts), {}
    skipped = [i for i, part in enumerate(parts) if part[0] == SKIPPED]
    for name, payload in (
        ("refused-skipped-of-none", struct.pack("<QI", 1, 2) + 4 * b"\1\0a"),
        ("refused-skipped-cut", struct.pack("<QI", 2, 2) + 3 * b"\1\0a"),
        ("refused-skipped-unprintable", struct.pack("<QI", 1, 1) + b"\1\0a\1\0\n"),
        ("refused-skipped-empty", struct.pack("<QI", 1, 1) + b"\1\0a\0\0"),
    ):
        if skipped:
            at = skipped[0]
            yield name, build([*parts[:at], (SKIPPED, 0, payload), *parts[at + 1 :]]), {}
    without = [p for p in parts if p[0] != DIGESTS]
    digests = next(data for tag, _, data in parts if tag == DIGESTS)
    count = struct.unpack_from("<Q", digests)[0]
    yield "accepted-without-digests", build(without), {}
    for name, payload in (
        ("refused-digests-cut", digests[:-1]),
        ("refused-no-digests", struct.pack("<Q", 0)),
        ("refused-digests-of-fewer-blocks", struct.pack("<Q", count - 1) + digests[8:-32]),
        ("refused-digests-of-more-blocks", struct.pack("<Q", count + 1) + digests[8:] + bytes(32)),
        ("refused-digests-beyond-the-entry", struct.pack("<Q", 1 << 59) + digests[8:]),
    ):
        yield name, build([*without, (DIGESTS, 0, payload)]), {}
    yield "refused-digests-twice", build([*parts, (DIGESTS, 0, digests)]), {}
    kinds = [data for tag, _, data in parts if tag == KIND]
    if kinds:
        later = [*parts, (KIND, 0, b"\0\0\0\0" + struct.pack("<BBBB", 200, 0, 1, 0) + 6 * b"\0")]
        yield "accepted-kind-of-later", build(later, minor=9), {}
        yield "refused-kind-not-known", build(later, minor=6), {}
        yield "refused-kind-twice", build([*parts, (KIND, 0, kinds[0])], minor=6), {}
        yield "refused-kind-cut", build([*parts, (KIND, 0, b"\0\0\0\0\x0c\0\1\0\0")], minor=6), {}
        yield "accepted-without-kinds", build([p for p in parts if p[0] != KIND]), {}
    twice = [p for part in parts for p in ([part] * (2 if part[0] == 6 else 1))]
    yield "refused-two-of-a-split", build(twice), {}


def main(store, out):
    with lmdb.open(store, readonly=True, lock=False) as env, env.begin() as txn:
        values = {bytes(key): bytes(value) for key, value in txn.cursor()}
    parts = list(entries(values[MANIFEST]))
    for name, manifest, more in variants(parts):
        path = os.path.join(out, name)
        with lmdb.open(path, map_size=1 << 28, lock=False) as env, env.begin(write=True) as txn:
            for key, value in sorted({**values, MANIFEST: manifest, **more}.items()):
                txn.put(key, value)


main(*sys.argv[1:])

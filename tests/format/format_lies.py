"""Rewrites a store as an attacker might who wants training to see other pixels than those of the files.

    format_lies.py STORE OUT

Makes stores in OUT, in each of which the head of one indexed image says something else than the file that it
restores; all checksums are right. Readers must refuse them.
"""

import os
import struct
import sys

import lmdb
from format_bytes import xxh3_64
from format_indexed import Image, read_parts

INDEXED = 6


def entry_of_indexed(header):
    """Where a block's header has the entry of the column that is indexed, and the bytes in front of it."""
    before = 0
    for at in range(40, 40 + 40 * struct.unpack_from("<I", header, 32)[0], 40):
        if header[at] == INDEXED:
            return at, before
        before += struct.unpack_from("<Q", header, at + 16)[0]
    return None, 0


def plain_frame(data):
    """A zstd frame that compresses nothing."""
    out, at = struct.pack("<IBI", 0xFD2FB528, 0xA0, len(data)), 0
    while at < len(data):
        part = data[at : at + (1 << 17)]
        at += len(part)
        out += struct.pack("<I", len(part) << 3 | (at == len(data)))[:3] + part
    return out


def plain_parts(image):
    _, _, headers, fills, tail = read_parts(image)
    listed = b"" if isinstance(fills, int) else fills
    lengths = struct.pack(f"<B{len(headers)}II", len(headers), *map(len, headers), len(listed))
    return lengths + b"".join(headers) + listed + tail


def told(value, tell):
    """The value with another head; what restores the file is as it was."""
    image = Image(value)
    front = tell(bytearray(value[: image.end]))
    struct.pack_into("<I", front, 8, len(front))
    return bytes(front) + image.restoring[:13] + plain_frame(plain_parts(image))


def replace_value(block, tell):
    """The first value of the block that is indexed, of an image that has two tables; None: there is none."""
    size, n = struct.unpack_from("<I", block, 4)[0], struct.unpack_from("<I", block, 16)[0]
    entry, before = entry_of_indexed(block[:size])
    if entry is None:
        return None
    index = bytearray(block[size + before : size + before + 17 * n])
    stored, forms, at = struct.unpack_from(f"<{n}I", index), index[16 * n :], size + before + 17 * n
    for i in range(n):
        value = block[at : at + stored[i]]
        if forms[i] and value[12] == 2:
            return put_value(block, (size, before, entry), index, (i, at, told(value, tell)), stored[i])
        at += stored[i]
    return None


def put_value(block, column, index, value, old):
    (size, before, entry), (i, at, value) = column, value
    n = len(index) // 17
    struct.pack_into("<I", index, 4 * i, len(value))
    struct.pack_into("<Q", index, 8 * n + 8 * i, xxh3_64(value))
    out = bytearray(block[:at] + value + block[at + old :])
    out[size + before : size + before + len(index)] = index
    coded = struct.unpack_from("<Q", out, entry + 16)[0] + len(value) - old
    struct.pack_into("<Q", out, entry + 16, coded)
    struct.pack_into("<Q", out, entry + 32, xxh3_64(index))
    struct.pack_into("<Q", out, 8, xxh3_64(out[16:size]))
    return bytes(out)


def other_entry(front):
    front[13 + 9] ^= 2 if front[13 + 9] == 1 else 1
    return front


def other_tables(front):
    return front[:13] + b"\1" * 128 + front[13 + 128 :]


def one_table(front):
    front[12] = 1
    return front[: 13 + 64] + front[13 + 128 :]


def other_colours(front):
    front[2] = 3 - front[2]
    return front


def less_height(front):
    front[6] -= 1
    return front


def main(store, out):
    with lmdb.open(store, readonly=True, lock=False) as env, env.begin() as txn:
        values = {bytes(key): bytes(value) for key, value in txn.cursor()}
    for tell in (other_entry, other_tables, one_table, other_colours, less_height):
        blocks = ((key, replace_value(v, tell)) for key, v in values.items() if v[:4] == b"APLB")
        key, block = next((key, block) for key, block in blocks if block)
        path = os.path.join(out, tell.__name__.replace("_", "-"))
        with lmdb.open(path, map_size=1 << 28, lock=False) as env, env.begin(write=True) as txn:
            for at, value in sorted({**values, key: block}.items()):
                txn.put(at, value)


main(*sys.argv[1:])

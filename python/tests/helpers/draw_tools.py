"""The random numbers of effects: SipHash-2-4 makes a key of seed and epoch, and Philox the words."""

from __future__ import annotations

import struct

import numpy as np

EFFECTS = 11
_64 = (1 << 64) - 1


def _rotate(x: int, bits: int) -> int:
    return (x << bits | x >> (64 - bits)) & _64


def _sip_round(v: list[int]) -> None:
    for a, b, c, d, turn in ((0, 1, 2, 3, 13), (0, 3, 2, 1, 0)):
        v[a] = (v[a] + v[b]) & _64
        v[b] = _rotate(v[b], 13 if turn else 21) ^ v[a]
        v[c] = (v[c] + v[d]) & _64
        v[d] = _rotate(v[d], 16 if turn else 17) ^ v[c]
        at = 0 if turn else 2
        v[at] = _rotate(v[at], 32)


def siphash(key: tuple[int, int], *words: int) -> int:
    low, high = key
    v = [low ^ 0x736F6D6570736575, high ^ 0x646F72616E646F6D,
         low ^ 0x6C7967656E657261, high ^ 0x7465646279746573]  # fmt: skip
    for word in (*words, len(words) * 8 << 56):
        v[3] ^= word
        _sip_round(v)
        _sip_round(v)
        v[0] ^= word
    v[2] ^= 0xFF
    for _ in range(4):
        _sip_round(v)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def effect_key(seed: int, epoch: int) -> int:
    root = struct.unpack("<QQ", bytes(range(16)))
    key = siphash(root, seed, EFFECTS, 0), siphash(root, seed, EFFECTS, 1)
    return siphash(key, epoch, 0)


def words(key: int, number: int, first: int, count: int = 1) -> np.ndarray:
    """Of a record that is read for the first time: four for each of `count` numbers from `first` on."""
    x = [np.full(count, number & 0xFFFFFFFF, np.uint64), np.full(count, number >> 32, np.uint64),
         np.zeros(count, np.uint64), np.arange(first, first + count, dtype=np.uint64)]  # fmt: skip
    low, high = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        a, b = x[0] * np.uint64(0xD2511F53), x[2] * np.uint64(0xCD9E8D57)
        half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
        x = [(b >> half) ^ x[1] ^ np.uint64(low), b & mask, (a >> half) ^ x[3] ^ np.uint64(high), a & mask]
        low, high = (low + 0x9E3779B9) & 0xFFFFFFFF, (high + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack(x, axis=1).astype(np.uint32)

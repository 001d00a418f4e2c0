"""What the second reader's files share: numbers from bytes, checksums, zstd frames."""

import ctypes
import ctypes.util
import struct
import subprocess
import tempfile


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


try:
    xxhash = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
    xxhash.XXH3_64bits.argtypes = xxhash.XXH3_128bits.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
    xxhash.XXH3_64bits.restype, xxhash.XXH3_128bits.restype = ctypes.c_uint64, Hash128
except OSError:
    xxhash = None


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


def frame(data, size, prefix=b""):
    """What a frame holds; with a prefix, the content to which it refers as its dictionary."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(prefix)
        file.flush()
        refer = [f"--patch-from={file.name}"] if prefix else []
        result = subprocess.run(["zstd", "-dcq", *refer], input=data, stdout=subprocess.PIPE)
    must(result.returncode == 0 and len(result.stdout) == size, "a zstd frame")
    return result.stdout

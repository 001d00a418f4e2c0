"""Lossless codecs on small images, and the store:  lossless.py ARCHIVE DB

ARCHIVE has original images of CIFAR-10 in its binary layout, DB is the store that aplingest makes of it (with
--partial, if it has fewer than 60,000). Each codec compresses the first 2,000 images of the archive, one by one and
side by side, 128 to an image of 32 x 4096 pixels; the store is read whole, by one thread, with every block checked.
Prints sizes as a fraction of the pixels, and rates in MB of pixels a second of CPU time, the best of three. Images
that once were JPEGs make every codec look better than it is. Needs numpy, imagecodecs and apldata.
"""

import sys
import tarfile
import time
from collections.abc import Callable
from typing import Any

import imagecodecs as codecs
import numpy as np

import apldata

COUNT, SIDE, TILED = 2000, 32, 128


def webp(image: np.ndarray, method: int) -> bytes:
    return codecs.webp_encode(image, lossless=True, method=method)


def jpegxl(image: np.ndarray, effort: int) -> bytes:
    return codecs.jpegxl_encode(image, lossless=True, effort=effort)


CODECS: dict[str, tuple[Callable[[Any], bytes], Callable[[bytes], Any]]] = {
    "QOI": (codecs.qoi_encode, codecs.qoi_decode),
    "PNG (libspng, level 5)": (lambda image: codecs.spng_encode(image, level=5), codecs.spng_decode),
    "JPEG-LS": (codecs.jpegls_encode, codecs.jpegls_decode),
    "JPEG 2000": (lambda image: codecs.jpeg2k_encode(image, level=0), codecs.jpeg2k_decode),
    "WebP, method 0": (lambda image: webp(image, 0), codecs.webp_decode),
    "WebP, method 4": (lambda image: webp(image, 4), codecs.webp_decode),
    "JPEG XL, effort 1": (lambda image: jpegxl(image, 1), codecs.jpegxl_decode),
    "JPEG XL, effort 3": (lambda image: jpegxl(image, 3), codecs.jpegxl_decode),
}


def originals(archive: str) -> np.ndarray:
    """u8[COUNT, 32, 32, 3]"""
    with tarfile.open(archive) as tar:
        names = sorted(name for name in tar.getnames() if name.endswith(".bin"))
        rows = b"".join(tar.extractfile(name).read() for name in names)  # type: ignore[union-attr]
    pixels = np.frombuffer(rows, np.uint8).reshape(-1, 1 + 3 * SIDE * SIDE)[:COUNT, 1:]
    return np.ascontiguousarray(pixels.reshape(-1, 3, SIDE, SIDE).transpose(0, 2, 3, 1))


def tiled(images: np.ndarray) -> list[np.ndarray]:
    """Side by side; what is left over is left out."""
    whole = images[: len(images) // TILED * TILED].reshape(-1, TILED, SIDE, SIDE, 3)
    return [np.ascontiguousarray(some.transpose(1, 0, 2, 3).reshape(SIDE, TILED * SIDE, 3)) for some in whole]


def best(work: Callable[[], Any]) -> tuple[float, Any]:
    """The least CPU time of three, and what came of it."""
    seconds = []
    for _ in range(3):
        begun = time.process_time()
        made = work()
        seconds.append(time.process_time() - begun)
    return min(seconds), made


def measure(name: str, images: list[np.ndarray]) -> list[str]:
    encode, decode = CODECS[name]
    size = sum(image.nbytes for image in images)
    encoding, coded = best(lambda: [encode(image) for image in images])
    decoding, back = best(lambda: [decode(data) for data in coded])
    if not all(np.array_equal(a, b) for a, b in zip(images, back, strict=True)):
        sys.exit(f"{name}: is not lossless")
    fraction = sum(len(data) for data in coded) / size
    return [f"{fraction:.3f}", f"{size / encoding / 1e6:,.0f}", f"{size / decoding / 1e6:,.0f}"]


def measure_store(path: str) -> list[str]:
    with apldata.Store(path) as store:
        seconds, read = best(lambda: [store.to_numpy(split, threads=0)["image"] for split in store.splits])
        rate = sum(images.nbytes for images in read) / seconds / 1e6
        return [f"{store.info['file_bytes'] / store.info['raw_bytes']:.3f}", "-", f"{rate:,.0f}"]


def main() -> None:
    archive, path = sys.argv[1:]
    images = originals(archive)
    print("| codec | one by one: size | encode | decode | 128 together: size | encode | decode |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name in CODECS:
        print("|", " | ".join([name, *measure(name, list(images)), *measure(name, tiled(images))]), "|")
    print("|", " | ".join(["APL's store", "-", "-", "-", *measure_store(path)]), "|")


if __name__ == "__main__":
    main()

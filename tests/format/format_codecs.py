"""The codecs of columns of plain values, as docs/FORMAT.md has them."""

import struct

from format_bytes import Bytes, frame, must
from format_manifest import DELTA, PICTURE, RAW, SHUFFLE, VARYING, ZSTD


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


def order_of(channels):
    return {3: (1, 0, 2), 4: (1, 0, 2, 3)}.get(channels, range(channels))


def add_green(planes):
    """The image of planes from which green is still subtracted."""
    out = bytearray()
    for channel, plane in enumerate(planes):
        if len(planes) in (3, 4) and channel in (0, 2):
            plane = bytes(a + g - 128 & 255 for a, g in zip(plane, planes[1]))
        out += plane
    return bytes(out)


def picture_planes(data, n, channels, h, w):
    """planes[channel][record], green not yet added."""
    order = order_of(channels)
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
    return b"".join(add_green([planes[c][record] for c in range(channels)]) for record in range(n))


def decode_varying(data, n, field):
    """Images of any size, one by one."""
    c, v = Bytes(data), field.varying
    heads = [c.take(4 * v) for _ in range(n)]
    shapes = [field.whole_shape(struct.unpack(f"<{v}I", head)) for head in heads]
    pictured = [1 <= channels <= 4 and channels * h * w > 0 for channels, h, w in shapes]
    sizes = [c.numbers("I" * (shape[0] if images else 1)) for shape, images in zip(shapes, pictured)]
    out = b"".join(heads)
    for (channels, h, w), images, frames in zip(shapes, pictured, sizes):
        if images:
            planes = [None] * channels
            for channel, size in zip(order_of(channels), frames):
                planes[channel] = undo_prediction(frame(c.take(size), h * w), h, w)
            out += add_green(planes)
        else:
            count = channels * h * w
            must((frames[0] == 0) == (count == 0), "a frame of no bytes")
            out += frame(c.take(frames[0]), count) if count else b""
    must(c.left() == 0, "bytes after the last frame")
    return out


def decode(codec, data, raw_size, n, field):
    if codec == RAW:
        return data
    if codec == ZSTD:
        return frame(data, raw_size)
    if codec == VARYING:
        must(field.varying_level is not None, "the codec 7 in a field without a VARYING entry")
        return decode_varying(data, n, field)
    must(field.varying == 0, "a codec for fixed shapes only")
    if codec == PICTURE:
        return decode_pictures(data, n, field.shape)
    must(codec in (SHUFFLE, DELTA), f"codec {codec} is not known")
    raw = unshuffle(frame(data, raw_size), field.element)
    return undo_delta(raw, field.element) if codec == DELTA else raw

"""What stores, batches and loaders show of themselves: informative, one line, and never an exception."""

from __future__ import annotations

import base64
import html
import re
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import apldata
from apldata import Field, Loader, Store, Writer, _units
from apldata._sheet import png


def unpacked(data: bytes) -> np.ndarray:
    """The pixels (height, width, 3) of a PNG as `png` makes them, read by the format's own rules."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        (size,), kind = struct.unpack_from(">I", data, at), data[at + 4 : at + 8]
        chunks[kind] = data[at + 8 : at + 8 + size]
        assert struct.unpack_from(">I", data, at + 8 + size)[0] == zlib.crc32(kind + chunks[kind])
        at += 12 + size
    width, height, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert rest == [8, 2, 0, 0, 0] and list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, 1 + 3 * width)
    assert (rows[:, 0] == 2).all()
    return np.cumsum(rows[:, 1:], 0, np.uint8).reshape(height, width, 3)


def pixels_of(page: str) -> list[np.ndarray]:
    """Of each tile."""
    found = re.findall(r'src="data:image/png;base64,([^"]+)"', page)
    assert found
    return [unpacked(base64.b64decode(data)) for data in found]


def captions_of(page: str) -> list[str]:
    return [html.unescape(text) for text in re.findall(r"<span [^>]*>([^<]*)</span>", page)]


def one_line(thing: object) -> str:
    text = repr(thing)
    assert text and "\n" not in text and len(text) < 500
    return text


def test_png() -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (37, 21, 3), np.uint8)
    assert np.array_equal(unpacked(png(pixels)), pixels)
    image = pytest.importorskip("PIL.Image")
    import io

    assert np.array_equal(np.asarray(image.open(io.BytesIO(png(pixels)))), pixels)


def test_one_line_each(store: Store) -> None:
    assert all(
        word in one_line(store) for word in ("1,300 records", "train: 1,000", "image u8[3,32,32]", store.path)
    )
    assert one_line(store.schema) == "Schema(image: u8[3,32,32], label: u8)"
    assert one_line(store.schema["label"]) == "Field('label': u8, target, 10 classes)"
    with Loader(store, "test", 100) as loader:
        assert all(word in one_line(loader) for word in ("'test'", "3 batches of 100", "epoch 0"))
        batch = next(iter(loader))
    assert "closed" in one_line(loader)
    assert "Batch of 100, epoch 0, position 0: image uint8[100, 3, 32, 32], label uint8[100]" in one_line(
        batch
    )
    batch.release()
    assert "no fields" in one_line(batch) and "no fields" in batch._repr_html_()
    store.close()
    assert "closed" in one_line(store) and "closed" in store._repr_html_()


class Rude:
    """An object that answers nothing."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __repr__(self) -> str:
        raise RuntimeError


def test_objects_of_others(store: Store) -> None:
    batch = store.get([1, 2, 3])
    batch["a"], batch["b"], batch["c\n"], batch["label"] = Rude(), [Rude()], "text", Rude()
    assert "Rude" in one_line(batch)
    assert captions_of(batch._repr_html_()) == []
    batch["image"] = Rude()
    assert "<img" not in batch._repr_html_()


def test_a_sheet_of_a_batch(store: Store, drawn: dict) -> None:
    page = store.get(range(40))._repr_html_()
    tiles = pixels_of(page)
    assert len(tiles) == 32
    for tile, image in zip(tiles, drawn["train"]["image"], strict=False):
        assert np.array_equal(tile, image.transpose(1, 2, 0))
    # 32 pixels are shown as 64, and the tiles flow: as many in a row as there is room for.
    assert page.count("width:64px;height:64px") == 32 and "flex-wrap:wrap" in page
    names = store.classes or ()
    assert captions_of(page) == [names[label] for label in drawn["train"]["label"][:32]]


@pytest.mark.parametrize("more", [[], [apldata.ChannelsLast()]])
@pytest.mark.parametrize("kind", [apldata.ToFloat32, apldata.ToFloat16, apldata.ToBFloat16])
def test_floats_go_from_black_to_white(store: Store, drawn: dict, more: list[Any], kind: Any) -> None:
    with Loader(store, "train", 8, shuffle=False, transforms=[apldata.Normalize(), kind(), *more]) as loader:
        tiles = np.stack(pixels_of(next(iter(loader))._repr_html_())).astype(int)
    assert tiles.min() == 0 and tiles.max() == 255
    seen, true = tiles[0].ravel(), drawn["train"]["image"][0].transpose(1, 2, 0).ravel()
    assert np.corrcoef(seen, true)[0, 1] > 0.98


SHAPES = [(1, 28, 28), (28, 28), (28, 28, 1), (2, 20, 24), (4, 9, 9), (12, 16, 16), (3, 300, 200), (3, 4, 4)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("value", [0, 7, np.nan, np.inf])
def test_pictures_of_all_shapes(store: Store, shape: tuple[int, ...], value: float) -> None:
    batch = store.get(range(5))
    batch["image"] = np.full((5, *shape), value)
    assert all(max(pixels.shape) <= 128 for pixels in pixels_of(batch._repr_html_()))
    batch["image"] = np.random.default_rng(1).normal(size=(5, *shape))
    batch["image"][0, 0] = value
    assert any(pixels.any() for pixels in pixels_of(batch._repr_html_()))


def test_pictures_of_different_sizes(tmp_path: Path) -> None:
    pictures = [np.full((3, size, 2 * size), size, np.uint8) for size in (10, 20, 30)]
    with Writer(tmp_path / "s", {"picture": ("u8", (3, -1, -1)), "label": "i16"}) as writer:
        writer.extend(picture=pictures, label=[5, -1, 300])
    store = Store(tmp_path / "s")
    tiles = pixels_of(store.get(slice(None))._repr_html_())
    assert [tile.shape for tile in tiles] == [(size, 2 * size, 3) for size in (10, 20, 30)]
    assert [np.unique(tile).tolist() for tile in tiles] == [[10], [20], [30]]
    assert captions_of(store._repr_html_()) == ["5", "-1", "300"]


def test_pictures_that_are_files(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    import io

    files = []
    for size, level in ((300, 40), (20, 200)):
        file = io.BytesIO()
        image.new("RGB", (size, size // 2), (level, level, level)).save(file, "JPEG")
        files.append(np.frombuffer(file.getvalue(), np.uint8))
    fields = [
        Field("image", "u8", (-1,), media="image/jpeg"),
        Field("label", "u8", mark="target", classes=("<a>", "b")),
    ]
    with Writer(tmp_path / "s", fields) as writer:
        writer.extend(image=files, label=[1, 0])
    store = Store(tmp_path / "s")
    for page in (store._repr_html_(), store.get([0, 1])._repr_html_()):
        large, small = pixels_of(page)
        assert large.shape[0] < 128 and abs(int(large[10, 10, 0]) - 40) < 3
        assert small.shape == (10, 20, 3) and abs(int(small[5, 5, 0]) - 200) < 3
        assert captions_of(page) == ["b", "<a>"] and "<a>" not in page
    batch = store.get([0, 1])
    batch["image"] = [b"no image", b""]
    assert all((tile == 128).all() for tile in pixels_of(batch._repr_html_()))


def test_a_batch_as_a_table(tmp_path: Path) -> None:
    with Writer(tmp_path / "s", {"x": ("f32", (3,)), "name": str, "many": ("i32", (100,))}) as writer:
        writer.extend(x=[[1, 2, 3]], name=["<script>" + 100 * "n"], many=np.zeros((1, 100)))
    page = Store(tmp_path / "s").get([0])._repr_html_()
    cells = [html.unescape(cell) for cell in re.findall(r"<td [^>]*>([^<]*)</td>", page)]
    assert cells[:3] == ["x", "float32[1, 3]", "[1. 2. 3.]"] and cells[3] == "name"
    assert (
        cells[5].startswith("<script>nnn")
        and len(cells[5]) == 80
        and cells[6:] == ["many", "int32[1, 100]", ""]
    )


def test_tables_speak_as_commands_do(tmp_path: Path) -> None:
    with Writer(tmp_path / "s", {"boxes": ("f32", (-1, 4)), "name": str}) as writer:
        writer.extend(boxes=[np.zeros((2, 4))], name=["a"])
    page = Store(tmp_path / "s")._repr_html_()
    heads = re.findall(r"<th [^>]*>([^<]*)</th>", page)
    assert heads == ["field", "type", "role", "codec", "stored", "split", "records"]  # no column is empty
    assert ">f32[*,4]<" in page and ">utf8<" in page and "[-1" not in page
    assert re.findall(r"text-align:right[^>]*>([^<]*)", page)[-2:] == ["records", "1"]


def test_a_store_as_a_page(store: Store) -> None:
    page = store._repr_html_()
    assert all(word in page for word in ("1,300 records", "image", "u8[3,32,32]", "target", "train", "1,000"))
    assert len(captions_of(page)) == 32 and set(captions_of(page)) <= set(store.classes or ())
    assert any(pixels.any() for pixels in pixels_of(page))
    assert "part of" not in page and "role" in page and "mark" not in page
    assert page.count("<div") == page.count("</div>") and page.count("<table") == page.count("</table>") == 2


def test_foreign_names_are_escaped(tmp_path: Path) -> None:
    evil = '<script>alert("1")</script>&'
    fields = [Field("image", "u8", (1, 8, 8)), Field("b", "u8", mark="target", classes=(evil, "'\"><b>"))]
    with Writer(tmp_path / "<i>s", fields, split="<u>") as writer:
        writer.extend(image=np.zeros((2, 1, 8, 8)), b=[0, 1])
    store = Store(tmp_path / "<i>s")
    for page in (store._repr_html_(), store.get([0, 1])._repr_html_()):
        assert not re.search(r"<(script|i|u|b)>", page)
        assert captions_of(page) == [evil, "'\"><b>"]


def test_stores_without_pictures(tmp_path: Path) -> None:
    with Writer(tmp_path / "s", {"x": "u8", "name": str}) as writer:
        writer.extend(x=[1, 2], name=["a", "b"])
    store = Store(tmp_path / "s")
    assert "<img" not in store._repr_html_() and "<table" in store._repr_html_()
    assert "2 values" in one_line(store.get([0, 1])) and "<img" not in store.get([])._repr_html_()


def test_a_damaged_store(store_path: str, tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    data = bytearray(Path(store_path, "data.mdb").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "s/data.mdb").write_bytes(data)
    page = Store(tmp_path / "s")._repr_html_()
    assert "1,300 records" in page and ("block" in page or "<img" in page)


def test_sizes_in_the_unit_that_suits_them(tmp_path: Path) -> None:
    sizes = {
        0: "0 B", 999: "999 B", 1000: "1.0 kB", 999_949: "999.9 kB", 999_950: "1.0 MB",
        184_400_000: "184.4 MB", 2_345_000_000: "2.3 GB", 10**18: "1000.0 PB",
    }  # fmt: skip
    assert {count: _units.size(count) for count in sizes} == sizes
    assert (_units.share(1, 2), _units.share(2, 2)) == ("50.0 %", "100.0 %")
    assert _units.share(5, 4) == "1.25 times as much"
    with apldata.Writer(tmp_path / "s", {"x": "u8"}) as writer:
        writer.extend(x=[1, 2, 3])
    page = apldata.Store(tmp_path / "s")._repr_html_()
    assert "3 records, 3 B, stored in " in page and "times as much" in page and "0.0 MB" not in page

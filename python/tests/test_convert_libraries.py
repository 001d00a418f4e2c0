"""apldata.convert() of what other libraries have: Arrow, Parquet, pandas, polars, Pillow."""

from __future__ import annotations

import datetime
import decimal
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convert_tools import file, made, pixels, types_of

import apldata

Image = pytest.importorskip("PIL.Image")


# ------------------------------------------------------------------------------------------------- Pillow


def test_media_types(tmp_path: Path) -> None:
    jpeg, png = [{"f": file(n)} for n in range(3)], [{"f": file(n, "PNG")} for n in range(3)]
    kept = made(jpeg, tmp_path / "a")
    assert [bytes(one["f"]) for one in kept] == [row["f"] for row in jpeg]
    assert kept.schema["f"].media == "image/jpeg" and kept[0]["f_shape"].tolist() == [3, 16, 20]
    decoded = made(png, tmp_path / "b")
    assert types_of(decoded) == {"f": "u8[3,16,20]", "f_shape": "u32[3]"}
    assert (decoded[2]["f"] == pixels(2).transpose(2, 0, 1)).all()
    assert made(png, tmp_path / "c", keep_bytes=True).schema["f"].media == "image/png"
    assert types_of(made(jpeg, tmp_path / "d", keep_bytes=False))["f"] == "u8[3,16,20]"
    assert types_of(made([*png, {"f": file(1, "PNG", width=9)}], tmp_path / "e"))["f"] == "u8[-1,-1,-1]"


def test_bad_images_are_refused_or_listed(tmp_path: Path) -> None:
    rows = [{"image": file(n), "label": n} for n in range(6)]
    rows[2]["image"] = rows[2]["image"][:-40]
    rows[4]["image"] = b"%PDF-1.7"
    with pytest.raises(apldata.SourceError, match=r"list: train, row 2, column image: JPEG: Premature end"):
        made(rows, tmp_path / "a")
    with pytest.raises(
        apldata.SourceError, match=r"row 4, column image: holds application/pdf.*more than the 1"
    ):
        made(rows, tmp_path / "b", skip_bad=1)
    store = made(rows, tmp_path / "c", skip_bad=2)
    assert store.to_numpy()["label"].tolist() == [0, 1, 3, 5]
    assert [one.path for one in store.skipped] == ["train, row 2", "train, row 4"]
    assert len(made([rows[0], rows[2]], tmp_path / "d", check=False)) == 2


def test_other_images_among_jpegs_follow_the_rules_of_folders(tmp_path: Path) -> None:
    jpegs, others = [{"f": file(n)} for n in range(3)], [{"f": file(n, "PNG")} for n in range(3)]
    with pytest.warns(apldata.IngestWarning, match=r"re-encoded as JPEG at quality 100 \(lossy\): 3$"):
        apldata.convert(jpegs + others, tmp_path / "a")
    with apldata.Store(tmp_path / "a") as store:
        assert store.schema["f"].media == "image/jpeg" and bytes(store[0]["f"]) == jpegs[0]["f"]
        stored = np.asarray(Image.open(io.BytesIO(bytes(store[4]["f"])))).astype(int)
        assert np.abs(stored - pixels(1)).max() <= 4 and store[4]["f_shape"].tolist() == [3, 16, 20]
    decoded = made(jpegs[:2] + others, tmp_path / "b")
    assert types_of(decoded)["f"] == "u8[-1,-1,-1]"
    kept = made(jpegs + others, tmp_path / "c", keep_bytes=True)
    assert bytes(kept[4]["f"]) == others[1]["f"] and kept.schema["f"].media == "application/octet-stream"


def test_jpegs_are_indexed_unless_that_is_refused(tmp_path: Path) -> None:
    rows = [{"image": file(n, width=300)} for n in range(4)]
    indexed, plain = made(rows, tmp_path / "a"), made(rows, tmp_path / "b", keep_files=True)
    assert [indexed.schema["image"].indexed, plain.schema["image"].indexed] == [4, 0]
    assert indexed.content_digest == plain.content_digest
    assert [bytes(one["image"]) for one in indexed] == [row["image"] for row in rows]
    schema = [apldata.Field("image", "u8", media="image/jpeg")]
    for keep in (False, True):
        with apldata.Writer(tmp_path / "w", schema, keep_files=keep, replace=True) as writer:
            writer.extend(image=[row["image"] for row in rows])
        assert apldata.Store(tmp_path / "w").schema["image"].indexed == (0 if keep else 4)


def test_images_of_pillow(tmp_path: Path) -> None:
    def opened(number: int) -> Any:
        return Image.open(io.BytesIO(file(number)))

    whole = made([(opened(n), n) for n in range(3)], tmp_path / "a")
    assert [bytes(one["image"]) for one in whole] == [file(n) for n in range(3)]
    small = opened(0)
    small.thumbnail((8, 8))
    drawn = opened(1)
    drawn.putpixel((0, 0), (1, 2, 3))
    with pytest.warns(apldata.IngestWarning, match="pixels are stored, without loss"):
        apldata.convert([(small, 0), (drawn, 1)], tmp_path / "b")
    assert (apldata.Store(tmp_path / "b")[1]["image"][:, 0, 0] == [1, 2, 3]).all()
    grey = [(Image.fromarray(pixels(n, channels=1)), n) for n in range(2)]
    assert types_of(made(grey, tmp_path / "c"))["image"] == "u8[16,20]"
    mixed = [*grey, (Image.fromarray(pixels(1)), 2)]
    assert types_of(made(mixed, tmp_path / "d"))["image"] == "u8[-1,16,20]"
    palette = [(Image.fromarray(pixels(1)).convert("P"), 1), (Image.fromarray(pixels(1)), 1)]
    with pytest.warns(
        apldata.IngestWarning, match=r"with a palette become colours: of masks.*'mask'\} keeps"
    ):
        apldata.convert(palette, tmp_path / "e")
    assert types_of(apldata.Store(tmp_path / "e"))["image"] == "u8[3,16,20]"
    deep = [(Image.fromarray(pixels(1, channels=1).astype(np.uint16)), 1)]
    assert types_of(made(deep, tmp_path / "f"))["image"] == "u16[16,20]"


# -------------------------------------------------------------------------------------------------- Arrow


def table() -> Any:
    pa = pytest.importorskip("pyarrow")
    return pa.table(
        {
            "i": pa.array([1, 2, 3], pa.int16()),
            "b": [True, False, True],
            "s": ["a", "b", "c"],
            "list": [[1, 2], [3], []],
            "boxes": pa.array([[[1, 2, 3, 4]], [], [[5, 6, 7, 8]] * 2], pa.list_(pa.list_(pa.float32(), 4))),
            "fixed": pa.array([[1, 2]] * 3, pa.list_(pa.int8(), 2)),
            "inside": [{"x": 1, "y": "u"}] * 3,
            "objects": [[{"p": 1, "q": 2.0}], [{"p": 3, "q": 4.0}] * 2, []],
            "class": pa.array(["y", "x", "y"]).dictionary_encode(),
            "image": [{"bytes": file(n), "path": f"{n}.jpg"} for n in range(3)],
            "at": pa.array([datetime.datetime(1970, 1, 1, 0, 0, 2)] * 3, pa.timestamp("ms", "UTC")),
        }
    )


TYPES = {
    "i": "i16", "b": "bool", "s": "utf8[-1]", "list": "i64[-1]", "boxes": "f32[-1,4]", "fixed": "i8[2]",
    "inside.x": "i64", "inside.y": "utf8[-1]", "objects.p": "i64[-1]", "objects.q": "f64[-1]", "class": "u8",
    "image": "u8[-1]", "at": "i64", "path": "utf8[-1]", "image_shape": "u32[3]",
}  # fmt: skip


def check_table(store: apldata.Store, sorted_classes: bool = False) -> None:
    assert types_of(store) == TYPES
    columns = store.to_numpy()
    assert [one.tolist() for one in columns["list"]] == [[1, 2], [3], []]
    assert [one.shape for one in columns["boxes"]] == [(1, 4), (0, 4), (2, 4)]
    assert [one.tolist() for one in columns["objects.p"]] == [[1], [3, 3], []]
    names = [store.schema["class"].classes[number] for number in columns["class"]]
    assert names == ["y", "x", "y"] and store.schema["class"].mark == "target"
    assert columns["at"].tolist() == [2000] * 3 and columns["path"] == ["0.jpg", "1.jpg", "2.jpg"]
    assert [bytes(one) for one in columns["image"]] == [file(n) for n in range(3)]


def test_tables(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    check_table(made(table(), tmp_path / "a"))
    parts = pa.concat_tables([table().slice(0, 1), table().slice(1, 2)])
    check_table(made(parts, tmp_path / "b"))
    batches = pa.RecordBatchReader.from_batches(table().schema, table().to_batches(max_chunksize=1))
    once = made(batches, tmp_path / "c", fields=["i", "class"])
    assert types_of(once) == {"i": "i16", "class": "utf8[-1]"}


def test_parquet_and_arrow_files(tmp_path: Path) -> None:
    pq, pa = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    pq.write_table(table(), tmp_path / "x.parquet", row_group_size=2)
    check_table(made(tmp_path / "x.parquet", tmp_path / "a"))
    for new, name in ((pa.ipc.new_file, "file"), (pa.ipc.new_stream, "stream")):
        with new(str(tmp_path / f"{name}.arrow"), table().schema) as out:
            out.write_table(table())
        check_table(made(str(tmp_path / f"{name}.arrow"), tmp_path / name))
    whole = (tmp_path / "x.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(apldata.SourceError, match=r"cut\.parquet: Parquet"):
        made(tmp_path / "cut.parquet", tmp_path / "no")
    damaged = bytearray(whole)
    damaged[100:400] = bytes(300)
    (tmp_path / "bad.parquet").write_bytes(damaged)
    with pytest.raises(apldata.Error, match=r"bad\.parquet: "):
        made(tmp_path / "bad.parquet", tmp_path / "no")
    assert not (tmp_path / "no/data.mdb").exists()


def test_splits_of_files(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    names = ("data/test-00000-of-00001", "data/train-00000-of-00002", "data/train-00001-of-00002")
    for number, name in enumerate(names):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        pq.write_table(pa.table({"x": [number] * (number + 1)}), tmp_path / f"{name}.parquet")
    store = made(tmp_path / "data", tmp_path / "a")
    assert {name: one.records for name, one in store.splits.items()} == {"train": 5, "test": 1}
    files = sorted((tmp_path / "data").iterdir())
    assert made(files, tmp_path / "b").content_digest == store.content_digest
    assert list(made(files, tmp_path / "c", split="test").splits) == ["test"]
    pq.write_table(pa.table({"x": ["text"]}), tmp_path / "data/train-2.parquet")
    with pytest.raises(apldata.SourceError, match=r"train-2\.parquet: column x is string, and int64 in the"):
        made(tmp_path / "data", tmp_path / "d")


def test_what_arrow_has_and_stores_have_not(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    prices = pa.table({"price": [decimal.Decimal("1.25"), decimal.Decimal("2.50")]})
    with pytest.raises(apldata.InvalidError, match=r"column price: .*decimal128.*types="):
        made(prices, tmp_path / "a")
    assert made(prices, tmp_path / "b", types={"price": "f32"})[1]["price"] == 2.5
    assert made(prices, tmp_path / "c", types={"price": "utf8"})[1]["price"] == "2.50"
    with pytest.raises(apldata.InvalidError, match="lists of string"):
        made(pa.table({"t": [["a"]]}), tmp_path / "d")
    assert made(pa.table({"t": [["a"]]}), tmp_path / "e", types={"t": "json"})[0]["t"] == '["a"]'
    with pytest.raises(apldata.InvalidError, match=r"row 1, column x: a missing value"):
        made(pa.table({"x": [1, None]}), tmp_path / "f")
    assert made(pa.table({"x": [1, None]}), tmp_path / "g", missing={"x": 5})[1]["x"] == 5
    with pytest.raises(apldata.InvalidError, match=r"row 1, column x: a missing value"):
        made(pa.table({"x": [[1], [2, None]]}), tmp_path / "h")
    outside = {"image": [{"bytes": None, "path": "/etc/hostname"}]}
    files = pa.struct({"bytes": pa.binary(), "path": pa.string()})
    pq.write_table(pa.table(outside, pa.schema({"image": files})), tmp_path / "outside.parquet")
    with pytest.raises(apldata.SourceError, match="names the file 'hostname' and does not hold it"):
        made(tmp_path / "outside.parquet", tmp_path / "i")


def test_files_whose_paths_are_all_null(tmp_path: Path) -> None:
    """As pandas writes them, of type null."""
    pa = pytest.importorskip("pyarrow")
    store = made(pa.table({"f": [{"bytes": b"RIFF", "path": None}] * 2}), tmp_path / "a")
    assert types_of(store) == {"f": "u8[-1]"} and bytes(store[1]["f"]) == b"RIFF"
    (tmp_path / "x.bin").write_bytes(b"more")
    store = made(pa.table({"f": [{"bytes": None, "path": str(tmp_path / "x.bin")}]}), tmp_path / "b")
    assert bytes(store[0]["f"]) == b"more" and store[0]["path"] == "x.bin"
    with pytest.raises(apldata.InvalidError, match=r"column f\.bytes: its first row holds null"):
        made(pa.table({"f": [{"bytes": None, "path": None}]}), tmp_path / "c")


def test_memory_is_flat(tmp_path: Path) -> None:
    """Of a Parquet file, no more than a few pieces are in memory at once."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = pa.table({"f": [np.random.default_rng(1).bytes(1 << 20)] * 32})
    with pq.ParquetWriter(
        tmp_path / "x.parquet", rows.schema, use_dictionary=False, compression="none"
    ) as out:
        for _ in range(5):
            out.write_table(rows)
    code = f"""
import apldata, pyarrow, tracemalloc
tracemalloc.start()
apldata.convert({str(tmp_path / "x.parquet")!r}, {str(tmp_path / "db")!r}, threads=1)
print(tracemalloc.get_traced_memory()[1], pyarrow.default_memory_pool().max_memory())
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert all(int(most) < 100 << 20 for most in told.stdout.split()), told.stdout


# ------------------------------------------------------------------------------------------------- frames


@pytest.mark.parametrize(
    ("form", "numbers"), [("XYXY", [1, 2, 31, 43]), ("XYWH", [1, 2, 30, 41]), ("CXCYWH", [16, 22.5, 30, 41])]
)
def test_boxes_of_torchvision_become_corners(form: str, numbers: list[float], tmp_path: Path) -> None:
    torch, tv_tensors = pytest.importorskip("torch"), pytest.importorskip("torchvision.tv_tensors")
    boxes = tv_tensors.BoundingBoxes(torch.tensor([numbers]), format=form, canvas_size=(100, 100))
    rows = [{"image": pixels(number), "boxes": boxes} for number in range(3)]
    assert made(rows, tmp_path / "made")[1]["boxes"].tolist() == [[1, 2, 31, 43]]
    with apldata.Writer(
        tmp_path / "written", {"boxes": ("f32", (-1, 4)), "pair": ("f32", (2, 1, 4))}
    ) as writer:
        writer.append(boxes=boxes, pair=[boxes, boxes])
    written = apldata.Store(tmp_path / "written")[0]
    assert written["boxes"].tolist() == [[1, 2, 31, 43]] and written["pair"].tolist() == 2 * [
        [[1, 2, 31, 43]]
    ]


def test_boxes_that_do_not_know_their_format_stay(tmp_path: Path) -> None:
    assert made([{"bbox": [[1.0, 2.0, 30.0, 41.0]]}], tmp_path / "made")[0]["bbox"].tolist() == [
        [1, 2, 30, 41]
    ]


def test_pandas(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "i": np.array([1, 2, 3], np.int16),
            "s": ["a", "b", "c"],
            "c": pd.Categorical(["v", "u", "v"], categories=["v", "u", "w"]),
            "t": pd.to_datetime(["1970-01-02"] * 3),
            "n": pd.array([1, 2, 3], "Int64"),
            "a": [np.zeros(2)] * 3,
        }
    )
    store = made(frame, tmp_path / "a")
    assert types_of(store) == {"i": "i16", "s": "utf8[-1]", "c": "u8", "t": "i64", "n": "i64", "a": "f64[2]"}
    assert store.schema["c"].classes == ("v", "u", "w") and store.to_numpy()["c"].tolist() == [0, 1, 0]
    frame["n"] = pd.array([1, None, 3], "Int64")
    with pytest.raises(apldata.InvalidError, match=r"DataFrame: train, row 1, column n: a missing value"):
        made(frame, tmp_path / "b")
    with pytest.raises(apldata.InvalidError, match=r"column o: its first 3 rows hold int and str"):
        made(pd.DataFrame({"o": [1, "a", 2]}), tmp_path / "c")


def test_an_index_with_a_name_is_a_column(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1, 2], "who": ["x", "y"], "b": [0.5, 1.5]})
    assert types_of(made(frame, tmp_path / "none")) == {"a": "i64", "who": "utf8[-1]", "b": "f64"}
    for index in ("who", ["who", "a"]):
        store = made(frame.set_index(index), tmp_path / str(len(index)))
        assert types_of(store) == {"who": "utf8[-1]", "a": "i64", "b": "f64"}
        assert [store[i]["who"] for i in range(2)] == ["x", "y"]
    assert types_of(made(frame.set_index("who")["b"], tmp_path / "series")) == {"who": "utf8[-1]", "b": "f64"}
    with pytest.raises(apldata.InvalidError, match="two columns have the name 'who'"):
        made(frame.set_index(frame["who"]), tmp_path / "twice")


def test_polars(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    columns = {"s": ["a", "b"], "e": pl.Series(["p", "q"], dtype=pl.Enum(["q", "p"])), "l": [[1, 2], [3]]}
    store = made(pl.DataFrame(columns), tmp_path / "a")
    assert types_of(store) == {"s": "utf8[-1]", "e": "u8", "l": "i64[-1]"} and store.classes == ("q", "p")
    large = pl.DataFrame({"n": [1], "id": pl.Series([1], dtype=pl.Int128)})
    told = r"^column id: pyarrow has no type for Int128: cast it, or leave it out$"
    with pytest.raises(apldata.InvalidError, match=told):
        made(large, tmp_path / "c")
    assert made(large.cast({"id": pl.Int64}), tmp_path / "d")[0]["id"] == 1
    with pytest.raises(apldata.InvalidError, match="collect"):
        made(pl.DataFrame(columns).lazy(), tmp_path / "b")


# ---------------------------------------------------------------------------------------------- the command


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "apldata", "ingest", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True)


def test_command(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(table(), tmp_path / "x.parquet")
    chosen = ["--fields", "image,class=label,i", "--type", "i=i64", "--split", "test"]
    done = command(*chosen, "--json", tmp_path / "x.parquet", tmp_path / "db")
    assert done.returncode == 0 and json.loads(done.stdout)["records"] == 3, done.stderr
    store = apldata.Store(tmp_path / "db")
    assert store.schema.names == ["image", "label", "i", "path", "image_shape"] and list(store.splits) == [
        "test"
    ]
    again = command(tmp_path / "x.parquet", tmp_path / "db")
    assert (
        again.returncode == 1 and "a store exists already" in again.stderr and again.stderr.count("\n") == 2
    )
    assert command("--level", "x", tmp_path / "x.parquet", tmp_path / "db").returncode == 2


@pytest.mark.parametrize("mode", ["CMYK", "YCbCr", "HSV", "RGBX", "RGBa", "La"])
def test_colours_become_those_that_loaders_take(mode: str, tmp_path: Path) -> None:
    plain = {"RGBa": "RGBA", "La": "LA"}.get(mode, "RGB")
    image = Image.fromarray(pixels(3)).convert(plain).convert(mode)
    expected = np.asarray(image.convert(plain))
    other = Image.fromarray(pixels(4, width=30))
    store = made([{"image": image}, {"image": other}], tmp_path / "db")
    assert (store[0]["image"] == expected.transpose(2, 0, 1)).all()


def test_files_of_other_colours(tmp_path: Path) -> None:
    out = io.BytesIO()
    image = Image.fromarray(pixels(3)).convert("CMYK")
    image.save(out, "TIFF")
    store = made([{"image": out.getvalue()}] * 2, tmp_path / "db")
    expected = np.asarray(image.convert("RGB")).transpose(2, 0, 1).astype(int)
    assert np.abs(store[0]["image"] - expected).max() <= 1  # libtiff does not round
    with pytest.raises(apldata.SourceError, match=r"row 0: .*convert it before"):
        apldata.convert([{"image": Image.new("LAB", (8, 8))}], tmp_path / "lab")

"""apldata.convert() of what needs NumPy alone: arrays, rows, datasets of one's own."""

from __future__ import annotations

import csv
import datetime
import decimal
import io
import os
import signal
import threading
import time
import warnings
from collections import namedtuple
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convert_tools import made, types_of

import apldata


class Squares:
    """A dataset of 100 rows, one of which may be bad."""

    def __init__(self, bad: str = "") -> None:
        self.bad = bad

    def __len__(self) -> int:
        return 100

    def __getitem__(self, row: int) -> tuple[np.ndarray, int]:
        if row == 77 and self.bad == "raise":
            raise KeyError("no such thing")
        if row == 77 and self.bad == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if row == 3 and self.bad == "stop":
            raise StopIteration
        return np.full((2, 2), row, np.float32), row


def left(tmp_path: Path) -> list[Path]:
    return [path for path in tmp_path.rglob("*") if path.is_file()]


# ------------------------------------------------------------------------------------------ sources, types


def test_arrays_are_the_writers(tmp_path: Path) -> None:
    arrays = {"image": np.arange(3 * 8 * 8 * 20, dtype=np.uint8).reshape(20, 3, 8, 8), "label": np.arange(20)}
    store = made(arrays, tmp_path / "a")
    schema = {"image": ("u8", (3, 8, 8)), "label": "i64"}
    with apldata.Writer(tmp_path / "b", schema) as writer:
        writer.extend(**arrays)
    assert store.content_digest == apldata.Store(tmp_path / "b").content_digest
    assert store.schema["label"].mark == "target" and list(store.splits) == ["train"]
    assert store.info["source_format"] == "arrays"


def test_splits(tmp_path: Path) -> None:
    parts = {"train": {"x": np.zeros(5)}, "val": [{"x": 1.0}], "test": {"x": np.ones(3)}}
    store = made(parts, tmp_path / "a")
    assert {name: split.records for name, split in store.splits.items()} == {"train": 5, "val": 1, "test": 3}
    assert list(made(parts, tmp_path / "b", split=["test", "val"]).splits) == ["test", "val"]
    assert list(made({"x": np.zeros(2)}, tmp_path / "c", split="dev").splits) == ["dev"]
    with pytest.raises(apldata.InvalidError, match=r"no split 'none': it has train, val, test"):
        made(parts, tmp_path / "d", split=["none"])


def test_train_is_the_first_split(tmp_path: Path) -> None:
    parts = {"extra": {"x": [1]}, "dev": {"x": [2, 3]}, "train": {"x": [4, 5, 6]}}
    store = made(parts, tmp_path / "a")
    assert list(store.splits) == ["train", "extra", "dev"] and store.splits["train"].first == 0
    assert [batch["x"].tolist() for batch in apldata.Loader(store, batch_size=3, shuffle=False)] == [
        [4, 5, 6]
    ]
    assert list(made(parts, tmp_path / "b", split=["dev", "train"]).splits) == ["dev", "train"]


Point = namedtuple("Point", "x y")


@dataclass
class Named:
    a: int
    b: str


@pytest.mark.parametrize(
    ("row", "types"),
    [
        ({"a": 1, "b": 2.5, "c": True, "d": "text"}, {"a": "i64", "b": "f64", "c": "bool", "d": "utf8[-1]"}),
        ((np.zeros((3, 4, 4), np.uint8), 1), {"image": "u8[3,4,4]", "label": "i64"}),
        (
            (np.float32(1), np.int16(2), np.bool_(True)),
            {"field_0": "f32", "field_1": "i16", "field_2": "bool"},
        ),
        (Point(1, 2.0), {"x": "i64", "y": "f64"}),
        (Named(1, "b"), {"a": "i64", "b": "utf8[-1]"}),
        ("text", {"text": "utf8[-1]"}),
        (np.zeros(3, np.float16), {"value": "f16[3]"}),
        ({"a": {"b": 1, "c": {"d": [1, 2]}}}, {"a.b": "i64", "a.c.d": "i64[2]"}),
        ({"a": np.array(1, ">u2"), "b": 2**63}, {"a": "u16", "b": "u64"}),
        ({"a": b"bytes", "b": bytearray(b"more")}, {"a": "u8[-1]", "b": "u8[-1]"}),
        ({"a": datetime.date(1970, 1, 3), "b": np.datetime64(7, "s")}, {"a": "i32", "b": "i64"}),
    ],
)
def test_types_are_found(row: Any, types: dict[str, str], tmp_path: Path) -> None:
    store = made([row] * 3, tmp_path / "db")
    assert types_of(store) == types and len(store) == 3


def test_shapes_that_vary(tmp_path: Path) -> None:
    rows = [{"a": np.zeros((n, 2)), "b": list(range(n))} for n in (2, 0, 3)]
    store = made(rows, tmp_path / "db")
    assert types_of(store) == {"a": "f64[-1,2]", "b": "i64[-1]"}
    assert [record["b"].tolist() for record in store] == [[0, 1], [], [0, 1, 2]]
    with pytest.raises(apldata.InvalidError, match=r"row 300: field a: a value of shape \(2,\).*types="):
        made([{"a": np.zeros(2 if n == 300 else 3)} for n in range(400)], tmp_path / "other")


def test_dates_are_told_of(tmp_path: Path) -> None:
    rows = [{"day": datetime.date(1970, 1, 3), "at": datetime.datetime(1970, 1, 1, 0, 0, 1)}]
    with pytest.warns(apldata.IngestWarning) as told:
        apldata.convert(rows, tmp_path / "db")
    assert "column day: stored as days since 1970-01-01 (i32)" in str(told[0].message)
    assert apldata.Store(tmp_path / "db")[0] == {"day": 2, "at": 1000000}


def test_fields_are_chosen_and_renamed(tmp_path: Path) -> None:
    rows = [{"a": 1, "b": 2, "c": 3}]
    assert made(rows, tmp_path / "1", fields=["c", "a"]).schema.names == ["c", "a"]
    assert made(rows, tmp_path / "2", fields={"b": "label"})[0] == {"label": 2}
    assert made([(1, 2)], tmp_path / "3", fields=["x", "y"]).schema.names == ["x", "y"]
    with pytest.raises(apldata.InvalidError, match=r"no column 'q': there are a, b, c"):
        made(rows, tmp_path / "4", fields=["q"])
    with pytest.raises(apldata.InvalidError, match="both be the field 'x'"):
        made(rows, tmp_path / "5", fields={"a": "x", "b": "x"})


def test_types_are_given(tmp_path: Path) -> None:
    rows = [{"a": n, "b": [1.0, 2.0], "c": ["x", None]} for n in range(3)]
    given = {"a": "u8", "b": ("f32", (-1,)), "c": "json"}
    store = made(rows, tmp_path / "a", types=given)
    assert types_of(store) == {"a": "u8", "b": "f32[-1]", "c": "utf8[-1]"} and store[1]["c"] == '["x", null]'
    field = apldata.Field("a", "u16", mark="target", classes=("p", "q", "r"))
    assert made(rows, tmp_path / "b", fields=["a"], types={"a": field}).classes == ("p", "q", "r")
    with pytest.raises(apldata.InvalidError, match=r"row 2: field a: 300"):
        made([{"a": n} for n in (1, 2, 300)], tmp_path / "c", types={"a": "u8"})
    with pytest.raises(apldata.InvalidError, match="no field 'z'"):
        made(rows, tmp_path / "d", types={"z": "u8"})
    assert made([{"a": decimal.Decimal("1.1")}], tmp_path / "e", types={"a": "f32"})[0]["a"] == np.float32(
        1.1
    )


def test_classes(tmp_path: Path) -> None:
    rows = [{"label": name} for name in ("dog", "cat", "dog")]
    store = made(rows, tmp_path / "a", classes=["label"])
    assert store.classes == ("cat", "dog") and store.to_numpy()["label"].tolist() == [1, 0, 1]
    assert types_of(store) == {"label": "u8"} and store.schema["label"].mark == "target"
    store = made([{"y": 0}, {"y": 1}], tmp_path / "b", classes={"y": ["a", "b"]})
    assert store.class_counts("train", "y") == {"a": 1, "b": 1}
    with pytest.raises(apldata.InvalidError, match=r"row 1: field y must be a class from 0 to 1; got 2"):
        made([{"y": 0}, {"y": 2}], tmp_path / "c", classes={"y": ["a", "b"]})
    with pytest.raises(apldata.InvalidError, match="read only once"):
        made(iter(rows), tmp_path / "d", classes=["label"])


# ------------------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize("names", [["train", "test"], ["val"], ["train", "validation", "test"]])
def test_columns_that_are_called_like_splits_are_refused(names: list[str], tmp_path: Path) -> None:
    """They may be splits, which have been given as columns of one table."""
    for values in (np.arange(5), list(range(5)), [np.zeros((2, 2), "u1")] * 5):
        told = f"{' and '.join(names)} may be splits or columns: .*give each a dict .*; .*name their split, "
        with pytest.raises(apldata.InvalidError, match=told):
            apldata.convert(dict.fromkeys(names, values), tmp_path / "s")
    records = [{"x": k} for k in range(5)]
    apldata.convert(dict.fromkeys(names, records), tmp_path / "s")  # these are splits
    assert list(apldata.Store(tmp_path / "s").splits) == names
    apldata.convert({"train": dict.fromkeys(names, np.arange(5))}, tmp_path / "t")  # and these columns
    assert apldata.Store(tmp_path / "t").schema.names == names
    apldata.convert({names[0]: np.arange(5), "label": np.arange(5)}, tmp_path / "u")
    assert apldata.Store(tmp_path / "u").schema.names == [names[0], "label"]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([{"a": 1}, {"a": "x"}], "column a: its first 2 rows hold int and str"),
        ([{"a": True}, {"a": 1}], "bool and int"),
        ([{"a": ["x"]}], "lists of str"),
        ([{"a": []}, {"a": []}], "empty arrays"),
        ([{"a": [[1], [2, 3]]}], "lists of lists of different lengths"),
        ({"a": np.array(3)}, "column a must be an array of one value per record; got 3"),
        (
            {"train": np.zeros(5), "test": np.zeros(4)},
            "train 5, test 4; for splits, give each a dict of its co",
        ),
        ([{"a": 1j}], "complex"),
        ([{"a": decimal.Decimal(1)}], "decimal"),
        ([{"a": object()}], "object"),
        ([{"a": np.zeros(2)}, {"a": np.zeros((2, 2))}], "arrays of 1 and 2 dimensions"),
        ([{"a": np.zeros(2, "f4")}, {"a": np.zeros(2, "f8")}], "arrays of float32 and float64"),
        ([{"a": None}], "nothing but missing values"),
        ([{"a": 1}, {"b": 2}], "row 1: lacks a; has b too"),
        ([(1, 2), (1, 2, 3)], "row 1: .*3 values, where 2 are named, value, label"),
        ([], "there are no rows"),
    ],
)
def test_what_has_no_type_is_refused(rows: Any, told: str, tmp_path: Path) -> None:
    with pytest.raises(apldata.Error, match=told):
        made(rows, tmp_path / "db")
    assert left(tmp_path) == []


@pytest.mark.parametrize("source", [5, "no such file", b"", None])
def test_what_is_no_source_is_refused(source: Any, tmp_path: Path) -> None:
    with pytest.raises((apldata.Error, ImportError)):
        made(source, tmp_path / "db")


def test_missing_values(tmp_path: Path) -> None:
    rows = [{"a": n if n % 3 else None, "b": "x"} for n in range(9)]
    with pytest.raises(apldata.InvalidError, match=r"list: train, row 0, column a: a missing value"):
        made(rows, tmp_path / "a")
    store = made(rows, tmp_path / "b", missing="skip")
    assert store.to_numpy()["a"].tolist() == [1, 2, 4, 5, 7, 8] and store.info["skipped"] == 3
    assert store.skipped[1] == apldata.SkippedFile("train, row 3", "column a: a missing value")
    assert made(rows, tmp_path / "c", missing={"a": -7})[3]["a"] == -7
    with pytest.raises(apldata.InvalidError, match="missing"):
        made(rows, tmp_path / "d", missing="drop")
    with pytest.raises(apldata.InvalidError, match=r"row 8: field i: .*float"):
        made(
            [{"i": n if n < 1500 else 1.5} for n in range(1492, 1501)][:9], tmp_path / "e", types={"i": "i64"}
        )


def test_an_exception_is_told_with_its_row(tmp_path: Path) -> None:
    def rows() -> Iterator[int]:
        yield from range(1500)
        raise ValueError("no more")

    with pytest.raises(apldata.SourceError, match=r"generator: train, row 1,500: ValueError: no more"):
        made(rows(), tmp_path / "db")
    with pytest.raises(apldata.SourceError, match=r"row 77: KeyError"):
        made(Squares("raise"), tmp_path / "db")
    with pytest.raises(apldata.SourceError, match="StopIteration"):
        made(Squares("stop"), tmp_path / "db")
    assert left(tmp_path) == []


def test_existing_stores_stay(tmp_path: Path) -> None:
    before = made([{"a": 1}], tmp_path / "db").content_digest
    with pytest.raises(apldata.ExistsError):
        made([{"a": 2}], tmp_path / "db")
    with pytest.raises(apldata.SourceError):
        made(Squares("raise"), tmp_path / "db", replace=True)
    assert apldata.Store(tmp_path / "db").content_digest == before
    assert made([{"a": 2}], tmp_path / "db", force=True).content_digest != before


def test_interrupts_leave_nothing(tmp_path: Path) -> None:
    def rows() -> Iterator[int]:
        for row in range(10**9):
            if row == 3000:
                raise KeyboardInterrupt
            yield row

    with pytest.raises(KeyboardInterrupt):
        made(rows(), tmp_path / "db")
    assert left(tmp_path) == []


def test_same_bytes_again(tmp_path: Path) -> None:
    rows = [{"a": n, "b": str(n) * (n % 7)} for n in range(3000)]
    for name, threads in (("a", 1), ("b", 4)):
        apldata.convert(rows, tmp_path / name, threads=threads)
    assert (tmp_path / "a/data.mdb").read_bytes() == (tmp_path / "b/data.mdb").read_bytes()


def test_progress_and_summary(tmp_path: Path) -> None:
    told: list[apldata.Progress] = []
    done = apldata.convert(Squares(), tmp_path / "db", progress=told.append)
    assert done.records == 100 and done.format == "rows" and done.raw_bytes == 100 * 24
    assert done.file_bytes == (tmp_path / "db/data.mdb").stat().st_size and "100 records" in repr(done)
    assert [one.phase for one in told][-1] == "done" and told[-1].records == told[0].expected == 100
    with pytest.raises(ZeroDivisionError):
        apldata.convert(Squares(), tmp_path / "no", progress=lambda _: 1 / 0)
    assert not (tmp_path / "no/data.mdb").exists()


# ------------------------------------------------------------------------------------------------- workers


def test_workers_keep_the_order(tmp_path: Path) -> None:
    alone, several = made(Squares(), tmp_path / "a"), made(Squares(), tmp_path / "b", workers=3)
    assert several.to_numpy()["label"].tolist() == list(range(100))
    assert alone.content_digest == several.content_digest


def test_workers_that_fail_are_told_of(tmp_path: Path) -> None:
    with pytest.raises(apldata.SourceError, match=r"row 77: KeyError: 'no such thing'") as caught:
        made(Squares("raise"), tmp_path / "db", workers=2)
    assert any("__getitem__" in note for note in caught.value.__notes__)
    with pytest.raises(apldata.SourceError, match=r"rows 64 to 79: the worker .*signal 9"):
        made(Squares("die"), tmp_path / "db", workers=2)
    with pytest.raises(apldata.InvalidError, match="workers need a dataset"):
        made((row for row in [1, 2]), tmp_path / "db", workers=2)
    assert left(tmp_path) == [] and threading.active_count() < 20


class Slow(Squares):
    def __init__(self, mark: Path) -> None:
        super().__init__()
        self.mark = mark

    def __getitem__(self, row: int) -> Any:
        if row > 20:
            self.mark.touch()
            time.sleep(60)
        return super().__getitem__(row)


def test_workers_that_are_slow_are_ended(tmp_path: Path) -> None:
    def stop(_: apldata.Progress) -> None:
        raise KeyboardInterrupt

    mark, main = tmp_path / "mark", threading.main_thread().ident
    began: list[float] = []

    def interrupt() -> None:
        while not mark.exists():  # not sooner: Python drops what is raised while it forks
            time.sleep(0.05)
        began.append(time.monotonic())
        signal.pthread_kill(main, signal.SIGINT)

    signal.siginterrupt(signal.SIGINT, False)  # as polars' handler has it
    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        made(Slow(mark), tmp_path / "db", workers=2, progress=stop)
    signal.siginterrupt(signal.SIGINT, True)
    mark.unlink()
    assert time.monotonic() - began[0] < 50 and left(tmp_path) == []


# ------------------------------------------------------------------------------------------- kept files


def test_bytes_are_kept(tmp_path: Path) -> None:
    files = [bytes([n]) * n for n in range(1, 5)]
    for number, data in enumerate(files):
        (tmp_path / f"{number}.bin").write_bytes(data)
    given = made([{"f": data} for data in files], tmp_path / "a")
    paths = made([{"f": tmp_path / f"{number}.bin"} for number in range(4)], tmp_path / "b")
    texts = made({"f": [str(tmp_path / f"{n}.bin") for n in range(4)]}, tmp_path / "c", types={"f": "file"})
    for store in (given, paths, texts):
        assert [bytes(record["f"]) for record in store] == files
        assert store.schema["f"].media == "application/octet-stream"
    assert paths[1]["path"] == "1.bin"
    with pytest.raises(apldata.SourceError, match=r"row 1, column f: .*gone.*No such file"):
        made([{"f": tmp_path / "0.bin"}, {"f": tmp_path / "gone"}], tmp_path / "d")
    with pytest.raises(apldata.SourceError, match=r"row 0, column f: is empty"):
        made([{"f": b""}], tmp_path / "e")


def test_a_column_of_splits_is_told_of(tmp_path: Path) -> None:
    rows = [{"x": n, "split": "test" if n % 5 == 0 else "train"} for n in range(10)]
    with pytest.warns(apldata.IngestWarning, match=r"split: stored as a field; all .* the split 'train'"):
        apldata.convert(rows, tmp_path / "one")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        apldata.convert([{"split": n} for n in range(3)], tmp_path / "numbers")
        apldata.convert(rows, tmp_path / "chosen", fields=["x"])
        parts = {name: [row for row in rows if row["split"] == name] for name in ("train", "test")}
        apldata.convert(parts, tmp_path / "two")
    assert apldata.Store(tmp_path / "two").splits["test"].records == 2


def test_errors_name_the_row_of_what_no_field_can_hold(tmp_path: Path) -> None:
    ragged = [{"x": [[1, 2], [3, 4]]}] * 300 + [{"x": [[1, 2], [3]]}]
    with pytest.raises(apldata.Error, match=r"^list: train, row 300: field x must be"):
        apldata.convert(ragged, tmp_path / "ragged")
    with pytest.raises(apldata.InvalidError, match=r"row 1: field x: a lone surrogate, \\ud800"):
        apldata.convert([{"x": "a"}, {"x": "\ud800"}], tmp_path / "text")


def test_columns_beside_images_are_marked_as_by_aplingest(tmp_path: Path) -> None:
    """They are what is known of the images: targets, so that equal images stay on one side of a split."""
    pillow = pytest.importorskip("PIL.Image")
    names = ["label", "id", "filename", "caption", "file_shape", "score"]
    rows = [
        {"file": f"{k}.jpg", "label": "ab"[k % 2], "id": k, "filename": f"x{k}", "caption": f"c{k}",
         "file_shape": "s", "score": k / 7}
        for k in range(6)
    ]  # fmt: skip
    for k in range(6):
        pillow.fromarray(np.full((8, 8, 3), 40 * k, "u1")).save(tmp_path / f"{k}.jpg")
    with (tmp_path / "list.csv").open("w") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    apldata.ingest(tmp_path / "list.csv", tmp_path / "theirs")
    theirs = apldata.Store(tmp_path / "theirs").schema
    for row in rows:
        row["image"] = (tmp_path / str(row.pop("file"))).read_bytes()
        row["image_shape"] = row.pop("file_shape")
    apldata.convert(rows, tmp_path / "own")
    own = apldata.Store(tmp_path / "own").schema
    assert own["image"].mark == theirs["image"].mark == "input" and own["image_shape"].mark == "name"
    for name in set(names) - {"file_shape"}:
        assert own[name].mark == theirs[name].mark == "target", name
    plain = [{name: row[name] for name in ("id", "label", "caption")} for row in rows]
    apldata.convert(plain, tmp_path / "plain", types={"id": apldata.Field("id", "u32", mark="name")})
    assert [f.mark for f in apldata.Store(tmp_path / "plain").schema] == ["name", "target", "input"]


@pytest.mark.parametrize("kind", ["pillow", "files"])
@pytest.mark.parametrize("sizes", [(8, 8), (8, 9)])
def test_masks_keep_the_numbers_of_their_palette(tmp_path: Path, kind: str, sizes: tuple[int, int]) -> None:
    pillow = pytest.importorskip("PIL.Image")
    numbers = [np.arange(8 * size, dtype="u1").reshape(8, size) % (k + 2) for k, size in enumerate(sizes)]
    rows = []
    for each in numbers:
        mask: Any = pillow.fromarray(each)
        mask.putpalette(bytes(range(255, -1, -1)) * 3)
        assert mask.mode == "P"
        if kind == "files":
            file = io.BytesIO()
            mask.save(file, "PNG")
            mask = file.getvalue()
        rows.append({"image": pillow.new("RGB", each.shape[::-1]), "mask": mask})
    apldata.convert(rows, tmp_path / "s", types={"mask": "mask"})
    store = apldata.Store(tmp_path / "s")
    assert store.schema["mask"].mark == "target"
    for k, each in enumerate(numbers):
        assert np.array_equal(store[k]["mask"].reshape(each.shape), each)

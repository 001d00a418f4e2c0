"""`apldata merge` and `apldata extract`: the same values, in the classes that they had."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import COMMAND

from apldata import Field, Store, Writer

pytestmark = pytest.mark.skipif(not COMMAND.is_file(), reason="the commands are not built")


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [str(a) for a in (COMMAND, *arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def classes_of(db: Path) -> list[str]:
    """The name of each record's class, in the order of ids."""
    store = Store(str(db))
    names = store.schema["label"].classes
    return [names[int(store[i]["label"])] for i in range(len(store))]


def make(db: Path, classes: list[str], names: list[str], dtype: str = "u8", split: str = "train") -> Path:
    with Writer(
        str(db), [Field("x", "i16", (-1, 2)), Field("label", dtype, (), "target", classes=classes)]
    ) as writer:
        writer.begin(split)
        for i, name in enumerate(names):
            x = np.full((i % 4, 2), i, "i2")
            writer.append(x=x, label=classes.index(name))
    return db


@pytest.mark.parametrize(
    ("one", "other", "united"),
    [
        ("ac", "bd", "abcd"),
        ("ab", "ab", "ab"),
        ("ca", "ab", "cab"),
        ("abc", "b", "abc"),
        ("ba", "ab", "ba"),
    ],
)
def test_classes_are_united_by_name(tmp_path: Path, one: str, other: str, united: str) -> None:
    names = [list(one) * 3, list(other) * 2]
    a, b = (make(tmp_path / c, list(c_), n) for c, c_, n in zip("ab", (one, other), names, strict=True))
    done = run("merge", a, b, tmp_path / "ab")
    assert (done.returncode, done.stderr) == (0, "")
    store = Store(str(tmp_path / "ab"))
    assert list(store.schema["label"].classes) == list(united)
    assert classes_of(tmp_path / "ab") == names[0] + names[1]
    for i in range(len(store)):
        at = i if i < len(names[0]) else i - len(names[0])
        np.testing.assert_array_equal(store[i]["x"], np.full((at % 4, 2), at, "i2"))


@pytest.mark.parametrize(("dtypes", "wanted"), [(("u8", "u8"), "u16"), (("u8", "u32"), "u32")])
def test_numbers_of_classes_get_as_wide_as_needed(
    tmp_path: Path, dtypes: tuple[str, str], wanted: str
) -> None:
    first, second = ([f"{c}{i:03}" for i in range(200)] for c in "ab")
    a = make(tmp_path / "a", first, first, dtypes[0])
    b = make(tmp_path / "b", second, second, dtypes[1], "val")
    assert run("merge", b, a, tmp_path / "ab").returncode == 0
    store = Store(str(tmp_path / "ab"))
    assert str(store.schema["label"].dtype) == wanted
    assert classes_of(tmp_path / "ab") == first + second
    assert [(name, split.records) for name, split in store.splits.items()] == [("train", 200), ("val", 200)]


@pytest.mark.parametrize(
    ("field", "message"),
    [
        (Field("x", "u16"), "field x is u16, but u8 in "),
        (Field("x", "u8", (2,)), "field x is u8[2], but u8 in "),
        (Field("x", "u8", (), "target"), "the role of field x is target, but input in "),
        (Field("x", "u8", (), "target", classes=("a",)), "the role of field x is "),
        (Field("y", "u8"), "has no field x, which "),
        (Field("x", "u8", media="image/png"), "field x is u8[*], but u8 in "),
    ],
)
def test_fields_that_differ_are_told(tmp_path: Path, field: Field, message: str) -> None:
    for name, f in (("a", Field("x", "u8")), ("b", field)):
        with Writer(str(tmp_path / name), [f, Field("z", "u8")]) as writer:
            value = b"1" if f.media else np.zeros(f.shape, "u1")
            writer.append(**{f.name: value}, z=0)
    done = run("merge", tmp_path / "a", tmp_path / "b", tmp_path / "ab")
    assert done.returncode == 1
    assert done.stderr.startswith(f"apldata: {tmp_path}/b: {message}")
    assert done.stderr.count("\n") == 1
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_parts_make_the_whole_again(tmp_path: Path) -> None:
    with Writer(
        str(tmp_path / "db"), [Field("x", "f32", (3,)), Field("n", "i64", (), "target")], block_records=7
    ) as writer:
        for split, count in (("train", 100), ("none", 0), ("test", 31)):
            writer.begin(split)
            for i in range(count):
                writer.append(x=np.full(3, i, "f4"), n=i)
    for part, condition in (("low", "n<40"), ("high", "n>=40")):
        assert (
            run(
                "extract", tmp_path / "db", tmp_path / part, "--split", "train", "--where", condition
            ).returncode
            == 0
        )
    assert (
        run("extract", tmp_path / "db", tmp_path / "rest", "--split", "none", "--split", "test").returncode
        == 0
    )
    assert (
        run("merge", tmp_path / "low", tmp_path / "high", tmp_path / "rest", tmp_path / "again").returncode
        == 0
    )
    old, new = Store(str(tmp_path / "db")), Store(str(tmp_path / "again"))
    assert old.content_digest == new.content_digest
    assert {name: split.records for name, split in new.splits.items()} == {
        "train": 100,
        "none": 0,
        "test": 31,
    }
    new.verify()

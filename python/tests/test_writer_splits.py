"""Splits, members and classes of a writer; records whose splits come in any order: append(split=...)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from writer_tools import read

import apldata
from apldata import Field, Store, Writer


@pytest.mark.parametrize("varying", [False, True])
@pytest.mark.parametrize("shuffle", [None, 5])
def test_splits_in_any_order(tmp_path: Path, varying: bool, shuffle: int | None) -> None:
    schema = {"x": ("u16", (-1,)) if varying else ("u16", (2,)), "y": "u8"}
    splits = np.random.default_rng(1).choice(["val", "train", "test"], 1000, p=[0.2, 0.6, 0.2]).tolist()
    with apldata.Writer(tmp_path / "any", schema, shuffle=shuffle, block_records=64) as writer:
        for i, split in enumerate(splits[:500]):
            writer.append(split=split, x=[i, i + 1], y=i % 7)
        for split in dict.fromkeys(splits):
            its = [i for i in range(500, 1000) if splits[i] == split]
            writer.extend(split=split, x=[[i, i + 1] for i in its], y=[i % 7 for i in its])
        if shuffle is None:
            assert len(os.listdir(tmp_path / "any")) == 1, "what waits has no name"
    with apldata.Writer(tmp_path / "sorted", schema, shuffle=shuffle, block_records=64) as writer:
        for split in dict.fromkeys(["train", *splits]):
            writer.begin(split)
            for i in range(1000):
                if splits[i] == split:
                    writer.append(x=[i, i + 1], y=i % 7)
    assert (tmp_path / "any/data.mdb").read_bytes() == (tmp_path / "sorted/data.mdb").read_bytes()
    assert os.listdir(tmp_path / "any") == ["data.mdb"]


def test_what_waits_comes_when_its_split_begins(tmp_path: Path) -> None:
    with apldata.Writer(tmp_path / "s", {"x": "u8"}) as writer:
        writer.append(split="test", x=1)
        writer.append(x=2)
        writer.begin("test")
        writer.append(x=3)
        writer.append(split="test", x=4)
        writer.append(split="val", x=5)
        with pytest.raises(apldata.InvalidError, match=r"split 'train' ended.*append\(split=...\)"):
            writer.append(split="train", x=6)
        for wrong in ("", "a\nb", "x" * 256, 3):
            with pytest.raises(apldata.InvalidError, match=r"^split must be"):
                writer.append(split=wrong, x=6)
    found = {split: values["x"].tolist() for split, values in read(tmp_path / "s").items()}
    assert found == {"train": [2], "test": [1, 3, 4], "val": [5]}


def test_a_field_called_split_is_a_field(tmp_path: Path) -> None:
    with apldata.Writer(tmp_path / "s", {"split": "u8"}) as writer:
        writer.append(split=7)
    assert read(tmp_path / "s")["train"]["split"].tolist() == [7]


def test_what_waits_is_not_lost_without_a_word(tmp_path: Path) -> None:
    writer = apldata.Writer(tmp_path / "s", {"x": "u8"})
    writer.append(split="test", x=1)
    with pytest.warns(UserWarning, match="1 record was not committed"):
        writer.close()
    with pytest.raises(apldata.InvalidError, match="the writer is closed"):
        writer.append(split="test", x=1)
    assert not (tmp_path / "s").exists()


def test_a_full_disk_is_told_of_with_the_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with apldata.Writer(tmp_path / "s", {"x": ("u8", (4096,))}) as writer:
        writer.append(split="test", x=np.full(4096, 1))
        whole, calls = os.write, []

        def half(fd: int, data: Any) -> int:
            calls.append(fd)
            if len(calls) == 2:
                raise OSError(28, "No space left on device")
            return whole(fd, data[:1000])

        with monkeypatch.context() as patched:
            patched.setattr(os, "write", half)
            with pytest.raises(
                apldata.StorageError, match="records of split 'test': No space left"
            ) as caught:
                writer.append(split="test", x=np.full(4096, 2))
        assert caught.value.errno == 28
        writer.append(split="test", x=np.full(4096, 3))
    assert read(tmp_path / "s")["test"]["x"][:, 0].tolist() == [1, 3]


def test_joiners_are_part_of_names(tmp_path: Path) -> None:
    persian, emoji = "\u0645\u06cc\u200c\u0631\u0648\u0645", "\U0001f469\u200d\U0001f52c"
    fields = [apldata.Field("label", "u8", (), "target", classes=(persian, emoji))]
    with apldata.Writer(tmp_path / "db", fields) as writer:
        writer.append(label=1, split=persian)
        with pytest.raises(apldata.InvalidError, match="can be printed"):
            writer.append(label=0, split="tr\u200cain")
    with apldata.Store(tmp_path / "db") as store:
        assert list(store.splits) == [persian]
        assert store.schema["label"].classes == (persian, emoji)


def test_names_that_differ_by_case_alone_are_told_of(tmp_path: Path) -> None:
    with (
        pytest.warns(UserWarning, match=r"'train' and 'Train ' are two splits"),
        apldata.Writer(tmp_path / "db", {"x": "u8"}) as writer,
    ):
        for n, split in enumerate(["train", "Train ", "val", "train"]):
            writer.append(x=n, split=split)
    assert list(apldata.Store(tmp_path / "db").splits) == ["train", "Train ", "val"]
    with pytest.warns(UserWarning, match=r"'train' and 'Train' are two splits"):
        apldata.convert({"Train": {"x": [1]}, "train": {"x": [2]}}, tmp_path / "other")


def test_members_splits_and_classes(tmp_path: Path) -> None:
    fields = [Field("x", "u8"), Field("label", "u8", mark="target", classes=("a", "ö <b>"))]
    with Writer(tmp_path / "s", fields, split="one") as writer:
        writer.begin("one", "first")
        writer.extend(x=[1, 2], label=[0, 1])
        writer.begin("one", "second")
        writer.append(x=3, label=1)
        writer.begin("two")
        writer.append(x=4, label=0)
    store = Store(tmp_path / "s")
    assert [(m.name, m.split, m.first, m.records) for m in store.members] == [
        ("first", "one", 0, 2), ("second", "one", 2, 1), ("two", "two", 3, 1),
    ]  # fmt: skip
    assert {name: split.records for name, split in store.splits.items()} == {"one": 3, "two": 1}
    assert store.classes == ("a", "ö <b>") and store.class_counts("one") == {"a": 1, "ö <b>": 2}


def test_a_split_that_is_begun_again(tmp_path: Path) -> None:
    """Refused on the spot, when nothing is lost yet."""
    with Writer(tmp_path / "s", {"x": "u8"}) as writer:
        writer.begin("train")
        writer.append(x=1)
        writer.begin("test")
        writer.append(x=2)
        with pytest.raises(apldata.InvalidError, match="split 'train' ended when 'test' began"):
            writer.begin("train")
        writer.begin("test", "more")
        writer.append(x=3)
    store = Store(tmp_path / "s")
    assert {name: split.records for name, split in store.splits.items()} == {"train": 1, "test": 2}

"""apldata.convert() of several Parquet files: which are read, and which splits they belong to."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from convert_tools import made, types_of

import apldata

pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")


def written(root: Path, *names: str, **columns: Any) -> Path:
    """A file of each of these names, of one row: its name, and what else is given."""
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"f": [name], **{key: [one] for key, one in columns.items()}}), root / name)
    return root


def files_of(store: apldata.Store) -> dict[str, list[str]]:
    return {name: list(store.to_numpy(name)["f"]) for name in store.splits}


@pytest.mark.parametrize(
    ("names", "splits"),
    [
        (["train", "validation", "test", "more"],
         {"train": ["more", "train"], "val": ["validation"], "test": ["test"]}),
        (["data", "test"], {"train": ["data"], "test": ["test"]}),
        (["0", "test/0", "train/0"], {"train": ["0", "train/0"], "test": ["test/0"]}),
        (["mytest", "holdout"], {"train": ["holdout", "mytest"]}),
        (["testing", "dev", "valid", "eval-0"],
         {"val": ["valid"], "dev": ["dev"], "eval": ["eval-0"], "test": ["testing"]}),
        (["test1", "train (2)"], {"train": ["train (2)"], "test": ["test1"]}),
    ],
)  # fmt: skip
def test_each_file_has_the_split_of_its_name(
    names: list[str], splits: dict[str, list[str]], tmp_path: Path
) -> None:
    source = written(tmp_path / "in", *(f"{name}.parquet" for name in names))
    found = files_of(made(source, tmp_path / "db"))
    assert found == {split: [f"{name}.parquet" for name in own] for split, own in splits.items()}
    assert list(found) == list(splits)


def test_names_that_tell_no_split_are_told_of(tmp_path: Path) -> None:
    source = written(tmp_path / "in", "a.parquet", "b.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        apldata.convert(source, tmp_path / "silent")
    written(source, "test.parquet")
    with pytest.warns(
        apldata.IngestWarning, match=r"'train', as their names tell no .*: a\.parquet, b\.parquet"
    ):
        apldata.convert(source, tmp_path / "db")


def test_names_that_tell_two_splits_are_told_of(tmp_path: Path) -> None:
    source = written(tmp_path / "in", "train_val.parquet", "val-test.parquet", "train_training.parquet")
    with pytest.warns(
        apldata.IngestWarning, match=r"in the first of the .*: train_val\.p.*, val-test\.parquet$"
    ):
        apldata.convert(source, tmp_path / "db")
    assert files_of(apldata.Store(tmp_path / "db")) == {
        "train": ["train_training.parquet", "train_val.parquet"], "val": ["val-test.parquet"]
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        apldata.convert({"trainval": source / "train_val.parquet"}, tmp_path / "given")


def test_hidden_files_are_passed_over_and_other_endings_are_read(tmp_path: Path) -> None:
    source = written(
        tmp_path / "in", "0.parquet", "1.PARQUET", "2.pq", ".0.parquet", "_temporary/0.parquet", "_3.parquet",
        ".ipynb_checkpoints/0-checkpoint.parquet",
    )  # fmt: skip
    assert files_of(made(source, tmp_path / "a")) == {"train": ["0.parquet", "1.PARQUET", "2.pq"]}
    assert files_of(made(source / "_temporary", tmp_path / "b")) == {"train": ["_temporary/0.parquet"]}
    assert files_of(made(source / "_3.parquet", tmp_path / "c")) == {"train": ["_3.parquet"]}
    folders = written(tmp_path / "hive", "_kind=1/0.parquet", "_kind=2/0.parquet")
    assert made(folders, tmp_path / "d").to_numpy()["_kind"].tolist() == [1, 2]


def test_all_tables_of_a_directory_are_read_or_named(tmp_path: Path) -> None:
    root = written(tmp_path / "in", "0.parquet", "1.parq", "2.pqt")
    for name in ("3.arrow", "4.feather", "5"):
        table = pa.table({"f": [name]})
        with pa.OSFile(str(root / name), "wb") as file, pa.ipc.new_file(file, table.schema) as out:
            out.write_table(table)
    (root / "6.parquet.gz").write_bytes(b"\x1f\x8b")
    (root / "README.md").write_text("what they are")
    written(tmp_path / "else", "7.parquet")
    (root / "linked").symlink_to(tmp_path / "else")
    with pytest.warns(apldata.IngestWarning) as told:
        apldata.convert(root, tmp_path / "a")
    read = ["0.parquet", "1.parq", "2.pqt", "3.arrow", "4.feather"]
    assert files_of(apldata.Store(tmp_path / "a")) == {"train": read}
    assert [str(one.message).partition(": ")[2] for one in told] == [
        "left out, as their names do not end in .parquet or .arrow: 5, 6.parquet.gz",
        "left out, as they are links to folders: linked",
    ]
    (tmp_path / "none").mkdir()
    (root / "5").rename(tmp_path / "none/part-00000")
    with pytest.raises(apldata.SourceError, match=r"none: holds no Parquet or Arrow files; left out.*part-0"):
        apldata.Store(made([tmp_path / "none"], tmp_path / "b"))


def test_files_of_splits_in_a_dict(tmp_path: Path) -> None:
    root = written(tmp_path / "in", "train.parquet", "val.parquet", "more.parquet")
    names = {"train": str(root / "train.parquet"), "val": root / "val.parquet"}
    assert files_of(made(names, tmp_path / "a")) == {"train": ["train.parquet"], "val": ["val.parquet"]}
    lists = {"val": [root / "train.parquet"], "train": [root / "val.parquet", root / "more.parquet"]}
    found = {"train": ["val.parquet", "more.parquet"], "val": ["train.parquet"]}
    assert files_of(made(lists, tmp_path / "b")) == found
    mixed = {"train": [root / "train.parquet"], "test": pa.table({"f": ["x"]})}
    assert files_of(made(mixed, tmp_path / "c")) == {"train": ["train.parquet"], "test": ["x"]}
    with pytest.raises(apldata.NotFoundError, match=r"none\.parquet: is not there"):
        made({"train": [root / "train.parquet", root / "none.parquet"]}, tmp_path / "d")
    with pytest.raises(apldata.NotFoundError, match=r"none\.parquet: is not there"):
        made([root / "train.parquet", root / "none.parquet"], tmp_path / "d")
    with pytest.raises(
        apldata.InvalidError, match=r"in: has the splits train, val, and is given as one, 'train'"
    ):
        made({"train": root}, tmp_path / "e")
    folder = written(tmp_path / "one", "0.parquet")
    assert files_of(made({"holdout": folder}, tmp_path / "f")) == {"holdout": ["0.parquet"]}
    assert made(["x" * 5000, "\0"], tmp_path / "texts")[1]["text"] == "\0"
    assert types_of(made({"train": ["a", "b"], "text": ["c", "d"]}, tmp_path / "g")).keys() == {
        "train",
        "text",
    }


def test_columns_may_come_in_another_order(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1], "b": ["x"]}), tmp_path / "train-1.parquet")
    pq.write_table(pa.table({"b": ["y"], "a": [2]}), tmp_path / "train-2.parquet")
    files = sorted(tmp_path.glob("train-*"))
    store = made(files, tmp_path / "a")
    assert store.to_numpy()["a"].tolist() == [1, 2] and list(store.to_numpy()["b"]) == ["x", "y"]
    pq.write_table(pa.table({"a": [3], "c": [0]}), tmp_path / "train-3.parquet")
    files.append(tmp_path / "train-3.parquet")
    assert made(files, tmp_path / "b", fields=["a"]).to_numpy()["a"].tolist() == [1, 2, 3]
    with pytest.raises(
        apldata.SourceError, match=r"train-3\.parquet: has no column b, as the first file does"
    ):
        made(files, tmp_path / "c")
    pq.write_table(pa.table({"a": [4]}), tmp_path / "train-0.parquet")
    with pytest.raises(
        apldata.SourceError, match=r"train-1\.parquet: has a column b, which the first file has not"
    ):
        made([tmp_path / "train-0.parquet", files[0]], tmp_path / "c")


def test_a_file_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    root = written(tmp_path / "in", "a.parquet", "b.parquet")
    with pytest.raises(apldata.InvalidError, match=r"a\.parquet: is given twice$"):
        made([root / "a.parquet", root / "a.parquet"], tmp_path / "db")
    with pytest.raises(
        apldata.InvalidError, match=r"\.\./in/a\.parquet: is given twice, as it is .*in/a\.parquet$"
    ):
        made([root / "a.parquet", root / "../in/a.parquet"], tmp_path / "db")
    with pytest.raises(apldata.InvalidError, match=r"a\.parquet: is given twice"):
        made([root, root / "a.parquet"], tmp_path / "db")
    (root / "c.parquet").symlink_to("a.parquet")
    with pytest.raises(apldata.InvalidError, match=r"c\.parquet: is given twice, as it is .*a\.parquet$"):
        made(root, tmp_path / "db")

"""apldata.convert() of several Parquet files: which are read, and which splits they belong to."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from convert_tools import made, types_of

import apldata
from apldata.converting._series import check_series, gap

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
        (["test1-train", "t10k-0"], {"train": ["test1-train"], "test": ["t10k-0"]}),
        (["train/x/VAL/0", "train/x/y/0"], {"train": ["train/x/y/0"], "val": ["train/x/VAL/0"]}),
        (["my-test/0", "test/train"], {"train": ["my-test/0", "test/train"]}),
    ],
)  # fmt: skip
def test_each_file_has_the_split_of_its_name(
    names: list[str], splits: dict[str, list[str]], tmp_path: Path
) -> None:
    source = written(tmp_path / "in", *(f"{name}.parquet" for name in names))
    found = files_of(made(source, tmp_path / "db"))
    assert found == {split: [f"{name}.parquet" for name in own] for split, own in splits.items()}
    assert list(found) == list(splits)


def test_the_folder_that_is_named_tells_the_split_too(tmp_path: Path) -> None:
    source = written(tmp_path / "in", "train/0.parquet", "test/x/0.parquet")
    folders = [source / "train", source / "test"]
    assert {split: len(own) for split, own in files_of(made(folders, tmp_path / "folders")).items()} == {
        "train": 1,
        "test": 1,
    }
    files = [source / "train/0.parquet", written(source, "val/0.parquet") / "val/0.parquet"]
    assert list(files_of(made(files, tmp_path / "files"))) == ["train", "val"]
    with pytest.warns(apldata.IngestWarning, match=r"'test', as their folder is called so: 0\.parquet"):
        apldata.convert(source / "test", tmp_path / "test")
    assert list(apldata.Store(tmp_path / "test").splits) == ["test"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        apldata.convert({"train": source / "test"}, tmp_path / "said")
    assert list(apldata.Store(tmp_path / "said").splits) == ["train"]


def test_folders_that_nearly_tell_a_split_are_told_of(tmp_path: Path) -> None:
    source = written(tmp_path / "in", "train_data/0.parquet", "test_data/1.parquet")
    with pytest.warns(apldata.IngestWarning, match=r"'test' only if that is all of its name: 1\.parquet"):
        apldata.convert(source, tmp_path / "db")
    assert list(apldata.Store(tmp_path / "db").splits) == ["train"]


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
    (root / "8.csv").write_text("f\n8\n")
    (root / "README.md").write_text("what they are")
    written(tmp_path / "else", "7.parquet")
    (root / "linked").symlink_to(tmp_path / "else")
    with pytest.warns(apldata.IngestWarning) as told:
        apldata.convert(root, tmp_path / "a")
    read = ["0.parquet", "1.parq", "2.pqt", "3.arrow", "4.feather"]
    assert files_of(apldata.Store(tmp_path / "a")) == {"train": read}
    assert [str(one.message).partition(": ")[2] for one in told] == [
        "left out, as their names do not end in .parquet or .arrow: 5, 6.parquet.gz, 8.csv",
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


def in_series(root: Path, *numbers: int, total: int = 3, name: str = "train") -> list[Path]:
    names = [f"{name}-{number:05}-of-{total:05}.parquet" for number in numbers]
    return [written(root, one) / one for one in names]


def lacks(source: Any, db: Path, words: str) -> None:
    with pytest.raises(apldata.IncompleteError, match=words):
        made(source, db)
    assert not db.exists()


def test_a_series_that_lacks_files_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "in"
    files = in_series(root, 0, 2)
    why = (
        r"train-00000-of-00003\.parquet: of the 3 shards that its name speaks of, 1 is missing, "
        r"number 1 first \(--partial, or partial=True in Python, does without\)$"
    )
    for source in (root, files, {"train": files}, {"train": root}, {"train": files[0], "test": files[1]}):
        lacks(source, tmp_path / "db", why)
    assert len(made(root, tmp_path / "partial", partial=True).to_numpy()["f"]) == 2
    assert len(made(files[0], tmp_path / "alone").to_numpy()["f"]) == 1
    assert len(made({"train": files[0]}, tmp_path / "split").to_numpy()["f"]) == 1
    files[1].unlink()
    lacks(root, tmp_path / "db", "2 are missing, number 1 first")
    files = in_series(root, 0, 1, 2)
    assert files_of(made({"train": files[:2], "test": files[2:]}, tmp_path / "db")) == {
        "train": [one.name for one in files[:2]],
        "test": [one.name for one in files[2:]],
    }


@pytest.mark.parametrize(
    ("names", "why"),
    [
        ("a b.csv", ""),
        ("x-00001-of-00002 x-00000-of-00002 y-0-of-1", ""),
        ("x-1-of-3.tar x-2-of-3.tar x-3-of-3.tar", ""),  # from 1 on
        ("x-00000-of-00002-f00d.pq x-00001-of-00002-beef.pq", ""),  # with what differs behind
        ("x-0-of-2.a x-1-of-2.a x-0-of-2.b x-1-of-2.b", ""),  # twice
        ("part-of-2 1-of- x-5-of-3 x-1-of-9999999999 best-of-b d-0-of-9/x x-0-of-0", ""),
        ("x-00000-of-00003", "x-00000-of-00003: of the 3 shards that its name speaks of, 2 are missing"),
        ("x-2-of-3 x-0-of-3", "x-0-of-3: of the 3 shards that its name speaks of, 1 is missing"),
        ("x-2-of-3 x-1-of-3", "1 is missing, number 0 first"),
        ("x-1-of-3 x-3-of-3", "1 is missing, number 2 first"),  # from 1 on
        ("train-0-of-2 train-1-of-2 val-0-of-2 other", "val-0-of-2: "),
        ("a/x-0-of-2 b/x-1-of-2 b/x-0-of-2", "1 is missing, number 1 first"),
        ("best-of-5-0-of-2 9-of-2-of-2", "9-of-2-of-2: "),
    ],
)  # fmt: skip
def test_series_by_the_rules_of_aplingest(names: str, why: str) -> None:
    """Those of tests/ingest/test_series.c."""
    paths = list(map(Path, names.split()))
    if not why:
        check_series(paths)
        return
    with pytest.raises(
        apldata.IncompleteError, match=f"^{re.escape(why)}" if ": " in why else re.escape(why)
    ):
        check_series(paths)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ("d/x-003.tar d/x-000.tar d/x-001.tar",
         "x-000.tar: of the shards numbered 0 to 3, 1 is missing, number 2 first"),
        ("x01 x09 x04 x04", "x01: of the shards numbered 1 to 9, 6 are missing, number 2 first"),
        ("a-00.tar a-01.tar b-00.tar b-02.tar",
         "b-00.tar: of the shards numbered 0 to 2, 1 is missing, number 1 first"),
        ("v2-00.tar v2-02.tar", "v2-00.tar: of the shards numbered 0 to 2, 1 is missing, number 1 first"),
        *((names, None) for names in (
            "x-00.tar x-01.tar x-02.tar", "x-03.tar x-04.tar", "2019.csv 2021.csv", "x-0.tar y-2.tar",
            "a/x-0.tar b/x-2.tar", "x-0.tar x-2.csv", "x-00.tar x-002.tar", "x-0-of-3.tar x-2-of-3.tar",
            "a x-0000000000 x-0000000002", "01/a 03/a")),
    ],
)  # fmt: skip
def test_gaps_by_the_rules_of_aplingest(names: str, words: str | None) -> None:
    """Those of tests/ingest/test_series.c."""
    assert gap(map(Path, names.split())) == words


def test_a_gap_between_files_is_a_warning(tmp_path: Path) -> None:
    for number in (0, 1, 3):
        written(tmp_path / "parts", f"{number:05}.parquet")
    words = "parts: 00000.parquet: of the shards numbered 0 to 3, 1 is missing, number 2 first"
    with pytest.warns(apldata.IngestWarning, match=words):
        apldata.convert(tmp_path / "parts", tmp_path / "db")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        apldata.convert(tmp_path / "parts", tmp_path / "db2", partial=True)

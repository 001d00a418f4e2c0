"""apldata.convert() of files with columns of dictionaries: their classes are those of frames and tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from convert_tools import made, types_of

import apldata

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

NAMES = ["lo", "mid", "hi", "never"]
NOTE = "column label: the dictionaries of its files, row groups or batches differ, or are not stored"


def column(values: list[Any], names: list[Any]) -> Any:
    numbers = [None if value is None else names.index(value) for value in values]
    return pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int8()), pa.array(names, pa.string()))


def table(values: list[Any], names: list[Any] = NAMES) -> Any:
    return pa.table({"label": column(values, names)})


def parquet(path: Path, of: Any, **options: Any) -> Path:
    path.parent.mkdir(exist_ok=True)
    pq.write_table(of, path, **options)
    return path


def arrow(path: Path, batches: list[Any], stream: bool = False, **options: Any) -> Path:
    new = pa.ipc.new_stream if stream else pa.ipc.new_file
    with new(str(path), batches[0].schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        for batch in batches:
            writer.write_table(batch)
    return path


def told(source: Any, db: Path, **options: Any) -> tuple[Any, list[str]]:
    """The classes, and of each record its own."""
    store = made(source, db, **options)
    classes = store.schema["label"].classes
    return classes, [classes[record["label"]] for record in store]


VALUES = ["mid", "hi", "lo", "mid", "hi"]


@pytest.mark.parametrize(
    "kind", ["parquet", "row groups", "feather", "lz4", "stream", "polars parquet", "polars ipc", "pandas"]
)
def test_classes_are_those_of_the_dictionary(kind: str, tmp_path: Path) -> None:
    """They were the names in use, sorted."""
    names, path = NAMES, tmp_path / "file"
    if kind in ("parquet", "row groups"):
        parquet(path, table(VALUES), row_group_size=2 if kind == "row groups" else None)
    elif kind == "pandas":
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame({"label": pd.Categorical(VALUES, categories=NAMES, ordered=True)})
        assert told(frame, tmp_path / "frame") == (tuple(NAMES), VALUES)
        frame.to_parquet(path)
    elif kind.startswith("polars"):
        pl = pytest.importorskip("polars")
        frame = pl.DataFrame({"label": pl.Series(VALUES, dtype=pl.Enum(NAMES))})
        frame.write_ipc(path) if kind == "polars ipc" else frame.write_parquet(path, row_group_size=2)
    else:
        batches = [table(VALUES[:2]), table(VALUES[2:])]
        arrow(path, batches, kind == "stream", compression="lz4" if kind == "lz4" else None)
    assert told(path, tmp_path / "a") == (tuple(names), VALUES)
    assert told(path, tmp_path / "list", classes=["label"]) == (tuple(names), VALUES)
    given = [*names[::-1], "more"]
    assert told(path, tmp_path / "given", classes={"label": given}) == (tuple(given), VALUES)
    assert types_of(made(path, tmp_path / "wide", types={"label": "u16"})) == {"label": "u16"}
    assert made(path, tmp_path / "text", types={"label": "utf8"})[0]["label"] == "mid"
    assert made(path, tmp_path / "other", fields={"label": "y"}).schema["y"].classes == tuple(names)


@pytest.mark.parametrize("kind", ["row groups", "no dictionary", "batches", "files", "text"])
def test_dictionaries_that_differ(kind: str, tmp_path: Path) -> None:
    """As of text whose values are classes: the names in use, sorted."""
    path: Any = tmp_path / "file"
    one, other = table(["mid", "hi"], ["mid", "hi", "x"]), table(["lo", "mid"], ["lo", "mid"])
    if kind == "row groups":
        with pq.ParquetWriter(path, one.schema) as writer:
            writer.write_table(one)
            writer.write_table(other)
    elif kind == "no dictionary":
        parquet(path, pa.concat_tables([one, other]), use_dictionary=False)
    elif kind == "batches":
        arrow(path, [one, other], stream=True)
    else:
        other = other if kind == "files" else pa.table({"label": ["lo", "mid"]})
        path = [parquet(tmp_path / "0.parquet", one), parquet(tmp_path / "1.parquet", other)]
    with pytest.warns(apldata.IngestWarning, match=NOTE):
        apldata.convert(path, tmp_path / "noted")
    wanted = ["mid", "hi", "lo", "mid"]
    assert told(path, tmp_path / "a") == (("hi", "lo", "mid"), wanted)
    given = ["lo", "mid", "hi"]
    assert told(path, tmp_path / "b", classes={"label": given}) == (tuple(given), wanted)


def test_dictionaries_that_grow_agree(tmp_path: Path) -> None:
    one, other = table(["b"], ["b"]), table(["a", "b"], ["b", "a"])
    for number, delta in enumerate((False, True)):
        path = arrow(tmp_path / f"{number}.arrow", [one, other], True, emit_dictionary_deltas=delta)
        assert told(path, tmp_path / f"{number}") == (("b", "a"), ["b", "a", "b"])
    files = [parquet(tmp_path / "0.parquet", other), parquet(tmp_path / "1.parquet", one)]
    assert told(files, tmp_path / "files") == (("b", "a"), ["a", "b", "b"])


def test_splits_whose_dictionaries_differ_are_numbered_together(tmp_path: Path) -> None:
    """As frames are, unless one does not agree within itself."""
    train, test = table(["mid", "hi"]), table(["new", "hi"], ["new", "hi"])
    files = {"train": parquet(tmp_path / "0.parquet", train), "test": parquet(tmp_path / "1.parquet", test)}
    tables = {"train": train, "test": test}
    for number, source in enumerate((files, tables)):
        assert told(source, tmp_path / f"{number}") == ((*NAMES, "new"), ["mid", "hi", "new", "hi"])
    path = arrow(tmp_path / "2.arrow", [test, train], stream=True)
    split = {"train": files["train"], "test": path}
    assert told(split, tmp_path / "a")[0] == ("hi", "mid", "new")
    frame = pytest.importorskip("pandas").DataFrame({"label": train["label"].to_pandas()})
    assert told({"train": frame, "test": path}, tmp_path / "b")[0] == ("hi", "mid", "new")


def test_files_without_rows_or_values_agree_with_all(tmp_path: Path) -> None:
    full, none = parquet(tmp_path / "0.parquet", table(VALUES)), parquet(tmp_path / "1.parquet", table([]))
    lost = parquet(tmp_path / "2.parquet", table([None, None]))
    wanted = (tuple(NAMES), VALUES)
    assert told([none, full], tmp_path / "a") == wanted
    assert told({"train": full, "test": none}, tmp_path / "b") == wanted
    assert told([lost, full], tmp_path / "c", missing="skip") == wanted


def test_dictionaries_of_texts_that_are_no_names(tmp_path: Path) -> None:
    for number, names in enumerate((["b", None, "a"], ["b", "b", "a"], ["b", "", "a"])):
        path = arrow(tmp_path / f"{number}.arrow", [table(["a", "b"], names)])
        assert told(path, tmp_path / f"{number}") == (("a", "b"), ["a", "b"])


def test_classes_of_a_frame_whose_categories_are_not_all_in_use(tmp_path: Path) -> None:
    """They were refused, as names that were not given."""
    frame = pytest.importorskip("pandas").DataFrame({"label": table(VALUES)["label"].to_pandas()})
    for number, source in enumerate((frame, table(VALUES))):
        assert told(source, tmp_path / f"{number}", classes=["label"]) == (tuple(NAMES), VALUES)

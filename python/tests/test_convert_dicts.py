"""apldata.convert() of dicts of columns, of whatever library, also beside each other."""

from __future__ import annotations

import array
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convert_tools import made, types_of

import apldata
from apldata import InvalidError


@pytest.mark.parametrize(
    ("dtype", "type"),
    [
        ("Int64", "i64"),
        ("UInt64", "u64"),
        ("Int8", "i8"),
        ("Float32", "f32"),
        ("int64[pyarrow]", "i64"),
        ("uint64[pyarrow]", "u64"),
        ("int8[pyarrow]", "i8"),
        ("double[pyarrow]", "f64"),
    ],
)
def test_series_are_as_in_a_data_frame(dtype: str, type: str, tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    first = 2**53 + 1 if type in ("i64", "u64") else 5
    series = pd.Series([first, None, 3], dtype=dtype, index=[7, 7, 9])
    for name, column in (("series", series), ("array", series.array)):
        columns = {"x": column, "n": [1, 2, 3]}
        with pytest.raises(apldata.InvalidError, match="row 1, column x: a missing value"):
            made(columns, tmp_path / "refused")
        skipped = made(columns, tmp_path / f"{name}-skip", missing="skip")
        assert types_of(skipped) == {"x": type, "n": "i64"}
        assert [(int(row["x"]), int(row["n"])) for row in skipped] == [(first, 1), (3, 3)]
        filled = made({"train": columns}, tmp_path / f"{name}-fill", missing={"x": 0})
        assert [int(row["x"]) for row in filled] == [first, 0, 3]


def test_categories_are_classes(tmp_path: Path) -> None:
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    of_pandas = pd.Categorical(["x", "y"], categories=["y", "x", "z"])
    of_arrow = pd.Series(["x", "y"], dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string())))
    columns = {"a": pd.Series(of_pandas), "b": of_pandas, "c": of_arrow, "d": pd.CategoricalIndex(of_pandas)}
    store = made(columns, tmp_path / "a")
    classes = {name: field.classes for name, field in store.schema.items()}
    assert classes == {"a": ("y", "x", "z"), "b": ("y", "x", "z"), "c": ("x", "y"), "d": ("y", "x", "z")}
    assert [store[1][name] for name in "abcd"] == [0, 0, 1, 0]


def test_columns_of_pandas_of_other_kinds(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    zoned = pd.Series(pd.to_datetime(["2020-01-01"], utc=True).as_unit("us"))
    assert made({"a": zoned}, tmp_path / "zone")[0]["a"] == 1577836800000000
    for number, index in enumerate((pd.Index([3, 4], name="q"), pd.RangeIndex(3, 5, name="q"))):
        store = made(index, tmp_path / f"index{number}")
        assert types_of(store) == {"q": "i64"} and [row["q"] for row in store] == [3, 4]
    pairs = pd.MultiIndex.from_tuples([(1, "a"), (2, "b")], names=["x", "y"])
    assert made(pairs, tmp_path / "pairs")[1] == {"x": 2, "y": "b"}
    assert types_of(made(pd.array([1, 2], dtype="Int16"), tmp_path / "array")) == {"value": "i16"}
    grouped = pd.DataFrame({"a": [1, 1], "b": [1, 2]}).groupby("a")
    with pytest.raises(apldata.InvalidError, match="source must be a DataFrame, a Series or an Index"):
        made(grouped, tmp_path / "grouped")


def test_libraries_beside_each_other(tmp_path: Path) -> None:
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    pl = pytest.importorskip("polars")
    columns = {
        "a": [1, 2],
        "b": pl.Series([2**63, 5], dtype=pl.UInt64),
        "c": pd.Series(["p", "q"]),
        "d": pa.array([{"x": 1, "y": 0.5}, {"x": 2, "y": 1.5}]),
        "e": np.array([True, False]),
    }
    store = made(columns, tmp_path / "a")
    wanted = {"a": "i64", "b": "u64", "c": "utf8[-1]", "d.x": "i64", "d.y": "f64", "e": "bool"}
    assert list(types_of(store).items()) == list(wanted.items())
    assert store[1] == {"a": 2, "b": 5, "c": "q", "d.x": 2, "d.y": 1.5, "e": False}
    with pytest.raises(apldata.InvalidError, match=r"two columns are called 'd\.x'"):
        made(columns | {"d.x": [1, 2]}, tmp_path / "b")


@pytest.mark.parametrize(
    ("column", "type"),
    [
        (range(3, 6), "i64"),
        (deque([3, 4, 5]), "i64"),
        (array.array("f", [3, 4, 5]), "f32"),
        (bytearray([3, 4, 5]), "u8"),
        (memoryview(array.array("h", [3, 4, 5])), "i16"),
        ({3: "a", 4: "b", 5: "c"}.keys(), "i64"),
        ({"a": 3, "b": 4, "c": 5}.values(), "i64"),
    ],
)
def test_columns_are_told_by_their_elements(column: Any, type: str, tmp_path: Path) -> None:
    """They were taken for splits, each of one value a row."""
    for number, source in enumerate(({"x": column}, {"x": column, "y": [0, 0, 0]}, {"val": {"x": column}})):
        store = made(source, tmp_path / str(number))
        assert list(store.splits) == (["val"] if number == 2 else ["train"])
        assert types_of(store)["x"] == type
        assert [int(row["x"]) for row in store] == [3, 4, 5]


def test_tuples_and_dicts_are_values_beside_others(tmp_path: Path) -> None:
    store = made({"box": [(1, 2), (3, 4)], "label": [0, 1]}, tmp_path / "a")
    assert types_of(store) == {"box": "i64[2]", "label": "i64"} and store[1]["box"].tolist() == [3, 4]
    files = [{"bytes": b"fLaC1", "path": "1.flac"}, {"bytes": b"fLaC2", "path": "2.flac"}]
    store = made({"sound": files, "label": [0, 1]}, tmp_path / "b")
    assert store.schema["sound"].media == "audio/flac" and bytes(store[1]["sound"]) == b"fLaC2"
    rows = {"monday": [(1, 2), (3, 4)], "tuesday": [(5, 6)]}
    assert list(made(rows, tmp_path / "c").splits) == ["monday", "tuesday"]


class Foreign:
    """An array as other libraries have them, such as HDF5 and JAX."""

    def __init__(self, values: np.ndarray) -> None:
        self.values, self.dtype, self.ndim, self.shape = values, values.dtype, values.ndim, values.shape

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, key: Any) -> Any:
        return Foreign(self.values[key])

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.values


def test_arrays_of_other_libraries(tmp_path: Path) -> None:
    columns = {"x": Foreign(np.ones((3, 2), np.float32)), "y": [0, 1, 2]}
    for number, source in enumerate((columns, {"x": columns["x"]}, {"val": columns})):
        assert types_of(made(source, tmp_path / str(number)))["x"] == "f32[2]"

    datasets = pytest.importorskip("datasets")
    hub = datasets.Dataset.from_dict({"x": [1, 2], "y": ["a", "b"]})
    store = made({"x": hub["x"], "z": hub["y"]}, tmp_path / "hub")
    assert types_of(store) == {"x": "i64", "z": "utf8[-1]"} and store[1] == {"x": 2, "z": "b"}


def test_what_is_no_column_is_refused(tmp_path: Path) -> None:
    for column, why in (
        ({1, 2}, "a list, as a set has no order"),
        (iter([1, 2]), "an array of one value per record"),
        ({"b": [1, 2]}, "an array of one value per record"),
        ("ab", "an array of one value per record"),
        (np.array(5), "an array of one value per record"),
    ):
        with pytest.raises(apldata.InvalidError, match=f"column a must be {why}; got"):
            made({"train": {"a": column}}, tmp_path / "a")
    for scalar in (np.array(5), np.float32(5)):
        with pytest.raises(apldata.InvalidError, match="source must be a Parquet or Arrow file"):
            made(scalar, tmp_path / "b")


def test_texts_of_numpy(tmp_path: Path) -> None:
    texts = np.array(["ab", "c"], np.dtypes.StringDType())
    for number, source in enumerate(({"a": texts}, [{"a": text} for text in texts])):
        assert [row["a"] for row in made(source, tmp_path / str(number))] == ["ab", "c"]
    for number, gone in enumerate((None, float("nan"))):
        holed = np.array(["ab", gone], np.dtypes.StringDType(na_object=gone))
        with pytest.raises(apldata.InvalidError, match="row 1, column a: a missing value"):
            made({"a": holed}, tmp_path / "gone")
        assert len(made({"a": holed}, tmp_path / f"holed{number}", missing="skip")) == 1
    with pytest.raises(apldata.InvalidError, match="column a: its first row holds lists of str"):
        made([{"a": texts}], tmp_path / "lists")


# ------------------------------------------------------------------------------------- columns or splits


def words(count: int = 3) -> Any:
    return map(str, range(count))


@pytest.mark.parametrize(
    "source",
    [
        lambda: {"text": ["good", "bad", "ok"], "label": words()},
        lambda: {"x": np.arange(3), "y": words(7)},
        lambda: {"x": words(), "y": words()},
        lambda: {"rows": [{"a": 1}], "x": np.arange(3), "more": iter([{"a": 1}])},
    ],
)
def test_a_column_that_is_an_iterator_makes_no_split(source: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidError, match=r"may be columns or splits: for columns, .*list\(\.\.\.\)"):
        apldata.convert(source(), tmp_path / "s")
    assert not (tmp_path / "s").exists()


def test_iterators_of_rows_are_splits(tmp_path: Path) -> None:
    """None of their rows is lost by looking at the first."""
    made = {name: ({"x": number} for number in range(4)) for name in ("first", "second")}
    apldata.convert(made, tmp_path / "s")
    store = apldata.Store(tmp_path / "s")
    assert {name: split.records for name, split in store.splits.items()} == {"first": 4, "second": 4}
    assert [int(record["x"]) for record in store] == [0, 1, 2, 3] * 2
    apldata.convert({"train": words(), "test": iter([])}, tmp_path / "t")
    assert apldata.Store(tmp_path / "t").splits["train"].records == 3


@pytest.mark.parametrize(
    "rows", [[[1, 2], [3, 4]], [[5], [7]], [[0.5] * 70] * 3, [[1], [2, 3]], [[[1], [2]]]]
)
def test_rows_that_are_lists_of_numbers(rows: Any, tmp_path: Path) -> None:
    """The second number was a label, or each number a field."""
    with pytest.raises(apldata.SourceError, match=r"row 0: a list of numbers .* may be one value or several"):
        apldata.convert(rows, tmp_path / "s")
    apldata.convert({"value": rows}, tmp_path / "s")
    store = apldata.Store(tmp_path / "s")
    assert store.schema.names == ["value"] and store[0]["value"].tolist() == rows[0]
    assert len(list(store)) == len(rows)


@pytest.mark.parametrize(
    "rows", [lambda: [(1, 2), (3, 4)], lambda: zip([1, 2], [3, 4], strict=True), lambda: enumerate("ab")]
)
def test_one_name_is_not_that_of_a_whole_tuple(rows: Any, tmp_path: Path) -> None:
    """The label was in the field of the input."""
    with pytest.raises(apldata.SourceError, match="a row of 2 values, where 1 are named, x: name each value"):
        apldata.convert(rows(), tmp_path / "s", fields=["x"])
    apldata.convert(rows(), tmp_path / "s", fields=["x", "y"])
    apldata.convert([[1, 2], [3]], tmp_path / "t", fields=["x"])
    assert [record["x"].tolist() for record in apldata.Store(tmp_path / "t")] == [[1, 2], [3]]


@pytest.mark.filterwarnings("ignore:Sparse CSR")
def test_tensors_without_arrays(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    sparse = torch.eye(3).to_sparse()
    for tensor, advice in (
        (sparse, r"layout torch\.sparse_coo, .*: give tensor\.to_dense\(\)"),
        (sparse.to_sparse_csr(), r"layout torch\.sparse_csr, .*: give tensor\.to_dense\(\)"),
        (torch.zeros(3, device="meta"), "the device meta, which has no values"),
    ):
        with pytest.raises(apldata.InvalidTypeError, match=f"^column a: .*{advice}$"):
            made({"a": tensor}, tmp_path / "db")
        with pytest.raises(apldata.SourceError, match=f"row 0: .*{advice}$"):
            made([{"a": tensor}], tmp_path / "db")
        assert not (tmp_path / "db").exists()


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_nested_tensors_are_lists_of_tensors(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    tensors = [torch.tensor([1, 2]), torch.tensor([3])]
    for layout in (torch.strided, torch.jagged):
        nested = torch.nested.nested_tensor(tensors, layout=layout)
        for number, source in enumerate((nested, {"value": nested}, {"train": {"value": nested}})):
            store = made(source, tmp_path / f"{layout}-{number}")
            assert types_of(store) == {"value": "i64[-1]"}
            assert [record["value"].tolist() for record in store] == [[1, 2], [3]]
        with pytest.raises(apldata.SourceError, match="row 0: a nested tensor, of which there is no array"):
            made([{"value": nested}], tmp_path / "db")


def test_columns_that_a_library_pairs_by_labels(tmp_path: Path) -> None:
    """They were paired by their places, whatever the labels of their rows."""
    pd = pytest.importorskip("pandas")
    x, y = pd.Series([1, 2], index=["a", "b"]), pd.Series([2, 1], index=["b", "a"])
    for number, source in enumerate(({"x": x, "y": y}, {"train": {"n": [1, 2], "x": x, "y": y}})):
        with pytest.raises(
            InvalidError, match=r"columns x and y have different indexes.*pandas\.DataFrame.*reset_index"
        ):
            made(source, tmp_path / f"refused{number}")
    assert len(made({"n": [1, 2], "x": x, "y": y}, tmp_path / "chosen", fields=["n", "y"])) == 2
    for number, same in enumerate((pd.DataFrame({"x": x, "y": y}), {"x": x, "y": y.loc[x.index]})):
        assert made(same, tmp_path / f"same{number}").to_numpy()["y"].tolist() == [1, 2]
    placed = {"x": x.reset_index(drop=True), "y": pd.Series([2, 1], index=pd.Index([0, 1])), "n": (3, 4)}
    assert made(placed, tmp_path / "placed").to_numpy()["y"].tolist() == [2, 1]


def test_arrays_of_xarray_are_paired_by_their_coordinates(tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    x, y = (xr.DataArray([1, 2], dims="r", coords={"r": labels}) for labels in ([1, 2], [2, 1]))
    with pytest.raises(
        InvalidError, match=r"columns x and y have different indexes.*xarray\.Dataset.*drop_vars\('r'\)"
    ):
        made({"x": x, "y": y}, tmp_path / "a")
    assert made(xr.Dataset({"x": x, "y": y}), tmp_path / "b").to_numpy()["y"].tolist() == [2, 1]
    assert made({"x": x, "y": y.drop_vars("r")}, tmp_path / "c").to_numpy()["y"].tolist() == [1, 2]

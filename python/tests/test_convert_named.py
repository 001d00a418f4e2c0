"""apldata.convert() of rows whose values have names: mappings, objects of many kinds, rows of databases."""

from __future__ import annotations

import collections
import sqlite3
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convert_tools import made, types_of

import apldata


@dataclass
class Box:
    x: int
    y: float


@dataclass
class Photo:
    name: str
    box: Box


class OfAttrs:
    """As the package attrs marks its classes."""

    __attrs_attrs__ = (types.SimpleNamespace(name="x"), types.SimpleNamespace(name="y"))

    def __init__(self, x: int, y: str) -> None:
        self.x, self.y = x, y


class OfPydantic:
    """As the package pydantic does."""

    model_fields = ("x", "y")

    def __init__(self, x: int, y: str) -> None:
        self._values = {"x": x, "y": y}

    def model_dump(self) -> dict[str, Any]:
        return self._values


class Keyed:
    """As rows of some databases are: by number, by name, and iterated over by values."""

    def __init__(self, **values: Any) -> None:
        self._values = values

    def keys(self) -> list[str]:
        return list(self._values)

    def __getitem__(self, key: str) -> Any:
        return self._values[key]


class Plain:
    def __init__(self) -> None:
        self.x = 1


def table(rows: Any = sqlite3.Row) -> sqlite3.Connection:
    made = sqlite3.connect(":memory:")
    made.execute("create table t(x int, y text)")
    made.executemany("insert into t values(?, ?)", [(1, "a"), (2, "b")])
    made.row_factory = rows
    return made


@pytest.mark.parametrize(
    "kind",
    [
        collections.UserDict,
        lambda **row: types.MappingProxyType(row),
        lambda **row: collections.ChainMap({"y": row["y"]}, {"x": row["x"]}),
        collections.namedtuple("Row", "x y"),
        OfAttrs,
        OfPydantic,
        Keyed,
        lambda **row: np.array([(row["x"], row["y"])], [("x", "i8"), ("y", "U1")])[0],
    ],
    ids=["UserDict", "proxy", "ChainMap", "namedtuple", "attrs", "pydantic", "keys", "record of NumPy"],
)
def test_rows_whose_values_have_names(kind: Any, tmp_path: Path) -> None:
    """Most were refused, as values that no field can hold."""
    rows = [kind(x=n, y="ab"[n]) for n in range(2)]
    sources: list[Any] = [rows, iter(rows), {"val": rows}, {"monday": rows, "tuesday": rows}]
    for number, source in enumerate(sources):
        store = made(source, tmp_path / str(number))
        assert types_of(store) == {"x": "i64", "y": "utf8[-1]"}
        assert dict(store[1]) == {"x": 1, "y": "b"}
    assert types_of(made(rows, tmp_path / "chosen", fields=["y"])) == {"y": "utf8[-1]"}


@pytest.mark.parametrize("package", ["attrs", "pydantic", "msgspec"])
def test_rows_of_packages(package: str, tmp_path: Path) -> None:
    library = pytest.importorskip(package)
    annotated = {"__annotations__": {"x": int, "y": str}, "__module__": __name__}
    if package == "attrs":
        kind: Any = library.make_class("Row", ["x", "y"])
    else:
        base = library.BaseModel if package == "pydantic" else library.Struct
        kind = types.new_class("Row", (base,), {}, lambda space: space.update(annotated))
    store = made([kind(x=1, y="a")], tmp_path / "a")
    assert dict(store[0]) == {"x": 1, "y": "a"}


def test_objects_within_rows_are_structs(tmp_path: Path) -> None:
    """Their members are columns, as those of dicts; as JSON they are text, whole."""
    rows = [Photo("a", Box(1, 0.5)), Photo("b", Box(2, 1.5))]
    store = made(rows, tmp_path / "a")
    assert types_of(store) == {"name": "utf8[-1]", "box.x": "i64", "box.y": "f64"}
    assert made(rows, tmp_path / "b", types={"box": "json"})[1]["box"] == '{"x": 2, "y": 1.5}'
    lists = [{"boxes": [Box(1, 0.5), collections.UserDict(x=2)]}]
    with pytest.raises(apldata.InvalidError, match=r"column boxes: .* lists of"):
        made(lists, tmp_path / "c")
    kept = made(lists, tmp_path / "d", types={"boxes": "json"})
    assert kept[0]["boxes"] == '[{"x": 1, "y": 0.5}, {"x": 2}]'
    modelled = made([{"m": OfPydantic(1, "a")}], tmp_path / "e")
    assert types_of(modelled) == {"m.x": "i64", "m.y": "utf8[-1]"}


def test_rows_of_a_database(tmp_path: Path) -> None:
    """Rows of sqlite3.Row were refused, and the names that a cursor knows were left aside."""
    for number, rows in enumerate((sqlite3.Row, None)):
        cursor = table(rows).execute("select x, y as text from t")
        store = made(cursor, tmp_path / f"cursor{number}")
        assert types_of(store) == {"x": "i64", "text": "utf8[-1]"} and store[1]["text"] == "b"
        splits = {name: table(rows).execute("select * from t") for name in ("monday", "tuesday")}
        assert types_of(made(splits, tmp_path / f"splits{number}")) == {"x": "i64", "y": "utf8[-1]"}
        chosen = made(table(rows).execute("select * from t"), tmp_path / f"fields{number}", fields=["y"])
        assert types_of(chosen) == {"y": "utf8[-1]"}
        with pytest.raises(apldata.InvalidError, match=r"two columns are called 'x': rename one"):
            made(table(rows).execute("select x, x + 1 as X, x from t"), tmp_path / "twice")
    store = made(table().execute("select x, y from t").fetchall(), tmp_path / "list")
    assert dict(store[0]) == {"x": 1, "y": "a"}
    with pytest.raises(apldata.SourceError, match=r"name each value, fields=\[\.\.\.\], or give dicts"):
        made(table(None).execute("select * from t").fetchall(), tmp_path / "some", fields=["y"])


def test_names_that_come_twice(tmp_path: Path) -> None:
    """As those of queries do, of which a dict keeps one."""

    class Joined(tuple):  # as SQLAlchemy has rows
        _fields = ("x", "x")

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

    with pytest.raises(apldata.SourceError, match="row 0: two columns are called 'x': rename one"):
        made([Joined((1, 2))], tmp_path / "a")


def test_objects_without_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        apldata.InvalidError, match=r"first 2 rows hold Plain, which is no record: give dicts, such as vars"
    ):
        made([Plain(), Plain()], tmp_path / "a")

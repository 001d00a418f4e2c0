"""Ray reads stores and writes sets, on a cluster of two nodes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import apldata
from apldata import ExistsError, Field, InvalidError, Loader, NotFoundError, Store, Writer

ray = pytest.importorskip("ray")
pytest.importorskip("ray.data")

SCHEMA = [
    Field("image", "u8", (3, 4, 4)),
    Field("label", "u8", (), "target", classes=("a", "b", "c")),
    Field("words", "utf8", (-1,)),
    Field("ids", "i32", (-1,)),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """Two raylets, with a core each."""
    from ray.cluster_utils import Cluster

    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
    here = str(Path(apldata.__file__).parents[1])
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    cluster.add_node(num_cpus=1)
    ray.init(
        address=cluster.address,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": here}},
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()
    cluster.shutdown()


def value(i: int) -> dict[str, Any]:
    return {
        "image": np.full((3, 4, 4), i % 251, "u1"),
        "label": i % 3,
        "words": "w" * (i % 5),
        "ids": np.arange(i % 7, dtype="i4"),
    }


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ray") / "db"
    with Writer(path, SCHEMA, block_records=16) as w:
        for split, count in (("train", 300), ("test", 50)):
            w.begin(split)
            for i in range(count):
                w.append(**value(i))
    return path


def test_tasks_are_runs_of_blocks(db: Path) -> None:
    from apldata.ray import Source

    tasks = Source(db, "train", ["label"]).get_read_tasks(4)
    rows = [task.metadata.num_rows for task in tasks]
    assert sum(rows) == 300 and len(rows) == 4
    assert all(n % 16 == 0 for n in rows[:-1])
    labels = [label for task in tasks for block in task() for label in block["label"].to_pylist()]
    assert labels == [i % 3 for i in range(300)]
    whole = Source(db).get_read_tasks(1000)
    assert sum(task.metadata.num_rows for task in whole) == 350
    assert len(whole) == 19 + 4  # no block is decoded twice
    assert Source(db, "train", ["label"]).estimate_inmemory_data_size() < 1000


def test_named_splits(db: Path) -> None:
    from apldata.ray import Source

    with Store(db) as store:
        store.split("val", 0.3, parent="train", replace=True)
        tasks = Source(db, "val", ["label"]).get_read_tasks(3)
        labels = [n for task in tasks for block in task() for n in block["label"].to_pylist()]
        assert labels == store.to_numpy("val", ["label"])["label"].tolist()


def test_what_is_not_there(db: Path) -> None:
    from apldata.ray import Sink, Source

    with pytest.raises(NotFoundError):
        Source(db, fields=["nothing"])
    with pytest.raises(NotFoundError):
        Source(db, "nothing")
    with pytest.raises(NotFoundError):
        Source(db.parent / "nothing")
    with pytest.raises(TypeError):
        Sink(db.parent / "x", SCHEMA, shard_records="many")  # type: ignore[arg-type]


def test_read(cluster: None, db: Path) -> None:
    from apldata.ray import read

    dataset = read(db, "train", override_num_blocks=4)
    assert dataset.count() == 300
    rows = sorted(dataset.take_all(), key=lambda row: (row["image"][0, 0, 0], row["label"]))
    for row, i in zip(rows, sorted(range(300), key=lambda i: (i % 251, i % 3)), strict=True):
        wanted = value(i)
        assert np.array_equal(row["image"], wanted["image"]) and row["words"] == wanted["words"]
        assert np.array_equal(row["ids"], wanted["ids"])
    assert read(db, fields=["label"]).columns() == ["label"]


def test_round_trip(cluster: None, db: Path, tmp_path: Path) -> None:
    from apldata.ray import Sink, read

    path = tmp_path / "set"
    ray.data.DataContext.get_current().execution_options.preserve_order = True
    read(db, "train", override_num_blocks=4).write_datasink(Sink(path, SCHEMA))
    with Store(path) as store, Store(db) as origin:
        assert store.info["shards"] > 1
        written, wanted = store.to_numpy("train"), origin.to_numpy("train")
        assert np.array_equal(written["image"], wanted["image"]) and written["words"] == wanted["words"]
        assert store.verify() == []
    with Loader(path, batch_size=64) as loader:
        assert sum(batch.rows for batch in loader) == 300
    with pytest.raises(ExistsError):
        Sink(path, SCHEMA)
    old = set(os.listdir(path))
    read(db, "test").write_datasink(Sink(path, SCHEMA, replace=True, split="test"))
    with Store(path) as store:
        assert list(store.splits) == ["test"] and len(store) == 50
    assert not old & set(os.listdir(path)) - {"set.apl"}


LARGE = 2**53 + 1  # which f64 cannot hold


def blocks() -> Iterator[Any]:
    pa, pd = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    for values in ([LARGE, None], [[LARGE, None], [1]], [[LARGE], None], [True, None], ["a", None], [None]):
        yield pa.table({"x": pa.array(values)})
    yield pd.DataFrame({"x": pd.array([LARGE, pd.NA], dtype="Int64")})
    yield pd.DataFrame({"x": pd.array([LARGE, None], dtype="int64[pyarrow]")})
    yield pd.DataFrame({"x": pd.Series([[LARGE, None]], dtype=pd.ArrowDtype(pa.list_(pa.int64())))})


def test_nulls_are_refused(tmp_path: Path) -> None:
    """Ray would make floats of the whole numbers beside them."""
    from apldata.ray import Sink

    task = SimpleNamespace(task_idx=0)
    for field in (("f64", ()), ("i64", ()), ("f64", (-1,))):
        for block in blocks():
            with pytest.raises(InvalidError, match="field x: 1 nulls, and a store has none"):
                Sink(tmp_path / "no", {"x": field}).write([block], task)
    assert os.listdir(tmp_path / "no") == []


def test_nulls_among_floats_are_nan(tmp_path: Path) -> None:
    """Ray itself may have made them of NaN."""
    from apldata.ray import Sink

    pa, pd = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    some = [pa.table({"x": [0.5, None]}), pd.DataFrame({"x": pd.array([0.5, None], dtype="Float64")})]
    some.append(pd.DataFrame({"x": [0.5, None]}))
    name = Sink(tmp_path / "s", {"x": "f64"}).write(some, SimpleNamespace(task_idx=0))
    with Store(tmp_path / "s" / str(name)) as store:
        assert str(store.to_numpy("train")["x"].tolist()) == str([0.5, np.nan] * 3)


def test_a_task_that_dies_is_tried_again(cluster: None, db: Path, tmp_path: Path) -> None:
    from apldata.ray import Sink, read

    class Dying(Sink):
        def write(self, blocks: Any, ctx: Any) -> str | None:
            name = super().write(blocks, ctx)
            mark = tmp_path / f"died-{ctx.task_idx}"
            if not mark.exists():
                mark.touch()
                os._exit(1)  # its shard is there, and nobody has been told
            return name

    path = tmp_path / "set"
    read(db, "train", override_num_blocks=2).write_datasink(Dying(path, SCHEMA))
    with Store(path) as store:
        assert len(store) == 300
        assert len(os.listdir(path)) == store.info["shards"] + 1
    assert list(tmp_path.glob("died-*"))


def test_failure_leaves_nothing(cluster: None, db: Path, tmp_path: Path) -> None:
    from apldata.ray import Sink, read

    path = tmp_path / "set"
    bad = [*SCHEMA[:1], Field("label", "u8", (), "target", classes=("a", "b"))]  # there are three
    with pytest.raises(Exception, match="label"):
        read(db, "train", override_num_blocks=2).write_datasink(Sink(path, bad))
    assert not path.exists()
    with pytest.raises(Exception, match="no column 'weight'"):
        read(db, "test").write_datasink(Sink(path, [*SCHEMA, Field("weight", "f32")]))
    assert not path.exists()


def test_join(tmp_path: Path) -> None:
    for name in ("a", "b"):
        with Writer(tmp_path / name, {"x": "i32"}) as w:
            w.extend(x=[1, 2, 3])
    apldata.join([tmp_path / "a"], tmp_path)
    with pytest.raises(ExistsError, match="replace=True"):
        apldata.join([tmp_path / "a"], tmp_path)
    apldata.join([tmp_path / "b"], tmp_path, append=True)
    assert len(Store(tmp_path)) == 6
    with pytest.raises(TypeError):
        apldata.join("a", tmp_path)

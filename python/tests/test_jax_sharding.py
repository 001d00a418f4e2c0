"""What a sharding can divide: arrays of a row for each record, as long in all processes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FLAGS = os.environ.get("XLA_FLAGS", "")
if "host_platform_device_count" not in FLAGS:
    os.environ["XLA_FLAGS"] = f"{FLAGS} --xla_force_host_platform_device_count=4".strip()
jax = pytest.importorskip("jax")

from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

import apldata  # noqa: E402
from apldata import EdgeIndex, InvalidError, Nodes, Pad, Ragged, Writer  # noqa: E402
from apldata.jax import DataLoader  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("jax_on_cpu"),
    pytest.mark.skipif(len(jax.devices("cpu")) < 4, reason="JAX was started with fewer than 4 devices"),
]
COUNT = 16


def rows_over(parts: int) -> NamedSharding:
    return NamedSharding(Mesh(np.array(jax.devices("cpu")[:parts]), ("rows",)), PartitionSpec("rows"))


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Graphs of two nodes, and values as long as their record's number."""
    path = tmp_path_factory.mktemp("sharding") / "db"
    with Writer(path, {"x": ("f32", (-1,)), "ei": ("i64", (2, -1)), "v": ("i32", (-1,)), "y": "i32"}) as w:
        for i in range(COUNT):
            w.append(x=[i, i], ei=[[0, 1], [1, 0]], v=[i] * i, y=i)
    return path


def stacked(batch: Any) -> None:
    batch["v"] = np.array([value.sum() for value in batch["v"]])


@pytest.mark.parametrize(
    ("collate", "told"),
    [
        (
            {"v": Ragged()},
            r"field v cannot be divided by a sharding.*: Ragged\(\) makes one array .*Pad\(length",
        ),
        ({"x": Nodes(), "ei": EdgeIndex()}, r"field x cannot be divided .*: Nodes\(\) makes one array"),
    ],
)
def test_arrays_without_a_row_for_each_record_are_refused_at_once(db: Path, collate: Any, told: str) -> None:
    options: dict[str, Any] = {"batch_size": 8, "collate": collate, "fields": [*collate, "y"]}
    with pytest.raises(InvalidError, match=told):
        DataLoader(db, sharding=rows_over(4), **options)
    with DataLoader(db, sharding=rows_over(1), **options) as loader:  # which divides nothing
        assert len(list(loader)) == 2
    with (
        DataLoader(db, sharding=rows_over(4), transforms=[lambda batch: None], **options) as loader,
        pytest.raises(InvalidError, match=told),
    ):
        next(iter(loader))


def test_what_functions_put_in_their_place_is_divided(db: Path) -> None:
    options: dict[str, Any] = {"batch_size": 8, "collate": {"v": Ragged()}, "fields": ["v", "y"]}
    with DataLoader(db, sharding=rows_over(4), transforms=[stacked], shuffle=False, **options) as loader:
        batches = list(loader)
    assert np.concatenate([batch["v"] for batch in batches]).tolist() == [i * i for i in range(COUNT)]
    told = r"at \['v'\] cannot be divided by a sharding.*Ragged\(\)"
    with (
        DataLoader(
            db, sharding=rows_over(4), transforms=[lambda batch: {"v": batch["v"]}], **options
        ) as loader,
        pytest.raises(InvalidError, match=told),
    ):
        next(iter(loader))


def test_in_one_process_values_may_be_padded_to_any_length(db: Path) -> None:
    options: dict[str, Any] = {"batch_size": 8, "fields": ["v", "y"], "shuffle": False}
    with DataLoader(db, sharding=rows_over(4), collate={"v": Pad()}, **options) as loader:
        assert [batch["v"].shape for batch in loader] == [(8, 7), (8, 15)]


def test_other_arrays_that_cannot_be_divided(db: Path) -> None:
    for made, size in ((np.zeros(5), "5 rows"), (3, "no dimensions")):
        functions = [lambda batch, made=made: {"z": made}]
        told = rf"what functions return, at \['z'\]: an array of {size} cannot be divided"
        with (
            DataLoader(db, batch_size=8, sharding=rows_over(4), transforms=functions) as loader,
            pytest.raises(InvalidError, match=told),
        ):
            next(iter(loader))


PROCESS = """
import sys
import numpy as np
import jax
jax.distributed.initialize(f"localhost:{sys.argv[1]}", 2, int(sys.argv[2]))
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from apldata import EdgeIndex, InvalidError, Nodes, Pad, Ragged
from apldata.jax import DataLoader

sharding = NamedSharding(Mesh(np.array(jax.devices()), ("rows",)), PartitionSpec("rows"))
everywhere = NamedSharding(sharding.mesh, PartitionSpec())

def loader(collate, **more):
    fields = [*collate, "y"]
    return DataLoader(sys.argv[3], batch_size=2, shuffle=False, drop_last=True, sharding=sharding,
                      collate=collate, fields=fields, **more)

def refused(collate, **more):
    try:
        return list(loader(collate, **more))
    except InvalidError as error:
        print(str(error).split(": ")[0].split(",")[0])

def half(batch):
    for name in batch:
        batch[name] = batch[name][:1]

refused({"x": Nodes(), "ei": EdgeIndex()})
refused({"v": Ragged()})
refused({"v": Pad()})
refused({"v": Pad()}, transforms=[lambda batch: None])
refused({"v": Pad(15)}, transforms=[half])
gathered = jax.jit(lambda x: x, out_shardings=everywhere)
print([np.asarray(gathered(batch["v"])).sum(1).tolist() for batch in loader({"v": Pad(15)})])
"""


def test_over_processes(db: Path) -> None:
    """Each makes its part without asking the others: arrays of other lengths would not fit together."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = str(free.getsockname()[1])
    environment = os.environ | {
        "XLA_FLAGS": "--xla_force_host_platform_device_count=1", "JAX_PLATFORMS": "cpu",
        "PYTHONPATH": str(Path(apldata.__file__).parents[1]),
    }  # fmt: skip
    children = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, port, str(rank), str(db)],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for rank in range(2)
    ]  # fmt: skip
    squares = [i * i for i in range(COUNT)]
    expected = [
        *(f"field {name} cannot be divided by a sharding" for name in "xvvv"),
        "a batch has 1 rows",
        str([squares[at : at + 4] for at in range(0, COUNT, 4)]),
    ]
    for child in children:
        out, err = child.communicate(timeout=180)
        assert child.returncode == 0, err[-2000:]
        assert [line for line in out.splitlines() if not line.startswith("[Gloo]")] == expected

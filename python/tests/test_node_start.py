"""How loaders with share="node" find their ranks, and start a server."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import TRAIN

import apldata
from apldata._launch import LAUNCHERS, launched, on_machine
from apldata._node import _JOB
from apldata._sockets import _place

_LOCAL = ("LOCAL_RANK", "LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE")
_MPICH = ("MPI_LOCALRANKID", "MPI_LOCALNRANKS")
_SLURM = ("SLURM_GTIDS", "SLURM_NODEID", "SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE")
VARIABLES = {name for pair in LAUNCHERS for name in pair} | {*_LOCAL, *_MPICH, *_SLURM, *_JOB}

SCRIPT = """
import json, sys, apldata
with apldata.Loader(sys.argv[1], "train", batch_size=50, share="node", timeout=30) as loader:
    print(json.dumps([int(i) for batch in loader for i in batch.ids]))
"""


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A short one, for sockets, in an environment without a launcher."""
    folder = Path(tempfile.mkdtemp(prefix="apl-", dir="/tmp"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("apldata._node._made", Counter())  # other tests count their loaders too
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def started(db: str, environment: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, db], env={**os.environ, **environment},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


SLURM = {"SLURM_PROCID": "@", "SLURM_STEP_NUM_TASKS": "2", "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0"}
MPICH = {"PMI_RANK": "@", "PMI_SIZE": "2"}


@pytest.mark.parametrize(
    "launcher",
    [
        {**SLURM, "SLURM_GTIDS": "0,1"},
        {**SLURM, "SLURM_LOCALID": "@", "SLURM_NODEID": "0", "SLURM_STEP_TASKS_PER_NODE": "2"},
        {**MPICH, "MPI_LOCALRANKID": "@", "MPI_LOCALNRANKS": "2"},
        {**MPICH, **SLURM, "SLURM_GTIDS": "0,1"},  # srun --mpi=pmi2
        {**SLURM, "SLURM_GTIDS": "0,1", "RANK": "@", "WORLD_SIZE": "2"},  # a script that exports them
        {"RANK": "@", "WORLD_SIZE": "2", "LOCAL_RANK": "@", "LOCAL_WORLD_SIZE": "2"},
    ],
    ids=["srun", "srun-counts", "mpiexec", "srun-pmi", "srun-exports", "torchrun"],
)
def test_the_processes_of_each_launcher_share_an_epoch(
    store_path: str, place: Path, launcher: dict[str, str]
) -> None:
    processes = [
        started(store_path, {name: value.replace("@", str(rank)) for name, value in launcher.items()})
        for rank in range(2)
    ]
    ids = []
    for process in processes:
        said, wrong = process.communicate(timeout=60)
        assert process.returncode == 0, wrong
        ids.append(json.loads(said))
    assert [len(one) for one in ids] == [TRAIN // 2, TRAIN // 2]
    assert len({*ids[0], *ids[1]}) == TRAIN


def set_all(monkeypatch: pytest.MonkeyPatch, environment: dict[str, Any]) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, str(value))


@pytest.mark.parametrize(
    "launcher", [SLURM, MPICH, {"OMPI_COMM_WORLD_RANK": "@", "OMPI_COMM_WORLD_SIZE": "2"}]
)
def test_a_launcher_that_does_not_say_which_ranks_are_here_is_refused(
    store_path: str, place: Path, monkeypatch: pytest.MonkeyPatch, launcher: dict[str, str]
) -> None:
    set_all(monkeypatch, {name: value.replace("@", "1") for name, value in launcher.items()})
    with pytest.raises(apldata.InvalidError, match=r"share='node' needs LOCAL_RANK and LOCAL_WORLD_SIZE.*"):
        apldata.Loader(store_path, share="node")


def test_a_launcher_that_contradicts_itself_is_refused(
    store_path: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_all(monkeypatch, {"RANK": 2, "WORLD_SIZE": 2})
    for share in (None, "node"):
        with pytest.raises(apldata.InvalidError, match="the environment says RANK=2 and WORLD_SIZE=2"):
            apldata.Loader(store_path, share=share)


def test_ranks_of_a_machine_in_a_step_of_slurm(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_all(monkeypatch, {"SLURM_PROCID": 6, "SLURM_STEP_NUM_TASKS": 9, "SLURM_LOCALID": 0})
    assert launched() == (6, 9) and on_machine(6, 9) is None
    set_all(monkeypatch, {"SLURM_NODEID": 2, "SLURM_STEP_TASKS_PER_NODE": "3(x2),2,1"})
    assert on_machine(6, 9) == (6, 7)
    assert on_machine(1, 4) is None  # of another job
    monkeypatch.setenv("SLURM_LOCALID", "1")  # ranks go round the machines: 6 would be 7
    assert on_machine(6, 9) is None
    monkeypatch.setenv("SLURM_GTIDS", "2,6")
    assert on_machine(6, 9) == (2, 6)
    monkeypatch.setenv("SLURM_GTIDS", "2,5")
    with pytest.raises(apldata.InvalidError, match=r"rank 6 of 9 cannot be one of \(2, 5\) on its machine"):
        on_machine(6, 9)


def test_a_batch_script_of_slurm_is_a_process_alone(
    store_path: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_all(monkeypatch, {"SLURM_PROCID": 0, "SLURM_NTASKS": 4, "SLURM_GTIDS": 0, "SLURM_JOB_ID": 7})
    with apldata.Loader(store_path, "train", share="node") as loader:
        assert sum(batch.rows for batch in loader) == TRAIN


@pytest.mark.parametrize("kind", ["absent", "long", "relative", "file", "foreign"])
def test_a_runtime_directory_that_cannot_be_used_is_not(
    store_path: str, place: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    runtime = place / ("x" * 80 if kind == "long" else kind)
    if kind in ("long", "foreign"):
        runtime.mkdir()
    if kind == "file":
        runtime.touch()
    if kind == "foreign":
        if os.getuid() != 0:
            pytest.skip("only root can make a directory of another user")
        os.chown(runtime, 12345, 12345)
    monkeypatch.setenv("XDG_RUNTIME_DIR", kind if kind == "relative" else str(runtime))
    monkeypatch.setattr("tempfile.tempdir", str(place))
    with apldata.Loader(store_path, "train", share="node") as loader:
        assert (place / f"apldata-{os.getuid()}").is_dir()
        assert sum(batch.rows for batch in loader) == TRAIN
    monkeypatch.setattr("tempfile.tempdir", str(place / ("x" * 80)))
    assert _place() == Path(f"/tmp/apldata-{os.getuid()}")


def test_no_place_for_sockets_is_an_error_of_the_library(
    store_path: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    monkeypatch.setattr("tempfile.tempdir", str(place / "absent"))
    with pytest.raises(apldata.StorageError, match=r"share='node': .*/absent/apldata-\d+: cannot make"):
        apldata.Loader(store_path, "train", share="node")


@pytest.mark.parametrize(("told", "status"), [(0.0, 1), (0.5, 1), (1.0, 0)])
def test_a_server_whose_starter_is_killed_says_nothing(
    store_path: str, place: Path, told: float, status: int
) -> None:
    with apldata.Loader(store_path, "train", share="node") as loader:
        starter = loader._connection._starter  # type: ignore[union-attr]
        work = pickle.dumps((starter._store, starter._options, str(place / "s"), (0,), 100))
    server = subprocess.Popen([sys.executable, "-m", "apldata._serving"], stdin=-1, stdout=-1, stderr=-1)
    assert server.stdin is not None and server.stdout is not None and server.stderr is not None
    with server.stdin, server.stderr:
        server.stdout.close()
        server.stdin.write(work[: int(told * len(work))])
        server.stdin.close()
        assert server.stderr.read() == b""
    assert server.wait(60) == status
    assert not (place / "s").exists()

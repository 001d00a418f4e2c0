"""examples/train_torchrun.py: four processes on one reader, and again from the checkpoint."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

PROGRAM = Path(__file__).resolve().parents[2] / "examples" / "train_torchrun.py"
RANKS = 4


@pytest.fixture
def folder() -> Iterator[Path]:
    """A short one, for sockets."""
    made = Path(tempfile.mkdtemp(prefix="apl-", dir="/tmp"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def leave() -> None:
    """The last call of the program. What PyTorch frees after it may wait for threads for ever in a process
    that was forked from one with threads, as this is and torchrun's are not. By then the loader is closed: it
    has neither threads nor a connection, and its server is no child that anybody waits for."""
    sys.stdout.flush()
    os._exit(0)


def train(rank: int, environment: dict[str, str], arguments: list[str], said: str) -> None:
    """In a process as torchrun makes it, but for the seconds that importing torch takes."""
    os.environ.update(environment, RANK=str(rank), LOCAL_RANK=str(rank))
    if rank == 0:
        sys.stdout = open(said, "w")  # noqa: SIM115
    spec = importlib.util.spec_from_file_location("train_torchrun", PROGRAM)
    assert spec and spec.loader
    program: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    program.distributed.destroy_process_group = leave
    program.main(arguments)


def run(db: str, epochs: int, folder: Path) -> str:
    environment = {
        "WORLD_SIZE": str(RANKS), "LOCAL_WORLD_SIZE": str(RANKS), "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()), "XDG_RUNTIME_DIR": str(folder),
    }  # fmt: skip
    said = str(folder / f"said-{epochs}")
    options = ["--epochs", str(epochs), "--batch-size", "50", "--checkpoint", str(folder / "checkpoint"), db]
    fork = multiprocessing.get_context("fork")
    processes = [fork.Process(target=train, args=(k, environment, options, said)) for k in range(RANKS)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
        process.kill()  # if it still lives
    assert [process.exitcode for process in processes] == [0] * RANKS
    return Path(said).read_text()


def test_four_processes_train_and_go_on(store_path: str, folder: Path) -> None:
    if not PROGRAM.is_file():
        pytest.skip("the examples are not here")
    first = run(store_path, 1, folder)
    assert first.startswith("epoch 0: loss ")
    assert "epoch 1" not in first
    assert run(store_path, 2, folder).startswith("epoch 1: loss ")

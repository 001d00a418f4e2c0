"""examples/train_elastic.py: ranks are killed in the middle of an epoch, and fewer or more go on."""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import apldata

PROGRAM = Path(__file__).resolve().parents[2] / "examples" / "train_elastic.py"

pytestmark = [
    pytest.mark.skipif(not PROGRAM.is_file(), reason="the examples are not here"),
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch"),
]


def test_receipts_add_up(tmp_path: Path) -> None:
    """Those of two ranks, before and after a resumption; what is dropped at the end, each tells in full."""
    spec = importlib.util.spec_from_file_location("train_elastic", PROGRAM)
    assert spec and spec.loader
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    with apldata.Writer(str(tmp_path / "db"), [apldata.Field("x", "u8", ())]) as w:
        w.begin("train")
        for i in range(50):
            w.append(x=i)
    receipts, state = [], None
    for batches in (1, 99):
        for rank in (0, 1):
            options = {"rank": rank, "world": 2, "drop_last": True, "seed": 3}
            with apldata.Loader(str(tmp_path / "db"), "train", 8, **options) as loader:
                if batches > 1:
                    loader.load_state_dict(state)
                for _, _batch in zip(range(batches), loader, strict=False):
                    pass
                receipts.append(loader.receipt())
                kept = loader.state_dict() if batches == 1 else None
        state = kept
    total = example.added(receipts)
    assert (total["delivered"], total["dropped"], total["repeated"]) == (48, 2, 0)


# What torchrun does with a program, but for importing torch in each process: starts so many ranks, ends all
# when one dies, and starts as many as come next. In each world but the last, a rank kills itself at a step.
LAUNCHER = """
import os, signal, sys
sys.path.insert(0, os.path.dirname(sys.argv[1]))
import torch._dynamo  # which optimizers import: once, not in each rank
import train_elastic

worlds, deaths = eval(sys.argv[2]), eval(sys.argv[3])
arguments = sys.argv[4:]

def rank(world, number, port, dies):
    os.environ.update(RANK=str(number), WORLD_SIZE=str(world), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    step, done = train_elastic.Run.step, 0
    def until(run, images, labels):
        nonlocal done
        if done == dies and number == world - 1:
            os.kill(os.getpid(), signal.SIGKILL)
        done += 1
        step(run, images, labels)
    train_elastic.Run.step = until
    train_elastic.main(arguments)

for i, world in enumerate(worlds):
    ranks = []
    for number in range(world):
        pid = os.fork()
        if pid == 0:
            try:
                rank(world, number, PORTS[i], deaths[i] if i < len(deaths) else -1)
            except BaseException as error:
                print(f"rank {number}: {type(error).__name__}", flush=True)
                os._exit(1)
            os._exit(0)
        ranks.append(pid)
    failed = []
    while ranks:
        pid, status = os.wait()
        ranks.remove(pid)
        if status and not failed:
            for other in ranks:
                os.kill(other, signal.SIGKILL)
        failed += [os.waitstatus_to_exitcode(status)] * (status != 0)
    print(f"world {world}: {failed}", flush=True)
"""


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def whole_epoch(path: str, epoch: int) -> str:
    """The sum of an epoch that one loader reads alone."""
    with apldata.Loader(path, "train", 250, first_epoch=epoch, world=1, rank=0) as loader:
        for _ in loader:
            pass
        return str(loader.receipt()["sum"])


def test_ranks_die_and_others_go_on(store_path: str, tmp_path: Path) -> None:
    """Three ranks, of which one is killed in the middle of an epoch; then two."""
    launcher = LAUNCHER.replace("PORTS", str(free_ports(2)))
    # Four lanes: of three ranks, each reads one and a third.
    options = ["--epochs", "2", "--batch-size", "32", "--every", "2", "--lanes", "4"]
    command = [sys.executable, "-c", launcher, str(PROGRAM), "[3, 2]", "[5]", *options]
    done = subprocess.run(
        [*command, store_path, str(tmp_path / "checkpoint.pt")],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    # A rank may see that the other is gone, and end by itself, before it is killed.
    said = [line for line in done.stdout.splitlines() if not line.startswith("rank ")]
    first, *rest = said or [""]
    ends = {f"world 3: [-9, {one}, {two}]" for one in (-9, 1) for two in (-9, 1)}
    assert done.returncode == 0 and first in ends | {"world 3: [1, -9, -9]"}, done.stdout + done.stderr
    # Five steps of 3 x 32 rows, of which four were saved. The receipts of all ranks add up to one reader's.
    assert rest == [
        "resumed at epoch 0, position 384, with 2 ranks",
        *(f"epoch {epoch}: 1000 records, sum {whole_epoch(store_path, epoch)}" for epoch in range(2)),
        "world 2: []",
    ], done.stdout + done.stderr

"""examples/train_elastic.py under torchrun: one of two machines dies, and the other goes on without it; one
of four ranks dies, and four go on."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_example_elastic import PROGRAM, free_ports, whole_epoch

pytest.importorskip("torch.distributed.run")

# A rank that is to die in its first life: the last of one machine, or torchrun and its only rank.
DYING = """
import os, signal, sys
sys.path.insert(0, os.path.dirname(PROGRAM))
import train_elastic

step, done = train_elastic.Run.step, 0

def until(run, images, labels):
    global done
    dies = os.environ.get("APL_DIES")
    if dies == "machine" and done == 5:
        os.kill(os.getppid(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
    first = os.environ["TORCHELASTIC_RESTART_COUNT"] == "0" and os.environ["RANK"] == "3"
    if dies == "rank" and first and done == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    done += 1
    step(run, images, labels)

train_elastic.Run.step = until
train_elastic.main()
"""


TORCHRUN = [sys.executable, "-m", "torch.distributed.run"]
EPOCHS = 2
BATCH, EVERY = 32, 2  # of each rank; steps from one checkpoint to the next


def options(store_path: str, folder: Path) -> list[str]:
    asked = ["--epochs", str(EPOCHS), "--batch-size", str(BATCH), "--every", str(EVERY)]
    return [*asked, store_path, str(folder / "checkpoint.pt")]


@pytest.fixture
def script(tmp_path: Path) -> str:
    if not PROGRAM.is_file():
        pytest.skip("the examples are not here")
    made = tmp_path / "script.py"
    made.write_text(DYING.replace("PROGRAM", repr(str(PROGRAM))))
    return str(made)


def each_record_once(store_path: str, told: str) -> None:
    """The receipts of all ranks, before and after, add up to those of one loader."""
    said = dict(re.findall(r"^epoch (\d+): 1000 records, sum ([0-9a-f]{32})$", told, re.MULTILINE))
    assert said == {str(epoch): whole_epoch(store_path, epoch) for epoch in range(EPOCHS)}, told


def started(command: list[str], **more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command, env={**os.environ, "OMP_NUM_THREADS": "1", **more},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def ended(job: subprocess.Popen[str], patience: float) -> tuple[int, str, str]:
    """How it ends, by itself or because it hangs, and what it says."""
    try:
        told, errors = job.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        job.terminate()  # which ends its ranks
        told, errors = job.communicate(timeout=60)
    return job.returncode, told, errors


# Where gloo does not connect the ranks a second time, torchrun fails or hangs, and is started anew: so with
# PyTorch 2.13.0 on one machine, mostly, and just so without apldata.


def test_a_machine_dies(store_path: str, tmp_path: Path, script: str) -> None:
    command = [*TORCHRUN, "--nnodes=1:2", "--nproc-per-node=1", "--max-restarts=2", "--rdzv-backend=c10d"]
    command += [f"--rdzv-endpoint=127.0.0.1:{free_ports(1)[0]}"]
    program = [script, *options(store_path, tmp_path)]
    rendezvous = "--rdzv-conf=last_call_timeout=20,is_host="
    stays = started([*command, f"{rendezvous}1", *program])
    dies = started([*command, f"{rendezvous}0", *program], APL_DIES="machine")
    status, told, _ = ended(dies, 150)
    assert status == -9, told
    status, told, errors = ended(stays, 150)
    if status != 0:
        status, more, errors = ended(
            started([*TORCHRUN, "--standalone", "--nproc-per-node=1", *program]), 300
        )
        told += more
    assert status == 0, told + errors
    assert f"resumed at epoch 0, position {2 * EVERY * 2 * BATCH}, with 1 ranks" in told
    each_record_once(store_path, told)


def test_a_rank_dies(store_path: str, tmp_path: Path, script: str) -> None:
    command = [*TORCHRUN, "--standalone", "--nproc-per-node=4", "--max-restarts=1", script]
    command += options(store_path, tmp_path)
    status, told, errors = ended(started(command, APL_DIES="rank"), 120)
    assert "exitcode: -9" in errors, told + errors
    if status != 0:
        status, more, errors = ended(started(command), 300)
        told += more
    assert status == 0, told + errors
    assert f"resumed at epoch 0, position {2 * EVERY * 4 * BATCH}, with 4 ranks" in told
    each_record_once(store_path, told)

"""examples/train_elastic.py under torchrun: one of two machines dies, and the other goes on without it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_example_elastic import PROGRAM, free_ports, whole_epoch

pytest.importorskip("torch.distributed.run")

# The machine that is to die: torchrun and its only rank.
DYING = """
import os, signal, sys
sys.path.insert(0, os.path.dirname(PROGRAM))
import train_elastic

step, done = train_elastic.Run.step, 0

def until(run, images, labels):
    global done
    if "APL_DIES" in os.environ and done == 5:
        os.kill(os.getppid(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
    done += 1
    step(run, images, labels)

train_elastic.Run.step = until
train_elastic.main()
"""


def test_a_machine_dies(store_path: str, tmp_path: Path) -> None:
    if not PROGRAM.is_file():
        pytest.skip("the examples are not here")
    script = tmp_path / "script.py"
    script.write_text(DYING.replace("PROGRAM", repr(str(PROGRAM))))
    command = [sys.executable, "-m", "torch.distributed.run", "--nnodes=1:2", "--nproc-per-node=1"]
    command += ["--max-restarts=2", "--rdzv-backend=c10d", f"--rdzv-endpoint=127.0.0.1:{free_ports(1)[0]}"]
    options = [
        "--epochs",
        "2",
        "--batch-size",
        "32",
        "--every",
        "2",
        store_path,
        str(tmp_path / "checkpoint.pt"),
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    machines = [
        subprocess.Popen(
            [*command, f"--rdzv-conf=last_call_timeout=20,is_host={host}", str(script), *options],
            env={**environment, **({} if host else {"APL_DIES": "1"})},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for host in (1, 0)
    ]
    told = [machine.communicate(timeout=300)[0] for machine in machines]
    assert [machine.returncode for machine in machines] == [0, -9], told
    assert "resumed at epoch 0, position 256, with 1 ranks" in "".join(told)
    said = dict(re.findall(r"^epoch (\d+): 1000 records, sum ([0-9a-f]{32})$", told[0], re.MULTILINE))
    assert said == {str(epoch): whole_epoch(store_path, epoch) for epoch in range(2)}

"""What the tests of other people's trainers share: a small model, loaders, and processes that are killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import apldata
from apldata import Normalize, RandomFlip

torch = pytest.importorskip("torch")
apltorch = pytest.importorskip("apldata.torch")

BATCH, STEPS, EPOCHS = 100, 10, 3  # of the store of the tests, which has 1,000 records
DIE_AT = 13  # the step after whose checkpoint a process is killed


def train_loader(path: str, **options: Any) -> Any:
    given = {
        "shuffle": True,
        "seed": 3,
        "transforms": [RandomFlip(), Normalize()],
        "num_workers": 1,
        **options,
    }
    return apltorch.DataLoader(path, BATCH, split="train", **given)


def test_loader(path: str, **options: Any) -> Any:
    return apltorch.DataLoader(path, BATCH, split="test", transforms=[Normalize()], num_workers=1, **options)


test_loader.__test__ = False  # type: ignore[attr-defined]


def model() -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3072, 10))


def weights(of: Any) -> Any:
    return torch.cat([p.detach().reshape(-1).clone() for p in of.parameters()])


def die() -> None:
    """As when the machine goes down."""
    os.kill(os.getpid(), signal.SIGKILL)


def killed(function: Callable[..., Any], *args: Any) -> None:
    """Calls a function in another process, in which it must come to `die()`."""
    process = multiprocessing.get_context("spawn").Process(target=function, args=args)
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL


def run_script(body: str, folder: Path, *args: str, ranks: int = 0, **env: str) -> str:
    """Runs a script, by torchrun if it has ranks, and returns what it prints."""
    script = folder / "script.py"
    script.write_text(textwrap.dedent(body))
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"] if ranks else []
    here = str(Path(apldata.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, *launcher, str(script), *args], capture_output=True, text=True, timeout=600,
        cwd=folder, env={**os.environ, "PYTHONPATH": f"{here}:{Path(__file__).parent}", **env},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def check_killed(
    train: Callable[..., Any], train_and_die: Callable[..., None], store: str, folder: Path
) -> None:
    """A training that dies in the middle of an epoch and is resumed ends as one that was not: with the same
    batches and weights."""
    whole, seen = train(store, str(folder / "whole.pt"))
    assert len(seen) == STEPS * EPOCHS
    killed(train_and_die, store, str(folder / "killed.pt"))
    rest, left = train(store, str(folder / "killed.pt"), resume=True)
    assert left == seen[DIE_AT:] and torch.equal(rest, whole)

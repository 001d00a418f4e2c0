"""A real Slurm, of this machine alone: the processes that srun starts find their ranks by themselves."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import apldata

RANKS = 4
NEEDS = ("slurmctld", "slurmd", "srun", "sinfo")
SECONDS = 30  # until the daemons have found each other
CONFIG = """
ClusterName=apl
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}
SlurmdSpoolDir={folder}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES State=UP
"""
RANK = """
import os, sys
import numpy as np
import apldata

db, out, share = sys.argv[1:]
with apldata.Loader(db, "train", 32, seed=3, share=share or None) as loader:
    ids = [batch.ids.copy() for batch in loader]
    receipt = loader.receipt()
assert receipt["repeated"] == 0 and receipt["delivered"] == sum(map(len, ids)), receipt
np.save(f"{out}/{os.environ['SLURM_PROCID']}.npy", np.concatenate(ids))
"""
Srun = Callable[..., None]


def free_ports() -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def is_idle(environment: dict[str, str]) -> bool:
    asked = ["sinfo", "-h", "-o", "%T"]
    told = subprocess.run(asked, env=environment, capture_output=True, text=True, timeout=20, check=False)
    return told.stdout.strip() == "idle"


def wait_for(daemons: list[subprocess.Popen[bytes]], environment: dict[str, str], logs: Path) -> None:
    """Skips the tests, with what a daemon said last, if they do not start here."""
    until = time.monotonic() + SECONDS
    while not is_idle(environment):
        if time.monotonic() > until or any(daemon.poll() is not None for daemon in daemons):
            last = [log.read_text(errors="replace").splitlines()[-1:] for log in sorted(logs.glob("*.log"))]
            pytest.skip(f"Slurm does not start here: {last}")
        time.sleep(0.2)


@pytest.fixture(scope="module")
def srun() -> Iterator[Srun]:
    """Runs a command as four tasks."""
    absent = [name for name in NEEDS if shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") is None]
    if absent:
        pytest.skip(f"{', '.join(absent)} of Slurm are not installed (Debian: slurmctld slurmd slurm-client)")
    folder = Path(tempfile.mkdtemp(prefix="apl-slurm-", dir="/tmp"))
    controller, node = free_ports()
    config = folder / "slurm.conf"
    host = socket.gethostname().partition(".")[0]
    config.write_text(
        CONFIG.format(host=host, controller=controller, node=node, user=getpass.getuser(), folder=folder)
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
    environment |= {"SLURM_CONF": str(config), "PATH": f"{os.environ['PATH']}:/usr/sbin"}
    daemons = []

    def run(*command: str) -> None:
        done = subprocess.run(
            ["srun", "-n", str(RANKS), *command], env=environment, capture_output=True, text=True,
            timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr

    try:
        for name in ("slurmctld", "slurmd"):
            with open(folder / f"{name}.log", "wb") as log:
                command = [name, "-D", "-f", str(config)]
                daemon = subprocess.Popen(
                    command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
                )
                daemons.append(daemon)
        wait_for(daemons, environment, folder)
        yield run
    finally:
        for one in reversed(daemons):
            one.terminate()
        for one in daemons:
            one.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize("share", ["", "node"])
def test_each_rank_reads_its_own(srun: Srun, store_path: str, tmp_path: Path, share: str) -> None:
    """What a loader of that rank reads; together, each record once. With share="node", one of them reads."""
    srun(sys.executable, "-c", RANK, store_path, str(tmp_path), share)
    found = {path.name: np.load(path) for path in tmp_path.iterdir()}
    assert sorted(found) == [f"{rank}.npy" for rank in range(RANKS)]
    assert np.sort(np.concatenate(list(found.values()))).tolist() == list(range(1000))
    for rank in range(RANKS):
        with apldata.Loader(store_path, "train", 32, seed=3, rank=rank, world=RANKS) as loader:
            wanted = np.concatenate([batch.ids.copy() for batch in loader])
        assert np.array_equal(found[f"{rank}.npy"], wanted)


def test_each_rank_makes_its_part(srun: Srun, store_path: str, tmp_path: Path) -> None:
    """aplingest makes the part of a set that is the task's."""
    bin_ = Path(apldata.__path__[0]) / "bin"
    arrays = tmp_path / "arrays"
    subprocess.run([bin_ / "apldata", "export", "-q", "--format", "npy", store_path, arrays], check=True)
    srun(str(bin_ / "aplingest"), "-q", str(arrays), str(tmp_path / "set"))
    with apldata.Store(tmp_path / "set") as made, apldata.Store(store_path) as whole:
        assert made.info["shards"] == RANKS
        assert len(made) == len(whole)
        image = made.to_numpy("train")["image"]
        assert np.array_equal(image, whole.to_numpy("train")["image"])

"""apldata.torch.DataLoader among ranks: which one it takes, and whether they agree."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from torch_tools import torch

import apldata

apltorch = pytest.importorskip("apldata.torch")
DataLoader = apltorch.DataLoader

pytestmark = pytest.mark.skipif(
    not torch.distributed.is_available(), reason="torch was built without distributed"
)

SCRIPT = """
import json, os, sys
import torch.distributed as dist
import apldata
from apldata.torch import DataLoader, DeviceLoader

path, init, rank, world = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])

def start():
    dist.init_process_group("gloo", init_method=f"file://{init}", rank=rank, world_size=world)

def ids(batch):
    return batch.ids.tolist()

def tell(**what):
    print(json.dumps(what), flush=True)

def attempt(call):
    try:
        return call()
    except apldata.Error as error:
        return f"{type(error).__name__}: {error}"

BODY
if dist.is_initialized():
    dist.barrier()
    dist.destroy_process_group()
"""


def ranks(body: str, store_path: str, tmp_path: Path, world: int = 2) -> list[dict[str, Any]]:
    """What a script tells in each of some processes."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("BODY", textwrap.dedent(body)))
    command = [sys.executable, str(script), store_path, str(tmp_path / "init")]
    processes = [
        subprocess.Popen(
            [*command, str(rank), str(world)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for rank in range(world)
    ]
    told = []
    for process in processes:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        told.append(json.loads(out.splitlines()[-1]))
    return told


@pytest.mark.parametrize("kind", ["loader", "device"])
def test_made_before_the_group(store_path: str, tmp_path: Path, kind: str) -> None:
    """It takes its rank at the first question."""
    make = {
        "loader": "loader = DataLoader(path, 64, True, collate_fn=ids)",
        "device": "loader = DeviceLoader(path, 'train', 64, device='cpu', fields=['id'])",
    }[kind]
    body = f"""
        {make}
        start()
        before = len(loader)
        seen = [i for batch in loader for i in (batch if isinstance(batch, list) else batch[0].tolist())]
        tell(steps=len(loader), before=before, seen=seen)
    """
    told = ranks(body, store_path, tmp_path)
    assert [one["steps"] for one in told] == [one["before"] for one in told] == [8, 8]
    assert sorted(i for one in told for i in one["seen"]) == list(range(1000))


def test_made_before_the_group_with_a_state(store_path: str, tmp_path: Path) -> None:
    body = """
        first = DataLoader(path, 100, True, collate_fn=ids)
        head = next(iter(first))
        loader = DataLoader(path, 50, True, collate_fn=ids)
        loader.load_state_dict(first.state_dict())
        start()
        tell(head=head, rest=[i for batch in loader for i in batch], replicas=loader.sampler.num_replicas)
    """
    told = ranks(body, store_path, tmp_path)
    assert told[0]["head"] == told[1]["head"] and told[0]["replicas"] == 2
    assert sorted(told[0]["head"] + [i for one in told for i in one["rest"]]) == list(range(1000))


def test_begun_before_the_group(store_path: str, tmp_path: Path) -> None:
    body = """
        loader = DataLoader(path, 64, True)
        next(iter(loader))
        start()
        tell(found=attempt(lambda: next(iter(loader))) if rank or True else None)
    """
    for one in ranks(body, store_path, tmp_path):
        assert "begun as rank 0 of 1" in one["found"] and "init_process_group() before" in one["found"]


def test_each_rank_reads_all(store_path: str, tmp_path: Path) -> None:
    body = """
        loader = DataLoader(path, 64, shard=False, collate_fn=ids)
        start()
        other = DataLoader(path, 64, collate_fn=ids, shard=False)
        tell(seen=[i for batch in loader for i in batch], steps=len(other))
    """
    for one in ranks(body, store_path, tmp_path):
        assert one["seen"] == list(range(1000)) and one["steps"] == 16


DIFFERENT = [
    ("seed=rank", "seed is "),
    ("generator=torch.Generator().manual_seed(rank)", "seed is "),
    ("batch_size=64 + rank", "batch_size is "),
    ("shuffle=bool(rank)", "shuffle differs"),
    ("ids=range(rank, 1000)", "ids differs"),
    ("sampling=apldata.Sampling(records=100 + rank)", "sampling differs"),
    ("first_epoch=rank", "different places of their epochs"),
]


def test_ranks_that_differ(store_path: str, tmp_path: Path) -> None:
    """Whoever comes second says in what, and nobody waits."""
    options = ", ".join(f"dict({differing})" for differing, _ in DIFFERENT)
    body = f"""
        import torch
        start()
        found = []
        for options in ({options}):
            loader = DataLoader(path, **{{"shuffle": True, **options}})
            found.append(attempt(lambda: str(len(next(iter(loader))))))
            dist.barrier()
        tell(found=found)
    """
    told = [one["found"] for one in ranks(body, store_path, tmp_path)]
    for *found, (_, message) in zip(*told, DIFFERENT, strict=True):
        refused = [text for text in found if text.startswith("MismatchError")]
        assert len(refused) == 1 and message in refused[0]
        assert "rank 0" in refused[0] and "rank 1" in refused[0]


def test_ranks_that_agree(store_path: str, tmp_path: Path) -> None:
    """Whatever has no say in the order may differ; no seed is the same seed everywhere."""
    body = """
        import torch
        torch.manual_seed(rank)
        start()
        loader = DataLoader(path, 64, True, num_workers=rank, prefetch_factor=None if rank == 0 else 3,
                            transforms=[] if rank else [apldata.RandomFlip()], collate_fn=ids)
        if rank == 0:
            DataLoader(path, 64, seed=9, shard=False)     # of no concern to others
        seen = [[i for batch in loader for i in batch] for _ in range(2)]
        tell(seen=seen)
    """
    told = ranks(body, store_path, tmp_path)
    for epoch in range(2):
        assert sorted(i for one in told for i in one["seen"][epoch]) == list(range(1000))


def test_shard_and_rank(store_path: str) -> None:
    with pytest.raises(apldata.InvalidError, match="leave out rank and world"):
        DataLoader(store_path, shard=False, rank=0, world=2)
    with pytest.raises(apldata.InvalidError, match="shard must be"):
        DataLoader(store_path, shard="no")

"""apldata.torch.DataLoader among ranks: which one it takes, and whether they agree."""

from __future__ import annotations

import json
import subprocess
import sys
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
import json, os, sys, textwrap
import torch
import torch.distributed as dist
import apldata
from apldata.torch import DataLoader, DeviceLoader

path, place, rank, world = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
bodies = json.load(open(f"{place}/bodies"))
told = {}

def start():
    dist.init_process_group("gloo", init_method=f"file://{place}/{name}", rank=rank, world_size=world)

def ids(batch):
    return batch.ids.tolist()

def tell(**what):
    told[name] = what

def attempt(call):
    try:
        return call()
    except apldata.Error as error:
        return f"{type(error).__name__}: {error}"

for name in bodies:
    exec(compile(textwrap.dedent(bodies[name]), name, "exec"), dict(globals()))
    dist.barrier()
    dist.destroy_process_group()
print(json.dumps(told))
"""

DIFFERENT = [
    ("seed=rank", "seed is "),
    ("generator=torch.Generator().manual_seed(rank)", "seed is "),
    ("batch_size=64 + rank", "batch_size is "),
    ("shuffle=bool(rank)", "shuffle differs"),
    ("ids=range(rank, 1000)", "ids differs"),
    ("sampling=apldata.Sampling(records=100 + rank)", "sampling differs"),
    ("first_epoch=rank", "different places of their epochs"),
]

# What the ranks do, each with a process group of its own; all in two processes, as PyTorch loads for seconds.
MADE_BEFORE = """
    loader = {make}
    start()
    before = len(loader)
    seen = [i for batch in loader for i in (batch if isinstance(batch, list) else batch[0].tolist())]
    tell(steps=len(loader), before=before, seen=seen)
"""
BODIES = {
    "loader": MADE_BEFORE.format(make="DataLoader(path, 64, True, collate_fn=ids)"),
    "device": MADE_BEFORE.format(make="DeviceLoader(path, 'train', 64, device='cpu', fields=['id'])"),
    "state": """
        first = DataLoader(path, 100, True, collate_fn=ids)
        head = next(iter(first))
        loader = DataLoader(path, 50, True, collate_fn=ids)
        loader.load_state_dict(first.state_dict())
        start()
        tell(head=head, rest=[i for batch in loader for i in batch], replicas=loader.sampler.num_replicas)
    """,
    "begun": """
        loader = DataLoader(path, 64, True)
        next(iter(loader))
        start()
        tell(found=attempt(lambda: next(iter(loader))))
    """,
    "all": """
        loader = DataLoader(path, 64, shard=False, collate_fn=ids)
        start()
        other = DataLoader(path, 64, collate_fn=ids, shard=False)
        tell(seen=[i for batch in loader for i in batch], steps=len(other))
    """,
    "differ": f"""
        start()
        found = []
        for options in ({", ".join(f"dict({differing})" for differing, _ in DIFFERENT)}):
            loader = DataLoader(path, **{{"shuffle": True, **options}})
            found.append(attempt(lambda: str(len(next(iter(loader))))))
            dist.barrier()
        tell(found=found)
    """,
    "agree": """
        torch.manual_seed(rank)
        start()
        loader = DataLoader(path, 64, True, num_workers=rank, prefetch_factor=None if rank == 0 else 3,
                            transforms=[] if rank else [apldata.RandomFlip()], collate_fn=ids)
        if rank == 0:
            DataLoader(path, 64, seed=9, shard=False)     # of no concern to others
        seen = [[i for batch in loader for i in batch] for _ in range(2)]
        tell(seen=seen)
    """,
}

Told = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def told(store_path: str, tmp_path_factory: pytest.TempPathFactory) -> Told:
    """What each of two ranks tells of each body."""
    place = tmp_path_factory.mktemp("ranks")
    (place / "bodies").write_text(json.dumps(BODIES))
    script = place / "script.py"
    script.write_text(SCRIPT)
    processes = [
        subprocess.Popen(
            [sys.executable, str(script), store_path, str(place), str(rank), "2"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    ends = [process.communicate(timeout=300) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], ends
    each = [json.loads(out.splitlines()[-1]) for out, _ in ends]
    return {name: [one[name] for one in each] for name in BODIES}


@pytest.mark.parametrize("kind", ["loader", "device"])
def test_made_before_the_group(told: Told, kind: str) -> None:
    """It takes its rank at the first question."""
    assert [one["steps"] for one in told[kind]] == [one["before"] for one in told[kind]] == [8, 8]
    assert sorted(i for one in told[kind] for i in one["seen"]) == list(range(1000))


def test_made_before_the_group_with_a_state(told: Told) -> None:
    first, second = told["state"]
    assert first["head"] == second["head"] and first["replicas"] == 2
    assert sorted(first["head"] + first["rest"] + second["rest"]) == list(range(1000))


def test_begun_before_the_group(told: Told) -> None:
    for one in told["begun"]:
        assert "begun as rank 0 of 1" in one["found"] and "init_process_group() before" in one["found"]


def test_each_rank_reads_all(told: Told) -> None:
    for one in told["all"]:
        assert one["seen"] == list(range(1000)) and one["steps"] == 16


def test_ranks_that_differ(told: Told) -> None:
    """Whoever comes second says in what, and nobody waits."""
    each = [one["found"] for one in told["differ"]]
    for *found, (_, message) in zip(*each, DIFFERENT, strict=True):
        refused = [text for text in found if text.startswith("MismatchError")]
        assert len(refused) == 1 and message in refused[0]
        assert "rank 0" in refused[0] and "rank 1" in refused[0]


def test_ranks_that_agree(told: Told) -> None:
    """Whatever has no say in the order may differ; no seed is the same seed everywhere."""
    for epoch in range(2):
        assert sorted(i for one in told["agree"] for i in one["seen"][epoch]) == list(range(1000))


def test_shard_and_rank(store_path: str) -> None:
    with pytest.raises(apldata.InvalidError, match="leave out rank and world"):
        DataLoader(store_path, shard=False, rank=0, world=2)
    with pytest.raises(apldata.InvalidError, match="shard must be"):
        DataLoader(store_path, shard="no")

"""What the environment says of the ranks of a job, and where it says only half of it."""

from __future__ import annotations

import os
import re
from itertools import chain

from ._errors import InvalidError
from ._warning import warn

LAUNCHERS = (  # as reader/spec/options.c has them
    ("RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
)
_OTHERS = tuple(rank for rank, _ in LAUNCHERS[1:])
_LOCAL = (  # of the processes of a machine; ranks of a machine follow one another
    ("LOCAL_RANK", "LOCAL_WORLD_SIZE"),
    ("OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
)
_MPICH_LOCAL = ("MPI_LOCALRANKID", "MPI_LOCALNRANKS")


def _pair(rank: str, world: str) -> tuple[int, int] | None:
    """What two variables say; None: one of them, or both, is not set."""
    texts = os.environ.get(rank, ""), os.environ.get(world, "")
    if not all(texts):
        return None
    if not all(text.isascii() and text.isdecimal() for text in texts) or int(texts[0]) >= int(texts[1]):
        raise InvalidError(f"the environment says {rank}={texts[0]:.32} and {world}={texts[1]:.32}")
    return int(texts[0]), int(texts[1])


def launched() -> tuple[int, int] | None:
    """Rank and world as the launcher says, by the rules of the library; None: no launcher."""
    return next(filter(None, (_pair(*names) for names in LAUNCHERS)), None)


def _in_slurm_step() -> tuple[int, ...] | None:
    """The ranks that srun has started on this machine."""
    own = os.environ.get
    listed = own("SLURM_GTIDS", "")
    if re.fullmatch(r"[0-9]+(,[0-9]+)*", listed):
        return tuple(sorted(map(int, listed.split(","))))
    node, local = own("SLURM_NODEID", ""), own("SLURM_LOCALID", "")
    counts = re.findall(r"([0-9]+)(?:\(x([0-9]+)\))?", own("SLURM_STEP_TASKS_PER_NODE", ""))
    tasks = list(chain.from_iterable([int(count)] * int(times or 1) for count, times in counts))
    if not (node.isdecimal() and local.isdecimal() and int(node) < len(tasks)):
        return None
    first = sum(tasks[: int(node)])
    if first + int(local) != int(own("SLURM_PROCID", "")):  # the ranks of a machine do not follow one another
        return None
    return tuple(range(first, first + tasks[int(node)]))


def _is(name: str, number: int) -> bool:
    return os.environ.get(name) == str(number)


def on_machine(rank: int, world: int) -> tuple[int, ...] | None:
    """The ranks of this machine, as the launcher says; None: it does not."""
    pair = next(filter(None, (_pair(*names) for names in _LOCAL)), None)
    if pair is None and _is("PMI_RANK", rank) and _is("PMI_SIZE", world):
        pair = _pair(*_MPICH_LOCAL)
    if pair is None and _is("SLURM_PROCID", rank) and _is("SLURM_STEP_NUM_TASKS", world):
        ranks = _in_slurm_step()
        if ranks is not None and (rank not in ranks or ranks[-1] >= world):
            raise InvalidError(f"rank {rank} of {world} cannot be one of {ranks} on its machine")
        return ranks
    if pair is None:
        return None
    at, count = pair
    if at > rank or rank - at + count > world:
        raise InvalidError(f"rank {rank} of {world} cannot be the process {at} of {count} on its machine")
    return tuple(range(rank - at, rank - at + count))


def warn_if_alone() -> None:
    """Warns of a job of several processes in which none knows which it is, or of how many, so that each reads
    everything."""
    world, rank = os.environ.get("WORLD_SIZE", ""), os.environ.get("RANK", "")
    several = world.isdecimal() and int(world) > 1 and not rank
    some = rank.isdecimal() and not world
    if not (several or some) or any(map(os.environ.get, _OTHERS)):
        return
    said = f"RANK is {rank} and WORLD_SIZE" if some else f"WORLD_SIZE is {world} and RANK"
    warn(
        f"{said} is not set: the loader reads all records, as one process alone "
        "would. Set both, or give rank= and world=; rank=0, world=1 says that this is meant",
        RuntimeWarning,
    )

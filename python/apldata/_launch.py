"""What the environment says of the ranks of a job, where it says only half of it."""

from __future__ import annotations

import os

from ._warning import warn

_OTHERS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")


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

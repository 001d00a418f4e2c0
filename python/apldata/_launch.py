"""What the environment says of the ranks of a job, where it says only half of it."""

from __future__ import annotations

import os
import warnings

_OTHERS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")


def warn_if_alone() -> None:
    """Warns of a job of several processes in which none knows which it is, so that each reads everything."""
    world, rank = os.environ.get("WORLD_SIZE", ""), os.environ.get("RANK", "")
    if rank or not world.isdecimal() or int(world) < 2 or any(map(os.environ.get, _OTHERS)):
        return
    warnings.warn(
        f"WORLD_SIZE is {world} and RANK is not set: the loader reads all records, as one process alone "
        "would. Set both, or give rank= and world=; rank=0, world=1 says that this is meant",
        RuntimeWarning,
        stacklevel=4,
    )

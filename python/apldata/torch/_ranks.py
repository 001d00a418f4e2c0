"""Which rank a loader reads for, and whether the ranks agree on what they read."""

# mypy: allow-subclassing-any, disable-error-code="import-not-found,import-untyped"
# mypy: allow-untyped-calls, allow-any-generics, no-warn-return-any
from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Any

import torch

from .._arguments import flag
from .._errors import InvalidError, MismatchError
from .._launch import launched
from .._pass import Pass

# What gives an order its shape. The rest may differ: it says how fast, or in what form.
_SHAPING = (
    "seed", "batch_size", "sequential", "drop_last", "order", "window", "bins", "reuse", "lanes", "fill", "late",
    "weight", "by_tokens", "split", "sampling", "ids", "mix",
)  # fmt: skip
_NAMES = {
    "sequential": "shuffle", "order": "in_order", "ids": "ids=", "sampling": "sampling=",
    "by_tokens": "weight_by",
}  # fmt: skip
_made: Counter[str] = Counter()


def distributed() -> tuple[int, int] | None:
    """Rank and world of torch.distributed's process group; None: none."""
    group = torch.distributed
    if group.is_available() and group.is_initialized():
        return group.get_rank(), group.get_world_size()
    return None


def place(rank: int | None, world: int | None, shard: bool = True) -> tuple[int | None, int | None]:
    """Rank and world: as given, else those of torch.distributed if that is in use; None: the launcher's."""
    if not flag("shard", shard):
        if rank is not None or world is not None:
            raise InvalidError("shard=False reads all records in each process: leave out rank and world")
        return 0, 1
    if rank is None and world is None:
        return distributed() or (None, None)
    return rank, world


class Placed:
    """A part of loaders that take their rank from torch.distributed, also where its process group is
    initialised after the loader was made; and that find out whether the ranks read the same.

    `_by_default`: nobody has said which rank it is.
    """

    _options: dict[str, Any]
    _pass: Pass
    _by_default = False
    _key = ""
    _iterations = 0

    def _place(self, by_default: bool) -> None:
        """After the reader was opened."""
        self._by_default = by_default
        if not self._options["world"]:
            self._options["rank"], self._options["world"] = launched() or (0, 1)

    def _settle(self) -> None:
        """Takes the rank that torch.distributed has given since."""
        found = distributed() if self._by_default else None
        if found is None or found == (self._options["rank"], self._options["world"]):
            return
        now = self._pass
        if now.begun and not now.loaded:
            raise InvalidError(
                f"the loader has begun as rank {self._options['rank']} of {self._options['world']}, and the "
                f"process group, which was initialised since, says {found[0]} of {found[1]}: call "
                "init_process_group() before the first iteration, or give the loader rank= and world="
            )
        before = self._options["rank"], self._options["world"]
        self._options["rank"], self._options["world"] = found
        try:
            self._reopen(now.finished, state=now.state())  # type: ignore[attr-defined]
        except BaseException:
            self._options["rank"], self._options["world"] = before
            raise

    def _agree(self) -> None:
        """Compares the options that shape the order with those of the other ranks, which must be the same:
        all or nothing would come out of different orders. One question to the group's store for an epoch,
        and nobody waits."""
        found = distributed()
        world = self._options["world"]
        if found is None or world < 2:
            return
        own = {"rank": found[0], **_digest(self._options), **self._where()}
        if not self._key:
            content = self.store.content_digest  # type: ignore[attr-defined]
            kind = f"{content[:16]}/{_short(self._options['split'])}/{world}"
            self._key = f"apldata/{kind}/{_made[kind]}"
            _made[kind] += 1
        key = f"{self._key}/{self._iterations}"
        self._iterations += 1
        store = _group_store()
        if store is None:
            return
        first = json.loads(store.compare_set(key, "", json.dumps(own)))
        _compare(own, first)

    def _where(self) -> dict[str, Any]:
        """Where the epoch begins that has just been asked for."""
        now = self._pass
        if now.in_use:  # by another iterator
            return {"epoch": now.epoch + 1, "state": None}
        return {"epoch": now.epoch, "state": _short(now.state())}


def _group_store() -> Any:
    """The store by which the process group's ranks have met; None: it has none."""
    try:
        return torch.distributed.distributed_c10d._get_default_store()
    except (AttributeError, ValueError):  # it is not public, and MPI's groups do without
        return None


def _short(value: Any) -> Any:
    """A value as it is if it is one number, else its digest."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    data = value if isinstance(value, bytes) else repr(value).encode()
    return hashlib.sha256(data).hexdigest()[:16]


def _digest(options: dict[str, Any]) -> dict[str, Any]:
    shaping = {name: options[name] for name in _SHAPING if name in options}
    shaping["mix"] = [(store.content_digest, split, weight) for store, split, weight in shaping["mix"]]
    return {name: _short(value) for name, value in shaping.items()}


def _compare(own: dict[str, Any], first: dict[str, Any]) -> None:
    for name, value in own.items():
        other = first.get(name)
        if name == "rank" or value == other:
            continue
        if name in ("epoch", "state"):
            raise MismatchError(
                f"rank {own['rank']} and rank {first['rank']} resume from different places of their epochs: "
                "load the same state, or set the same epoch, on all ranks"
            )
        raise MismatchError(
            f"{_told(name, value, other, own['rank'], first['rank'])}: ranks share an epoch only if they "
            "read it in the same order"
        )


def _told(name: str, value: Any, other: Any, rank: int, first: int) -> str:
    if name in ("sequential", "order"):
        return f"{_NAMES[name]} differs between rank {rank} and rank {first}"
    shown = _NAMES.get(name, name)
    if isinstance(value, str) or isinstance(other, str):
        return f"{shown.rstrip('=')} differs between rank {rank} and rank {first}"
    return f"{shown} is {value} on rank {rank} and {other} on rank {first}"

"""What a loader is asked for that has no meaning, or would have no effect."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from . import _core
from ._arguments import shown
from ._errors import InvalidError


def check_order(sampled: bool, weighted: bool, order: int, ids: np.ndarray | None) -> None:
    """Refuses what the order of ids, that of shuffle=False, does not allow."""
    for name, given in (
        ("sampling", sampled),
        ("a mix with weights", weighted),
        ("order='free' (in_order=False)", order == _core.APL_FREE),
    ):
        if given:
            raise InvalidError(
                f"{name} needs shuffle=True: without it, records come once each, in the order of ids"
            )
    if ids is not None and (ids[1:] < ids[:-1]).any():
        raise InvalidError(
            "ids: shuffle=False hands records out in the order of ids, and these do not ascend: sort them, "
            "as by numpy.sort(ids); Store.get(ids) gives records in any order"
        )


def _is(value: Any, own: int) -> bool:
    """Is it that number, and a whole one? True equals 1, and so does 1.0."""
    return isinstance(value, Integral) and not isinstance(value, bool) and value == own


def check_state(state: dict[str, Any], where: bytes) -> None:
    """Do the numbers that a state shows agree with what it holds? Somebody may have changed them, to no
    effect."""
    if not _is(state.get("apldata", 1), 1):
        raise InvalidError(f"the state is of version {shown(state['apldata'])}; known is 1")
    for name, own in zip(("epoch", "position"), _core.state_position(where), strict=True):
        if not _is(state.get(name, own), own):
            raise InvalidError(
                f"the state says {name} {shown(state[name])}, and was taken at {name} {own}: its numbers "
                "cannot be changed; to begin another epoch, call set_epoch()"
            )

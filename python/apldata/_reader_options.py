"""Those of a loader's arguments that the extension takes one by one: checked, and as it takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import _core
from ._arguments import U32, U64, choice, flag, path_of, threads_of, wholes, wrong_type

_ORDERS = {"strict": _core.APL_STRICT, "free": _core.APL_FREE}
_U32 = ("loaders", "consumers", "queue_depth", "late", "bins", "lanes")
_U64 = ("seed", "window", "memory_budget", "skip_corrupt")


def _pair(pin: Any) -> Any:
    if pin is None or (isinstance(pin, tuple) and len(pin) == 2 and all(map(callable, pin))):
        return pin
    raise wrong_type("pin", "a pair of functions, or None", pin)


def reader_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a reader, of the arguments `given` to a `Loader`, by their names."""
    monitor = given["monitor"]
    return {
        "order": choice("order", given["order"], _ORDERS),
        "sequential": 1 - flag("shuffle", given["shuffle"]),
        "drop_last": flag("drop_last", given["drop_last"]),
        "threads": threads_of(given["threads"]),
        "pin": _pair(given["pin"]),
        "fill": flag("fill", given["fill"]),
        "monitor": monitor if monitor in (None, "") else path_of("monitor", monitor),
        **wholes(1, U64, batch_size=given["batch_size"]),
        **wholes(1, U32, reuse=given["reuse"]),
        **wholes(0, U64, **{name: given[name] for name in _U64}),
        **wholes(0, U32, **{name: given[name] for name in _U32}),
        **wholes(0, U32, rank=given["rank"] or 0, world=given["world"] or 0),
    }


def working(threads: int) -> int:
    """How many threads those are, as the extension takes them."""
    return {0: _core.cores() - 1, _core.APL_NO_THREADS: 1}.get(threads, threads)

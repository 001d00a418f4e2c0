"""Sizes as people read them."""

from __future__ import annotations

_UNITS = ("kB", "MB", "GB", "TB", "PB")


def size(count: int) -> str:
    """A number of bytes in the unit that suits it: "812 B", "3.1 kB", "184.3 MB"."""
    if count < 1000:
        return f"{count} B"
    value, unit = count / 1000, 0
    while value >= 999.95 and unit < len(_UNITS) - 1:  # what would be shown as 1000.0
        value, unit = value / 1000, unit + 1
    return f"{value:.1f} {_UNITS[unit]}"


def share(part: int, whole: int) -> str:
    """A size in parts of another: "61.8 %"; "1.04 times as much" if it is larger."""
    if part <= whole:
        return f"{100 * part / max(whole, 1):.1f} %"
    return f"{part / max(whole, 1):,.3g} times as much" if whole else "of nothing"

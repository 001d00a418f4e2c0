"""Warnings that name the line of the user, however many of our own frames lie between."""

from __future__ import annotations

import sys
import warnings
from os.path import dirname

_OURS = dirname(__file__) + "/"


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """A warning of the nearest caller outside this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OURS):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)

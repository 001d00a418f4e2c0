"""What the tests of stores at URLs share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apldata import Loader, Store


def stand_alone(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """No credentials, proxies or waits but those of a test."""
    for name in list(os.environ):
        if name.startswith("AWS_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("APL_REMOTE_TIMEOUT", "20")


def epochs(path: str, count: int = 2, **options: Any) -> list[tuple[bytes, bytes]]:
    """All of some epochs: ids and values."""
    seen = []
    with Store(path) as store, Loader(store, "train", batch_size=100, seed=7, **options) as loader:
        for _ in range(count):
            for batch in loader:
                seen.append((np.asarray(batch.ids).tobytes(), np.asarray(batch["image"]).tobytes()))
    return seen

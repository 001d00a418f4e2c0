"""What a store holds, for tests of writers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apldata


def read(path: Path) -> dict[str, dict[str, Any]]:
    store = apldata.Store(path)
    return {split: store.to_numpy(split) for split in store.splits}

"""Figures that loaders offer in a directory."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from apldata import Loader, NotFoundError, Store


def files(place: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(place.glob("*.json"))]


def test_a_loader_offers_its_figures(store: Store, tmp_path: Path) -> None:
    with Loader(store, "train", 100, threads=1, monitor=tmp_path) as loader:
        (said,) = files(tmp_path)
        assert (said["pid"], said["store"], said["split"]) == (os.getpid(), store.path, "train")
        assert (said["steps"], said["length"]) == (len(loader), loader.records)
        assert set(said["stats"]) == set(loader.stats())
        with Loader(store, monitor=str(tmp_path)):
            assert len(files(tmp_path)) == 2
    assert files(tmp_path) == []


def test_the_environment_and_the_argument(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APL_MONITOR", os.fspath(tmp_path))
    with Loader(store):
        assert len(files(tmp_path)) == 1
    with Loader(store, monitor=""):
        assert files(tmp_path) == []
    with pytest.raises(
        NotFoundError, match=r"^monitor: cannot write figures into .*absent: No such file or directory$"
    ):
        Loader(store, monitor=tmp_path / "absent")
    monkeypatch.setenv("APL_MONITOR", os.fspath(tmp_path / "absent"))
    with pytest.raises(
        NotFoundError, match=r"^APL_MONITOR: cannot write figures into .*absent: No such file or directory$"
    ):
        Loader(store)
    with pytest.raises(TypeError, match="monitor must be a path"):
        Loader(store, monitor=3)  # type: ignore[arg-type]


def test_samplers_of_torch_are_not_watched(store: Store, tmp_path: Path) -> None:
    torch = pytest.importorskip("apldata.torch")
    with torch.DataLoader(store, batch_size=10, monitor=tmp_path) as loader:
        next(iter(loader.batch_sampler))
        assert len(files(tmp_path)) == 1

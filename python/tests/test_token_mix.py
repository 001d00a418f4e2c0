"""Stores with weights whose documents are packed or cut into windows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apldata import InvalidError, Loader, MismatchError, Pack, Sampling, Windows, Writer

BOOKS, POSTS = 30, 400
ROW = 32


def write(path: Path, lengths: list[int]) -> Path:
    with Writer(path, {"tokens": ("u16", (-1,))}) as writer:
        for number, length in enumerate(lengths):
            writer.append(tokens=np.full(length, number, "u2"))
    return path


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Long documents, and short ones."""
    folder = tmp_path_factory.mktemp("token_mix")
    books = [300 + 7 * i for i in range(BOOKS)]
    return write(folder / "books", books), write(folder / "posts", [i % 9 for i in range(POSTS)])


def mixed(stores: tuple[Path, Path], own: float, weight: float, **options: Any) -> Loader:
    books, posts = stores
    arguments = {"collate": {"tokens": Pack(ROW)}, "batch_size": 8, "seed": 3} | options
    return Loader(books, weight=own, mix=[(posts, "train", weight)], **arguments)


def shares(loader: Loader) -> Counter[int]:
    """Tokens of the stores in an epoch."""
    found: Counter[int] = Counter()
    for batch in loader:
        source, _ = loader.source(batch.pieces["id"])
        for number in (0, 1):
            found[number] += int(batch.pieces["length"][source == number].sum())
    return found


def test_shares_of_tokens(stores: tuple[Path, Path]) -> None:
    with mixed(stores, 3, 1, weight_by="tokens") as loader:
        epochs = [shares(loader) for _ in range(5)]
    assert len({found.total() for found in epochs}) == 1
    for found in epochs:
        assert abs(found[0] - 0.75 * found.total()) < 1000
    assert epochs[0] != epochs[1]


def test_shares_of_records(stores: tuple[Path, Path]) -> None:
    """One book for each post: nearly all tokens are of books."""
    with mixed(stores, 1, 1) as loader:
        found = shares(loader)
        assert loader.records == BOOKS + POSTS
    book, post = 300 + 7 * (BOOKS - 1) / 2, sum(i % 9 for i in range(POSTS)) / POSTS
    assert found.total() == int((BOOKS + POSTS) * (book + post) / 2)
    assert abs(found[1] / post - (BOOKS + POSTS) / 2) < 30


def test_epochs_of_fewer_records_resume(stores: tuple[Path, Path]) -> None:
    sampling = Sampling(records=50)
    with mixed(stores, 1, 2, sampling=sampling) as loader:
        whole = [batch["tokens"].copy() for batch in loader]
        assert len(whole) == len(loader)
    with mixed(stores, 1, 2, sampling=sampling) as loader:
        batches = iter(loader)
        begun = [next(batches)["tokens"].copy() for _ in range(3)]
        state = loader.state_dict()
    with mixed(stores, 1, 2, sampling=sampling) as loader:
        loader.load_state_dict(state)
        rest = [batch["tokens"].copy() for batch in loader]
    assert all((a == b).all() for a, b in zip(begun + rest, whole, strict=True))
    with mixed(stores, 1, 2, sampling=sampling, weight_by="tokens") as loader, pytest.raises(MismatchError):
        loader.load_state_dict(state)


def test_windows_come_in_proportion(stores: tuple[Path, Path]) -> None:
    sampling = Sampling(records=100)
    for by in ("records", "tokens"):
        collate = {"tokens": Windows(ROW, join=True)}
        with mixed(stores, 3, 1, collate=collate, sampling=sampling, weight_by=by) as loader:
            assert shares(loader) == {0: 75 * ROW, 1: 25 * ROW}


def test_what_makes_no_sense(stores: tuple[Path, Path]) -> None:
    with pytest.raises(InvalidError, match="^weight_by"):
        mixed(stores, 1, 1, weight_by="bytes")
    with pytest.raises(InvalidError, match="weights by tokens are for values that are packed or windowed"):
        mixed(stores, 1, 1, weight_by="tokens", collate=None)
    with pytest.raises(InvalidError, match="by weights of stores, without replacement"):
        mixed(stores, 1, 1, sampling=Sampling(replacement=True))
    with pytest.raises(InvalidError, match="only by weights of the stores of a mix"):
        Loader(stores[0], collate={"tokens": Pack(ROW)}, sampling=Sampling(records=5))

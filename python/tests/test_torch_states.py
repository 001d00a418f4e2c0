"""apldata.torch.DataLoader: epochs and states."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import pytest
from torch_tools import flat, same, torch

import apldata
from apldata import RandomFlip

DataLoader = pytest.importorskip("apldata.torch").DataLoader


def test_epochs_follow_each_other(store_path: str) -> None:
    loader = DataLoader(store_path, 64, True)
    epochs = [flat(loader) for _ in range(3)]
    assert not same(epochs[0], epochs[1])
    for epoch in (2, 0, 1):
        loader.set_epoch(epoch)
        assert same(flat(loader), epochs[epoch])
    iter(loader).__next__()  # one batch of epoch 2, as after a break
    loader.set_epoch(1)
    assert same(flat(loader), epochs[1])


@pytest.mark.parametrize("functions", [[], [lambda batch: None]], ids=["plain", "ahead"])
@pytest.mark.parametrize("workers", [0, 2])
def test_state_at_every_batch(store_path: str, functions: list[Any], workers: int) -> None:
    options: dict[str, Any] = {"seed": 4, "num_workers": workers, "transforms": [RandomFlip(), *functions]}
    loader = DataLoader(store_path, 200, True, **options)
    batches, states = [], [loader.state_dict()]
    for _ in range(2):
        for images, labels in loader:
            batches.append((images.clone(), labels.clone()))
            states.append(loader.state_dict())
    assert len(batches) == 10
    for done, state in enumerate(states[:10]):
        buffer = io.BytesIO()
        torch.save(state, buffer)
        buffer.seek(0)
        other = DataLoader(store_path, 200, True, **options)
        other.load_state_dict(torch.load(buffer))
        rest = flat(other)
        left = -done % 5 if done else 5  # of its epoch
        assert same(rest, batches[done : done + left])
        assert other.epoch == max(0, done - 1) // 5
        assert same(flat(other), batches[done + left : done + left + 5]) or done > 5


def test_state_into_a_used_loader(store_path: str) -> None:
    loader = DataLoader(store_path, 64, True)
    for i, _ in enumerate(loader):
        if i == 3:
            break
    state = loader.state_dict()
    expected = [batch for _, batch in zip(range(3), flat_rest(store_path, state), strict=False)]
    flat(loader)
    loader.load_state_dict(state)
    loader.set_epoch(0)  # as scripts do at the beginning of each epoch: it does not undo the state
    assert same([b for _, b in zip(range(3), flat(loader), strict=False)], expected)
    with pytest.raises(apldata.MismatchError):
        DataLoader(store_path, 64, True, seed=9).load_state_dict(state)
    with pytest.raises(apldata.InvalidError):
        loader.load_state_dict({"state": "none"})


def flat_rest(path: str, state: dict[str, Any]) -> list[tuple[Any, Any]]:
    loader = DataLoader(path, 64, True)
    loader.load_state_dict(state)
    return flat(loader)


def test_state_of_free_order_is_exact(store_path: str) -> None:
    def ids(loader: Any, stop: int) -> list[int]:
        found: list[int] = []
        for i, batch in enumerate(loader):
            found += batch
            if i + 1 == stop:
                break
        return found

    options: dict[str, Any] = {"in_order": False, "num_workers": 2, "collate_fn": lambda b: b.ids.tolist()}
    loader = DataLoader(store_path, 64, True, **options)
    first = ids(loader, 5)
    other = DataLoader(store_path, 64, True, **options)
    other.load_state_dict(loader.state_dict())
    assert sorted(first + ids(other, 0)) == list(range(1000))


def test_state_across_ranks(store_path: str) -> None:
    """Two ranks up to a step, then three from there: each record once."""
    seen, state = [], {}
    for rank in range(2):
        loader = DataLoader(store_path, 64, True, rank=rank, world=2, collate_fn=lambda b: b.ids.tolist())
        for step, ids in enumerate(loader):
            seen += ids
            if step == 2:
                state = loader.state_dict()
                break
    for rank in range(3):
        loader = DataLoader(store_path, 50, True, rank=rank, world=3, collate_fn=lambda b: b.ids.tolist())
        loader.load_state_dict(state)
        seen += [i for ids in loader for i in ids]
    assert sorted(seen) == list(range(1000))


def test_pickling_is_refused(store_path: str) -> None:
    loader = DataLoader(store_path, 64)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(loader)
    with pytest.raises(TypeError, match="cannot be pickled"):
        copy.deepcopy(loader)

"""What torchdata's StatefulDataLoader promises of its states, asked of apldata.torch.DataLoader.

Each scenario is a function of a `make()`, which makes one more loader with the same options; the tables below
say with which options it is run. Beside them stands torchdata's own loader, where it is installed: it must
pass what it and ours have in common, so that the scenarios say what it does, and not what we think it does.
"""

from __future__ import annotations

import copy
import io
import itertools
import json
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from torch_tools import torch

import apldata
from apldata import RandomFlip, Sampling

DataLoader = pytest.importorskip("apldata.torch").DataLoader
Dataset = pytest.importorskip("apldata.torch").Dataset

RECORDS = 100
Make = Callable[[], Any]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store of 100 small pictures, each with its number."""
    made = str(tmp_path_factory.mktemp("stores") / "numbered")
    pictures = np.random.default_rng(5).integers(0, 256, (RECORDS, 3, 4, 4), np.uint8)
    fields = [apldata.Field("image", "u8", (3, 4, 4)), apldata.Field("label", "u8", (), "target")]
    with apldata.Writer(made, fields, block_records=16) as w:
        w.extend(image=pictures, label=np.arange(RECORDS) % 10)
    return made


def flip_by_hand(batch: Any) -> None:
    """A function over batches, which makes them be made ahead by a Python thread."""
    batch["image"] = batch["image"][..., ::-1].copy()


KINDS: dict[str, dict[str, Any]] = {
    "in order": {},
    "shuffled": {"shuffle": True, "seed": 13},
    "augmented": {"shuffle": True, "transforms": [RandomFlip()]},
    "function": {"shuffle": True, "transforms": [flip_by_hand]},
    "collated": {"collate_fn": lambda batch: [batch.ids.tolist()]},
    "some ids": {"shuffle": True, "ids": range(0, RECORDS, 2)},
    "sampled": {"shuffle": True, "sampling": Sampling(records=64)},
}


def plain(batch: Any) -> Any:
    """A batch as lists, which compare."""
    return [one.tolist() if isinstance(one, torch.Tensor) else one for one in batch]


def taken(iterator: Iterator[Any], count: int | None = None) -> list[Any]:
    """That many batches of it, or the rest."""
    return [plain(batch) for batch in itertools.islice(iterator, count)]


def loaded(loader: Any, state: Any) -> Any:
    loader.load_state_dict(state)
    return loader


# --------------------------------------------------------------------------------------- scenarios


def goes_on(make: Make, after: int) -> None:
    """A state of the middle of an epoch: a new loader hands out the rest."""
    loader = make()
    iterator = iter(loader)
    taken(iterator, after)
    state = loader.state_dict()
    rest = taken(iterator)
    assert taken(iter(loaded(make(), state))) == rest


def parts_make_an_epoch(make: Make, after: int) -> None:
    """What came before the state, and what comes after it, are the epoch of a loader that was not stopped."""
    whole = taken(iter(make()))
    loader = make()
    first = taken(iter(loader), after)
    assert first == whole[:after]
    assert first + taken(iter(loaded(make(), loader.state_dict()))) == whole


def goes_back_to_the_start(make: Make) -> None:
    loader = make()
    iterator = iter(loader)
    state = loader.state_dict()
    whole = taken(iterator)
    assert taken(iter(loaded(loader, state))) == whole


def is_interrupted_twice(make: Make) -> None:
    """The loader itself takes its states back: of the middle, and then of the start."""
    loader = make()
    iterator = iter(loader)
    start = loader.state_dict()
    whole = taken(iterator, 4)
    whole += taken(iter(loaded(loader, loader.state_dict())))
    assert taken(iter(loaded(loader, start))) == whole


def ends_and_begins_anew(make: Make) -> None:
    """A state of after the loop: the next epoch, also in a loader that is in the middle of one."""
    loader = make()
    taken(iter(loader))
    end = loader.state_dict()
    second = taken(iter(loader))
    assert len(second) == len(loader)
    other = make()
    iterator = iter(other)
    taken(iterator, 2)
    assert taken(iter(loaded(other, end))) == second
    assert taken(iter(loaded(make(), end))) == second


def ends_within_the_loop(make: Make) -> None:
    """A state of the last batch: nothing is left of the epoch, and the next one is whole."""
    loader = make()
    iterator = iter(loader)
    taken(iterator, len(loader))
    state = loader.state_dict()
    assert taken(iterator) == []
    second = taken(iter(loader))
    other = loaded(make(), state)
    assert taken(iter(other)) == []
    assert taken(iter(other)) == second


def counts_steps(make: Make) -> None:
    """Wherever a run of three epochs is stopped, it has as many steps as one that is not."""
    length = len(make())
    for stop in (1, length - 1, length, length + 1, 2 * length, 3 * length):
        loader, steps, state = make(), 0, None
        epochs = 0
        while state is None:
            for _ in loader:
                steps += 1
                if steps == stop:
                    state = loader.state_dict()
                    break
            epochs += state is None
        other = loaded(make(), state)
        steps += sum(1 for _ in range(epochs, 3) for _ in other)
        assert steps == 3 * length


def remembers_its_epoch(make: Make) -> None:
    """Two epochs, and two more of another loader, are four of a single one."""
    loader = make()
    first = [taken(iter(loader)) for _ in range(2)]
    other = loaded(make(), loader.state_dict())
    first += [taken(iter(other)) for _ in range(2)]
    single = make()
    assert first == [taken(iter(single)) for _ in range(4)]


def fits(make: Make, carry: Callable[[Any], Any]) -> None:
    """A state goes through a file of some kind; taken in the second epoch."""
    loader = make()
    taken(iter(loader))
    iterator = iter(loader)
    taken(iterator, 4)
    state = carry(loader.state_dict())
    rest = taken(iterator)
    assert taken(iter(loaded(make(), state))) == rest


def through_torch(state: Any) -> Any:
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


CARRIERS: dict[str, Callable[[Any], Any]] = {
    "json": lambda state: json.loads(json.dumps(state)),
    "pickle": lambda state: pickle.loads(pickle.dumps(state)),
    "torch.save": through_torch,
    "deepcopy": copy.deepcopy,
}


def has_an_initial_state(make: Make) -> None:
    """A state from before the first iteration; and from epoch to epoch, what is in order comes in order."""
    loader = make()
    state = loader.state_dict()
    whole = taken(iter(loader))
    iterator = iter(loader)
    taken(iterator, 2)
    loader.load_state_dict(state)
    assert taken(iter(loader)) == whole
    assert len(taken(iter(loader))) == len(whole)


def may_be_asked_first(make: Make, after: int, ask: str) -> None:
    """A new loader that is asked for its state before, or after, it takes another's."""
    loader = make()
    iterator = iter(loader)
    taken(iterator, after)
    state = loader.state_dict()
    rest = taken(iterator)
    other = make()
    if ask == "before":
        other.state_dict()
    other.load_state_dict(state)
    if ask == "after":
        assert other.state_dict() == state
    assert taken(iter(other)) == rest


def tells_what_it_was_given(make: Make) -> None:
    state = make().state_dict()
    whole = taken(iter(make()))
    loader = make()
    iterator = iter(loader)
    taken(iterator, 3)
    loader.load_state_dict(state)
    assert loader.state_dict() == state
    assert taken(iter(loader)) == whole


def is_asked_soon_again(make: Make, after: int) -> None:
    """A state of a loader that has only just taken one."""
    loader = make()
    iterator = iter(loader)
    taken(iterator, after)
    state = loader.state_dict()
    taken(iterator, 2)
    expected, rest = loader.state_dict(), taken(iterator)
    loader.load_state_dict(state)
    iterator = iter(loader)
    taken(iterator, 2)
    again = loader.state_dict()
    assert again == expected
    assert taken(iter(loaded(make(), again))) == rest


def stays_as_it_was(make: Make) -> None:
    """A state that was taken does not change when the loader goes on."""
    loader = make()
    iterator = iter(loader)
    taken(iterator, 3)
    state = loader.state_dict()
    before = copy.deepcopy(state)
    taken(iterator, 3)
    assert state == before and loader.state_dict() != before


def has_independent_iterators(make: Make) -> None:
    """Of one loader at the same time, each an epoch."""
    loader = make()
    pairs = list(zip(loader, loader, strict=True))
    single = make()
    epochs = [taken(iter(single)) for _ in range(3)]
    assert [plain(a) for a, _ in pairs] == epochs[0] and [plain(b) for _, b in pairs] == epochs[1]
    assert taken(iter(loader)) == epochs[2]


def gives_all_at_last(make: Make) -> None:
    """Where the order is not repeatable: before a state and after it come all, each once."""
    loader = make()
    first = [i for batch in taken(iter(loader), 3) for i in batch[0]]
    rest = [i for batch in taken(iter(loaded(make(), loader.state_dict()))) for i in batch[0]]
    assert sorted(first + rest) == list(range(RECORDS))


# ------------------------------------------------------------------------------------------- tables


def table() -> Iterator[Any]:
    """Scenario, its arguments, and the options of the loaders."""
    workers = (0, 3)
    for kind, n, batch_size, after in itertools.product(KINDS, workers, (1, 7), (0, 1, 6, None)):
        count = (
            after
            if after is not None
            else (64 if kind == "sampled" else 50 if kind == "some ids" else RECORDS)
        )
        if after is None:
            count = -(-count // batch_size)
        yield goes_on, {"after": count}, {**KINDS[kind], "num_workers": n, "batch_size": batch_size}, kind
    for kind, every, after in itertools.product(
        ("shuffled", "function"), (0, 2, 5, 10, 15, None), (0, 1, 10)
    ):
        options = {**KINDS[kind], "num_workers": 3, "batch_size": 7, "snapshot_every_n_steps": every}
        yield parts_make_an_epoch, {"after": after}, options, kind
    for kind, keeps in itertools.product(KINDS, (False, True)):
        options = {**KINDS[kind], "num_workers": 2, "batch_size": 9, "persistent_workers": keeps}
        for scenario in (goes_back_to_the_start, is_interrupted_twice, ends_and_begins_anew):
            yield scenario, {}, {**options, "snapshot_every_n_steps": 10}, kind
        yield ends_within_the_loop, {}, options, kind
    for kind, n in itertools.product(KINDS, workers):
        options = {**KINDS[kind], "num_workers": n, "batch_size": 8}
        yield counts_steps, {}, {**options, "batch_size": 10}, kind
        yield remembers_its_epoch, {}, options, kind
        yield has_independent_iterators, {}, options, kind
        if kind not in ("some ids", "sampled"):
            yield tells_what_it_was_given, {}, options, kind
            yield stays_as_it_was, {}, options, kind
            yield has_an_initial_state, {}, options, kind
    for n, carrier in itertools.product(workers, CARRIERS):
        yield (
            fits,
            {"carry": CARRIERS[carrier]},
            {**KINDS["shuffled"], "num_workers": n, "batch_size": 7},
            carrier,
        )
    for kind, after, ask in itertools.product(("shuffled", "augmented"), (2, 9), ("before", "after")):
        yield (
            may_be_asked_first,
            {"after": after, "ask": ask},
            {**KINDS[kind], "num_workers": 4, "batch_size": 5},
            kind,
        )
    for kind, (every, after) in itertools.product(("shuffled", "function"), ((0, 11), (1, 15), (17, 19))):
        options = {**KINDS[kind], "num_workers": 4, "batch_size": 4, "snapshot_every_n_steps": every}
        yield is_asked_soon_again, {"after": after}, options, kind
    for n, drop_last in itertools.product(workers, (False, True)):
        options = {**KINDS["shuffled"], "num_workers": n, "batch_size": 7, "drop_last": drop_last}
        for scenario in (ends_within_the_loop, ends_and_begins_anew, counts_steps):
            yield scenario, {}, options, f"drop_last={drop_last}"
    for n in workers:
        yield gives_all_at_last, {}, {**KINDS["collated"], "shuffle": True, "num_workers": n, "batch_size": 8,
                                      "in_order": False}, "free order"  # fmt: skip


CASES = list(table())


def name_of(case: Any) -> str:
    scenario, arguments, options, kind = case
    told = [scenario.__name__, kind, *(f"{k}={v}" for k, v in arguments.items() if not callable(v))]
    shown = ("num_workers", "batch_size", "snapshot_every_n_steps", "persistent_workers")
    return ", ".join([*told, *(f"{name}={options[name]}" for name in shown if name in options)])


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_states(path: str, case: Any) -> None:
    scenario, arguments, options, _ = case
    scenario(lambda: DataLoader(path, **options), **arguments)


COMMON = (goes_on, goes_back_to_the_start, is_interrupted_twice, ends_and_begins_anew, ends_within_the_loop,
          counts_steps, tells_what_it_was_given, stays_as_it_was)  # fmt: skip


@pytest.mark.parametrize("scenario", COMMON, ids=lambda scenario: scenario.__name__)
def test_torchdata_passes_too(path: str, scenario: Any) -> None:
    """The scenarios are fair: torchdata's loader of the same records, in order, passes them."""
    theirs = pytest.importorskip("torchdata.stateful_dataloader").StatefulDataLoader
    arguments = {"after": 10} if scenario is goes_on else {}
    scenario(lambda: theirs(Dataset(path), batch_size=10), **arguments)


# ------------------------------------------------------------------------------------ one at a time


@pytest.mark.parametrize(("before", "after"), [(0, 3), (3, 0)])
def test_num_workers_may_change(path: str, before: int, after: int) -> None:
    loader = DataLoader(path, 7, True, num_workers=before)
    iterator = iter(loader)
    taken(iterator, 5)
    other = loaded(DataLoader(path, 7, True, num_workers=after), loader.state_dict())
    assert taken(iter(other)) == taken(iterator)


def test_agrees_with_the_plain_loader(path: str) -> None:
    theirs = torch.utils.data.DataLoader(Dataset(path), batch_size=1)
    assert [plain(batch) for batch in theirs] == [plain(batch) for batch in DataLoader(path, 1)]


@pytest.mark.parametrize("option", ["transforms", "collate_fn"])
@pytest.mark.parametrize("workers", [0, 4])
def test_errors_of_functions_reach_the_loop(path: str, option: str, workers: int) -> None:
    def fails(batch: Any) -> Any:
        raise ValueError("no such picture")

    value = [fails] if option == "transforms" else fails
    with pytest.raises(ValueError, match="no such picture"):
        next(iter(DataLoader(path, 5, num_workers=workers, **{option: value})))


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("world", [3, 5])
def test_ranks_share_the_records(path: str, world: int, drop_last: bool) -> None:
    ranks = [
        [i for batch in DataLoader(path, 1, rank=rank, world=world, drop_last=drop_last,
                                   collate_fn=lambda batch: batch.ids.tolist()) for i in batch]
        for rank in range(world)
    ]  # fmt: skip
    assert {len(ids) for ids in ranks} <= {RECORDS // world, -(-RECORDS // world)}
    found = sorted(i for ids in ranks for i in ids)
    assert len(set(found)) == len(found) == (RECORDS // world * world if drop_last else RECORDS)


@pytest.mark.parametrize("rank", range(3))
def test_a_rank_goes_on(path: str, rank: int) -> None:
    def make() -> Any:
        return DataLoader(path, 5, True, rank=rank, world=3)

    parts_make_an_epoch(make, 4)
    ends_within_the_loop(make)


def test_seeds(path: str) -> None:
    one, same, other = (taken(iter(DataLoader(path, 1, True, seed=seed))) for seed in (7, 7, 8))
    assert one == same != other


@pytest.mark.parametrize("every", [-1, 1.5, "often"])
def test_a_wrong_snapshot_every_n_steps(path: str, every: Any) -> None:
    with pytest.raises(apldata.InvalidError, match="snapshot_every_n_steps"):
        DataLoader(path, snapshot_every_n_steps=every)

"""apldata.torch.CudaPrefetcher: its slots, with a stream that the test plays; on a GPU where there is one."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
apltorch = pytest.importorskip("apldata.torch")
CudaPrefetcher, DataLoader = apltorch.CudaPrefetcher, apltorch.DataLoader
prefetch = pytest.importorskip("apldata.torch._prefetch")

Pair = namedtuple("Pair", ("image", "label"))


class Stream:
    """A copier whose copies are done, in order, when the test says so, or when an event is waited for."""

    def __init__(self) -> None:
        self.events: list[Stream.Event] = []
        self.queue: list[tuple[Any, Any, Stream.Event]] = []
        self.log: list[str] = []

    class Event:
        def __init__(self, stream: Stream) -> None:
            self.stream, self.pending = stream, False

        def query(self) -> bool:
            return not self.pending

        def synchronize(self) -> None:
            while self.pending:
                self.stream.run_one()

    def event(self) -> Event:
        self.events.append(Stream.Event(self))
        return self.events[-1]

    def copy(self, batch: Any, event: Event) -> Any:
        assert not event.pending, "an event is used again before what it stands for is done"
        event.pending = True
        copied = prefetch.map_tensors(lambda tensor: torch.full_like(tensor, -1), batch)
        self.queue.append((batch, copied, event))
        self.log.append("copy")
        return copied

    def run_one(self) -> None:
        batch, copied, event = self.queue.pop(0)
        for source, target in zip(batch, copied, strict=True):
            target.copy_(source)
        event.pending = False

    def hand_over(self, copied: Any, event: Event) -> None:
        assert [entry for entry in self.queue if entry[1] is copied] or not event.pending
        self.log.append("hand over")


class Source:
    """A loader with a state, of `n` batches in buffers that are its own again when nobody holds the batch."""

    def __init__(self, n: int) -> None:
        self.n, self.at = n, 0

    def __len__(self) -> int:
        return self.n

    def __iter__(self) -> Any:
        self.at = 0
        while self.at < self.n:
            self.at += 1
            yield torch.tensor([self.at]), torch.tensor([-self.at])

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}


def with_stream(loader: Any, depth: int) -> tuple[Any, Stream]:
    """A prefetcher that copies on a stream of the test's."""
    prefetcher = CudaPrefetcher(loader, "cpu", depth)
    prefetcher._copier = Stream()
    return prefetcher, prefetcher._copier


def test_moves_any_tree_on_the_cpu() -> None:
    one, two = torch.ones(2), torch.zeros(3)
    trees = [one, (one, two), [one, "text"], {"a": one, "b": (two, None)}, Pair(one, two), 5]
    moved = list(CudaPrefetcher(trees, "cpu"))
    assert moved[0] is one and moved[1] == (one, two) and moved[2][1] == "text"
    assert moved[3]["b"][0] is two and isinstance(moved[4], Pair) and moved[5] == 5
    assert CudaPrefetcher(trees, "meta").__iter__().__next__().device.type == "meta"


def test_plain_on_the_cpu_is_the_loader(store_path: str, drawn: dict[str, Any]) -> None:
    loader = DataLoader(store_path, 300)
    prefetcher = CudaPrefetcher(loader, "cpu")
    assert len(prefetcher) == 4
    images = torch.cat([images.clone() for images, _ in prefetcher])
    assert np.array_equal(images.numpy(), drawn["train"]["image"])


@pytest.mark.parametrize("depth", [1, 2, 5, 50])
@pytest.mark.parametrize("eager", [True, False])
def test_slots(depth: int, eager: bool) -> None:
    """All batches come, in order, whether copies are done at once or only when waited for."""
    prefetcher, stream = with_stream(Source(20), depth)
    seen = []
    for images, labels in prefetcher:
        while eager and stream.queue:
            stream.run_one()
        for _, copied, event in list(stream.queue):  # what the caller's stream waits for
            if copied[0] is images:
                event.synchronize()
        assert images.item() == -labels.item()
        seen.append(images.item())
        assert len(stream.events) == depth + 1
    assert seen == list(range(1, 21))
    assert stream.log.count("copy") == 20 and not stream.queue


def test_copies_run_ahead() -> None:
    prefetcher, stream = with_stream(Source(20), 3)
    batches = iter(prefetcher)
    next(batches)
    assert stream.log == ["copy"] * 3 + ["hand over"]
    next(batches)
    assert stream.log[4:] == ["copy", "hand over"]
    assert prefetcher.loader.at == 4


def test_host_batches_stay_until_copied() -> None:
    import weakref

    class Watched(Source):
        def __iter__(self) -> Any:
            for pair in super().__iter__():
                watched.append(weakref.ref(pair[0]))
                yield pair
                del pair

    watched: list[Any] = []
    prefetcher, stream = with_stream(Watched(10), 2)
    batches = iter(prefetcher)
    next(batches)
    stream.queue = [(None, None, event) for _, _, event in stream.queue]  # the slots alone hold them now
    assert watched[0]() is not None and watched[1]() is not None  # handed out, but the copy is not done
    for _, _, event in stream.queue:
        event.pending = False
    stream.queue.clear()
    next(batches)
    assert watched[0]() is None


def test_state_is_that_of_the_callers_batch() -> None:
    prefetcher, _ = with_stream(Source(10), 3)
    assert prefetcher.state_dict() == {"at": 0}
    for images, _labels in prefetcher:
        assert prefetcher.state_dict()["at"] == int(stream_value(prefetcher, images))
    assert prefetcher.state_dict() == {"at": 10}
    for _ in prefetcher:
        break
    assert prefetcher.state_dict() == {"at": 1} and prefetcher.loader.at == 3


def stream_value(prefetcher: Any, tensor: Any) -> int:
    """What will be in a tensor when all copies are done."""
    while prefetcher._copier.queue:
        prefetcher._copier.run_one()
    return int(tensor.item())


def test_break_gives_up_what_was_ahead() -> None:
    prefetcher, stream = with_stream(Source(10), 3)
    for _ in prefetcher:
        break
    assert not stream.queue  # nothing is copied into memory that is given up
    assert [stream_value(prefetcher, images) for images, _ in prefetcher] == list(range(1, 11))


@pytest.mark.parametrize("depth", [1, 3])
def test_state_round_trip_at_every_batch(store_path: str, depth: int) -> None:
    prefetcher, _ = with_stream(DataLoader(store_path, 200, True), depth)
    batches, states = [], []
    for _ in range(2):
        for images, _labels in prefetcher:
            stream_value(prefetcher, torch.zeros(1))
            batches.append(images.clone())
            states.append(prefetcher.state_dict())
    assert len(batches) == 10
    for done, state in enumerate(states[:-1], 1):
        other, other_stream = with_stream(DataLoader(store_path, 200, True), depth)
        other.load_state_dict(state)
        rest = []
        for images, _labels in other:
            while other_stream.queue:
                other_stream.run_one()
            rest.append(images.clone())
        assert len(rest) == -done % 5  # of its epoch, which the last batch ends
        assert all(map(torch.equal, rest, batches[done:]))


def test_epochs_and_attributes_are_the_loaders(store_path: str) -> None:
    loader = DataLoader(store_path, 200, True)
    prefetcher, _ = with_stream(loader, 2)
    for _ in prefetcher:
        break
    prefetcher.set_epoch(3)
    assert prefetcher.state_dict()["epoch"] == 3
    next(iter(prefetcher))
    assert loader.epoch == prefetcher.epoch == 3 and prefetcher.batch_size == 200
    with pytest.raises(AttributeError):
        _ = prefetcher.nonesuch


def test_an_error_of_the_loader_comes_through() -> None:
    def loader() -> Any:
        yield torch.ones(1), torch.ones(1)
        raise ZeroDivisionError

    prefetcher, stream = with_stream(loader(), 3)
    batches = iter(prefetcher)
    next(batches)  # what came before the error is handed out
    with pytest.raises(ZeroDivisionError):
        next(batches)
    assert not stream.queue


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match=r"depth must be .*at least 1; got 0"):
        CudaPrefetcher([], "cpu", 0)


needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")


@needs_gpu
@pytest.mark.parametrize("pinned", [False, True])
def test_on_a_gpu(store_path: str, pinned: bool) -> None:
    plain = DataLoader(store_path, 50, True)
    prefetcher = CudaPrefetcher(DataLoader(store_path, 50, True, pin_memory=pinned), "cuda")
    load = torch.randn(2000, 2000, device="cuda")
    kept = []
    for _ in range(3):
        for (images, labels), (there, labels_there) in zip(plain, prefetcher, strict=True):
            load = (load @ load).clamp(-1, 1)  # so that the host runs far ahead
            kept.append((images.clone(), labels, there + 0, labels_there))
            del there
    for images, labels, there, labels_there in kept:
        assert torch.equal(images, there.cpu()) and torch.equal(labels, labels_there.cpu())


@needs_gpu
def test_pinned_batches_may_be_released_at_once(store_path: str) -> None:
    plain, loader = DataLoader(store_path, 50, True), DataLoader(store_path, 50, True, pin_memory=True)
    load = torch.randn(2000, 2000, device="cuda")
    kept = []
    for _ in range(3):
        for (images, _), (there, _) in zip(plain, loader, strict=True):
            assert there.is_pinned()
            load = (load @ load).clamp(-1, 1)
            there = there.to("cuda", non_blocking=True)
            kept.append((images.clone(), there))
    for images, there in kept:
        assert torch.equal(images, there.cpu())

"""One reader for the processes of a machine: `Loader(share="node")`, `Loader(socket=...)`."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

import apldata
from apldata import transforms as T
from apldata._node import _JOB

WORLD, EPOCHS = 4, 2
OPTIONS: dict[str, Any] = {"batch_size": 24, "seed": 3, "window": 300}

# A process of a job: takes its epochs, and prints a digest of each, and the state.
SCRIPT = """
import hashlib, json, sys, apldata
from apldata import transforms as T
db, more, epochs = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
step = T.RandomHorizontalFlip()
loader = apldata.Loader(db, "train", transforms=[step], **more)
said = []
for _ in range(epochs):
    digest = hashlib.sha256()
    for batch in loader:
        for name in ("image", "label"):
            digest.update(batch[name].tobytes())
        digest.update(batch.ids.tobytes())
        batch["image"][:] = 7  # it is this process's own
        batch["label"][:] = 7
    said.append(digest.hexdigest())
print(json.dumps([said, loader.state_dict()["state"], loader.receipt()["sum"], loader.batch_size]))
"""


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A short one, for sockets."""
    folder = Path(tempfile.mkdtemp(prefix="apl-", dir="/tmp"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def own(db: str, rank: int, epochs: int = EPOCHS) -> list[Any]:
    """What a loader that shares nothing hands out."""
    step = T.RandomHorizontalFlip()
    loader = apldata.Loader(db, "train", rank=rank, world=WORLD, transforms=[step], **OPTIONS)
    said = []
    with loader:
        for _ in range(epochs):
            digest = hashlib.sha256()
            for batch in loader:
                for name in ("image", "label"):
                    digest.update(np.asarray(batch[name]).tobytes())
                digest.update(batch.ids.tobytes())
            said.append(digest.hexdigest())
        return [said, loader.state_dict()["state"], loader.receipt()["sum"], loader.batch_size]


def start(db: str, rank: int, more: dict[str, Any], epochs: int = EPOCHS) -> subprocess.Popen[str]:
    local = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": WORLD, "LOCAL_WORLD_SIZE": WORLD}
    environment = {**os.environ, **{name: str(value) for name, value in local.items()}, "MASTER_PORT": "1"}
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, db, json.dumps(more), str(epochs)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip


def ended(process: subprocess.Popen[str]) -> Any:
    said, wrong = process.communicate(timeout=60)
    assert process.returncode == 0, wrong
    return json.loads(said)


def servers(place: Path) -> list[Path]:
    return [path for path in place.rglob("*") if path.is_socket()]


def test_the_processes_of_a_node_start_one_server_and_get_what_their_own_loaders_would_give(
    store_path: str, place: Path
) -> None:
    processes = [start(store_path, rank, {**OPTIONS, "share": "node"}) for rank in range(WORLD)]
    most = 0
    while any(process.poll() is None for process in processes):
        most = max(most, len(servers(place)))
        time.sleep(0.01)
    assert [ended(process) for process in processes] == [own(store_path, rank) for rank in range(WORLD)]
    assert most == 1
    for _ in range(200):
        if not servers(place):
            break
        time.sleep(0.1)
    assert not servers(place)  # it ends when nobody needs it


def test_processes_that_differ_in_their_options_are_told(
    store_path: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with one(store_path):
        monkeypatch.setattr("apldata._node._made", Counter())  # as another process has it
        more = {**OPTIONS, "seed": 4}
        with pytest.raises(apldata.MismatchError, match="seed is '4' here, and '3' in the process that"):
            apldata.Loader(store_path, "train", rank=0, world=1, share="node", **more)


def test_processes_that_differ_in_their_store_or_split_are_told(
    store_path: str, place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    apldata.convert({"train": {"x": np.arange(1000)}}, tmp_path / "other")
    with ranked(store_path, 0, monkeypatch) as loader:
        for db, split, name in ((store_path, "test", "split"), (str(tmp_path / "other"), "train", "store")):
            monkeypatch.setattr("apldata._node._made", Counter())
            monkeypatch.setenv("LOCAL_RANK", "1")
            with pytest.raises(
                apldata.MismatchError, match=f"share='node': {name} is .* in the process that"
            ):
                apldata.Loader(db, split, rank=1, world=2, share="node", **OPTIONS)
        assert next(iter(loader)).epoch == 0


def test_a_server_ends_with_its_last_loader_and_leaves_nothing(
    store_path: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = ranked(store_path, 0, monkeypatch), ranked(store_path, 1, monkeypatch)
    first.close()
    assert len(servers(place)) == 1
    assert next(iter(second)).epoch == 0
    second.close()
    assert not servers(place)
    wait_until_empty(place / "apldata")


def wait_until_empty(folder: Path) -> None:
    for _ in range(200):
        if not list(folder.iterdir()):
            return
        time.sleep(0.1)
    raise AssertionError(list(folder.iterdir()))


def test_a_server_of_a_run_that_has_ended_gives_way_to_other_options(
    store_path: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apldata._node._Shared.leave", lambda self: None)  # its processes were killed
    monkeypatch.setattr("apldata._node.IDLE", 60.0)
    for batch_size in (24, 50):
        more = {**OPTIONS, "batch_size": batch_size}
        loaders = []
        for rank in range(2):
            monkeypatch.setattr("apldata._node._made", Counter())
            monkeypatch.setenv("LOCAL_RANK", str(rank))
            monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
            loaders.append(apldata.Loader(store_path, "train", rank=rank, world=2, share="node", **more))
        for loader in loaders:
            assert len(next(iter(loader)).ids) == batch_size
        for loader in loaders:
            loader.close()
    assert len(servers(place)) == 1
    os.kill(_peer(servers(place)[0]), signal.SIGTERM)
    wait_until_empty(place / "apldata")


def test_what_a_killed_server_has_left_is_removed_when_the_next_starts(store_path: str, place: Path) -> None:
    folder = place / "apldata"
    mine = folder / "mine"
    with one(store_path) as lives:
        with one(store_path):
            killed = next(path for path in servers(place) if path.stem not in lives._connection.path)  # type: ignore[union-attr]
            os.kill(_peer(killed), signal.SIGKILL)
            mine.touch()
            left = {path.name for path in folder.iterdir()}
            assert {killed.name, f"{killed.name}.lock", f"{killed.name}.start"} < left
        with one(store_path) as third:
            paths = [Path(loader._connection.path).name for loader in (lives, third)]  # type: ignore[union-attr]
            wanted = {f"{name}{ending}" for name in paths for ending in ("", ".lock", ".start")}
            assert {path.name for path in folder.iterdir()} == wanted | {"mine"}
        assert next(iter(lives)).epoch == 0
    mine.unlink()
    wait_until_empty(folder)


def one(db: str, **more: Any) -> apldata.Loader:
    return apldata.Loader(db, "train", rank=0, world=1, share="node", **OPTIONS, **more)


def test_states_are_those_of_any_loader(store_path: str, place: Path) -> None:
    with one(store_path) as loader, apldata.Loader(store_path, "train", rank=0, world=1, **OPTIONS) as plain:
        batches = zip(loader, plain, strict=True)
        for _ in range(3):
            a, b = next(batches)
            assert (a.ids == b.ids).all()
        state = loader.state_dict()
        assert state == plain.state_dict()
        del batches
        loader.load_state_dict(state)
        plain.load_state_dict(state)
        for a, b in zip(loader, plain, strict=True):
            assert (a.ids == b.ids).all()
        loader.set_epoch(5)
        plain.set_epoch(5)
        for a, b in zip(loader, plain, strict=True):
            assert (a.ids == b.ids).all() and a.epoch == 5


def test_a_timeout_names_the_rank_that_takes_nothing(
    store_path: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = {"LOCAL_WORLD_SIZE": "2", "LOCAL_RANK": "0", "MASTER_PORT": "1"}
    for name, value in local.items():
        monkeypatch.setenv(name, value)
    more: dict[str, Any] = {**OPTIONS, "world": 2, "share": "node"}
    busy = apldata.Loader(store_path, "train", rank=0, timeout=0.3, **more)
    monkeypatch.setattr("apldata._node._made", Counter())  # as the other process has it
    monkeypatch.setenv("LOCAL_RANK", "1")
    idle = apldata.Loader(store_path, "train", rank=1, **more)
    said = r"rank 1 has not taken the \d+ batch(es)? made for it, nor any other for .* s; it is process "
    with busy, idle, pytest.raises(apldata.TimedOutError, match=rf"waited 0\.3 s: .*{said}{os.getpid()}"):
        for _ in busy:
            pass


def test_processes_that_no_launcher_has_started_have_a_server_each(
    store_path: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in _JOB:
        monkeypatch.delenv(name, raising=False)
    with one(store_path):
        command = [sys.executable, "-c", SCRIPT, store_path, json.dumps({**OPTIONS, "share": "node"}), "1"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=60)


def test_a_server_that_is_slow_to_answer_is_waited_for(
    store_path: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apldata._node._Shared.leave", lambda self: None)  # as one that is killed
    with one(store_path):
        [path] = servers(place)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as peer:
        peer.connect(str(path))
        server = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
    monkeypatch.setattr("apldata._node._made", Counter())  # as another process has it
    os.kill(server, signal.SIGSTOP)
    wakes = threading.Timer(0.4, os.kill, (server, signal.SIGCONT))
    wakes.start()
    with one(store_path) as loader:
        assert next(iter(loader)).epoch == 0
    wakes.join()


def ranked(db: str, rank: int, monkeypatch: pytest.MonkeyPatch) -> apldata.Loader:
    """That of one of two ranks, which is a process of its own for all that the other knows."""
    monkeypatch.setattr("apldata._node._made", Counter())
    for name, value in (("LOCAL_RANK", rank), ("LOCAL_WORLD_SIZE", 2)):
        monkeypatch.setenv(name, str(value))
    return apldata.Loader(db, "train", rank=rank, world=2, share="node", **OPTIONS)


def gone_on(db: str, rank: int, batches: int) -> dict[str, Any]:
    """The state of a rank that has taken that many."""
    with apldata.Loader(db, "train", rank=rank, world=2, **OPTIONS) as loader:
        iterator = iter(loader)
        for _ in range(batches):
            next(iterator)
        return loader.state_dict()


def test_a_rank_that_comes_after_others_have_resumed_resumes_too(
    store_path: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = gone_on(store_path, 0, 3)
    with apldata.Loader(store_path, "train", rank=1, world=2, **OPTIONS) as plain:
        plain.load_state_dict(state)
        wanted = next(iter(plain)).ids.copy()
    with ranked(store_path, 0, monkeypatch) as early:
        early.load_state_dict(state)
        with ranked(store_path, 1, monkeypatch) as late:
            assert (late.epoch, len(late)) == (0, len(early))
            late.load_state_dict(state)
            assert (next(iter(late)).ids == wanted).all()


def test_a_rank_that_comes_late_and_does_not_resume_gets_no_batch_from_elsewhere(
    store_path: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = gone_on(store_path, 0, 3)
    early = ranked(store_path, 0, monkeypatch)
    early.load_state_dict(state)
    with ranked(store_path, 1, monkeypatch) as late:
        monkeypatch.setattr("apldata._node._MOST", 1.0)
        for of_a_place in (lambda: next(iter(late)), late.state_dict, late.receipt):
            with pytest.raises(apldata.BusyError, match="cannot go elsewhere while other ranks, such as 0"):
                of_a_place()
        assert late.epoch == 0
        early.close()
        with apldata.Loader(store_path, "train", rank=1, world=2, **OPTIONS) as plain:
            assert (next(iter(late)).ids == next(iter(plain)).ids).all()


def test_a_rank_that_comes_late_may_go_to_the_epoch_of_the_others(
    store_path: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ranked(store_path, 0, monkeypatch) as early:
        early.set_epoch(2)
        with ranked(store_path, 1, monkeypatch) as late:
            late.set_epoch(2)
            assert next(iter(late)).epoch == late.epoch == 2


def test_one_iterator_at_a_time(store_path: str, place: Path) -> None:
    with one(store_path) as loader:
        held = iter(loader)
        next(held)
        with pytest.raises(apldata.InvalidError, match="one iterator at a time"):
            next(iter(loader))


def test_what_a_loop_held_is_free_when_its_server_was_killed(store_path: str, place: Path) -> None:
    class Held:
        pass

    def loop(loader: apldata.Loader) -> weakref.ref[Held]:
        held = Held()
        with pytest.raises(apldata.Error, match="the server has ended"):
            for step, _ in enumerate(loader):
                if step == 0:  # a batch that has come already follows
                    os.kill(_peer(servers(place)[0]), signal.SIGKILL)
        return weakref.ref(held)

    with one(store_path) as loader:
        assert loop(loader)() is None
        with pytest.raises(apldata.Error, match="the server has ended"):
            next(iter(loader))


def test_a_killed_server_is_an_error_and_the_last_state_goes_on(store_path: str, place: Path) -> None:
    with one(store_path) as loader:
        batches = iter(loader)
        first = next(batches).ids.copy()
        state = loader.state_dict()
        pid = _peer(servers(place)[0])
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(apldata.Error, match="the server has ended: start it again and connect"):
            for _ in batches:
                pass
        with pytest.raises(apldata.Error, match="the server has ended"):
            next(iter(loader))  # and not that there is an iterator already
        loader.load_state_dict(state)
        assert not np.array_equal(next(iter(loader)).ids, first)


def _peer(path: Path) -> int:
    """The process that listens there."""
    import socket
    import struct

    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.connect(str(path))
        pid, _, _ = struct.unpack("3i", s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return pid


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"share": "machine"}, "share must be 'node', or None"),
        ({"share": "node", "socket": "s"}, "exclude each other"),
        ({"share": "node", "pin": (print, print)}, "exclude each other"),
        ({"share": "node", "order": "free"}, "free order is not served"),
        ({"socket": "s", "batch_size": 7}, "batch_size goes with the server"),
        ({"socket": "s", "seed": 7}, "seed goes with the server"),
        ({"socket": "nowhere"}, "no server listens here"),
    ],
)
def test_what_does_not_go_together(store_path: str, place: Path, more: dict[str, Any], message: str) -> None:
    with pytest.raises(apldata.Error, match=message):
        apldata.Loader(store_path, **more)


def test_ranks_of_this_machine_must_be_known(
    store_path: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LOCAL_RANK", "LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(apldata.InvalidError, match="needs LOCAL_RANK and LOCAL_WORLD_SIZE"):
        apldata.Loader(store_path, rank=1, world=4, share="node")


def test_a_socket_of_apldata_serve(store_path: str, place: Path) -> None:
    command, path = ROOT / "build/apldata", place / "s"
    if not command.is_file():
        pytest.skip("build/apldata is not built")
    options = ["--batch-size", "24", "--seed", "3", "--window", "300", "--split", "train"]
    server = subprocess.Popen(
        [command, "serve", store_path, "--socket", path, "--ranks", "0-3", "--quiet", *options]
    )
    try:
        while not path.exists():
            assert server.poll() is None
            time.sleep(0.01)
        loaders = [apldata.Loader(store_path, socket=path, rank=rank) for rank in range(WORLD)]
        own = [apldata.Loader(store_path, "train", rank=k, world=WORLD, **OPTIONS) for k in range(WORLD)]
        for step in zip(*loaders, *own, strict=True):
            for a, b in zip(step[:WORLD], step[WORLD:], strict=True):
                assert (a.ids == b.ids).all()
                assert (a["image"] == b["image"]).all()
        assert loaders[1].state_dict() == own[1].state_dict()
        for each in loaders:
            each.close()
        loader = apldata.Loader(store_path, socket=path, rank=2)
        assert loader.batch_size == 24 and f"by '{path}'" in repr(loader)
        with pytest.raises(apldata.InvalidError, match="the server at the socket knows"):
            loader.records  # noqa: B018
        loader.close()
    finally:
        server.terminate()
        assert server.wait(10) == 0
    assert not path.exists()

"""Loaders whose batches a server makes: one reader for the processes of a machine."""

from __future__ import annotations

import fcntl
import hashlib
import inspect
import json
import os
import pickle
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from . import _core
from ._arguments import path_of, shown, wrong_value
from ._errors import BusyError, Error, InvalidError, MismatchError, NotFoundError, TimedOutError
from ._launch import launched, on_machine
from ._sockets import NAME_BYTES, folder, start_file, sweep
from ._store import Store

IDLE = 5.0  # seconds after which a server ends whose clients have died
_SLICE_MS = 500  # of a wait, between which signals are looked at
_MOST = 60.0  # seconds until all ranks have come, or gone to the same place
_JOB = (
    "TORCHELASTIC_RUN_ID",
    "MASTER_ADDR",
    "MASTER_PORT",
    "SLURM_JOB_ID",
    "SLURM_STEP_ID",
    "PMIX_NAMESPACE",
)
_ALLOWED = {
    "self",
    "db",
    "socket",
    "share",
    "rank",
    "world",
    "transforms",
    "timeout",
    "first_epoch",
    "monitor",
}
_made: Counter[tuple[int, ...]] = Counter()  # loaders that share, of the ranks of a machine


class Connection:
    """A server's socket, and what makes readers of it.

    Args:
        path: of the socket.
        start: starts a server if none runs; None: one must be running.
        rank: of this process; None: that of the loader's options.
    """

    def __init__(self, path: str, start: Callable[[], None] | None, rank: int | None) -> None:
        self.path = path
        self._start, self._rank = start, rank

    def open(
        self, store: Store, options: Mapping[str, Any], where: Mapping[str, Any], join: bool = False
    ) -> tuple[_core.Reader, bool]:
        """A reader that begins there. Ranks that go to another place wait for each other; with `join`, the
        reader may be wherever they are, so that who comes last can go on with them from there.

        Returns:
            The reader, and whether it is at the place that was asked for.
        """
        rank = options["rank"] if self._rank is None else self._rank
        places: deque[Mapping[str, Any]] = deque([where, {"go_on": 1}] if join else [where])
        wait, until = _SLICE_MS if self._start is None else 0, time.monotonic() + _MOST
        while True:
            connect = {"path": self.path, "rank": rank, "wait_ms": wait, **places[0]}
            try:
                reader = self._checked(store, _core.Reader(store, dict(options), connect))
                return reader, places[0] is where
            except NotFoundError:
                if self._start is None or time.monotonic() >= until:
                    raise
                self._start()
            except BusyError:
                self._check()
                if time.monotonic() >= until:
                    raise
                places.rotate()
            except TimedOutError:  # the machine is busy, or the server is: with its opening, for one
                if time.monotonic() >= until:
                    raise
            wait = _SLICE_MS

    def _check(self) -> None:
        """Is the server the one that is meant?"""

    def leave(self) -> None:
        """The loader is closed, and needs the server no more."""

    def _checked(self, store: Store, reader: _core.Reader) -> _core.Reader:
        """The digest is in each state: see reader/state.c. That of several stores is of another kind."""
        content = reader.state()[8:40].hex()
        if self._start is None and content != store.content_digest:
            reader.close()
            raise MismatchError(
                f"{self.path}: the server reads another store, of content {content[:16]}; "
                f"{store.path} has {store.content_digest[:16]}"
            )
        return reader


# ---------------------------------------------------------------------------------------------- socket=


def connected(
    socket: Any, rank: int | None, given: Mapping[str, Any], made: Callable[..., Any]
) -> Connection:
    """To the server at that socket, whose options are those of the reader.

    Args:
        given: the arguments of the loader, which `made` makes.
    """
    defaults = inspect.signature(made).parameters
    for name, value in given.items():
        if name in _ALLOWED or name not in defaults:
            continue
        if value is not defaults[name].default and value != defaults[name].default:
            raise InvalidError(
                f"{name} goes with the server: give it to apldata serve, not to a loader with socket="
            )
    if rank is None:
        found = launched()
        local = os.environ.get("LOCAL_RANK", "")
        rank = found[0] if found else int(local) if local.isdecimal() else 0
    return Connection(os.fsdecode(path_of("socket", socket)), None, rank)


# ----------------------------------------------------------------------------------------------- share=


def _places(options: Mapping[str, Any]) -> tuple[tuple[int, ...], int]:
    """The ranks of this machine, and the world."""
    rank, world = (options["rank"], options["world"]) if options["world"] else launched() or (0, 1)
    ranks = on_machine(rank, world)
    if ranks is None and world > 1:
        raise InvalidError(
            "share='node' needs LOCAL_RANK and LOCAL_WORLD_SIZE, as torchrun sets them, or what mpirun, "
            "mpiexec or srun sets instead; otherwise start apldata serve, and give its socket="
        )
    return ranks or (rank,), world


def _identity(store: Store) -> str:
    """Of its contents; and of all that is stored, if that is compared."""
    return " ".join(filter(None, (store.content_digest, store.expected_digest)))


def _told(options: Mapping[str, Any]) -> dict[str, str]:
    """The options of a reader, comparable between processes."""

    def plain(value: Any) -> Any:
        if isinstance(value, Store):
            return _identity(value)
        if isinstance(value, bytes):
            return hashlib.sha256(value).hexdigest()
        if isinstance(value, Mapping):
            return {key: plain(one) for key, one in sorted(value.items())}
        return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value

    return {name: repr(plain(value)) for name, value in options.items()}


class _Starter:
    """Starts the server of a machine's loaders, once, whoever comes first."""

    def __init__(self, path: str, store: Store, options: dict[str, Any], ranks: tuple[int, ...]) -> None:
        self._path, self._store, self._options, self._ranks = path, store, options, ranks
        self._child: subprocess.Popen[bytes] | None = None
        self._said = {"store": _identity(store), "ranks": repr(ranks), **_told(options)}
        self._may_replace = True  # once: processes whose options differ must not end each other's for ever

    def _listens(self) -> bool:
        try:
            _core.Reader(self._store, {}, {"path": self._path, "rank": 2**32 - 1})
        except NotFoundError:
            return False
        except (InvalidError, TimedOutError, BusyError):
            return True  # it has no such rank, or no time to say so
        return True

    def __call__(self) -> None:
        with start_file(self._path) as file:
            if self._listens() and self._fits(file.read()):
                return
            file.truncate(0)
            file.write(json.dumps(self._said))
            file.flush()
            try:
                self._spawn()
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
            sweep(Path(self._path).parent)

    def _fits(self, theirs: str) -> bool:
        """Is it a server of these options? One of other options gives way, if nobody is connected: its run
        has ended."""
        try:
            _check_same(theirs, self._said)
        except MismatchError:
            if not self._may_replace:
                raise
            self._may_replace = False
            with suppress(BusyError, TimedOutError):
                _core.dismiss(self._path, _SLICE_MS)
                return False
            raise
        return True

    def check(self) -> None:
        """Have all processes given the same options?"""
        with suppress(FileNotFoundError):  # it has just ended
            with start_file(self._path, fcntl.LOCK_SH, "r") as file:
                theirs = file.read()
            _check_same(theirs, self._said)

    def prepare(self) -> None:
        """Before one connects: a server of other options gives way, if it only waits for clients, or it is an
        error."""
        try:
            self.check()
        except MismatchError:
            self()

    def _spawn(self) -> None:
        """In a session of its own: it ends once nobody is connected, not with its starter."""
        command = [sys.executable, "-m", "apldata._serving"]
        pipe = subprocess.PIPE
        path = os.pathsep.join(filter(None, (str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH"))))
        child = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, start_new_session=True, env={**os.environ, "PYTHONPATH": path}
        )
        self._child = child
        work = (self._store, self._options, self._path, self._ranks, round(IDLE * 1000))
        assert child.stdin is not None and child.stdout is not None
        with child.stdin, child.stdout:
            try:
                pickle.dump(work, child.stdin)
                child.stdin.close()
            except BrokenPipeError:
                pass
            answer = child.stdout.read(4096).decode(errors="replace").strip()
        if answer != "ready":
            raise InvalidError(f"share='node': no server could be started: {answer or 'it has ended'}")


def _check_same(said: str, own: dict[str, str]) -> None:
    """Are they what the process gave that has started the server?"""
    theirs = json.loads(said or "{}")
    for name in own:
        if theirs.get(name) != own[name]:
            raise MismatchError(
                f"share='node': {name} is {shown(own[name])} here, and {shown(theirs.get(name))} in the "
                "process that started the server: all processes of a machine give the same options"
            )


class _Shared(Connection):
    """A server that is started by who needs it first."""

    def __init__(self, path: str, starter: _Starter) -> None:
        super().__init__(path, starter, None)
        self._starter = starter

    def open(
        self, store: Store, options: Mapping[str, Any], where: Mapping[str, Any], join: bool = False
    ) -> tuple[_core.Reader, bool]:
        own = dict(options)
        if not own["world"]:
            own["rank"], own["world"] = launched() or (0, 1)
        self._starter.prepare()
        reader, there = super().open(store, own, where, join)
        try:
            self._check()
        except BaseException:
            reader.close()
            raise
        return reader, there

    def _check(self) -> None:
        self._starter.check()

    def leave(self) -> None:
        """Ends the server, unless others need it."""
        with suppress(Error):
            _core.dismiss(self.path, _SLICE_MS)


def shared(share: Any, store: Store, options: Mapping[str, Any]) -> Connection:
    """One server for the processes of this machine that make such a loader, each the same number of times."""
    if share != "node":
        raise wrong_value("share", "'node', or None", share)
    if options["pin"] is not None:
        raise InvalidError("pin and share='node' exclude each other: batches lie in the server's memory")
    ranks, world = _places(options)
    served: dict[str, Any] = {**options, "rank": 0, "world": world}
    if options["threads"] == _core.APL_NO_THREADS:  # the work of the caller, which a server has not
        served["threads"] = 0
    number = _made[ranks]
    _made[ranks] += 1
    job = [os.environ.get(name, "") for name in _JOB]
    if world == 1:
        job = [str(os.getpid())]
    elif not any(job):
        job = [str(os.getppid())]  # who started them
    name = hashlib.sha256(json.dumps([ranks, number, job]).encode()).hexdigest()[:NAME_BYTES]
    path = str(folder() / name)
    return _Shared(path, _Starter(path, store, served, ranks))

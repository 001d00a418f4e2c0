"""Where the sockets of shared loaders are, and the files beside them: for each socket PATH, PATH.start, which
says what its server was started with and is locked by whoever starts one, and PATH.lock, which the server
holds as long as it lives."""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from ._errors import InvalidError, storage_error

NAME_BYTES = 24
_NAME = re.compile(f"[0-9a-f]{{{NAME_BYTES}}}")
_SOCKET_BYTES = 107  # the longest path of a socket


def _fits(folder: Path) -> bool:
    """Can it have sockets in it? Their paths are short."""
    return len(os.fsencode(folder)) + 1 + NAME_BYTES <= _SOCKET_BYTES


def _place() -> Path:
    """Jobs take over the XDG_RUNTIME_DIR of a login, which may have been another user's, or elsewhere."""
    place, own = os.environ.get("XDG_RUNTIME_DIR", ""), f"apldata-{os.getuid()}"
    if os.path.isabs(place) and _fits(Path(place, "apldata")):
        with suppress(OSError):
            if os.stat(place).st_uid == os.getuid() and os.access(place, os.W_OK | os.X_OK):
                return Path(place, "apldata")
    temporary = Path(tempfile.gettempdir(), own)
    return temporary if _fits(temporary) else Path("/tmp", own)


def folder() -> Path:
    """Where sockets of this user are."""
    folder = _place()
    try:
        folder.mkdir(mode=0o700, parents=False, exist_ok=True)
        seen = folder.lstat()
    except OSError as error:
        raise storage_error(f"share='node': {folder}: cannot make the directory for sockets", error) from None
    if seen.st_uid != os.getuid() or seen.st_mode & 0o077 or folder.is_symlink():
        raise InvalidError(f"{folder} must be a directory of this user's alone: it is for sockets")
    return folder


def _is_named(file: IO[Any], name: str) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file.fileno()), os.stat(name))
    return False


@contextmanager
def start_file(path: str, how: int = fcntl.LOCK_EX, mode: str = "a+") -> Iterator[IO[Any]]:
    """PATH.start, locked. Whoever removes it holds the lock, so what was locked may not be it any more."""
    name = f"{path}.start"
    while True:
        with open(name, mode) as file:
            fcntl.flock(file, how)
            if _is_named(file, name):
                file.seek(0)
                yield file
                return


def _lives(path: str) -> bool:
    try:
        with open(f"{path}.lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def remove_dead(path: str) -> None:
    """Removes what there is of that socket, unless its server lives or somebody starts one."""
    with suppress(BlockingIOError), start_file(path, fcntl.LOCK_EX | fcntl.LOCK_NB):
        if not _lives(path):
            for name in (path, f"{path}.lock", f"{path}.start"):
                Path(name).unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Removes what killed servers have left: the next run has another name, and would never see it."""
    for name in {path.name.partition(".")[0] for path in folder.iterdir()}:
        if _NAME.fullmatch(name):
            remove_dead(str(folder / name))

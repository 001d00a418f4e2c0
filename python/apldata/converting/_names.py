"""What the names of files tell: which of a directory are read, and which splits their records belong to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from ._partitions import Partitions, is_partition

_TABLES = (".csv", ".tsv", ".tab", ".jsonl", ".ndjson")  # which aplingest reads
_ENDINGS = (".parquet", ".pq", ".parq", ".pqt", ".arrow", ".arrows", ".feather", ".ipc")
_SPLITS = {"train": "train", "training": "train", "val": "val", "valid": "val", "validation": "val",
           "dev": "dev", "eval": "eval", "test": "test", "testing": "test", "t10k": "test",
           "extra": "extra"}  # fmt: skip
_PARTS = re.compile(r"[^-_.]+")
_WORDS = re.compile(r"[a-z]+")
_SHOWN = 3


def rank(split: str) -> int:
    """Where it comes among others: train first, those with other names last."""
    known = list(dict.fromkeys(_SPLITS.values()))
    return known.index(split) if split in known else len(known)


def _is_hidden(name: str) -> bool:
    """Those that Spark and pyarrow pass over: of other programs, or of a table that is being written."""
    return name.startswith(".") or (name.startswith("_") and not is_partition(name))


def _seen_in(folder: Path) -> Iterator[Path]:
    """What a directory and its folders hold, but for what is hidden, in no order."""
    for path in folder.rglob("*"):
        if not any(map(_is_hidden, path.relative_to(folder).parts)):
            yield path


def tables_in(folder: Path) -> Iterator[Path]:
    """The Parquet and Arrow files of a directory and its folders, in no order."""
    return (path for path in _seen_in(folder) if path.suffix.lower() in _ENDINGS and path.is_file())


def left_in(folder: Path) -> list[str]:
    """What the caller ought to know of a directory's tables that are not read: those that are of other
    formats, are compressed or have names without an ending, and those of folders that are linked."""
    files, links = [], []
    for path in _seen_in(folder):
        if path.is_symlink() and path.is_dir():
            links.append(path)
        elif path.is_file() and _may_be_table(path):
            files.append(path)
    told = (
        (files, "left out, as their names do not end in .parquet or .arrow"),
        (links, "left out, as they are links to folders"),
    )
    return [f"{why}: {_few(sorted(paths))}" for paths, why in told if paths]


def _may_be_table(path: Path) -> bool:
    if path.suffix.lower() in _ENDINGS:
        return False
    endings = {ending.lower() for ending in path.suffixes[-2:]}
    if endings & {*_ENDINGS, *_TABLES}:
        return True
    try:
        with path.open("rb") as file:
            return not path.suffix and file.read(4) in (b"PAR1", b"ARRO")
    except OSError:
        return False


def _few(paths: list[Path]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(path.name for path in paths[:_SHOWN]) + more


def _splits_in(name: str) -> list[str]:
    """The splits that words in a name tell, of which the first counts; a word is what stands between "-", "_"
    and ".", or else letters. As `file_name_split()` in file_name.c has it."""
    name = name.lower()
    words = [word for word in _PARTS.findall(name) if word in _SPLITS][:1] + _WORDS.findall(name)
    return list(dict.fromkeys(_SPLITS[word] for word in words if word in _SPLITS))


class _Told(NamedTuple):
    """What a path tells of a file's split."""

    splits: list[str]  # of which the first counts
    folder: str = ""  # the name of the folder that tells it
    like: str = ""  # where nothing tells: the split that is among the words of a folder's name


def _told_by(path: Path, root: Path) -> _Told:
    """The splits that words in the name of a file tell, or else the nearest folder that is called as a split
    is and no more, up to the one that was named, or of a named file, its own: `split_of_path()` in
    path_split.c."""
    if splits := _splits_in(path.name):
        return _Told(splits)
    above = path.parent if path == root else root
    folders = [above.name, *path.parent.relative_to(above).parts]
    folders = [folder for folder in reversed(folders) if not is_partition(folder)]
    for folder in folders:
        if folder.lower() in _SPLITS:
            return _Told([_SPLITS[folder.lower()]], folder)
    return _Told([], like=next((found[0] for folder in folders if (found := _splits_in(folder))), ""))


def by_split(roots: Mapping[Path, Path], partitions: Partitions) -> tuple[dict[str, list[Path]], list[str]]:
    """The files of each split, and what the caller ought to know of them; "train" has those that tell none.

    Args:
        roots: of each file, the folder that it was found in, or itself.
    """
    folders = partitions.splits()
    if folders:
        names = sorted(set(folders.values()), key=lambda name: (name != "train", name))
        return {name: [file for file in roots if folders[file] == name] for name in names}, []
    told = {file: _told_by(file, root) for file, root in roots.items()}
    found: dict[str, list[Path]] = {}
    for split in dict.fromkeys(_SPLITS.values()):
        if files := [file for file, own in told.items() if (own.splits or ["train"])[0] == split]:
            found[split] = files
    return found, _notes(told) + _notes_of_folders(told, set(found))


def _notes_of_folders(told: Mapping[Path, _Told], splits: set[str]) -> list[str]:
    """Folders would tell splits if they were called a little otherwise; or put all in one other than
    train."""
    like = [file for file, own in told.items() if own.like not in ("", "train")]
    notes = []
    if 0 < len(like) < len(told) and not any(own.splits for own in told.values()):
        only = told[like[0]].like
        notes.append(
            f"in the split 'train', as a folder tells the split {only!r} only if that is all of its name:"
            f" {_few(like)}"
        )
    if len(splits) == 1 and "train" not in splits and all(own.folder for own in told.values()):
        notes.append(f"in the split {min(splits)!r}, as their folder is called so: {_few(list(told))}")
    return notes


def _notes(told: Mapping[Path, _Told]) -> list[str]:
    silent = [file for file, own in told.items() if not own.splits]
    several = [file for file, own in told.items() if len(own.splits) > 1]
    notes = []
    if 0 < len(silent) < len(told):
        notes.append(
            f"in the split 'train', as their names tell no split, and those of others do: {_few(silent)}"
        )
    if several:
        notes.append(
            f"in the first of the splits that their names tell, though they tell others too: {_few(several)}"
        )
    return notes

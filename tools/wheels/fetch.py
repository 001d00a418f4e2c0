"""Fetches the sources of sources.toml, checks their digests and unpacks them."""

import hashlib
import shutil
import subprocess
import sys
import tarfile
import tomllib
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent


def sources() -> dict[str, dict]:
    """The libraries of sources.toml by name; each file's addresses are in `urls`."""
    table = tomllib.loads((HERE / "sources.toml").read_text())
    mirrors = table.pop("mirrors").values()
    for library in table.values():
        for file in (library, library.get("patches")):
            if file:
                file["urls"] = [m + file["pool"] for m in mirrors]
                file["urls"] += [file["upstream"]] if "upstream" in file else []
    return table


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fetched(file: dict, folder: Path) -> Path:
    """A file of the list in `folder`, where it stays for later builds."""
    target = folder / Path(file["pool"]).name
    if target.exists() and digest(target) == file["sha256"]:
        return target
    folder.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    reasons = []
    for url in file["urls"]:
        try:
            with urllib.request.urlopen(url, timeout=60) as answer, part.open("wb") as out:
                shutil.copyfileobj(answer, out)
        except (OSError, urllib.error.URLError) as e:
            reasons.append(f"{url}: {e}")
            continue
        if (found := digest(part)) == file["sha256"]:
            return part.rename(target)
        reasons.append(f"{url}: its sha256 is {found}, expected {file['sha256']}")
    part.unlink(missing_ok=True)
    sys.exit("wheels: cannot be fetched: " + "; ".join(reasons))


def unpack(archive: Path, to: Path, only: list[str]) -> None:
    """Without the archive's one top folder; of what is below it all, or the paths named."""
    to.mkdir(parents=True)
    with tarfile.open(archive) as tar:
        for member in tar:
            path = member.name.removeprefix("./").partition("/")[2]
            if path and (not only or any(path == o or path.startswith(o + "/") for o in only)):
                member.name = path
                tar.extract(member, to, filter="data")


def patch(archive: Path, tree: Path) -> None:
    """Applies Debian's patches in their order."""
    with tarfile.open(archive) as tar:
        tar.extractall(tree, filter="data")
    patches = tree / "debian/patches"
    for line in (patches / "series").read_text().splitlines():
        name = line.partition("#")[0].strip()
        if name:
            command = ["patch", "-s", "-p1", "-d", tree, "-i", patches / name]
            subprocess.run(command, check=True)


def tree_of(library: dict, downloads: Path, to: Path) -> Path:
    """The library's source, freshly unpacked and patched."""
    shutil.rmtree(to, ignore_errors=True)
    unpack(fetched(library, downloads), to, library.get("only", []))
    if "patches" in library:
        patch(fetched(library["patches"], downloads), to)
    return to

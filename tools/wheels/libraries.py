"""Builds the libraries of sources.toml into a prefix, those first that others need."""

import hashlib
import json
import shutil
from pathlib import Path

import compiler
import fetch
import recipes

ORDER = (
    "z bz2 lzma zstd lmdb crypto jpeg xxhash archive isal jansson png webp tiff gif csv boost-math curl"
)
# What pkg-config calls them, and the archives.
PKG = {
    "lmdb": "lmdb",
    "libzstd": "zstd",
    "libcrypto": "crypto",
    "libjpeg": "jpeg",
    "libarchive": "archive",
    "zlib": "z",
    "jansson": "jansson",
    "libpng": "png",
    "libisal": "isal",
    "libwebp": "webp",
    "libtiff-4": "tiff",
}


def write_pc(prefix: Path, name: str, archive: str, version: str) -> None:
    flags = f"-L{prefix}/lib -l{archive}" if archive else ""
    text = f"Name: {name}\nDescription: {name}\nVersion: {version}\n"
    text += f"Cflags: -I{prefix}/include\nLibs: {flags}\n"
    (prefix / "pc" / f"{name}.pc").write_text(text)


def write_pcs(prefix: Path, sources: dict[str, dict]) -> None:
    """For the Makefile; all flags are of this prefix, whatever the libraries' own files say."""
    (prefix / "pc").mkdir(exist_ok=True)
    for name, archive in PKG.items():
        write_pc(prefix, name, archive, sources[archive]["version"])
    write_pc(prefix, "libxxhash", "", sources["xxhash"]["version"])


def keep_notices(library: dict, name: str, tree: Path, prefix: Path) -> None:
    folder = prefix / "licenses"
    folder.mkdir(parents=True, exist_ok=True)
    texts = [(tree / notice).read_text(errors="replace") for notice in library["notices"]]
    (folder / f"{name}.txt").write_text("\n\n".join(texts))


def write_bundled(prefix: Path, sources: dict[str, dict]) -> None:
    """For setup.py: what there is, and of it what goes into a wheel without an archive of its own."""
    runtimes = compiler.runtimes()
    for name, (_, notice) in runtimes.items():
        shutil.copy(notice, prefix / f"licenses/{name}.txt")
    table = sources | {name: description for name, (description, _) in runtimes.items()}
    bundled = {"headers": ["xxhash", "boost-math", *runtimes], "libraries": table}
    (prefix / "bundled.json").write_text(json.dumps(bundled, indent=1))


def recipe_digest(library: dict, arch: str, glibc: str) -> str:
    """Changes with whatever a library's build depends on."""
    parts = [repr(sorted(library.items(), key=str)), arch, glibc, Path(recipes.__file__).read_text()]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def build(folder: Path, arch: str, glibc: str, compilers: dict[str, str], jobs: int) -> Path:
    """The prefix for `arch` in `folder`; a library that is there as it would be made again is kept."""
    sources, prefix = fetch.sources(), folder / arch / "prefix"
    prefix.mkdir(parents=True, exist_ok=True)
    for name in ORDER.split():
        library, stamp = sources[name], folder / arch / f"{name}.made"
        made = recipe_digest(library, arch, glibc)
        if stamp.exists() and stamp.read_text() == made:
            continue
        print(f"wheels: {name} {library['version']} for {arch}", flush=True)
        tree = fetch.tree_of(library, folder / "sources", folder / arch / "source" / name)
        step = recipes.Build(arch, tree, prefix, compilers, jobs)
        getattr(recipes, name.replace("-", "_"))(step)
        keep_notices(library, name, tree, prefix)
        shutil.rmtree(tree)
        stamp.write_text(made)
    write_pcs(prefix, sources)
    write_bundled(prefix, sources)
    return prefix

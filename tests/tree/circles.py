"""Finds circles: files that need each other. Prints a line for each set of them; exits with 1 if any.

circles.py c OBJECTS FOLDER...    C and C++: a file needs those that define what its object file leaves open
circles.py python FOLDER          Python: a module needs those that it imports, also if only to name a type;
                                  imports inside functions do not count: they are there to come late
"""

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

# A sampler belongs to a loader.
KNOWN = {("torch._sampler", "torch._loader")}


def symbols(files: Iterable[Path]) -> Iterator[tuple[str, str, str]]:
    """Of object files: the file, a symbol and its kind."""
    listing = subprocess.run(["nm", "-A", "-P", *files], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        file, name, kind = line.split()[:3]
        yield file.removesuffix(":"), name, kind


def called(objects: str, folders: list[str]) -> dict[str, set[str]]:
    """Of each source file, the files that define a symbol which it leaves open."""
    sources = {
        str((Path(objects) / source).with_suffix(".o")): str(source)
        for folder in folders
        for source in Path(folder).glob("*.c*")
    }
    of: dict[str, str] = {}
    missing: dict[str, set[str]] = {source: set() for source in sources.values()}
    for file, name, kind in symbols(file for file in map(Path, sources) if file.exists()):
        if kind == "U":
            missing[sources[file]].add(name)
        elif kind in "TDRBV":
            of[name] = sources[file]
    return {
        source: {of[name] for name in names if name in of} - {source} for source, names in missing.items()
    }


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Those of a module, also under `if` and `try`; not those of its functions and classes."""
    for one in body:
        yield one
        if isinstance(one, ast.If | ast.Try):
            yield from statements(one.body + one.orelse)


def imported(root: str) -> dict[str, set[str]]:
    """Of each module below the package's folder, the modules of the package that it imports."""
    files = {
        ".".join(file.relative_to(root).with_suffix("").parts): file for file in Path(root).rglob("*.py")
    }
    needs: dict[str, set[str]] = {}
    for module, file in files.items():
        needs[module] = set()
        for one in statements(ast.parse(file.read_text()).body):
            if isinstance(one, ast.ImportFrom) and one.level:
                above = module.split(".")[: -one.level]
                base = above + (one.module.split(".") if one.module else [])
                names = [".".join([*base, alias.name]) for alias in one.names]
                needs[module] |= {name if name in files else ".".join(base) for name in names} & files.keys()
        needs[module] -= {module} | {there for here, there in KNOWN if here == module}
    return needs


def circles(needs: dict[str, set[str]]) -> list[list[str]]:
    """The sets of files that reach each other, each sorted."""
    reached: dict[str, set[str]] = {}
    for start in needs:
        seen: set[str] = set()
        todo = list(needs[start])
        while todo:
            one = todo.pop()
            if one not in seen:
                seen.add(one)
                todo += needs.get(one, ())
        reached[start] = seen
    found = {tuple(sorted(b for b in reached[a] if a in reached[b])) for a in needs if a in reached[a]}
    return [list(one) for one in sorted(found)]


def main() -> int:
    kind, *rest = sys.argv[1:]
    found = circles(called(rest[0], rest[1:]) if kind == "c" else imported(rest[0]))
    for one in found:
        print("need each other:", *one)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

"""The bugs that `make mutants` plants: lists of them, as README.md describes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

KINDS = ("boundary", "negation", "arithmetic", "dropped", "constant", "mixed-up")


@dataclass
class Mutant:
    """One bug: text that occurs once in a file, and what replaces it."""

    place: str  # of the list, as FILE:LINE
    file: str
    tests: list[str]
    kind: str
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    equivalent: str = ""  # why nothing that anybody can see differs; empty: it must be killed

    @property
    def room(self) -> str:
        return self.file.split("/")[0]

    @property
    def words(self) -> str:
        """One line for people."""
        old, new = (" ".join(line.strip() for line in lines) for lines in (self.old, self.new))
        return f"{old} → {new}"

    def planted(self, source: str) -> str:
        """The source with the bug in it."""
        old = "\n".join(self.old)
        found = source.count(old)
        if found != 1:
            raise ValueError(f"{self.place}: {self.file} has this {found} times, not once: {old.strip()}")
        return source.replace(old, "\n".join(self.new))


def read_list(path: Path) -> list[Mutant]:
    """The mutants of one list, each complete."""
    mutants: list[Mutant] = []
    file = ""
    tests: list[str] = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        place = f"{path}:{number}"
        if not line.strip() or line.startswith("#"):
            continue
        mark, text = f"{line} "[:2], line[2:]
        if line in KINDS:
            mutants.append(Mutant(place, file, tests, line))
        elif mark in ("- ", "+ ", "= ") and mutants:
            if mark == "= ":
                mutants[-1].equivalent = text
            else:
                (mutants[-1].old if mark == "- " else mutants[-1].new).append(text)
        elif ": " in line and line.split(": ")[0].endswith(".c"):
            file, _, names = line.partition(": ")
            tests = names.split()
        else:
            raise ValueError(f"{place}: neither a file with tests, a kind, nor a line of a bug: {line}")
    for mutant in mutants:
        if not (mutant.old and mutant.new and mutant.file and mutant.tests):
            raise ValueError(f"{mutant.place}: a bug needs a file, tests, and lines with - and +")
    return mutants


def read_all(folder: Path) -> list[Mutant]:
    """The mutants of all lists in a folder."""
    return [mutant for path in sorted(folder.glob("*.txt")) for mutant in read_list(path)]

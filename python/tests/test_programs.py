"""Programs, and examples of documents, that no test runs here, as packages or machines are missing: the
package has what they use, by its type hints."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_docs import PAGES as RUN
from test_docs import ROOT, examples, missing

import apldata

PROGRAMS = sorted(path for folder in ("examples", "bench") for path in (ROOT / folder).rglob("*.py"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
OPTIONS = (
    "--ignore-missing-imports",
    "--check-untyped-defs",
    "--follow-imports=silent",
    "--explicit-package-bases",  # several modules are called run
    "--namespace-packages",
    "--no-error-summary",
)
FOUND = re.compile(r"^.+?:\d+: error: .* \[(attr-defined|call-arg|name-defined)\]$", re.MULTILINE)
WRONG = """import apldata


def main(path):
    with apldata.Store(path) as store:
        print(store.record_count)
"""

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed"),
    pytest.mark.skipif(not PROGRAMS, reason="the programs are not here"),
]


def checked(*files: Path, cache_dir: Path) -> list[str]:
    """What mypy has to say of the names and arguments in files, each a module of its own."""
    package = Path(apldata.__file__).absolute().parents[1]
    installed = "site-packages" in package.parts
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *OPTIONS, "--cache-dir", cache_dir, *files],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env=os.environ | ({} if installed else {"MYPYPATH": str(package)}),
    )  # fmt: skip
    assert done.returncode in (0, 1) and not done.stderr, done.stdout + done.stderr
    return [found.group() for found in FOUND.finditer(done.stdout)]


def blocks(folder: Path) -> list[Path]:
    """The examples of pages that test_docs does not run here, a file each."""
    made = []
    for page in PAGES:
        for line, code in examples(page):
            if page not in RUN or missing(code):
                made.append(folder / f"{page.stem}_line_{line}.py")
                made[-1].write_text(code, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Of all at once, since PyTorch's type hints alone take mypy long."""
    folder = tmp_path_factory.mktemp("mypy")
    wrong = folder / "wrong.py"
    wrong.write_text(WRONG, encoding="utf-8")
    return checked(*PROGRAMS, *blocks(folder), wrong, cache_dir=folder / "cache")


def test_what_the_package_lacks_is_seen(said: list[str]) -> None:
    assert [line for line in said if '"Store" has no attribute "record_count"' in line]


def test_programs_use_what_there_is(said: list[str]) -> None:
    assert [line for line in said if line.startswith(("examples/", "bench/"))] == []


def test_examples_use_what_there_is(said: list[str]) -> None:
    """Names that examples before them have made are unknown: each is looked at alone."""
    assert [line for line in said if "_line_" in line and "name-defined" not in line] == []

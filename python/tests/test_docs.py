"""The examples of README.md and docs/PYTHON.md are run as they stand there."""

import importlib.util
import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [page for page in (ROOT / "README.md", ROOT / "docs/PYTHON.md") if page.exists()]
NEEDS = {"apldata.torch": "torch", "apldata.jax": "jax", "apldata.tf": "tensorflow"}


def examples(page: Path) -> list[tuple[int, str]]:
    """(line, code) of each Python block."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [(text.count("\n", 0, block.start()) + 2, block.group(1)) for block in found]


def missing(code: str) -> str | None:
    needed = (framework for module, framework in NEEDS.items() if module in code)
    return next((name for name in needed if importlib.util.find_spec(name) is None), None)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples(page, store_path, tmp_path, monkeypatch):
    """One after another, in one namespace, in a folder with a store called db."""
    shutil.copytree(store_path, tmp_path / "db")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    run = 0
    for line, code in examples(page):
        if missing(code):
            continue
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), names)
        run += 1
    assert run > 0
    for value in names.values():
        if hasattr(value, "receipt") and not isinstance(value, type):
            value.close()

"""The documents' site: notebooks run, pages have all names, and links lead somewhere."""

from __future__ import annotations

import functools
import importlib
import io
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from conftest import CLASSES, ROOT

import apldata

SITE = ROOT / "docs" / "site"
LINKS = ROOT / "tests" / "tree" / "links.py"
NOTEBOOKS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))
NEEDS = {"first-training": ["torch"], "photographs": ["torch", "PIL"], "resume-and-ranks": []}

pytestmark = pytest.mark.skipif(not SITE.is_dir(), reason="the documents are not here")


@pytest.fixture(scope="module")
def build() -> Iterator[ModuleType]:
    """docs/site/build.py"""
    names = ("build", "headers", "modules", "notebooks")
    sys.path.insert(0, str(SITE))
    yield importlib.import_module("build")
    sys.path.remove(str(SITE))
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def pages(build: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All pages of the site, as Sphinx gets them."""
    folder = tmp_path_factory.mktemp("site") / "source"
    build.gather(folder)
    return folder


def headings(page: Path) -> list[str]:
    return re.findall(r"^##+ `([^`]*)`$", page.read_text(encoding="utf-8"), re.MULTILINE)


def links(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(LINKS), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_pages_are_told_and_broken_well(build: ModuleType) -> None:
    """What is done to the theme's pages, for those who hear them and on narrow screens."""
    given = '<p role="heading">A</p><aside class="sidebar-drawer"><aside class="toc-drawer">'
    heard = build.named_regions(given)
    assert heard == (
        '<p role="heading" aria-level="2">A</p><aside class="sidebar-drawer" aria-label="Pages">'
        '<aside class="toc-drawer" aria-label="On this page">'
    )
    code = '<span class="pre">--skip-bad</span> <span class="pre">N</span>'
    assert build.whole_words(code) == code.replace('"pre"', '"pre whole"')
    assert build.whole_words(f'<span class="pre">{"x" * 31}</span>').count("whole") == 0


# --------------------------------------------------------------------------------------------- notebooks


def write_archive(path: Path) -> None:
    """The binary archive of CIFAR-10, with twenty rows in each of its files."""
    random = np.random.default_rng(0)
    members = {f"data_batch_{n}.bin": random.integers(0, 256, (20, 3073), np.uint8) for n in range(1, 6)}
    members["test_batch.bin"] = random.integers(0, 256, (20, 3073), np.uint8)
    with tarfile.open(path, "w:gz") as tar:
        for name, rows in members.items():
            rows[:, 0] = np.arange(20) % 10
            _add(tar, name, rows.tobytes())
        _add(tar, "batches.meta.txt", "\n".join([*CLASSES, ""]).encode())


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
    member.size = len(data)
    tar.addfile(member, io.BytesIO(data))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks(
    notebook: Path, build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From top to bottom, in an empty folder; the first one with a small archive."""
    for name in NEEDS[notebook.stem]:
        module = pytest.importorskip(name)
        if name == "torch":
            module.set_num_threads(1)  # for networks this small, more only wait for each other
    monkeypatch.chdir(tmp_path)
    if notebook.stem == "first-training":
        write_archive(tmp_path / "cifar-10-binary.tar.gz")
        monkeypatch.setattr(apldata, "ingest", functools.partial(apldata.ingest, partial=True))
    names: dict[str, object] = {}
    for number, cell in enumerate(build.notebooks.cells(notebook)):
        if cell["cell_type"] == "code":
            assert not any(output["output_type"] == "error" for output in cell["outputs"])
            exec(compile("".join(cell["source"]), f"{notebook.name}, cell {number}", "exec"), names)


# ------------------------------------------------------------------------------------------------- pages


def test_every_call_of_the_libraries_has_a_section(pages: Path) -> None:
    exported = {
        name
        for library in ("store/apldata.map", "ingest/aplingest.map")
        for name in re.findall(r"^ *(apl_\w+);$", (ROOT / library).read_text(), re.MULTILINE)
    }
    found = {name for page in (pages / "c").glob("*.md") for name in headings(page)}
    assert exported and exported <= {name.removesuffix("()") for name in found if name.endswith("()")}
    assert {"apl_reader_options", "apl_status", "apl_allocator"} <= found


def test_declarations_come_with_their_comments(pages: Path) -> None:
    text = (pages / "c" / "split.md").read_text(encoding="utf-8")
    section = text.partition("## `apl_split_make()`")[2].partition("\n## ")[0]
    assert "Makes a split and writes its file atomically" in section
    assert "[`apl_split_options`]" not in section.partition("```c")[2]
    assert "apl_status apl_split_make(apl_store *store, const apl_split_options *options," in section


def test_every_name_of_the_package_has_a_section(pages: Path) -> None:
    found = {name for page in (pages / "python").glob("*.md") for name in headings(page)}
    modules = {"collation", "kinds", "sampling", "schema", "transforms"}
    assert set(apldata.__all__) - modules <= found
    assert {
        "Loader.state_dict()",
        "Batch.release()",
        "Store.where()",
        "DataLoader",
        "CudaPrefetcher",
    } <= found
    text = (pages / "python" / "apldata.md").read_text(encoding="utf-8")
    assert "- `batch_size`: records in a batch." in text
    assert "- `rows: int`: How many records it has." in text  # of a class in C


def test_classes_are_shown_as_they_are_called(pages: Path) -> None:
    text = (pages / "python" / "transforms.md").read_text(encoding="utf-8")
    assert "class CenterCrop(\n    size: int | Sequence[int],\n    *,\n    field: " in text
    assert "class CutMix(\n    alpha: float = 1.0," in text  # of a private base
    assert "kw_only" not in text and "(_" not in text
    text = (pages / "python" / "callbacks.md").read_text(encoding="utf-8")
    assert "class TensorBoard(loader: Loader, writer: Any, *, every: int" in text


def test_links_of_the_pages(pages: Path) -> None:
    done = links(*sorted(pages.rglob("*.md")))
    assert done.returncode == 0, done.stdout


def test_every_page_is_in_the_navigation(pages: Path) -> None:
    listed = set()
    for page in pages.rglob("*.md"):
        for tree in re.findall(
            r"^```{toctree}\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
        ):
            places = [line for line in tree.splitlines() if line and not line.startswith(":")]
            listed |= {(page.parent / place.removesuffix(".md")).resolve() for place in places}
    missing = {
        page.relative_to(pages)
        for page in pages.rglob("*.md")
        if page.with_suffix("").resolve() not in listed
    }
    assert {page for page in missing if not _is_orphan(pages / page)} == {Path("index.md")}


def _is_orphan(page: Path) -> bool:
    """A README.md of a folder, to which only links lead."""
    return page.read_text(encoding="utf-8").startswith("---\norphan: true\n")


def test_pages_of_folders_are_added_where_a_page_links_to_them(build: ModuleType, tmp_path: Path) -> None:
    site = build.Site(tmp_path / "source")
    site.add_document(
        "docs/PAGE.md", "# Page\n\n[the rooms](../store/README.md), [again](../store/README.md)\n"
    )
    assert _is_orphan(tmp_path / "source/store/README.md")
    with pytest.raises(SystemExit, match=r"a link to \.\./nothing\.md, which is not there"):
        site.add_document("docs/PAGE.md", "[nothing](../nothing.md)")


# ------------------------------------------------------------------------------------------------- links


WRONG = {
    "[a](nothing.md)": "there is no nothing.md",
    "[a](#nothing)": "there is no heading #nothing in it",
    "[`a` [b]](other.md#nothing)": "there is no heading #nothing in other.md",
    "![a](nothing.png)": "there is no nothing.png",
    "[a](http://example.org)": "http://example.org is not a link to https:// or mailto:",
    "<https://nowhere>": "https://nowhere is not a link to https:// or mailto:",
}
RIGHT = (
    "[a](other.md#is-it-a-b--c-1), [b](#here), <https://example.org/x#y>, `[c](no.md)`, [d](mailto:a@b.org)"
)


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_links_in_pages(wrong: str, tmp_path: Path) -> None:
    page, other = tmp_path / "page.md", tmp_path / "other.md"
    other.write_text("# `Is it` a, b & c?\n\n# Is it, a b & c\n")
    page.write_text(f"# Here\n\n{RIGHT}\n\n```\n[e](nothing.md)\n```\n")
    assert links(page).stdout == ""
    page.write_text(f"# Here\n\n{RIGHT} {wrong}\n")
    assert links(page).stdout == f"{page}: {WRONG[wrong]}\n"


def test_wrong_links_in_a_site(tmp_path: Path) -> None:
    good = '<h1 id="x">X</h1><a href="#x">x</a><a href="b.html">b</a><a href="https://example.org/">e</a>'
    (tmp_path / "b.html").write_text("<p>")
    (tmp_path / "a.html").write_text(good)
    assert links("--site", tmp_path).returncode == 0
    bad = '<a href="#y"><a href="b.html#x"><img src="c.png"><script src="https://example.org/s.js"></script>'
    (tmp_path / "a.html").write_text(good + bad)
    (tmp_path / "a.css").write_text("@font-face { src: url('//fonts.example.org/f.woff') }")
    assert links("--site", tmp_path).stdout.splitlines() == [
        "a.css: //fonts.example.org/f.woff is loaded from elsewhere",
        "a.html: https://example.org/s.js is loaded from elsewhere",
        "a.html: there is no #x in b.html",
        "a.html: there is no #y in it",
        "a.html: there is no c.png",
    ]

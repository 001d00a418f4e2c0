"""Builds the site of the documents: pages are gathered into a folder, of which Sphinx makes HTML.

    python docs/site/build.py OUT            OUT/source and OUT/html; needs what requirements.txt names
    python docs/site/build.py --gather OUT   OUT/source alone; needs only Python

The pages are those in docs/, README.md and its like; the headers; the package's docstrings; the examples; the
notebooks in docs/tutorials; and the man pages, set by mandoc. A link that leads nowhere is an error.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import headers
import modules
import notebooks

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PACKAGE = ROOT / "python" / "apldata"
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^)\s]+)\)")
MODULES = {
    "apldata.kinds": "what fields are",
    "apldata.callbacks": "TensorBoard, Weights & Biases and Prometheus",
    "apldata.torch": "PyTorch",
    "apldata.jax": "JAX",
    "apldata.tf": "TensorFlow",
    "apldata.ray": "Ray",
}
CODE = {".c": "c", ".h": "c", ".py": "python"}


class Site:
    """The pages of a site, below a folder, by their places in the tree."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.rooms: set[str] = set()
        shutil.rmtree(out, ignore_errors=True)

    def add(self, place: str, text: str) -> None:
        """A page, or a file that pages show."""
        file = self.out / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def add_document(self, place: str, text: str, own: str | None = None) -> None:
        """A page of the tree, in which links to files of the tree become links to their pages. `own` is where
        it lies in the tree, if elsewhere."""
        folder = Path(own or place).parent

        def link(found: re.Match[str]) -> str:
            return f"{found.group(1)}({self._target(folder, place, found.group(2))})"

        parts = re.split(r"(^```.*?^```$|`[^`\n]*`)", text, flags=re.DOTALL | re.MULTILINE)
        self.add(
            place, "".join(part if n % 2 else LINK.sub(link, part) for n, part in enumerate(_joined(parts)))
        )

    def _target(self, folder: Path, place: str, target: str) -> str:
        path, mark, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target) or not path:
            return target
        there = os.path.normpath(folder / path)
        if not (ROOT / there).exists():
            sys.exit(f"{folder}: a link to {target}, which is not there")
        return os.path.relpath(self._page_of(there), Path(place).parent) + mark + anchor

    def _add_room(self, path: str) -> None:
        """The README.md of a folder, which only the page that links to it leads to."""
        if path not in self.rooms:
            self.rooms.add(path)
            self.add_document(path, f"---\norphan: true\n---\n\n{read(path)}")

    def _page_of(self, path: str) -> str:
        """The page that shows a file of the tree; other files are copied."""
        if path == "README.md":
            return "index.md"
        if path.startswith("docs/tutorials/"):
            return str(Path(path).with_suffix(".md"))
        if path.endswith(".md"):
            if Path(path).parent not in (Path(), Path("docs")):
                self._add_room(path)
            return path
        if path == "examples":
            return "examples/index.md"
        if path.startswith(("docs/man/", "examples/")):
            return f"{path}.md"
        target = self.out / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, target)
        return path


def _joined(parts: list[str]) -> list[str]:
    """Code in a link's text belongs to the link: text and code alternate, but where a bracket is open."""
    out = [parts[0]]
    for code, text in zip(parts[1::2], parts[2::2], strict=True):
        opened = out[-1].rfind("[") > out[-1].rfind("]") and not code.startswith("```")
        if opened:
            out[-1] += code + text
        else:
            out += [code, text]
    return out


def read(place: str) -> str:
    return (ROOT / place).read_text(encoding="utf-8")


def contents(caption: str, places: list[str], depth: int = 1) -> str:
    """What the navigation has below a caption."""
    lines = [":hidden:", f":maxdepth: {depth}", *([f":caption: {caption}"] if caption else []), "", *places]
    return "\n".join(["", "```{toctree}", *lines, "```", ""])


# -------------------------------------------------------------------------------------------------- parts


def add_documents(site: Site) -> None:
    for file in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")):
        place = str(file.relative_to(ROOT))
        if place != "README.md":
            site.add_document(place, file.read_text(encoding="utf-8"))


def add_tutorials(site: Site) -> list[str]:
    files = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))
    for file in files:
        place = str(file.relative_to(ROOT).with_suffix(".md"))
        site.add_document(place, notebooks.page(file, site.out / "docs/tutorials/images"))
    return [str(file.relative_to(ROOT).with_suffix("")) for file in files]


def add_examples(site: Site) -> None:
    files = sorted(file for file in (ROOT / "examples").iterdir() if file.suffix in CODE)
    for file in files:
        code = file.read_text(encoding="utf-8")
        site.add(f"examples/{file.name}.md", f"# {file.name}\n\n````{CODE[file.suffix]}\n{code}````\n")
    lines = [f"- [{file.name}]({file.name}.md): {_first_line(file)}" for file in files]
    places = contents("", [f"{file.name}.md" for file in files])
    site.add("examples/index.md", "\n".join(["# Examples", "", *lines, places]))


def _first_line(file: Path) -> str:
    """What a program's first comment or docstring says."""
    begins = re.match(
        r'\s*(?:/\*|""")\s*\**\s*(.*?)(?:\*/|"""|\n *\n|\n \*\s*\n|:\n)',
        file.read_text(encoding="utf-8"),
        re.DOTALL,
    )
    text = re.sub(r"\s*\n[ *]*", " ", begins.group(1)).strip() if begins else ""
    return text.removeprefix(f"{file.name} - ")


def add_headers(site: Site) -> None:
    files = [
        ROOT / "include/apl.h",
        *sorted((ROOT / "include/apl").glob("*.h")),
        ROOT / "include/apl_ingest.h",
    ]
    places: dict[str, str] = {}
    for file in files:
        for name in headers.names(file):
            places[name] = f"{file.stem}.md#{name.lower().removesuffix('()')}"
    for file in files:
        title = str(file.relative_to(ROOT / "include"))
        site.add(f"c/{file.stem}.md", headers.page(file, title, places))
    order = ["apl", *(file.stem for file in files if file.parent.name == "apl"), "apl_ingest"]
    text = "# C API\n\nA page for each header. [API.md](../docs/API.md) is the guide. All calls:\n\n"
    calls = "".join(f"- [{name}]({places[name]})\n" for name in sorted(places) if name.endswith("()"))
    site.add("c/index.md", f"{text}{calls}{contents('', order)}")


def add_modules(site: Site) -> None:
    names = modules.public(PACKAGE, "apldata")
    # The others in __all__ are for the rest of the package.
    transforms = [name for name in modules.public(PACKAGE, "apldata.transforms") if _is_class(name)]
    errors = [name for name in names if name.endswith(("Error", "Warning"))]
    main = [name for name in names if name not in {*errors, *transforms}]
    pages = {
        "apldata": modules.page(PACKAGE, "apldata", "apldata", main),
        "transforms": modules.page(PACKAGE, "apldata.transforms", "apldata.transforms", transforms),
        "errors": modules.page(PACKAGE, "apldata", "Errors and warnings", errors, intro=False),
    }
    for module in MODULES:
        title = module.partition(".")[2]
        pages[title] = modules.page(PACKAGE, module, module, modules.public(PACKAGE, module))
    for name, text in pages.items():
        site.add(f"python/{name}.md", text)
    intro = "# Python API\n\nMade of the docstrings. [PYTHON.md](../docs/PYTHON.md) is the guide.\n"
    site.add("python/index.md", intro + contents("", list(pages)))


def _is_class(name: str) -> bool:
    return bool(re.match(r"[A-Z]+[a-z]", name))


def add_man_pages(site: Site) -> list[str]:
    """As HTML by mandoc; without it, as they are."""
    files = sorted((ROOT / "docs/man").glob("*.[1-9]"))
    for file in files:
        title = f"{file.stem}({file.suffix[1:]})"
        if shutil.which("mandoc"):
            command = ["mandoc", "-T", "html", "-O", "fragment", str(file)]
            html = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            html = (
                re.sub(r"^\s*\n", "", html, flags=re.MULTILINE)
                .replace("<h1", "<h2")
                .replace("</h1>", "</h2>")
            )
            body = f'```{{raw}} html\n<div class="man">\n{html}</div>\n```\n'
        else:
            body = f"````text\n{file.read_text(encoding='utf-8')}````\n"
        site.add(f"docs/man/{file.name}.md", f"# {title}\n\n{body}")
    return [f"docs/man/{file.name}" for file in files]


GUIDES = ["INSTALL", "PYTHON", "DATA", "MIGRATE", "API", "SCALE", "MONITORING"]
REFERENCE = ["FORMAT", "GUARANTEES"]
BACKGROUND = ["BENCHMARKS", "PAPER", "RELIABILITY", "THEORY"]


def gather(out: Path) -> None:
    """All pages, below a folder."""
    site = Site(out)
    add_documents(site)
    tutorials = add_tutorials(site)
    add_examples(site)
    add_headers(site)
    add_modules(site)
    manuals = add_man_pages(site)
    known = {*GUIDES, *REFERENCE, *BACKGROUND}
    others = sorted(file.stem for file in (ROOT / "docs").glob("*.md") if file.stem not in known)
    navigation = [
        contents("Guides", [f"docs/{name}" for name in (*GUIDES, *others)]),
        contents("Tutorials", [*tutorials, "examples/index"]),
        contents("Reference", ["python/index", "c/index", *manuals, *(f"docs/{name}" for name in REFERENCE)]),
        contents("Background", [f"docs/{name}" for name in BACKGROUND]),
        contents("Project", ["CHANGELOG", "CONTRIBUTING", "SECURITY"]),
    ]
    site.add_document("index.md", read("README.md") + "".join(navigation), own="README.md")
    for name in ("conf.py", "style.css"):
        shutil.copy(HERE / name, out / name)


def named_regions(html: str) -> str:
    """What the theme leaves out for those who hear a page: levels of headings, names of the bars."""
    html = html.replace('role="heading">', 'role="heading" aria-level="2">')
    html = html.replace('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="Pages">')
    return html.replace('<aside class="toc-drawer">', '<aside class="toc-drawer" aria-label="On this page">')


def whole_words(html: str) -> str:
    """Options in code are not broken at their hyphens; words too long for a telephone are."""
    return re.sub(r'<span class="pre">([^<]{,30})</span>', r'<span class="pre whole">\1</span>', html)


def build(out: Path) -> None:
    """Warnings, such as links to headings that do not exist, are errors."""
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-b",
        "html",
        "-d",
        str(out / "doctrees"),
    ]
    done = subprocess.run([*command, str(out / "source"), str(out / "html")], check=False)
    if done.returncode:
        sys.exit(done.returncode)
    for page in (out / "html").rglob("*.html"):
        page.write_text(whole_words(named_regions(page.read_text(encoding="utf-8"))), encoding="utf-8")


def main() -> None:
    out = Path(sys.argv[-1])
    gather(out / "source")
    if "--gather" not in sys.argv[1:]:
        shutil.rmtree(out / "html", ignore_errors=True)
        build(out)
        print(out / "html" / "index.html")


if __name__ == "__main__":
    main()

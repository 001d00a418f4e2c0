"""Every link leads to a file that is there, and to a heading that it has; links outward are well formed.

    links.py PAGE.md...      pages of the tree, with headings as GitHub names them
    links.py --site FOLDER   a built site: it must also load nothing from elsewhere

Prints a line for each that does not, and then exits with 1.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

CODE = re.compile(r"^(```+).*?^\1$|`[^`\n]+`", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]*)(?: \"[^\"]*\")?\)|(?<!\\)<(https?:[^>\s]*)>")
LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "link": "href",
}  # unlike what one clicks on


# ---------------------------------------------------------------------------------------------- Markdown


@cache
def anchors(page: Path) -> frozenset[str]:
    """What the headings of a page are called in links, as GitHub has it; of HTML, the ids and names."""
    text = page.read_text(encoding="utf-8")
    fenced = re.sub(r"^(```+).*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    seen: Counter[str] = Counter()
    found = set(re.findall(r'<a (?:id|name)="([^"]+)"', fenced))
    for heading in re.findall(r"^#{1,6} +(.*?)(?: +#+)?$", fenced, re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return frozenset(found)


def targets(page: Path) -> Iterator[str]:
    text = page.read_text(encoding="utf-8")
    for found in LINK.finditer(CODE.sub(lambda code: "`" * len(code.group(0)), text)):
        yield found.group(1) if found.group(1) is not None else found.group(2)


def wrong_in_page(page: Path) -> Iterator[str]:
    for target in targets(page):
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target):
            yield from outward(target)
            continue
        there = page.parent / unquote(path) if path else page
        if not there.exists():
            yield f"there is no {target}"
        elif anchor and there.suffix == ".md" and anchor not in anchors(there):
            yield f"there is no heading #{anchor} in {path or 'it'}"


def outward(target: str) -> Iterator[str]:
    parts = urlsplit(target)
    good = {
        "https": bool(re.fullmatch(r"[\w.-]+\.[a-z]{2,}(:\d+)?", parts.netloc)),
        "mailto": "@" in parts.path,
    }
    if not good.get(parts.scheme, False):
        yield f"{target} is not a link to https:// or mailto:"


# -------------------------------------------------------------------------------------------------- HTML


class Page(HTMLParser):
    """The ids of a page, and its links."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value is not None}
        self.ids.update(given[name] for name in ("id", "name") if name in given)
        if tag in LOADED and LOADED[tag] in given and given.get("rel") not in ("canonical", "author"):
            self.loaded.append(given[LOADED[tag]])
        elif tag == "a" and "href" in given:
            self.links.append(given["href"])


@cache
def parsed(page: Path) -> Page:
    return Page(page.read_text(encoding="utf-8"))


def wrong_in_html(page: Path) -> Iterator[str]:
    for target in parsed(page).links + parsed(page).loaded:
        parts = urlsplit(target)
        if parts.scheme == "data":
            continue
        if parts.scheme or parts.netloc:
            yield from outward(target)
            if target in parsed(page).loaded:
                yield f"{target} is loaded from elsewhere"
            continue
        there = page.parent / unquote(parts.path) if parts.path else page
        if not there.is_file():
            yield f"there is no {target}"
        elif parts.fragment and there.suffix == ".html" and unquote(parts.fragment) not in parsed(there).ids:
            yield f"there is no #{parts.fragment} in {parts.path or 'it'}"


def wrong_in_style(sheet: Path) -> Iterator[str]:
    for target in re.findall(r"url\(\s*['\"]?([^)'\"]+)", sheet.read_text(encoding="utf-8")):
        if re.match(r"(https?:)?//", target):
            yield f"{target} is loaded from elsewhere"


# --------------------------------------------------------------------------------------------------- main


def wrong(arguments: list[str]) -> Iterator[str]:
    if arguments[:1] != ["--site"]:
        yield from (f"{page}: {why}" for page in arguments for why in wrong_in_page(Path(page)))
        return
    folder = Path(arguments[1])
    kinds = {"*.html": wrong_in_html, "*.css": wrong_in_style}
    for pattern, check in kinds.items():
        pages: Iterable[Path] = sorted(folder.rglob(pattern))
        yield from (f"{page.relative_to(folder)}: {why}" for page in pages for why in check(page))


def main() -> int:
    found = sorted(set(wrong(sys.argv[1:])))
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())

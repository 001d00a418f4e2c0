"""What the tests of the commands' pages share: a page is well formed, refers to nothing outside of itself,
runs and styles what its policy names and nothing else, and is drawn without complaint at any width, in light
and dark.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path

from browser import Browser

VOID = {"meta", "link", "img", "br", "hr", "input"}
REFERS = {"src", "href", "xlink:href", "srcset", "data", "action", "poster", "style"}
FOREIGN = ("link", "iframe", "object")
IMAGE = r"data:image/(png|jpeg);base64,[A-Za-z0-9+/]+=*"
WIDTHS = (380, 1200)


class Page(HTMLParser):
    """Collects what is wrong, and counts what is there, but for what a template holds."""

    def __init__(self, images: bool = False) -> None:
        super().__init__(convert_charrefs=True)
        self.images = images
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.counts: dict[str, int] = {}
        self.text: list[str] = []
        self.scripts: list[tuple[str | None, str]] = []
        self.styles: list[str] = []
        self.policy = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if "template" not in self.open:
            self.counts[tag] = self.counts.get(tag, 0) + 1
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append((dict(attributes).get("type"), ""))
        if tag == "style":
            self.styles.append("")
        if dict(attributes).get("http-equiv") == "Content-Security-Policy":
            self.policy = dict(attributes).get("content") or ""
        for name, value in attributes:
            embedded = self.images and tag == "img" and name == "src" and re.fullmatch(IMAGE, value or "")
            if (name in REFERS and not embedded) or name.startswith("on"):
                self.wrong.append(f"<{tag} {name}={value!r}>")
            if not embedded and re.search(r"nan|infinity|undefined|null", value or "", re.IGNORECASE):
                self.wrong.append(f"<{tag} {name}={value!r}>: no number")

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            kind, text = self.scripts[-1]
            self.scripts[-1] = (kind, text + data)
        elif self.open and self.open[-1] == "style":
            self.styles[-1] += data
        else:
            self.text.append(data)

    def check(self, foreign: list[str]) -> None:
        """Foreign names must have gone in as text."""
        self.wrong += [f"<{tag}> stays open" for tag in self.open]
        self.wrong += [f"{tag} is on the page" for tag in FOREIGN if tag in self.counts]
        if not self.images and "img" in self.counts:
            self.wrong.append("img is on the page")
        text = "".join(self.text)
        self.wrong += [f"{name!r} is not on the page" for name in foreign if name not in text]
        self.wrong += re.findall(r"undefined|NaN|\bInfinity\b", text)

    def check_policy(self) -> None:
        """Its style and its script, by their hashes, and images that are embedded: nothing else."""

        def source(text: str) -> str:
            return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

        scripts = [text for kind, text in self.scripts if kind != "application/json"]
        due = {
            "default-src": ["'none'"],
            "img-src": ["data:"],
            "style-src": [source(text) for text in self.styles],
            "script-src": [source(text) for text in scripts],
            "base-uri": ["'none'"],
            "form-action": ["'none'"],
        }
        given = {name: rest for name, *rest in (part.split() for part in self.policy.split(";"))}
        if given != due:
            self.wrong.append(f"the policy is {given}, due is {due}")


def read(path: str | Path, images: bool = False) -> tuple[str, Page]:
    source = Path(path).read_text(encoding="utf-8")
    page = Page(images)
    page.feed(source)
    page.close()
    return source, page


def read_file(path: str | Path, images: bool = False) -> Page:
    """The page of a file as a command writes it: its data and one script, and no address in it."""
    source, page = read(path, images)
    plain = re.sub(IMAGE + r"|'sha256-[^']*'", "", source)
    page.wrong += re.findall(r"https?:|//[a-z]|@import|url\(|^@[a-z]+@$", plain, re.MULTILINE)
    page.check_policy()
    if [kind for kind, _ in page.scripts] != ["application/json", None]:
        page.wrong.append("there must be the data and one script")
    elif "<" in page.scripts[0][1]:
        page.wrong.append("the data can end their element")
    return page


def axe_source() -> str | None:
    """axe-core, from a package of Python that has it: axe-playwright-python or axe-core-python."""
    places = [Path(os.environ["APL_AXE"])] if "APL_AXE" in os.environ else []
    build = Path(os.environ.get("BUILD", "build"))
    places += sorted(build.glob("venv-*/lib/python*/site-packages/axe_*/axe.min.js"), reverse=True)
    return next((place.read_text(encoding="utf-8") for place in places if place.is_file()), None)


def colours_of(png: bytes) -> int:
    """Roughly: how many different bytes the compressed rows hold; a page of one colour has few."""
    data = b"".join(
        png[m.end() : m.end() + int.from_bytes(png[m.start() - 4 : m.start()])]
        for m in re.finditer(b"IDAT", png)
    )
    return len(set(zlib.decompressobj().decompress(data)))


# How many labels of charts are cut at an edge.
CUT = """[...document.querySelectorAll("svg text")].filter(text => {
    const box = text.getBoundingClientRect(), chart = text.ownerSVGElement.getBoundingClientRect();
    return box.left < chart.left - 1 || box.right > chart.right + 1;
}).length"""


# Labels of charts that run into others.
OVERLAID = """[...document.querySelectorAll("svg")].flatMap(svg => {
    const labels = [...svg.querySelectorAll("text")].map(
        text => [text.textContent, text.getBoundingClientRect()]);
    const meet = (a, b) =>
        a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 4 && b.top < a.bottom - 4;
    const met = labels.filter(([_, a], i) => labels.slice(0, i).some(([_, b]) => meet(a, b)));
    return met.map(([text]) => text);
})"""


def drawn(browser: Browser, path: str | Path, axe: str | None, height: int = 1600) -> list[str]:
    """What is wrong with the page as it is drawn."""
    wrong = []
    for width in WIDTHS:
        for dark in (False, True):
            where = f"{width} pixels{', dark' if dark else ''}"
            browser.open(path, width, height, dark)
            if browser.run("document.documentElement.scrollWidth") > width:
                wrong.append(f"{where}: wider than the window")
            if cut := browser.run(CUT):
                wrong.append(f"{where}: {cut} labels of charts are cut")
            if overlaid := browser.run(OVERLAID):
                wrong.append(f"{where}: labels of charts run into others: {overlaid[:5]}")
            if browser.run("matchMedia('(prefers-color-scheme: dark)').matches") is not dark:
                wrong.append(f"{where}: not so")
            if colours_of(browser.picture()) < 20:
                wrong.append(f"{where}: nothing is drawn")
            if axe:
                wrong += [f"{where}: axe: {line}" for line in browser.axe(axe)]
    return wrong + browser.complaints + [f"asked for {url}" for url in browser.requests]

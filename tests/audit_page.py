"""Checks the page of `apldata audit --html`.

audit_page.py PAGE [--json FILE] [FOREIGN...]: the file. It must be well formed and refer to nothing outside
of itself; its data must hold all that --json prints; without scripts, each finding must stand in a table.
audit_page.py --drawn DOM PLOTS [FOREIGN...]: what a browser made of it. It must have so many plots, all of
numbers.

Foreign names must have gone in as text.
"""

import json
import math
import re
import sys
from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "link", "img", "br", "hr", "input"}
REFERS = {"src", "href", "xlink:href", "srcset", "data", "action", "poster", "style"}
FOREIGN = ("link", "img", "iframe", "object")


class Page(HTMLParser):
    """Collects what is wrong, and counts what is there, but for what a template holds."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.counts: dict[str, int] = {}
        self.text: list[str] = []
        self.scripts: list[tuple[str | None, str]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if "template" not in self.open:
            self.counts[tag] = self.counts.get(tag, 0) + 1
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append((dict(attributes).get("type"), ""))
        for name, value in attributes:
            if name in REFERS or name.startswith("on"):
                self.wrong.append(f"<{tag} {name}={value!r}>")
            if re.search(r"nan|infinity|undefined|null", value or "", re.IGNORECASE):
                self.wrong.append(f"<{tag} {name}={value!r}>: no number")

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            kind, text = self.scripts[-1]
            self.scripts[-1] = (kind, text + data)
        elif "style" not in self.open:
            self.text.append(data)

    def check(self, foreign: list[str]) -> None:
        self.wrong += [f"<{tag}> stays open" for tag in self.open]
        self.wrong += [f"{tag} is on the page" for tag in FOREIGN if tag in self.counts]
        text = "".join(self.text)
        self.wrong += [f"{name!r} is not on the page" for name in foreign if name not in text]
        self.wrong += re.findall(r"undefined|NaN|\bInfinity\b", text)


def read(path: str) -> tuple[str, Page]:
    with open(path, encoding="utf-8") as file:
        source = file.read()
    page = Page()
    page.feed(source)
    page.close()
    return source, page


def no_number(text: str) -> None:
    raise ValueError(f"{text} is no JSON")


def is_within(part: Any, whole: Any) -> bool:
    """Is all of `part` in `whole`, numbers rounded?"""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(is_within(part[key], whole.get(key)) for key in part)
    if isinstance(part, list):
        return isinstance(whole, list) and len(part) == len(whole) and all(map(is_within, part, whole))
    if isinstance(part, float):
        return math.isclose(part, whole, rel_tol=1e-5, abs_tol=1e-300)
    return bool(part == whole)


def findings_of(data: dict[str, Any]) -> list[dict[str, Any]]:
    groups = [data, *data.get("splits", []), *data.get("controls", [])]
    return [finding for group in groups for finding in group.get("findings", [])]


def check_data(page: Page, printed: str | None) -> None:
    if [kind for kind, _ in page.scripts] != ["application/json", None]:
        page.wrong.append("there must be the data and one script")
        return
    data = json.loads(page.scripts[0][1], parse_constant=no_number)
    if "<" in page.scripts[0][1]:
        page.wrong.append("the data can end their element")
    if printed is not None:
        with open(printed, encoding="utf-8") as file:
            if not is_within(json.load(file), data):
                page.wrong.append(f"the data are not all of {printed}")
    findings = findings_of(data)
    rows, tables = page.counts.get("tr", 0), page.counts.get("table", 0)
    if not findings or rows != len(findings) + tables:
        page.wrong.append(f"{len(findings)} findings, {rows} rows in {tables} tables")


def check_file(arguments: list[str]) -> Page:
    printed = None
    if "--json" in arguments:
        at = arguments.index("--json")
        printed = arguments[at + 1]
        del arguments[at : at + 2]
    source, page = read(arguments[0])
    page.wrong += re.findall(r"https?:|//[a-z]|@import|url\(|^@[a-z]+@$", source, re.MULTILINE)
    check_data(page, printed)
    page.check(arguments[1:])
    return page


def check_drawn(arguments: list[str]) -> Page:
    _, page = read(arguments[0])
    plots = int(arguments[1])
    counts = {page.counts.get(tag, 0) for tag in ("figure", "svg", "h3")}
    if counts != {plots} or "figcaption" not in page.counts:
        page.wrong.append(f"{plots} plots are due: {page.counts}")
    page.check(arguments[2:])
    return page


def main() -> None:
    page = check_drawn(sys.argv[2:]) if sys.argv[1] == "--drawn" else check_file(sys.argv[1:])
    if page.wrong:
        sys.exit("\n".join(page.wrong[:20]))


if __name__ == "__main__":
    main()

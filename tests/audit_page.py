"""Checks the page of `apldata audit --html`: audit_page.py PAGE PLOTS [FOREIGN...]

It must be well formed, refer to nothing outside of itself, hold no script, and have so many plots, each with
a caption. Foreign names must have gone in as text.
"""

import re
import sys
from html.parser import HTMLParser

VOID = {"meta", "link", "img", "br", "hr", "input"}
CLOSED = {"line", "rect", "path", "polyline"}  # of SVG, written as <line .../>
REFERS = {"src", "href", "xlink:href", "srcset", "data", "action", "poster", "style"}
FOREIGN = ("script", "link", "img", "iframe", "object")


class Page(HTMLParser):
    """Collects what is wrong, and counts what is there."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.counts: dict[str, int] = {}
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attributes:
            if name in REFERS or name.startswith("on"):
                self.wrong.append(f"<{tag} {name}={value!r}>")
            if re.search(r"nan|inf\b", value or "") and tag not in {"meta"}:
                self.wrong.append(f"<{tag} {name}={value!r}>: no number")

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attributes)
        if tag not in CLOSED or self.open.pop() != tag:
            self.wrong.append(f"<{tag}/> at {self.getpos()}")

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        source = file.read()
    page = Page()
    page.feed(source)
    page.close()
    wrong = page.wrong + [f"<{tag}> stays open" for tag in page.open]
    wrong += [f"{tag} is on the page" for tag in FOREIGN if tag in page.counts]
    wrong += re.findall(r"https?:|//[a-z]|@import|url\(", source)
    if {page.counts.get(tag, 0) for tag in ("figure", "svg", "figcaption")} != {int(sys.argv[2])}:
        wrong.append(f"{sys.argv[2]} plots are due: {page.counts}")
    wrong += [f"{name!r} is not on the page" for name in sys.argv[3:] if name not in "".join(page.text)]
    if wrong:
        sys.exit("\n".join(wrong[:20]))


if __name__ == "__main__":
    main()

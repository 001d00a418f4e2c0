"""Checks the page of `apldata audit --html`.

audit_page.py PAGE [--json FILE] [FOREIGN...]: the file. It must be well formed and refer to nothing outside
of itself; its data must hold all that --json prints; without scripts, each finding must stand in a table.
audit_page.py --drawn PAGE PLOTS [FOREIGN...]: how a browser draws it. It must have that many plots, all of
numbers.

Foreign names must have gone in as text.
"""

import json
import math
import sys
from typing import Any

from browser import Browser
from pages import Page, axe_source, drawn, read_file


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
    data = json.loads(page.scripts[0][1], parse_constant=no_number)
    if printed is not None:
        with open(printed, encoding="utf-8") as file:
            if not is_within(json.load(file), data):
                page.wrong.append(f"the data are not all of {printed}")
    findings = findings_of(data)
    rows, tables = page.counts.get("tr", 0), page.counts.get("table", 0)
    if not findings or rows != len(findings) + tables:
        page.wrong.append(f"{len(findings)} findings, {rows} rows in {tables} tables")


def check_file(arguments: list[str]) -> list[str]:
    printed = None
    if "--json" in arguments:
        at = arguments.index("--json")
        printed = arguments[at + 1]
        del arguments[at : at + 2]
    page = read_file(arguments[0])
    if not page.wrong:
        check_data(page, printed)
    page.check(arguments[1:])
    return page.wrong


def check_drawn(arguments: list[str]) -> list[str]:
    path, plots = arguments[0], int(arguments[1])
    with Browser() as browser:
        wrong = drawn(browser, path, axe_source())
        page = Page()
        page.feed(browser.source())
    counts = {page.counts.get(tag, 0) for tag in ("figure", "svg", "h3")}
    if counts != {plots} or "figcaption" not in page.counts:
        page.wrong.append(f"{plots} plots are due: {page.counts}")
    page.check(arguments[2:])
    return wrong + page.wrong


def main() -> None:
    wrong = check_drawn(sys.argv[2:]) if sys.argv[1] == "--drawn" else check_file(sys.argv[1:])
    if wrong:
        sys.exit("\n".join(wrong[:20]))


if __name__ == "__main__":
    main()

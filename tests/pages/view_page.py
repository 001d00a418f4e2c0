"""Checks the page of `apldata view`.

view_page.py PAGE MOST [FOREIGN...]: the file. It must be well formed, refer to nothing outside of itself and
be no larger than MOST bytes; its data must be consistent. The data go to standard output.
view_page.py --drawn PAGE [FOREIGN...]: what a browser makes of it, at the width of a telephone and of a
desktop, in light and in dark, and by keyboard.

Foreign names must have gone in as text.
"""

import base64
import json
import os
import sys
from typing import Any

from browser import Browser
from pages import Page, axe_source, drawn, read_file

HEADS = {"png": b"\x89PNG\r\n\x1a\n", "jpeg": b"\xff\xd8\xff"}


def ids_of(data: dict[str, Any]) -> set[int]:
    """The records that the page speaks of."""
    named = {record for pair in data["pairs"]["list"] for record in (pair["a"], pair["b"])}
    for suspect in data.get("suspects", {}).get("list", []):
        named |= {suspect["record"], *suspect["like"]}
    for field in data["fields"]:
        named |= {record for odd in field["odd"] for record in odd["examples"]}
    return named


def check_image(uri: str) -> bool:
    kind, _, text = uri.removeprefix("data:image/").partition(";base64,")
    return base64.b64decode(text, validate=True).startswith(HEADS[kind])


def check_data(data: dict[str, Any]) -> list[str]:
    wrong = []
    ids = [record["id"] for record in data["records"]]
    if len(set(ids)) != len(ids) or not set(ids) <= set(range(data["total"])):
        wrong.append("a record comes twice, or does not exist")
    if not ids_of(data) <= set(ids) and len(ids) == data["sampled"]:
        wrong.append(f"{sorted(ids_of(data) - set(ids))} are not there")
    for record in data["records"]:
        if len(record["values"]) != len(data["fields"]) or not all(
            i < len(data["splits"]) for i in record["splits"]
        ):
            wrong.append(f"record {record['id']}: {record}")
        if "image" in record and not check_image(record["image"]):
            wrong.append(f"record {record['id']}: it has no image")
    for field in data["fields"]:
        for summary in (field.get("numbers"), field.get("lengths")):
            if summary and sum(summary["bins"]) + summary["far"] != summary["count"]:
                wrong.append(f"{field['name']}: {summary}")
    return wrong


def check_file(path: str, most: int, foreign: list[str]) -> list[str]:
    page = read_file(path, images=True)
    size = os.path.getsize(path)
    if size > most:
        page.wrong.append(f"the page has {size} bytes of {most}")
    if not page.wrong:
        data = json.loads(page.scripts[0][1])
        page.wrong += check_data(data)
        json.dump(data, sys.stdout)
    page.check(foreign)
    return page.wrong


FOCUS = "document.activeElement.getAttribute('aria-label') || document.activeElement.textContent"
TITLE = "document.querySelector('dialog[open] h2')?.textContent"


def by_keyboard(browser: Browser, path: str) -> list[str]:
    """A record is opened, stepped through and left, pages are turned, a class is chosen: without a mouse."""
    wrong = []

    def due(what: str, seen: Any, wanted: Any) -> None:
        if seen != wanted:
            wrong.append(f"{what}: {seen!r}, due is {wanted!r}")

    browser.open(path)
    ids = browser.run("[...document.querySelectorAll('.sheet .id')].map(node => node.textContent)")
    first = browser.run("[...document.querySelectorAll('.sheet bdi')].map(node => node.textContent)")
    classes = browser.run("new Set(view.records.map(record => record.class)).size") if first else 0
    due("classes on the first sheet", len(set(first)), min(classes, len(first)))
    for _ in range(30):
        browser.key("Tab")
        if browser.run("document.activeElement.classList.contains('tile')"):
            break
    browser.key("Enter")
    due("opened", browser.run(TITLE), f"Record {ids[0]}")
    browser.key("ArrowRight")
    due("stepped", browser.run(TITLE), f"Record {ids[1]}")
    browser.key("ArrowLeft")
    browser.key("ArrowLeft")
    due("stepped back, not beyond the first", browser.run(TITLE), f"Record {ids[0]}")
    browser.key("Escape")
    due("closed", browser.run(TITLE), None)
    due("where it was", browser.run("document.activeElement.querySelector('.id')?.textContent"), ids[0])
    if browser.run("document.querySelector('.pager').hidden") is False:
        browser.run("document.querySelector('[aria-label=\"Next page of records\"]').focus()")
        browser.key(" ")
        due("turned", browser.run("document.querySelector('.told').textContent.startsWith('61 to ')"), True)
        browser.run("document.querySelector('[aria-label=\"Last page of records\"]').focus()")
        browser.key("Enter")
        browser.run("document.querySelector('[aria-label=\"Next page of records\"]').focus()")
        told = browser.run("document.querySelector('.told').textContent")
        browser.key("Enter")
        due("not beyond the last", browser.run("document.querySelector('.told').textContent"), told)
    browser.run("document.querySelector('.filters select').focus()")
    browser.key("ArrowDown")
    names = browser.run(
        "JSON.stringify(view.records.filter("
        "r => r.splits.includes(+document.querySelector('select').value)).length)"
    )
    total = browser.run("document.querySelector('.told').textContent.split(' of ')[1]")
    due("chosen", total, f"{int(names):,}")
    return wrong


# A record is given two boxes that fit into its image, and another field of boxes that do not.
BOXES = """(() => {
    const field = {name: "boxes", type: "f32[*,4]"}, record = view.records.find(record => record.image);
    const {width, height} = record;
    view.fields.push(field, {...field, name: "others"});
    record.values.push(`0 0 ${width} ${height}\\n1 2 1.5 2.5 ... (9 values)`, `0 0 ${width + 1} 1`);
    showRecord(record.id);
    const drawn = [...document.querySelectorAll("dialog rect.box")].map(rect => rect.getBoundingClientRect());
    const image = document.querySelector("dialog .large img").getBoundingClientRect();
    dialog.close();
    view.fields.splice(-2);
    record.values.splice(-2);
    const off = ["left", "top", "width", "height"].map(side => Math.round(drawn[0][side] - image[side]));
    return [drawn.length, ...off];
})()"""


def check_boxes(browser: Browser, path: str) -> list[str]:
    """Boxes lie on the image, where they fit into it."""
    browser.open(path)
    if not browser.run("view.records.some(record => record.image)"):
        return []
    seen = browser.run(BOXES)
    return [] if seen == [2, 0, 0, 0, 0] else [f"boxes: {seen}"]


def check_drawn(path: str, foreign: list[str]) -> list[str]:
    axe = axe_source()
    with Browser() as browser:
        wrong = drawn(browser, path, axe)
        page = Page(images=True)
        page.feed(browser.source())
        wrong += by_keyboard(browser, path)
        wrong += check_boxes(browser, path)
        browser.key("Tab")
        browser.run("document.querySelector('button.tile').click()")
        if axe:
            wrong += [f"a record: axe: {line}" for line in browser.axe(axe)]
        wrong += browser.complaints
        if browser.run("typeof hostile") != "undefined":
            wrong.append("a name was run as a script")
    page.check(foreign)
    return wrong + page.wrong


def main() -> None:
    if sys.argv[1] == "--drawn":
        wrong = check_drawn(sys.argv[2], sys.argv[3:])
    else:
        wrong = check_file(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
    if wrong:
        sys.exit("\n".join(wrong[:20]))


if __name__ == "__main__":
    main()

"""Pages of notebooks: their text, code, and the output that they were saved with."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def cells(notebook: Path) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return made


def page(notebook: Path, images: Path) -> str:
    """The page of a notebook; images that are in it become files in the folder `images`."""
    out: list[str] = []
    for number, cell in enumerate(cells(notebook)):
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            out += [text, ""]
            continue
        out += ["```python", text, "```", ""]
        for place, output in enumerate(cell["outputs"]):
            out += _output(output, images / f"{notebook.stem}-{number}-{place}.png")
    return "\n".join(out)


def _output(output: dict[str, Any], image: Path) -> Iterator[str]:
    if output["output_type"] == "stream":
        yield from _text("".join(output["text"]))
        return
    data = output.get("data", {})
    if "image/png" in data:
        image.parent.mkdir(parents=True, exist_ok=True)
        image.write_bytes(base64.b64decode("".join(data["image/png"])))
        yield from (f"![output]({image.parent.name}/{image.name})", "")
    elif "text/html" in data:
        yield from ("```{raw} html", '<div class="output">', "".join(data["text/html"]), "</div>", "```", "")
    elif "text/plain" in data:
        yield from _text("".join(data["text/plain"]))


def _text(text: str) -> Iterator[str]:
    yield from ("```text", text.rstrip("\n"), "```", "")

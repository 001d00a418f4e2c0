"""Pages of the C interface, from the headers: each declaration below a heading, with the comment above it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_SKIPPED = re.compile(r"#(ifndef|ifdef|endif|include|if|else)\b|extern \"C\"|^}$|#define APL_\w+_H$")
_FUNCTION = re.compile(r"\b(apl_\w+)\(")
_NAMED = re.compile(r"(\w+)(?:\[[^]]*\])?;?$")


@dataclass
class Piece:
    """A comment, or a declaration, of a header."""

    text: str
    comment: bool
    line: int
    """The last, to see what follows directly."""


def pieces(text: str) -> Iterator[Piece]:
    """Comments that begin a line, and declarations, in their order."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        if not lines[at].strip() or _SKIPPED.match(lines[at]):
            at += 1
            continue
        end = _end(lines, at)
        yield Piece("\n".join(lines[at:end]), lines[at].startswith("/*"), end)
        at = end


def _end(lines: list[str], at: int) -> int:
    """The line after the comment, definition or declaration that begins here."""
    if lines[at].startswith("/*"):
        while "*/" not in lines[at]:
            at += 1
        return at + 1
    if lines[at].startswith("#"):
        while lines[at].endswith("\\"):
            at += 1
        return at + 1
    depth = 0
    for number, line in enumerate(lines[at:], at):
        code = re.sub(r"/\*.*?(\*/|$)|^ *\*.*", "", line)
        depth += code.count("{") - code.count("}")
        if depth == 0 and code.rstrip().endswith(";"):
            return number + 1
    return len(lines)


def name_of(declaration: str) -> str:
    """What is declared: a function with parentheses, a type, a constant."""
    if declaration.startswith("#define"):
        return declaration.split()[1].partition("(")[0]
    if not declaration.startswith("typedef") and (found := _FUNCTION.search(declaration)):
        return f"{found.group(1)}()"
    if callback := re.match(r"typedef [^{]*\(\*(\w+)\)", declaration):
        return callback.group(1)
    found = _NAMED.search(declaration.strip())
    return found.group(1) if found else declaration


def prose(comment: str) -> str:
    """A comment as Markdown: what is indented by four is code."""
    body = re.sub(r"^/\*+ ?|\s*\*/$", "", comment)
    lines = [re.sub(r"^ \* ?", "", line).rstrip() for line in body.splitlines()]
    out: list[str] = []
    coded = listed = False
    language = "c" if re.search(r"^ {4}.*[;{]$", "\n".join(lines), re.MULTILINE) else "text"
    for line in lines:
        listed = (
            bool(re.match(r" {0,2}- ", line)) or (listed and line.startswith("    ")) or (listed and not line)
        )
        indented = line.startswith("    ") and not listed
        if indented != coded and (line or not coded):
            out += ["", f"```{language}"] if indented else ["```", ""]
            coded = indented
        out.append(line[4:] if coded else line.replace("<", "&lt;"))
    text = "\n".join([*out, "```"] if coded else out).strip()
    return re.sub(r"\n+```$", "\n```", text, flags=re.MULTILINE)


@dataclass
class Section:
    """A declaration with the comment above it; without a name, prose that stands alone."""

    name: str = ""
    declared: str = ""
    comment: str = ""
    beside: str = ""
    """The one above, whose comment this shares."""


def sections(text: str) -> Iterator[Section]:
    """Of a header, in its order. Initialisers belong to what stands directly above them."""
    now = Section()
    last = -1
    for piece in pieces(text):
        joined = piece.line - piece.text.count("\n") - 1 == last
        last = piece.line
        if now.declared and piece.text.startswith("#define"):
            now.declared += "\n" + piece.text
            continue
        if not piece.comment and joined and not now.declared:
            now.name, now.declared = name_of(piece.text), piece.text
            continue
        if now.declared or now.comment:
            yield now
        if piece.comment:
            now = Section(comment=piece.text)
        else:
            beside = (now.beside or now.name) if joined else ""
            now = Section(name_of(piece.text), piece.text, beside=beside)
    if now.declared or now.comment:
        yield now


def names(header: Path) -> list[str]:
    """What has a heading."""
    return [one.name for one in sections(header.read_text(encoding="utf-8")) if one.name]


def page(header: Path, title: str, places: dict[str, str]) -> str:
    """The page of a header; `places` are the pages of all names, to which mentions of them link."""
    out = [f"# {title}", ""]
    for one in sections(header.read_text(encoding="utf-8")):
        text = prose(one.comment) if one.comment else f"See {one.beside}." if one.beside else ""
        text = linked(text, places, one.name)
        out += [f"## `{one.name}`", ""] if one.name else []
        out += [text, ""] if text else []
        out += ["```c", one.declared, "```", ""] if one.name else []
    return "\n".join(out)


def linked(text: str, places: dict[str, str], own: str) -> str:
    """Mentions of functions and types, but in code, become links to their headings."""

    def link(found: re.Match[str]) -> str:
        name = found.group(0)
        place = places.get(name)
        return f"[`{name}`]({place})" if place and name != own else f"`{name}`"

    parts = re.split(r"(^```.*?^```$|`[^`\n]*`)", text, flags=re.DOTALL | re.MULTILINE)
    mention = re.compile(r"(?<![\w/.])apl_\w+(?:\(\))?(?![\w(]|\.\w)|\bAPL_[A-Z0-9_]+\b")
    return "".join(part if number % 2 else mention.sub(link, part) for number, part in enumerate(parts))

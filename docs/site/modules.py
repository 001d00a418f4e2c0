"""Pages of the Python interface, from the sources, which are not imported: signatures and docstrings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

Definition = ast.ClassDef | ast.FunctionDef | ast.Assign | ast.AnnAssign
_HEAD = re.compile(r"^(Args|Raises|Returns|Warns|Yields|Attributes|Note):$")
_ITEM = re.compile(r"^ {4}(\S[^:]*): ?(.*)$")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def file_of(package: Path, module: str) -> Path | None:
    """The source of `apldata.x.y`; stubs stand for modules in C."""
    place = package.joinpath(*module.split(".")[1:])
    tried = (place / "__init__.py", place.with_suffix(".py"), place.with_suffix(".pyi"))
    return next((path for path in tried if path.is_file()), None)


def public(package: Path, module: str) -> list[str]:
    """The names in `__all__`, but those of modules."""
    file = file_of(package, module)
    for node in parsed(file).body if file else []:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and target.id == "__all__" and node.value:
            names = sorted(_strings(node.value), key=str.lower)
            return [name for name in names if file_of(package, f"{module}.{name}") is None]
    return []


def _strings(value: ast.AST) -> list[str]:
    return [
        one.value for one in ast.walk(value) if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]


def definition(
    package: Path, module: str, name: str, seen: frozenset[str] = frozenset()
) -> Definition | None:
    """Where a name is defined, found through the imports."""
    file = file_of(package, module)
    if file is None or module in seen:
        return None
    for node in ast.walk(parsed(file)):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name:
            return node
        if isinstance(node, ast.ImportFrom) and any((one.asname or one.name) == name for one in node.names):
            source = _absolute(module, file, node)
            original = next(one.name for one in node.names if (one.asname or one.name) == name)
            if found := definition(package, source, original, seen | {module}):
                return found
    return _assigned(file, name)


def _assigned(file: Path, name: str) -> Definition | None:
    for node in parsed(file).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return node if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
    return None


def _absolute(module: str, file: Path, node: ast.ImportFrom) -> str:
    """The module that is imported from, where dots may stand for the own."""
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    parts = parts[: len(parts) - node.level + (file.name == "__init__.py")]
    return ".".join([*parts, *([node.module] if node.module else [])])


# -------------------------------------------------------------------------------------------- signatures


def signature(name: str, node: ast.FunctionDef, bound: bool) -> str:
    """A call, on one line or with an argument on each."""
    arguments = _arguments(node.args, bound)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns and node.name != "__init__" else ""
    short = f"{name}({', '.join(arguments)}){returns}"
    return (
        short
        if len(short) <= 88
        else "\n".join([f"{name}(", *(f"    {one}," for one in arguments), f"){returns}"])
    )


def _arguments(given: ast.arguments, bound: bool) -> list[str]:
    plain = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(plain) - len(given.defaults)) + list(given.defaults)
    out = [_argument(one, value) for one, value in zip(plain, defaults, strict=True)]
    if given.posonlyargs:
        out.insert(len(given.posonlyargs), "/")
    out = out[1:] if bound else out
    if given.vararg:
        out.append(f"*{_argument(given.vararg, None)}")
    elif given.kwonlyargs:
        out.append("*")
    out += [_argument(one, value) for one, value in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    return [*out, *([f"**{_argument(given.kwarg, None)}"] if given.kwarg else [])]


def _argument(one: ast.arg, default: ast.expr | None) -> str:
    kind = f": {ast.unparse(one.annotation)}" if one.annotation else ""
    value = (" = " if kind else "=") + ast.unparse(default) if default is not None else ""
    return f"{one.arg}{kind}{value}"


def _decorators(node: ast.FunctionDef | ast.ClassDef) -> set[str]:
    return {ast.unparse(one).partition("(")[0].rpartition(".")[2] for one in node.decorator_list}


def _lineage(package: Path, node: ast.ClassDef) -> Iterator[ast.ClassDef]:
    """The class after its private bases, which have no section of their own."""
    for base in (one.id for one in node.bases if isinstance(one, ast.Name) and one.id.startswith("_")):
        defined = (one for file in sorted(package.rglob("*.py")) for one in parsed(file).body)
        yield from (one for one in defined if isinstance(one, ast.ClassDef) and one.name == base)
    yield node


def _fields(package: Path, node: ast.ClassDef) -> list[str]:
    """The arguments of a dataclass."""
    plain, named = {}, {}
    for owner in _lineage(package, node):
        all_named = any("kw_only=True" in ast.unparse(one) for one in owner.decorator_list)
        for one in (one for one in owner.body if isinstance(one, ast.AnnAssign)):
            text, name = ast.unparse(one), ast.unparse(one.target)
            if not re.search(r"^_|ClassVar|init=False", text):
                (named if all_named or "kw_only=True" in text else plain)[name] = _field(one)
    return [*plain.values(), *(["*", *named.values()] if named else [])]


def _field(one: ast.AnnAssign) -> str:
    """As an argument: of `field(default=..., ...)` the default alone."""
    value = one.value
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "field":
        value = next((word.value for word in value.keywords if word.arg == "default"), None)
    default = f" = {ast.unparse(value)}" if value else ""
    return f"{ast.unparse(one.target)}: {ast.unparse(one.annotation)}{default}"


# -------------------------------------------------------------------------------------------- docstrings


def prose(doc: str) -> str:
    """A docstring as Markdown: indented paragraphs are code, and arguments a list."""
    out: list[str] = []
    lines = doc.splitlines()
    at = 0
    while at < len(lines):
        if _HEAD.match(lines[at]):
            end = _until(lines, at + 1, lambda line: bool(line) and not line.startswith(" "))
            out += ["", f"**{lines[at].rstrip(':')}**", "", *_items(lines[at + 1 : end]), ""]
        elif lines[at].startswith("    "):
            end = _until(lines, at, lambda line: bool(line) and not line.startswith("    "))
            code = [line[4:] for line in lines[at:end]]
            while code and not code[-1]:
                code.pop()
            out += ["```python", *code, "```", ""]
        else:
            end = at + 1
            out.append(lines[at].replace("<", "&lt;") if "`" not in lines[at] else lines[at])
        at = end
    return "\n".join(out).strip()


def _until(lines: list[str], at: int, stops: object) -> int:
    while at < len(lines) and not stops(lines[at]):  # type: ignore[operator]
        at += 1
    return at


def _items(lines: list[str]) -> Iterator[str]:
    for line in lines:
        found = _ITEM.match(line)
        if found:
            yield f"- `{found.group(1)}`: {found.group(2)}"
        elif line.strip():
            yield f"  {line.strip()}"


def native(sources: Path, name: str) -> dict[str, str]:
    """The docstrings of a class that is written in C, by the names of its members; "" is the class itself."""
    found: dict[str, str] = {}
    for file in sorted(sources.glob(f"{name.lower()}*.c")):
        text = file.read_text(encoding="utf-8")
        literal = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
        own = re.search(r"{Py_tp_doc,\s*" + literal, text)
        members = re.findall(r'{"([a-z]\w*)",\s*[^"{}]*?' + literal + r"(?:,\s*NULL)?}", text)
        for of, quoted in [*members, *([("", own.group(1))] if own else [])]:
            doc = "".join(ast.literal_eval(one) for one in re.findall(r'"(?:[^"\\]|\\.)*"', quoted))
            found[of] = re.sub(r"^[\w ]+\([^)]*\)(?: -> (?=[a-z])|(?: -> \w+)?: )", "", doc)
    return found


# ------------------------------------------------------------------------------------------------- pages


def _members(node: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """The methods and attributes that callers use."""
    seen = set()
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and not one.name.startswith("_") and one.name not in seen:
            seen.add(one.name)
            if _decorators(one) & {"setter", "overload"}:
                continue
            yield one


def _described(node: Definition, otherwise: str = "") -> str:
    doc = ast.get_docstring(node) if isinstance(node, (ast.ClassDef, ast.FunctionDef)) else None
    return prose(doc) if doc else otherwise


def _attributes(node: ast.ClassDef, docs: dict[str, str]) -> Iterator[str]:
    """Those with a docstring below them, or in C."""
    for one, after in zip(node.body, [*node.body[1:], ast.Pass()], strict=True):
        if not isinstance(one, ast.AnnAssign) or not isinstance(one.target, ast.Name):
            continue
        name, doc = one.target.id, docs.get(one.target.id)
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            doc = str(after.value.value)
        if doc and not name.startswith("_"):
            yield f"- `{name}: {ast.unparse(one.annotation)}`: {' '.join(doc.split())}"


def _code(text: str) -> list[str]:
    return ["```python", text, "```", ""]


def entry(package: Path, name: str, node: Definition, docs: dict[str, str]) -> Iterator[str]:
    """The section of a class, a function or a constant."""
    yield from (f"## `{name}`", "")
    if isinstance(node, ast.FunctionDef):
        yield from _code(signature(name, node, bound=False))
    elif isinstance(node, ast.ClassDef):
        yield from _code(_class_line(package, name, node))
    else:
        yield from _code(ast.unparse(node))
    yield from (_described(node, docs.get("", "")), "")
    if isinstance(node, ast.ClassDef):
        yield from (*_attributes(node, docs), "")
        for one in _members(node):
            if text := _described(one, docs.get(one.name, "")):
                yield from _member(name, one, text)


def _class_line(package: Path, name: str, node: ast.ClassDef) -> str:
    bases = [base for base in map(ast.unparse, node.bases) if not base.startswith("_")]
    body = [one for owner in _lineage(package, node) for one in owner.body]
    inits = [one for one in body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
    if inits:
        return f"class {signature(name, inits[-1], bound=True)}"
    if "dataclass" in _decorators(node) and (fields := _fields(package, node)):
        return "\n".join([f"class {name}(", *(f"    {one}," for one in fields), ")"])
    return f"class {name}" + (f"({', '.join(bases)})" if bases else "")


def _member(owner: str, node: ast.FunctionDef, text: str) -> Iterator[str]:
    attribute = _decorators(node) & {"property", "cached_property"}
    yield from (f"### `{owner}.{node.name}{'' if attribute else '()'}`", "")
    if attribute:
        kind = f": {ast.unparse(node.returns)}" if node.returns else ""
        yield from _code(f"{node.name}{kind}")
    else:
        yield from _code(signature(node.name, node, bound="staticmethod" not in _decorators(node)))
    yield from (text, "")


def page(package: Path, module: str, title: str, chosen: list[str], intro: bool = True) -> str:
    """The page of some names of a module."""
    file = file_of(package, module)
    assert file is not None, module
    out = [f"# {title}", ""]
    if intro and (doc := ast.get_docstring(parsed(file))):
        out += [prose(doc), ""]
    for name in chosen:
        node = definition(package, module, name)
        assert node is not None, f"{module}.{name} is in __all__, but no definition of it was found"
        out += entry(package, name, node, native(package.parent / "core", name))
    return "\n".join(out)

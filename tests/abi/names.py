"""Prints a C program that tells all numbers and members that a folder of headers promises: compiled against
those headers and against later ones, it must print the same. Comments at its end tell the functions.

Usage: names.py FOLDER
"""

import re
import subprocess
import sys
from pathlib import Path

# What callers allocate and have no `size` to tell: none of these may grow.
WHOLE = [
    "apl_allocator",
    "apl_error",
    "apl_faults",
    "apl_ingest_summary",
    "apl_kind",
    "apl_kind_counts",
    "apl_mix",
    "apl_placement",
    "apl_progress",
    "apl_ranks",
    "apl_value",
]


def preprocessed(folder: Path, *options: str) -> str:
    command = ["cc", "-E", "-P", *options, f"-I{folder}", str(folder / "apl_ingest.h")]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def members(body: str) -> list[str]:
    """Names of the members that `body` declares, of function pointers and arrays too."""
    found = []
    for declaration in body.split(";"):
        if pointer := re.search(r"\(\*(\w+)\)", declaration):
            found.append(pointer[1])
        else:
            found += re.findall(r"(\w+)\s*(?:\[[^]]*\])?\s*(?:,|$)", declaration)
    return [name for name in found if name != "reserved"]  # which shrinks as members take its place


def constants(folder: Path) -> list[str]:
    """Macros that are whole numbers, but for those of the version."""
    macros = re.findall(r"^#define (APL_\w+) +(.+)$", preprocessed(folder, "-dM"), re.M)
    whole = [name for name, value in macros if re.fullmatch(r"[()0-9a-zxuU<\- ]*\d[()0-9a-zxuU<\- ]*", value)]
    return sorted(name for name in whole if not name.startswith("APL_VERSION_"))


def prototypes(text: str) -> list[str]:
    """What functions take and return, without the names of parameters."""
    found = []
    for declaration in re.findall(r"visibility\(\"default\"\)\)\)\s*([^;]*);", text):
        plain = re.sub(r"__attribute__\(\(.*?\)\)", "", declaration)
        found.append(re.sub(r"\s+", " ", re.sub(r"\b\w+(?=\s*[,)])", "", plain)).strip())
    return sorted(found)


def main() -> None:
    folder = Path(sys.argv[1])
    text = preprocessed(folder)
    lines = [f'    printf("{name} = %lld\\n", (long long){name});' for name in constants(folder)]
    for body in re.findall(r"typedef enum \w+ \{([^}]*)\}", text):
        for name in re.findall(r"\bAPL_\w+", body):
            lines.append(f'    printf("{name} = %lld\\n", (long long){name});')
    for body, struct in re.findall(r"typedef struct \w+ \{([^}]*)\} (\w+);", text):
        for m in members(body):
            place = f"offsetof({struct}, {m}), sizeof(({struct} *)0)->{m}"
            lines.append(f'    printf("{struct}.{m}: at %zu, %zu bytes\\n", {place});')
        if struct in WHOLE:
            lines.append(f'    printf("{struct}: %zu bytes\\n", sizeof({struct}));')
    print("#include <apl_ingest.h>\n#include <stddef.h>\n#include <stdio.h>\n\nint main(void)\n{")
    print("\n".join(lines), "    return 0;\n}", sep="\n")
    for prototype in prototypes(text):
        print(f"/* {prototype} */")


if __name__ == "__main__":
    main()

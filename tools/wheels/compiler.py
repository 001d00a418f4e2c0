"""A cross compiler out of the package index: zig's clang, its libc++ and the symbols of any version of glibc.

Makefile, CMake and setuptools expect a compiler that answers as gcc does; the scripts made here translate.
"""

import importlib.metadata
import shutil
import sys
from pathlib import Path

# As gcc names them, and as zig does.
MACHINES = {"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu"}

SCRIPT = """#!/bin/sh
# {machine}, glibc {glibc}
for a do
    shift
    case $a in
    -dumpmachine) echo {machine}; exit ;;
    -print-prog-name=objcopy) echo {objcopy}; exit ;;
    -print-file-name=*) echo "${{a#*=}}"; exit ;;
    -march=x86-64-v[234]) a=-march=x86_64_${{a##*-}} ;;
    -static-libgcc) continue ;;
    esac
    set -- "$@" "$a"
done
exec {zig} {language} -target {machine}.{glibc} -fno-sanitize=all "$@"
"""


def objcopy(arch: str) -> str:
    """GNU's for that machine or LLVM's: zig's own cannot hide symbols."""
    own = f"{MACHINES[arch]}-objcopy"
    for name in (own, "llvm-objcopy", *(f"llvm-objcopy-{n}" for n in range(22, 12, -1))):
        if shutil.which(name):
            return name
    package = f"binutils-{MACHINES[arch].replace('_', '-')}"
    sys.exit(f"wheels: {own} is missing: apt-get install -y {package}")


def zig() -> Path:
    try:
        import ziglang
    except ImportError:
        sys.exit("wheels: the compiler is missing: pip install ziglang")
    return Path(ziglang.__file__).parent / "zig"


def runtimes() -> dict[str, tuple[dict, Path]]:
    """What the compiler itself links in, for the bill of materials: each one's description and licence."""
    version, folder = importlib.metadata.version("ziglang"), zig().parent
    llvm, own = folder / "lib/libcxx/LICENSE.TXT", folder / "LICENSE"
    licences = {"libcxx": ("Apache-2.0 WITH LLVM-exception", llvm), "compiler-rt": ("MIT", own)}
    return {
        name: ({"name": f"{name} (ziglang)", "version": version, "licence": licence}, notice)
        for name, (licence, notice) in licences.items()
    }


def write(folder: Path, arch: str, glibc: str) -> dict[str, str]:
    """Scripts cc, c++, ar and ranlib in `folder`; as environment variables."""
    folder.mkdir(parents=True, exist_ok=True)
    machine, binary = MACHINES[arch], zig()
    texts = {
        name: SCRIPT.format(machine=machine, glibc=glibc, objcopy=objcopy(arch), zig=binary, language=name)
        for name in ("cc", "c++")
    }
    texts |= {name: f'#!/bin/sh\nexec {binary} {name} "$@"\n' for name in ("ar", "ranlib")}
    for name, text in texts.items():
        script = folder / name
        script.write_text(text)
        script.chmod(0o755)
    names = {"cc": "CC", "c++": "CXX", "ar": "AR", "ranlib": "RANLIB"}
    return {variable: str(folder / name) for name, variable in names.items()}

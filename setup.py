"""Builds the C libraries with make, then the extensions, the commands and what of other libraries goes along.

Extensions and commands share libapldata and libaplingest, which are in the package under names of their own.
What these need of other libraries is linked in from static archives, hidden. Of a library that has no archive
fit for that, the shared one goes into the wheel; where even this cannot be, it must be installed.

Environment: CC, CFLAGS, LDFLAGS and MAKE as usual; WERROR=-Werror makes warnings errors; APL_BUILD is the
folder to build in, if not build/setuptools; APL_OBJECTS is a folder of objects that make has built, of
which those are taken that would not come out otherwise. APL_LIBRARIES is a folder of archives to link with
instead of the system's (tools/wheels makes it). With APL_SHARED=1 the system's shared libraries are linked,
and the commands are left out: for distributions, which package both.
"""

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import ModuleType
from typing import ClassVar

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # as old as Debian 12's, where this builds but a .deb
    from wheel.bdist_wheel import bdist_wheel

ROOT = Path(__file__).resolve().parent
BUILD = os.environ.get("APL_BUILD", "build/setuptools")
MAKE = os.environ.get("MAKE", "make")
CC = shlex.split(os.environ.get("CC", "cc"))
LDFLAGS = shlex.split(os.environ.get("LDFLAGS", ""))
WERROR = shlex.split(os.environ.get("WERROR", ""))
LIBRARIES = Path(os.environ["APL_LIBRARIES"]).resolve() if os.environ.get("APL_LIBRARIES") else None
SHARED = bool(os.environ.get("APL_SHARED"))
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))

STORE = ["lmdb", "zstd", "crypto", "jpeg"]
INGEST = ["archive", "lzma", "bz2", "png", "z", "isal", "jansson"]
# Decoders of images, and of CSV: what make is told to build without, and the libraries, those after the first
# being what Debian's archive of it needs.
IMAGES = {
    "WEBP": ["webp"],
    "GIF": ["gif"],
    "CSV": ["csv"],
    "TIFF": ["tiff", "webp", "sharpyuv", "Lerc", "jbig", "deflate", "stdc++"],
}
# What each reads, and Debian's package of it.
READS = {
    "WEBP": ("WebP", "libwebp-dev"),
    "GIF": ("GIF", "libgif-dev"),
    "CSV": ("CSV", "libcsv-dev"),
    "TIFF": ("TIFF", "libtiff-dev"),
}
# A part of libwebp, before its version 1.3.
NOT_EVERYWHERE = ("sharpyuv",)
COMMANDS = ["jansson", "jpeg", "png", "z", "stdc++"]
# Under the LGPL: in a wheel, a shared library that its user may replace.
REPLACEABLE = ("csv",)
# The libraries, and the commands over them.
NAMES = ("apldata", "aplingest")
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes", "-Wvla", "-Wpointer-arith", *WERROR]
COMPILE = ["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-fvisibility=hidden", "-pthread", *WARNINGS]
# Folders with what goes into the libraries and the commands.
ROOMS = ["store", "reader", "serve", "ingest", "tools", "audit"]
LINK = [*CC, "-shared", "-fPIC", "-fvisibility=hidden", "-O2"]
# Nothing of an extension is to be seen but what Python looks for. Those streams: python/link/stdio.c.
STREAMS = [f"-Wl,--wrap={stream}" for stream in ("stdin", "stdout", "stderr")]
HIDDEN = f"-Wl,--version-script={ROOT}/python/link/extension.map"
SAFE = ["-Wl,--as-needed", "-Wl,-z,relro,-z,now"]
# The first glibc that a tag names: manylinux2014.
OLDEST = (2, 17)
# What every Linux with NumPy has; a wheel that needs nothing else may bear a manylinux tag.
SYSTEM = re.compile(r"(lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so\.\d+|ld-linux.*)")


def say(text: str) -> None:
    print(f"apldata: {text}", flush=True)


def version() -> str:
    header = (ROOT / "include/apl.h").read_text()
    return re.search(r'^#define APL_VERSION_STRING "(.*)"', header, re.MULTILINE).group(1)


def run(*command: str) -> None:
    """Runs a command, whose output tells what is wrong if it fails. No outer make has a say in it."""
    outer = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")
    environment = {k: v for k, v in os.environ.items() if k not in outer}
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False)
    if done.returncode:
        sys.exit(f"apldata: this failed: {shlex.join(command)}")


def output(*command: str | Path) -> str:
    """What a command prints; nothing where there is no such command."""
    try:
        return subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True).stdout.strip()
    except FileNotFoundError:
        return ""


def require_libraries() -> None:
    """Ends the build with one line where the compiler or a C library is missing."""
    if not shutil.which(MAKE):
        sys.exit("apldata: make is missing. Install it, for instance: apt-get install -y make gcc")
    told = subprocess.run(
        ["sh", "tools/setup.sh", "--tell", "build"],
        cwd=ROOT,
        env=os.environ | {"CC": shlex.join(CC)},
        check=False,
        capture_output=True,
        text=True,
    )
    if told.returncode:
        sys.exit(told.stderr.strip())
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        sys.exit("apldata: Python.h is missing. Install it, for instance: apt-get install -y python3-dev")


def tool(name: str) -> ModuleType:
    """A module of tools/wheels."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"tools/wheels/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Libraries:
    """How libraries are linked: as archives where these are fit, else shared."""

    # What goes into the wheel: the archive or shared library by its name without `lib`.
    bundled: ClassVar[dict[str, Path]] = {}

    def __init__(self, scratch: Path, package: Path):
        self.scratch, self.beside, self.notices = scratch, package / "lib", package / "licenses"
        scratch.mkdir(parents=True, exist_ok=True)

    def file(self, name: str) -> Path | None:
        """What the compiler takes for `name`; None if it knows no such file."""
        if LIBRARIES:
            path = LIBRARIES / "lib" / name
            return path if path.is_file() else None
        path = output(*CC, f"-print-file-name={name}")
        return Path(path).resolve() if "/" in path else None

    def fit(self, archive: Path) -> bool:
        """Can its code stand in a shared object? Some distributions compile some archives without -fPIC."""
        if LIBRARIES:
            return True
        source, out = ROOT / "python/link/stdio.c", self.scratch / "fit.so"
        whole = ["-Wl,--whole-archive", archive, "-Wl,--no-whole-archive"]
        command = [*LINK, "-o", out, source, *whole, HIDDEN, *STREAMS]
        return subprocess.run(command, check=False, capture_output=True).returncode == 0

    def links(self, name: str, shared: bool = True) -> bool:
        """Is there an archive of it that is fit, or a shared library, if that will do?"""
        archive = self.file(f"lib{name}.a")
        return bool((archive and self.fit(archive)) or (shared and self.file(f"lib{name}.so")))

    def flags(self, names: list[str], position_independent: bool) -> list[str]:
        """Linker flags for libraries, in the order in which they use each other."""
        if SHARED:
            return [f"-l{name}" for name in names if self.file(f"lib{name}.so")]
        flags = []
        for name in names:
            archive, shared = self.file(f"lib{name}.a"), self.file(f"lib{name}.so")
            if shared and name in REPLACEABLE:
                flags.append(str(shared))
                self.take_along(name)
            elif archive and (not position_independent or self.fit(archive)):
                flags.append(str(archive))
                self.bundle(name, archive)
            elif LIBRARIES and name == "stdc++":
                flags.append("-lstdc++")  # which the cross compiler brings
            elif shared:
                flags.append(f"-l{name}")
                self.take_along(name)
        return flags

    def take_along(self, name: str) -> None:
        """Copies a shared library into the package, if it needs nothing but the system's own."""
        shared = self.file(f"lib{name}.so")
        found = re.search(r"SONAME.*\[(.*)\]", output("readelf", "-d", shared))
        if not found or not all(SYSTEM.fullmatch(n) for n in needed(shared)):
            say(f"lib{name} cannot go into the wheel, which needs it installed")
            return
        target = self.beside / found.group(1)
        if not target.exists():
            say(f"{target.name} goes into the wheel")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(shared, target)
            self.bundle(name, shared)

    def prune(self) -> None:
        """Takes away the shared libraries that turned out not to be needed."""
        users = [f for f in self.beside.parent.rglob("*") if is_elf(f)]
        for shared in self.beside.glob("*"):
            if not any(shared.name in needed(f) for f in users):
                shared.unlink()

    def bundle(self, name: str, file: Path) -> None:
        """Notes what goes into the wheel, and copies its licence, from the folder or Debian's package.

        Its source goes along where the licence asks for that.
        """
        self.bundled[name] = file
        debian = Path("/usr/share/doc", output("dpkg", "-S", file).split(":")[0] or "-", "copyright")
        notice = LIBRARIES / f"licenses/{name}.txt" if LIBRARIES else debian
        if notice.is_file():
            self.notices.mkdir(parents=True, exist_ok=True)
            shutil.copy(notice, self.notices / f"{name}.txt")
        if LIBRARIES and (source := LIBRARIES / "sources" / name).is_dir():
            shutil.copytree(source, self.notices.with_name("sources") / name, dirs_exist_ok=True)

    def bundle_headers(self) -> None:
        """What is compiled in without a library of its own."""
        if LIBRARIES:
            for name in json.loads((LIBRARIES / "bundled.json").read_text())["headers"]:
                self.bundle(name, LIBRARIES)
        elif not SHARED:
            self.bundle("xxhash", Path("/usr/include/xxhash.h"))


def is_elf(path: Path) -> bool:
    return path.is_file() and path.read_bytes()[:4] == b"\x7fELF"


def needed(elf: Path) -> list[str]:
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", elf))


def glibc(elf: Path) -> list[tuple[int, int]]:
    """The versions of glibc whose symbols a file uses."""
    return [(int(a), int(b)) for a, b in re.findall(r"GLIBC_(\d+)\.(\d+)", output("readelf", "-V", elf))]


class BuildPy(build_py):
    def run(self) -> None:
        """What an earlier build left is not to get into the wheel."""
        require_libraries()
        if not self.editable_mode:
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


class BuildExt(build_ext):
    """make for the libraries and the commands, then the extensions."""

    def run(self) -> None:
        require_libraries()
        self.native = Path(self.build_temp).resolve() / "native"
        self.folder = Path(self.get_ext_fullpath("apldata._core")).resolve().parent
        self.system = Libraries(self.native / "scratch", self.folder)
        self.system.bundle_headers()
        self.make()
        if not SHARED:
            self.copy_commands()
        super().run()
        self.system.prune()

    def make(self) -> None:
        self.decoders, without = self.images()
        say("building the C libraries and the commands")
        self.take_objects()
        options = [f"{k}={v}" for k, v in without.items()]
        self.run_make(*options, *(str(self.native / f"lib{name}.a") for name in NAMES))
        if SHARED:
            return
        self.shared = [self.share("apldata", "store", STORE)]
        self.shared.append(self.share("aplingest", "ingest", [*self.decoders, *INGEST, *STORE], *self.shared))
        flags = {
            "STORE_LIBS": [],
            "INGEST_LIBS": [],
            "TOOLS_LIBS": [*self.system.flags(COMMANDS, position_independent=False), "-lm"],
            "COMMAND_LIBS": [str(library) for library in reversed(self.shared)],
            "LDFLAGS": [*LDFLAGS, "-static-libgcc", "-s", "-Wl,--gc-sections", "-Wl,-rpath,$$ORIGIN/../lib"],
        }
        options += [f"{k}={quoted(v)}" for k, v in flags.items()]
        self.run_make(*options, *(str(self.native / name) for name in NAMES))

    def run_make(self, *arguments: str) -> None:
        run(
            MAKE,
            "--no-print-directory",
            f"-j{os.cpu_count() or 1}",
            f"BUILD={self.native}",
            f"CC={shlex.join(CC)}",
            f"WERROR={shlex.join(WERROR)}",
            "FLAVOUR=release",
            *arguments,
        )

    def share(self, name: str, room: str, libraries: list[str], *others: Path) -> Path:
        """lib`name` in the package. Its soname has the version: none that is installed is taken for it."""
        target = self.folder / f"lib/lib{name}-{version()}.so"
        target.parent.mkdir(parents=True, exist_ok=True)
        run(
            *LINK,
            *LDFLAGS,
            *SAFE,
            *STREAMS,
            *(
                f"-Wl,{flag}"
                for flag in ("-z,defs", "--gc-sections", "-rpath,$ORIGIN", f"-soname,{target.name}")
            ),
            f"-Wl,--version-script={room}/{name}.map",
            *("-o", str(target), "python/link/stdio.c"),
            *("-Wl,--whole-archive", str(self.native / f"lib{name}.a"), "-Wl,--no-whole-archive"),
            *map(str, others),
            *self.system.flags(libraries, position_independent=True),
            *("-lm", "-pthread", "-static-libgcc"),
            *([] if self.debug else ["-s"]),
        )
        return target

    def take_objects(self) -> None:
        """Make compares their flags with its own, and their times with those of the sources."""
        made = Path(os.environ.get("APL_OBJECTS") or "-")
        for name in ("flags", "flags-decoders", *(f"{room}/**/*.[od]" for room in ROOMS)):
            for file in made.glob(name):
                target = self.native / "release" / file.relative_to(made)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, target)
                if file.suffix == ".d":  # what an object depends on stands behind its name
                    needs = re.sub(r"^\S+:", f"{target.with_suffix('.o')}:", file.read_text(), count=1)
                    target.write_text(needs)

    def images(self) -> tuple[list[str], dict[str, str]]:
        """The libraries that decode images; and what make builds without."""
        found, without = [], {}
        for variable, names in IMAGES.items():
            if linked := self.linked(names):
                found += linked
                continue
            without[variable] = ""
            if variable in READS:
                kind, package = READS[variable]
                say(f"{kind} files will not be read: {package} is missing (apt-get install -y {package})")
        return found, without

    def linked(self, names: list[str]) -> list[str]:
        """What is linked of a decoder; nothing if it is not there.

        Its archive, with what that needs, some of it perhaps shared; or its shared library, which brings it.
        """
        first, *others = names
        shared = self.system.file(f"lib{first}.so") is not None
        if SHARED or (shared and first in REPLACEABLE):
            return [first] if shared else []
        needs = [] if LIBRARIES else [name for name in others if name not in NOT_EVERYWHERE]
        if self.system.links(first, shared=False) and all(map(self.system.links, needs)):
            return names
        return [first] if shared else []

    def copy_commands(self) -> None:
        target = self.folder / "bin"
        target.mkdir(parents=True, exist_ok=True)
        for command in NAMES:
            shutil.copy(self.native / command, target / command)

    def build_extensions(self) -> None:
        """Links plainly: Python's own flags may name folders of the machine on which it was built."""
        self.compiler.set_executable("linker_so", [*CC, "-shared", *LDFLAGS])
        super().build_extensions()

    def build_extension(self, ext: Extension) -> None:
        """Over the shared libraries of the package; for a distribution, over the system's."""
        core = ext.name.endswith("_core")
        if SHARED:
            archives = [self.native / f"lib{name}.a" for name in (NAMES[:1] if core else reversed(NAMES))]
            names = STORE if core else [*self.decoders, *INGEST, *STORE]
            used = self.system.flags(names, position_independent=True)
        else:
            archives, used = self.shared[:1] if core else self.shared[::-1], []
        ext.depends += [str(a) for a in archives]
        ext.extra_link_args += [
            *(str(a) for a in archives),
            *used,
            "-lm",
            "-pthread",
            HIDDEN,
            *SAFE,
            *([] if SHARED else ["-Wl,-rpath,$ORIGIN/lib"]),
            *([] if self.debug else ["-Wl,-s"]),
        ]
        super().build_extension(ext)


def quoted(flags: list[str]) -> str:
    """Flags as the shell that make starts wants to have them."""
    return " ".join(f"'{f}'" if re.search(r"[^\w/.,=+@:-]", f) else f for f in flags)


class BdistWheel(bdist_wheel):
    """The oldest manylinux tag that is true, if only what every Linux has is needed; a bill of materials."""

    def write_wheelfile(self, wheelfile_base: str, *args: object, **kwargs: object) -> None:
        super().write_wheelfile(wheelfile_base, *args, **kwargs)
        folder = Path(wheelfile_base, "sboms")
        folder.mkdir(exist_ok=True)
        table = json.loads((LIBRARIES / "bundled.json").read_text()) if LIBRARIES else None
        text = tool("sbom").cyclonedx(version(), Libraries.bundled, table)
        (folder / "apldata.cdx.json").write_text(text)

    def get_tag(self) -> tuple[str, str, str]:
        python, abi, platform = super().get_tag()
        files = [f for f in Path(self.bdist_dir).rglob("*") if is_elf(f)]
        inside = {f.name for f in files}
        foreign = {n for f in files for n in needed(f) if n not in inside and not SYSTEM.fullmatch(n)}
        versions = [v for f in files for v in glibc(f)]
        if foreign or not versions or not platform.startswith("linux_"):
            return python, abi, platform
        major, minor = max(OLDEST, *versions)
        return python, abi, platform.replace("linux_", f"manylinux_{major}_{minor}_", 1)


def files(folder: str, pattern: str) -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / folder).glob(pattern))


def extension(name: str) -> Extension:
    return Extension(
        f"apldata.{name}",
        sources=files(f"python/{name[1:]}", "*.c"),
        depends=[*files(f"python/{name[1:]}", "*.h"), *files("include", "**/*.h")],
        include_dirs=["include"],
        define_macros=[] if FREE_THREADED else [("Py_LIMITED_API", "0x030b0000")],
        py_limited_api=not FREE_THREADED,
        extra_compile_args=COMPILE,
    )


os.makedirs(ROOT / BUILD, exist_ok=True)
setup(
    version=version(),
    ext_modules=[extension("_core"), extension("_ingest")],
    cmdclass={"build_py": BuildPy, "build_ext": BuildExt, "bdist_wheel": BdistWheel},
    options={
        "build": {"build_base": BUILD},
        "egg_info": {"egg_base": BUILD},
        "bdist_wheel": {} if FREE_THREADED else {"py_limited_api": "cp311"},
    },
)

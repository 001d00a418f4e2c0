"""How each library is built: as a static archive for shared objects, with what APL uses of it and no more;
or as a shared one where the licence lets users replace it.

A recipe is a function named as its library, of a Build; it leaves lib/lib*.a or lib/lib*.so, and include/ in
the prefix.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

FLAGS = "-O2 -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections -DNDEBUG"
CMAKE = {
    "CMAKE_BUILD_TYPE": "None",
    "CMAKE_SYSTEM_NAME": "Linux",
    "CMAKE_FIND_ROOT_PATH_MODE_PROGRAM": "NEVER",
    "CMAKE_FIND_ROOT_PATH_MODE_LIBRARY": "ONLY",
    "CMAKE_FIND_ROOT_PATH_MODE_INCLUDE": "ONLY",
    "CMAKE_FIND_ROOT_PATH_MODE_PACKAGE": "ONLY",
    "CMAKE_POSITION_INDEPENDENT_CODE": "ON",
    "CMAKE_INSTALL_LIBDIR": "lib",
    "CMAKE_POLICY_VERSION_MINIMUM": "3.5",
    "BUILD_SHARED_LIBS": "OFF",
    "BUILD_TESTING": "OFF",
}


@dataclass
class Build:
    """One library, for one machine."""

    arch: str
    source: Path
    prefix: Path
    environment: dict[str, str]
    jobs: int

    def run(self, *command: str | Path, cwd: Path | None = None) -> None:
        environment = os.environ | self.environment | {"CFLAGS": FLAGS}
        subprocess.run([str(c) for c in command], cwd=cwd or self.source, env=environment, check=True)

    def compile(self, name: str, files: list[str], *flags: str) -> None:
        """An archive of these files, for libraries whose own builds offer nothing more."""
        objects = []
        for file in files:
            objects.append(self.source / f"{Path(file).stem}.o")
            self.run(self.environment["CC"], *FLAGS.split(), *flags, "-c", file, "-o", objects[-1])
        self.archive(name, objects)

    def share(self, name: str, soname: str, file: str) -> None:
        """A shared library of one file, with the names by which any build of it is known."""
        library = self.prefix / f"lib/lib{name}.so"
        library.parent.mkdir(parents=True, exist_ok=True)
        library.with_suffix(".a").unlink(missing_ok=True)
        shared = ["-shared", "-fvisibility=default", f"-Wl,-soname,{soname}", "-Wl,-z,relro,-z,now", "-s"]
        self.run(self.environment["CC"], *FLAGS.split(), *shared, "-o", library, file)

    def keep_source(self, name: str, *files: str) -> None:
        """For licences that ask for the source beside the binary."""
        to = self.prefix / "sources" / name
        to.mkdir(parents=True, exist_ok=True)
        for file in files:
            shutil.copy(self.source / file, to)

    def archive(self, name: str, objects: list[Path]) -> None:
        library = self.prefix / f"lib/lib{name}.a"
        library.parent.mkdir(parents=True, exist_ok=True)
        library.unlink(missing_ok=True)
        self.run(self.environment["AR"], "rcsD", library, *objects)

    def headers(self, *names: str, below: str = "") -> None:
        to = self.prefix / "include" / below
        to.mkdir(parents=True, exist_ok=True)
        for name in names:
            shutil.copy(self.source / name, to)

    def cmake(self, folder: str = ".", target: str | None = None, **options: str) -> Path:
        """Builds and installs; or builds one target only, which is then in the folder returned."""
        out = self.source / "build.apl"
        variables = CMAKE | options | {
            "CMAKE_SYSTEM_PROCESSOR": self.arch,
            "CMAKE_C_COMPILER": self.environment["CC"],
            "CMAKE_CXX_COMPILER": self.environment["CXX"],
            "CMAKE_AR": self.environment["AR"],
            "CMAKE_RANLIB": self.environment["RANLIB"],
            "CMAKE_INSTALL_PREFIX": str(self.prefix),
            "CMAKE_FIND_ROOT_PATH": str(self.prefix),
        }  # fmt: skip
        given = [f"-D{k}={v}" for k, v in variables.items()]
        self.run("cmake", "-S", folder, "-B", out, "-Wno-dev", "-G", "Unix Makefiles", *given)
        self.run("cmake", "--build", out, "-j", str(self.jobs), *(["--target", target] if target else []))
        if not target:
            self.run("cmake", "--install", out)
        return out


def lmdb(b: Build) -> None:
    folder = "libraries/liblmdb"
    b.compile("lmdb", [f"{folder}/mdb.c", f"{folder}/midl.c"], "-pthread")
    b.headers(f"{folder}/lmdb.h")


def zstd(b: Build) -> None:
    b.cmake(
        "build/cmake", ZSTD_BUILD_PROGRAMS="OFF", ZSTD_BUILD_SHARED="OFF", ZSTD_BUILD_TESTS="OFF",
        ZSTD_LEGACY_SUPPORT="OFF", ZSTD_BUILD_DICTBUILDER="ON",
    )  # fmt: skip


def crypto(b: Build) -> None:
    """SHA-256, and how it asks for the processor's instructions for it; of the rest of libcrypto nothing."""
    b.run("./Configure", f"linux-{b.arch}", "no-shared", "no-tests", "no-apps", "no-docs", "no-module", FLAGS)
    names = ["cpuid", "ctype", "getenv", "uid"]
    names += {"x86_64": ["x86_64cpuid"], "aarch64": ["armcap", "arm64cpuid"]}[b.arch]
    objects = [f"crypto/libcrypto-lib-{name}.o" for name in names]
    sha = {"x86_64": "x86_64", "aarch64": "armv8"}[b.arch]
    objects += [f"crypto/sha/libcrypto-lib-{name}.o" for name in ("sha256", f"sha256-{sha}")]
    b.run("make", "-s", f"-j{b.jobs}", "build_generated")
    b.run("make", "-s", f"-j{b.jobs}", *objects)
    b.archive("crypto", [b.source / o for o in objects])
    b.headers(*map(str, (b.source / "include/openssl").glob("*.h")), below="openssl")


def jpeg(b: Build) -> None:
    b.cmake(ENABLE_SHARED="OFF", WITH_TURBOJPEG="OFF", REQUIRE_SIMD="ON", WITH_TOOLS="OFF", WITH_TESTS="OFF")


def xxhash(b: Build) -> None:
    b.headers("xxhash.h")


def z(b: Build) -> None:
    names = (
        "adler32 compress crc32 deflate gzclose gzlib gzread gzwrite infback inffast inflate inftrees trees"
    )
    names += " uncompr zutil"
    b.compile("z", [f"{n}.c" for n in names.split()], "-DHAVE_UNISTD_H", "-D_LARGEFILE64_SOURCE=1")
    b.headers("zlib.h", "zconf.h")


def bz2(b: Build) -> None:
    names = "blocksort huffman crctable randtable compress decompress bzlib"
    b.compile("bz2", [f"{n}.c" for n in names.split()], "-D_FILE_OFFSET_BITS=64")
    b.headers("bzlib.h")


def lzma(b: Build) -> None:
    off = "TOOL_XZ TOOL_XZDEC TOOL_LZMADEC TOOL_LZMAINFO TOOL_SCRIPTS DOC NLS"
    b.cmake(**{f"XZ_{name}": "OFF" for name in off.split()}, XZ_THREADS="posix")


def archive(b: Build) -> None:
    without = "OPENSSL MBEDTLS NETTLE LIBB2 LZ4 LZO ICONV LIBXML2 EXPAT PCREPOSIX PCRE2POSIX LIBGCC CNG XATTR"
    without += " ACL TAR CPIO CAT UNZIP TEST WERROR"
    b.cmake(**{f"ENABLE_{name}": "OFF" for name in without.split()}, POSIX_REGEX_LIB="NONE")


def isal(b: Build) -> None:
    flags = "CFLAGS_aarch64" if b.arch == "aarch64" else "CFLAGS_"
    tools = [f"CC={b.environment['CC']}", f"AR={b.environment['AR']}", f"{flags}={FLAGS}"]
    what = [f"host_cpu={b.arch}", "units=igzip crc", "lib"]
    b.run("make", "-s", f"-j{b.jobs}", "-f", "Makefile.unx", *tools, *what)
    b.archive("isal", sorted((b.source / "bin").rglob("*.o")))
    b.headers("include/igzip_lib.h", "include/crc.h", below="isa-l")


def jansson(b: Build) -> None:
    b.cmake(JANSSON_BUILD_DOCS="OFF", JANSSON_EXAMPLES="OFF", JANSSON_WITHOUT_TESTS="ON")


def png(b: Build) -> None:
    b.cmake(PNG_SHARED="OFF", PNG_TESTS="OFF", PNG_TOOLS="OFF")


def webp(b: Build) -> None:
    """The decoder alone, under the library's usual name."""
    programs = "ANIM_UTILS CWEBP DWEBP GIF2WEBP IMG2WEBP VWEBP WEBPINFO WEBPMUX EXTRAS LIBWEBPMUX"
    off = {f"WEBP_BUILD_{p}": "OFF" for p in programs.split()}
    out = b.cmake(target="webpdecoder", WEBP_USE_THREAD="OFF", **off)
    shutil.copy(out / "libwebpdecoder.a", b.prefix / "lib/libwebp.a")
    b.headers(*(f"src/webp/{name}.h" for name in ("decode", "types")), below="webp")


def tiff(b: Build) -> None:
    codecs = "jbig lerc libdeflate webp old-jpeg"
    parts = "tools tests contrib docs"
    off = [*codecs.split(), *(f"tiff-{p}" for p in parts.split())]
    b.cmake(**dict.fromkeys(off, "OFF"), cxx="OFF")


def gif(b: Build) -> None:
    names = "dgif_lib gifalloc gif_err openbsd-reallocarray"
    b.compile("gif", [f"{n}.c" for n in names.split()], "-std=gnu99")
    b.headers("gif_lib.h")


def csv(b: Build) -> None:
    """A shared library beside its source: under the LGPL, users may replace it."""
    b.share("csv", "libcsv.so.3", "libcsv.c")
    b.headers("csv.h")
    b.keep_source("csv", "libcsv.c", "csv.h", "COPYING.LESSER")


def boost_math(b: Build) -> None:
    shutil.copytree(b.source / "libs/math/include", b.prefix / "include", dirs_exist_ok=True)


def curl(b: Build) -> None:
    b.headers(*map(str, (b.source / "include/curl").glob("*.h")), below="curl")

"""Builds the wheels for each machine by a cross compiler, from pinned sources, and checks what they promise.

    python tools/wheels/build.py [--glibc 2.17] [--jobs N] FOLDER [ARCH...]

FOLDER keeps downloads and libraries for the next time; the wheels are in FOLDER/dist. Needs requirements.txt,
make, nasm, perl, patch, readelf and objcopy for both machines.
"""

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import compiler
import libraries

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ("cmake", "make", "nasm", "perl", "patch", "readelf")
LARGEST = 3_500_000
# libcsv as a file that users may replace, and its source: see NOTICE.
LGPL = tuple(f"apldata/{n}" for n in ("lib/libcsv.so.3", "licenses/csv.txt", "sources/csv/libcsv.c"))


def environment(prefix: Path, compilers: dict[str, str], arch: str, folder: Path) -> dict[str, str]:
    """For setup.py and the Makefile: of this machine only, whatever the system has."""
    flags = "-O2 -ffunction-sections -fdata-sections"
    return os.environ | compilers | {
        "APL_LIBRARIES": str(prefix),
        "APL_BUILD": str(folder / arch / "setuptools"),
        "PKG_CONFIG_LIBDIR": str(prefix / "pc"),
        "PKG_CONFIG_PATH": "",
        "CPPFLAGS": f"-I{prefix}/include",
        "CFLAGS": flags,
        "LDFLAGS": "",
        "_PYTHON_HOST_PLATFORM": f"linux-{arch}",
        "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH") or committed(),
    }  # fmt: skip


def committed() -> str:
    """When the tree was last changed, so that the wheel is the same whenever it is built."""
    git = ["git", "log", "-1", "--format=%ct"]
    done = subprocess.run(git, cwd=ROOT, check=False, capture_output=True, text=True)
    return done.stdout.strip() or "315532800"


def python_headers(prefix: Path) -> None:
    """Debian has a pyconfig.h for each machine in its folder; under the limited API they are alike."""
    multiarch = sysconfig.get_config_var("MULTIARCH") or "none"
    name = Path(sysconfig.get_path("include")).name
    for machine in compiler.MACHINES.values():
        link = prefix / "include" / machine
        if Path("/usr/include", multiarch, name).is_dir() and not link.is_symlink():
            link.symlink_to(f"/usr/include/{multiarch}")


def build(folder: Path, arch: str, glibc: str, jobs: int) -> Path:
    compilers = compiler.write(folder / arch / "bin", arch, glibc)
    prefix = libraries.build(folder, arch, glibc, compilers, jobs)
    python_headers(prefix)
    out = folder / arch / "dist"
    shutil.rmtree(out, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "wheel"]
    options = ["--no-deps", "--no-build-isolation", "--no-cache-dir", "--wheel-dir", str(out)]
    variables = environment(prefix, compilers, arch, folder)
    subprocess.run([*pip, *options, "."], cwd=ROOT, env=variables, check=True)
    (wheel,) = out.glob("*.whl")
    return wheel


def verified(wheel: Path, arch: str, glibc: str) -> bool:
    """Its tag holds by auditwheel's rules too, it is as small as promised, and says what is in it."""
    tag = f"manylinux_{glibc.replace('.', '_')}_{arch}"
    audit = [sys.executable, "-m", "auditwheel", "show", str(wheel)]
    said = subprocess.run(audit, check=False, capture_output=True, text=True)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    faults = [
        *([] if tag in wheel.name else [f"it is not tagged {tag}"]),
        *([] if f'"{tag}"' in said.stdout else [f"auditwheel says: {said.stdout}{said.stderr}"]),
        *([] if wheel.stat().st_size <= LARGEST else [f"it is larger than {LARGEST:,} bytes"]),
        *([] if any(".dist-info/sboms/" in name for name in names) else ["it has no bill of materials"]),
        *(f"it lacks {name}, which the LGPL asks for" for name in LGPL if name not in names),
    ]
    print(f"wheels: {wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB", *faults, sep="; ", flush=True)
    return not faults


def main() -> int:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--glibc", default="2.17", help="the oldest to run on")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("folder", type=Path)
    parser.add_argument("arch", nargs="*", default=list(compiler.MACHINES))
    options = parser.parse_args()
    missing = [p for p in PROGRAMS if not shutil.which(p)]
    if missing:
        sys.exit(f"wheels: {', '.join(missing)} missing")
    folder = options.folder.resolve()
    dist = folder / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    dist.mkdir(parents=True)
    good = True
    for arch in options.arch:
        wheel = build(folder, arch, options.glibc, options.jobs)
        good = verified(wheel, arch, options.glibc) and good
        shutil.copy(wheel, dist)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

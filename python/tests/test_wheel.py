"""The wheel itself: what is in it, what it needs, and that it works where there is nothing else.

$APL_WHEEL names the file. With $APL_CLEAN_COPY, a clean copy of the tree is installed too, as users would.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import sysconfig
import time
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT

PACKAGE = Path(__import__("apldata").__file__).resolve().parent
SYSTEM = re.compile(r"(lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so\.\d+|ld-linux.*)")
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


@pytest.fixture(scope="module")
def wheel() -> Path:
    path = os.environ.get("APL_WHEEL")
    if not path:
        pytest.skip("$APL_WHEEL names no wheel")
    return Path(path)


@pytest.fixture(scope="module")
def inside(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, unpacked."""
    folder = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def elf_files(folder: Path) -> list[Path]:
    return [f for f in folder.rglob("*") if f.is_file() and f.read_bytes()[:4] == b"\x7fELF"]


def output(*command: str | Path, **options: object) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def test_contents_and_size(wheel: Path, inside: Path, capsys: pytest.CaptureFixture) -> None:
    names = {str(f.relative_to(inside)) for f in inside.rglob("*") if f.is_file()}
    for name in ("__init__.py", "_core.pyi", "_ingest.pyi", "py.typed", "bin/apldata", "bin/aplingest"):
        assert f"apldata/{name}" in names
    ours = [n for n in names if not n.startswith("apldata/sources/")]
    assert not [n for n in ours if n.endswith((".c", ".h", ".o", ".a")) or "test" in n]
    with capsys.disabled():
        sizes = {f.name: f.stat().st_size for f in elf_files(inside)}
        told = ", ".join(f"{name} {size / 1e6:.2f}" for name, size in sizes.items())
        print(f"\n{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB; unpacked, in MB: {told}")
    assert wheel.stat().st_size < 6e6


def test_tag_is_true(wheel: Path, inside: Path) -> None:
    """A manylinux tag promises that this glibc is enough, and no libraries but those that NumPy needs."""
    assert ("abi3" in wheel.name) != FREE_THREADED
    tag = re.search(r"manylinux_(\d+)_(\d+)_", wheel.name)
    if not tag:
        pytest.skip(f"{wheel.name} promises nothing: it needs libraries of this system")
    files = elf_files(inside)
    needed = {n for f in files for n in re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", f))}
    assert not [n for n in needed if not SYSTEM.fullmatch(n) and n not in {f.name for f in files}]
    versions = [v for f in files for v in re.findall(r"GLIBC_(\d+)\.(\d+)", output("readelf", "-V", f))]
    assert max((2, 17), *((int(a), int(b)) for a, b in versions)) == (int(tag[1]), int(tag[2]))


def test_bill_of_materials(wheel: Path, inside: Path) -> None:
    """PEP 770: what of other projects is in the wheel, and what its licence says."""
    (file,) = inside.glob("apldata-*.dist-info/sboms/*.cdx.json")
    bom = json.loads(file.read_text())
    assert bom["bomFormat"] == "CycloneDX" and bom["metadata"]["component"]["version"] in wheel.name
    parts = {c["name"].removeprefix("lib").removesuffix("-turbo"): c for c in bom["components"]}
    assert {"lmdb", "zstd", "archive", "jpeg", "xxhash"} <= set(parts)
    if "purl" in parts["zstd"]:  # it is known where libraries came from
        assert all(c["version"] and c["purl"] for c in bom["components"] if "ziglang" not in c["name"])
        assert len(list((inside / "apldata/licenses").iterdir())) == len(parts)


def test_libcsv_can_be_replaced(inside: Path) -> None:
    """Under the LGPL: it is a file of its own, beside its licence; a wheel to pass on has its source."""
    (file,) = inside.glob("apldata-*.dist-info/sboms/*.cdx.json")
    names = [c["name"].removeprefix("lib") for c in json.loads(file.read_text())["components"]]
    if "csv" not in names:
        pytest.skip("the wheel has no libcsv")
    (library,) = (inside / "apldata/lib").glob("libcsv.so.*")
    (user,) = (inside / "apldata/lib").glob("libaplingest-*.so")
    assert f"[{library.name}]" in output("readelf", "-d", user)
    assert "csv_parse" not in output("nm", "-D", "--defined-only", user)
    assert list(inside.glob("apldata-*.dist-info/licenses/NOTICE"))
    assert "LESSER" in (inside / "apldata/licenses/csv.txt").read_text().upper()
    if (inside / "apldata/licenses/compiler-rt.txt").exists():  # made from pinned sources
        assert {"libcsv.c", "csv.h"} <= {f.name for f in (inside / "apldata/sources/csv").iterdir()}


def test_tiff_is_read_where_it_can_be() -> None:
    """Also where the archives of what libtiff needs are not fit, as that of libLerc on Debian."""
    if (
        not shutil.which("pkg-config")
        or subprocess.run(["pkg-config", "--exists", "libtiff-4 >= 4.5"], check=False).returncode
    ):
        pytest.skip("there is no libtiff here")
    tags = {256: 1, 257: 1, 258: 8, 259: 1, 262: 1, 273: 0, 277: 1, 278: 1, 279: 1}  # one grey pixel
    tags[273] = 8 + 2 + 12 * len(tags) + 4
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags.items())
    tiff = struct.pack("<2sHIH", b"II", 42, 8, len(tags)) + entries + bytes(4) + b"\x07"
    kind, shape, *_, samples, _, _ = importlib.import_module("apldata._ingest").image_decode(tiff, 8, False)
    assert (kind, shape, samples) == ("TIFF", (1, 1, 1), b"\x07")


def test_extensions_export_nothing_but_their_init(inside: Path) -> None:
    """So LMDB, zstd and the others in them never meet those of another extension."""
    for name in ("_core", "_ingest"):
        (extension,) = (inside / "apldata").glob(f"{name}.*.so")
        symbols = [line.split()[-1] for line in output("nm", "-D", "--defined-only", extension).splitlines()]
        assert symbols == [f"PyInit_{name}"]
        assert "/usr" not in output("readelf", "-d", extension)


def test_libraries_export_nothing_but_apl(inside: Path) -> None:
    """The two that commands and extensions share, under names that no installed library has."""
    for name, room in (("apldata", "store"), ("aplingest", "ingest")):
        (library,) = (inside / "apldata/lib").glob(f"lib{name}-*.so")
        symbols = output("nm", "-D", "--defined-only", library).split()[2::3]
        public = re.findall(r"^ +(apl_\w+);", (ROOT / room / f"{name}.map").read_text(), re.MULTILINE)
        assert {s.partition("@")[0] for s in symbols} - {"APL_0.1"} == set(public)
        assert f"[{library.name}]" in output("readelf", "-d", library)


def run_module(*arguments: str, **options: object) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "apldata", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **options)


def test_commands(store_path: str) -> None:
    assert "1,300 records" in run_module("info", store_path).stdout
    assert run_module("verify", store_path).returncode == 0
    assert run_module("ingest", "--version").stdout.startswith("aplingest ")
    for script in ("apldata", "aplingest"):
        path = Path(sysconfig.get_path("scripts"), script)
        assert output(path, "--version").startswith(f"{script} ")


def test_commands_fail_as_they_do_elsewhere(tmp_path: Path) -> None:
    missing = run_module("info", str(tmp_path / "missing"))
    assert missing.returncode == 1 and missing.stderr.startswith("apldata: ") and missing.stdout == ""
    assert run_module("nonsense").returncode == 2
    assert run_module("ingest", "one operand").returncode == 2


def test_commands_get_signals(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "apldata", "ingest", "-", str(tmp_path / "db")]
    child = subprocess.Popen(command, stdin=subprocess.PIPE)
    try:
        while b"aplingest" not in Path(f"/proc/{child.pid}/cmdline").read_bytes():
            time.sleep(0.01)
        time.sleep(0.2)
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=10) == -signal.SIGINT
    finally:
        child.kill()
        child.wait()
        child.stdin.close()


BARE = """
import sys, numpy as np, apldata
with apldata.Writer(sys.argv[1], {"image": ("u8", (3, 8, 8)), "label": "u8"}) as w:
    numbers = np.arange(19200, dtype=np.uint8)
    w.extend(image=numbers.reshape(100, 3, 8, 8), label=numbers[:100])
loader = apldata.Loader(sys.argv[1], split="train", batch_size=20, seed=1)
print(sum(int(batch["label"].astype(int).sum()) for batch in loader))
from apldata import _ingest
"""

in_full = pytest.mark.skipif("APL_CLEAN_COPY" not in os.environ, reason="for `make check-frameworks`")


@in_full
def test_fresh_environment(wheel: Path, tmp_path: Path) -> None:
    """Nothing but the wheel and NumPy; no compiler, no libraries but those of the wheel and the system."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv/bin/python"
    pip = [python, "-m", "pip", "-q", "--disable-pip-version-check", "install", "--retries", "1"]
    if subprocess.run([*pip, "--only-binary", ":all:", wheel], check=False, capture_output=True).returncode:
        pytest.skip("NumPy cannot be downloaded")
    assert output(python, "-I", "-c", BARE, tmp_path / "db", env={}, cwd="/") == "4950\n"
    assert "100 records" in output(tmp_path / "venv/bin/apldata", "info", tmp_path / "db", env={}, cwd="/")


def clean_copy(to: Path) -> Path:
    """The tree as git has it, or will have it."""
    listed = output("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, to / name)
    return to


@in_full
def test_clean_copy_can_be_installed(tmp_path: Path) -> None:
    """`pip install .`, with the build dependencies that are declared."""
    tree = clean_copy(tmp_path / "tree")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv/bin/python"
    subprocess.run([python, "-m", "pip", "-q", "install", tree], check=True)
    assert output(python, "-I", "-c", BARE, tmp_path / "db", cwd="/") == "4950\n"


def test_missing_libraries_are_told_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("setuptools", minversion="77")
    environment = os.environ | {"PKG_CONFIG_LIBDIR": "/nonexistent", "APL_BUILD": str(tmp_path / "build")}
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "build"],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = done.stderr.strip().splitlines()
    assert done.returncode != 0 and len(lines) == 1 and "lmdb" in lines[0]


def test_source_distribution_has_what_make_needs(tmp_path: Path) -> None:
    """Also the parts of the Makefile: make says what it would do, and misses nothing."""
    pytest.importorskip("setuptools", minversion="77")
    build = "from setuptools.build_meta import build_sdist; import sys; build_sdist(sys.argv[1])"
    output(sys.executable, "-c", build, tmp_path, cwd=clean_copy(tmp_path / "copy"))
    (archive,) = tmp_path.glob("apldata-*.tar.gz")
    shutil.unpack_archive(archive, tmp_path, filter="data")
    (tree,) = (path for path in tmp_path.glob("apldata-*") if path.is_dir())
    made = [tmp_path / "made" / name for name in ("libapldata.a", "libaplingest.a", "apldata", "aplingest")]
    output("make", "-n", f"BUILD={tmp_path / 'made'}", *made, cwd=tree)

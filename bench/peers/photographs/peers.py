"""The loaders that are compared, and how one of them is talked to."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SECONDS = 300
SETTINGS = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
SETTINGS |= {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "NO_ALBUMENTATIONS_UPDATE": "1"}


@dataclass(frozen=True)
class Peer:
    """`smooth`: what it does against aliasing. `draws`: it draws boxes of its own."""

    title: str
    smooth: str
    bar: float | None = None  # APL's time over its own
    draws: bool = False


PEERS = {
    "torchvision_pillow": Peer("torchvision + Pillow", "yes; the reference", 0.14),
    "torchvision_io": Peer("torchvision.io + v2", "yes"),
    "apl": Peer("APL, indexed", "yes"),
    "apl_files": Peer("APL, `--keep-files`", "yes"),
    "simplejpeg_opencv": Peer("simplejpeg + OpenCV", "no", 0.33),
    "simplejpeg_area": Peer("simplejpeg + OpenCV, INTER_AREA", "by areas"),
    "ffcv_jpeg": Peer("FFCV, re-encoded at q90", "by areas", 0.22, draws=True),
    "tf_data": Peer("tf.data, decode_and_crop_jpeg", "no"),
    "dali_cpu": Peer("DALI on the CPU", "yes", 0.22),
    "webdataset_tar": Peer("WebDataset + Pillow", "yes"),
    "spdl_files": Peer("SPDL", "yes"),
}


class Skipped(Exception):
    """A loader that cannot be measured here; the message says why, in one line."""


class Worker:
    """A process with a loader. Skipped, from every method: it is missing, or has failed."""

    def __init__(self, name: str, home: Path) -> None:
        self.log = home / f"{name}.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-B", str(HERE / "worker.py"), name, str(home)],
                env=SETTINGS,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        self.versions = self.answer()["versions"]

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout
        signal.alarm(SECONDS)
        try:
            line = self.process.stdout.readline()
        finally:
            signal.alarm(0)
        if not line:
            self.end()
            said = [
                line.strip() for line in self.log.read_text(errors="replace").splitlines() if line.strip()
            ]
            raise Skipped(said[-1][:200] if said else "it ended without a word")
        found: dict[str, Any] = json.loads(line)
        return found

    def ask(self, **what: Any) -> dict[str, Any]:
        assert self.process.stdin
        try:
            self.process.stdin.write(json.dumps(what) + "\n")
            self.process.stdin.flush()
        except OSError as error:
            raise Skipped(str(error)) from error
        return self.answer()

    def end(self) -> None:
        """Ends it, and whatever it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def _late(*_: object) -> None:
    raise Skipped(f"took more than {SECONDS} s")


signal.signal(signal.SIGALRM, _late)

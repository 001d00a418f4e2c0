"""What figures depend on."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from pathlib import Path
from typing import Any


def machine(root: Path) -> dict[str, Any]:
    """`root`: the tree whose commit is told."""
    cpu = next(
        (s for s in Path("/proc/cpuinfo").read_text().splitlines() if s.startswith("model name")), ": unknown"
    )
    commit = subprocess.run(
        ["git", "-C", str(root), "rev-parse", "--short", "HEAD"], capture_output=True, text=True
    )
    return {
        "cpu": cpu.partition(":")[2].strip(),
        "cores": os.cpu_count(),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d"),
        "commit": commit.stdout.strip(),
        "load": f"{os.getloadavg()[1]:.1f}",
    }

"""Finds or makes the environment of the loaders, then measures: start.py PHOTOS --build FOLDER [OPTION]...

One environment serves all of them, made once below the build folder; what does not install is reported,
and its loader is skipped. $PEERS_PYTHON is an interpreter that has what is wanted already, apldata too:
nothing is installed then. Other options are run.py's.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parent.parent))
from environments import ready_in_parts


def main() -> None:
    build = Path(sys.argv[sys.argv.index("--build") + 1]).resolve()
    python = os.environ.get("PEERS_PYTHON") or str(ready_in_parts("photographs", build / "peers" / "env"))
    os.execv(python, [python, "-B", str(Path(__file__).with_name("run.py")), *sys.argv[1:]])


if __name__ == "__main__":
    main()

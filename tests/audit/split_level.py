"""Does `apldata check` reject honest divisions as often as it says?

    tests/audit/split_level.py APLDATA STORE [SEEDS [PARTS]]

Divides a copy of the store by SEEDS fresh seeds (default: 100) in each of several ways, into 2 to PARTS parts
(default: 1,000), checks each division at the level 0.01, and prints how many are rejected: about one in a
hundred is due. Fails if more are, in any way, than chance allows once in ten thousand times. Only rejected
findings count: equal inputs that the source's own splits share do not matter here.
"""

import json
import math
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LEVEL = 0.01
WAYS = {
    "s=0.5": 2,
    "s=0.2": 2,
    "s=0.01": 2,
    "s=0.003": 2,
    "s=0.2 --stratify label": 2,
    "s --folds 10": 10,
    "s --folds 10 --stratify label": 10,
    "s --clients 10 --dirichlet 0.3": 10,
    "s --clients 100 --iid": 100,
    "s --clients 100 --dirichlet 0.3": 100,
    "s --clients 400 --iid": 400,
    "s --clients 1000 --iid": 1000,
    "s --clients 1000 --dirichlet 0.3": 1000,
}  # and into how many parts


def rejected(apldata: str, db: Path, way: str, seed: int) -> list[dict]:
    """Divides by a seed and returns the findings that the check rejects."""
    name, *options = way.split()
    divide = [apldata, "split", "--quiet", "--seed", str(seed), *options, str(db), name]
    subprocess.run(divide, check=True)
    check = [apldata, "check", "--json", "--near", "none", "--level", str(LEVEL), str(db)]
    run = subprocess.run(check, capture_output=True, text=True, check=False)
    if run.returncode > 1 or not run.stdout:
        sys.exit(run.stderr)
    for file in db.glob("*.split"):
        file.unlink()
    splits = json.loads(run.stdout)["splits"]
    return [f | {"split": s["name"]} for s in splits for f in s["findings"] if f["rejected"]]


def most(count: int, chance: float = 1e-4) -> int:
    """The least number that `count` trials at the level exceed with less than that chance."""
    below, k = 0.0, -1
    while below < 1 - chance:
        k += 1
        below += math.comb(count, k) * LEVEL**k * (1 - LEVEL) ** (count - k)
    return k


def main() -> None:
    apldata, store = sys.argv[1], Path(sys.argv[2])
    seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    parts = int(sys.argv[4]) if len(sys.argv) > 4 else 1000
    ways = [way for way in WAYS if WAYS[way] <= parts]
    total, failed = 0, False
    with tempfile.TemporaryDirectory() as place:
        db = Path(place) / "db"
        shutil.copytree(store, db, ignore=shutil.ignore_patterns("*.split"))
        for way in ways:
            found = [rejected(apldata, db, way, 1_000_003 + 7919 * k) for k in range(seeds)]
            alarms = sum(bool(f) for f in found)
            names = sorted({f["test"] for fs in found for f in fs})
            print(f"{alarms:4} of {seeds}  {way:36} {', '.join(names)}", flush=True)
            total += alarms
            failed |= alarms > most(seeds)
    print(f"{total:4} of {seeds * len(ways)}  all")
    sys.exit(failed or total > most(seeds * len(ways)))


if __name__ == "__main__":
    main()

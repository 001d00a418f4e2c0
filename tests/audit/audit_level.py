"""Does the audit reject a right order as often as it says, and are its p-values uniform?

    tests/audit/audit_level.py APLDATA DB [OPTION of apldata audit]...

Audits 200 seeds (of five epochs, at the level 0.05), and prints how many are rejected, of which about ten are
due, and for each test that leaves something to chance Kolmogorov and Smirnov's p-value of its 200 p-values.
"""

import json
import math
import subprocess
import sys

SEEDS = range(1_000_003, 1_000_003 + 200 * 7919, 7919)
LEVEL = 0.05


def audit(command: list[str], seed: int) -> dict[str, float]:
    """p-values by test; the seed's verdict under ""."""
    options = ["--no-splits", "--epochs", "5", "--level", str(LEVEL), "--seed", str(seed), "--json"]
    run = subprocess.run(command + options, capture_output=True, text=True, check=False)
    if run.returncode > 1 or not run.stdout:
        sys.exit(run.stderr)
    found = json.loads(run.stdout)
    values = {f["test"]: f["p"] for f in found["findings"] if not f["exact"]}
    return values | {"": 1.0 if found["ok"] else 0.0}


def kolmogorov_smirnov(values: list[float]) -> float:
    """The chance of values so far from uniform, if they are, by the limit with Stephens' correction."""
    n = len(values)
    far = max(max((i + 1) / n - v, v - i / n) for i, v in enumerate(sorted(values)))
    x = far * (math.sqrt(n) + 0.12 + 0.11 / math.sqrt(n))
    terms = (2 * (-1) ** (k - 1) * math.exp(-2 * (k * x) ** 2) for k in range(1, 101))
    return 1.0 if x < 0.2 else min(1.0, sum(terms))


def main() -> None:
    command = [sys.argv[1], "audit", *sys.argv[2:]]
    found = [audit(command, seed) for seed in SEEDS]
    alarms = sum(f[""] == 0 for f in found)
    print(f"{alarms} of {len(found)} seeds are rejected at the level {LEVEL}")
    print(f"{'test':26} {'uniform: p':>10} {'below 0.05':>10}")
    for test in found[0]:
        values = [f[test] for f in found]
        if test:
            print(f"{test:26} {kolmogorov_smirnov(values):10.3f} {sum(v < LEVEL for v in values):10}")
    sys.exit(not 4 <= alarms <= 16)


if __name__ == "__main__":
    main()

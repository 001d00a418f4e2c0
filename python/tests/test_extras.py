"""Where a framework is not installed, the error says how to install it."""

from __future__ import annotations

import subprocess
import sys

import pytest

MODULES = {"apldata.torch": "torch", "apldata.jax": "jax", "apldata.tf": "tensorflow"}
IMPORT = """
import importlib, sys
for module, framework in MODULES.items():
    sys.modules[framework] = None  # as if it were not there
    try:
        importlib.import_module(module)
    except ImportError as error:
        print(type(error).__name__, error.name, error)
"""


def test_a_framework_that_is_missing_is_named() -> None:
    code = f"MODULES = {MODULES}\n{IMPORT}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        f"ModuleNotFoundError {name} {name} is not installed: pip install {name}" for name in MODULES.values()
    ]


def test_another_module_that_is_missing_stays_named() -> None:
    from apldata._extras import not_installed

    error = ModuleNotFoundError("No module named 'other'", name="other")
    with pytest.raises(ModuleNotFoundError, match="No module named 'other'"):
        raise not_installed(error, "torch")

"""Frameworks, which are installed beside the package."""

from __future__ import annotations


def not_installed(error: ModuleNotFoundError, framework: str) -> ModuleNotFoundError:
    """The error, which says how to install the framework if this is what is missing."""
    if error.name != framework:
        return error
    text = f"{framework} is not installed: pip install {framework}"
    return ModuleNotFoundError(text, name=framework)

"""The bill of materials that a wheel carries: CycloneDX, of what is linked into it (PEP 770)."""

import hashlib
import json
import subprocess
from pathlib import Path
from urllib.parse import quote


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def output(*command: str) -> str:
    try:
        return subprocess.run(command, check=False, capture_output=True, text=True).stdout.strip()
    except FileNotFoundError:
        return ""


def from_source(name: str, library: dict) -> dict:
    """A component that was built from an archive of its source, whose digest is known."""
    title, version = library.get("name", name), library["version"]
    component = {
        "type": "library",
        "name": title,
        "version": version,
        "purl": f"pkg:generic/{quote(title)}@{quote(version)}",
        "licenses": [{"expression": library["licence"]}],
    }
    if "sha256" in library:
        component["purl"] += f"?checksum=sha256:{library['sha256']}"
        source = {"type": "source-distribution", "url": library["urls"][0]}
        source["hashes"] = [{"alg": "SHA-256", "content": library["sha256"]}]
        component["externalReferences"] = [source]
    if "patches" in library:
        patch = {"type": "backport", "diff": {"url": library["patches"]["urls"][0]}}
        component["pedigree"] = {"patches": [patch], "notes": f"sha256 {library['patches']['sha256']}"}
    return component


def from_system(name: str, file: Path) -> dict:
    """A component that a package of the system's brought; its version is told where Debian's tools are."""
    component = {"type": "library", "name": name}
    if file.is_file():
        component["hashes"] = [{"alg": "SHA-256", "content": digest(file)}]
    package = output("dpkg", "-S", str(file)).partition(":")[0]
    if version := output("dpkg-query", "-W", "-f=${Version}", package) if package else "":
        component |= {"version": version, "purl": f"pkg:deb/{quote(package)}@{quote(version)}"}
    return component


def cyclonedx(version: str, bundled: dict[str, Path], table: dict | None) -> str:
    """Of the libraries bundled, by their archives; `table` describes them if they were built from source."""
    if table:
        components = [from_source(name, table["libraries"][name]) for name in sorted(bundled)]
    else:
        components = [from_system(name, bundled[name]) for name in sorted(bundled)]
    purl = f"pkg:pypi/apldata@{version}"
    subject = {"type": "library", "name": "apldata", "version": version, "purl": purl}
    for i, component in enumerate(components):
        component["bom-ref"] = f"{i}-{component['name']}"
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": subject | {"bom-ref": "apldata", "licenses": [{"expression": "MIT"}]}},
        "components": components,
        "dependencies": [{"ref": "apldata", "dependsOn": [c["bom-ref"] for c in components]}],
    }
    return json.dumps(bom, indent=1) + "\n"

"""The lab without a server: the page of `airtcp lab` with the core as a WebAssembly module.

    PYTHONPATH=python python packaging/lab_page.py [--out out/site/lab]

The folder can be served by any web server, such as `python -m http.server`; nothing in it asks
another machine for anything. The page finds the module in the list of links, `api/links`, which
`airtcp lab` answers itself.
"""

import argparse
import gzip
import json
import os
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

from notices import linked, notices, standard_library

from airtcp.lab.assets import assets
from airtcp.lab.filenames import named_files

ROOT = Path(__file__).resolve().parent.parent
TARGET = "wasm32-unknown-unknown"
MODULE = "core.wasm"
STACK_BYTES = 16 << 20
"""Stack of the module: packets and the packets that they cause are nested calls."""


def build() -> Path:
    """Compiles the module."""
    flags = f"-C link-arg=-zstack-size={STACK_BYTES}"
    command = ["cargo", "build", "--quiet", "--profile", "browser", "--package", "airtcp-browser"]
    environment = {**os.environ, "RUSTFLAGS": flags}
    subprocess.run([*command, "--target", TARGET], cwd=ROOT, env=environment, check=True)
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return built / TARGET / "browser" / "airtcp_browser.wasm"


def terms() -> str:
    """The notices of the crates that are linked into the module."""
    command = ["cargo", "metadata", "--format-version=1", f"--filter-platform={TARGET}"]
    metadata = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    compiler = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True)
    crates = linked(json.loads(metadata), ["airtcp-browser"])
    return notices([*crates, standard_library(compiler.stdout.split()[1])])


def link(scenario: Path) -> dict[str, Any]:
    """A ready scenario in the list of links."""
    document = tomllib.loads(scenario.read_text(encoding="utf-8"))
    return {
        "id": f"ready/{scenario.stem}",
        "name": scenario.stem,
        "description": document.get("description", ""),
        "kind": "ready",
        "path": f"scenarios/{scenario.name}",
        "files": [name for _, name in named_files(document)],
    }


def write(out: Path, module: Path, terms: str) -> None:
    """Writes the page with the module, the shipped scenarios and the recordings that they name."""
    shutil.rmtree(out, ignore_errors=True)
    for path, (content, _) in assets().items():
        if path != "/":
            _put(out / path.removeprefix("/"), content)
    _put(out / MODULE, module.read_bytes())
    _put(out / "NOTICES.txt", terms.encode())
    links = [link(scenario) for scenario in sorted((ROOT / "scenarios").glob("*.toml"))]
    for one in links:
        place = ROOT / one["path"]
        _put(out / one["path"], place.read_bytes())
        for name in one["files"]:
            _put(out / "scenarios" / name, (place.parent / name).read_bytes())
    listed = {"module": MODULE, "links": links}
    _put(out / "api" / "links", json.dumps(listed).encode())


def _put(path: Path, content: bytes) -> None:
    path = Path(os.path.normpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def main() -> None:
    """Compiles the module and writes the folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/site/lab"))
    out = parser.parse_args().out
    module = build()
    write(out, module, terms())
    size, packed = module.stat().st_size, len(gzip.compress(module.read_bytes()))
    print(f"{out}: the lab, its core {size / 1e6:.2f} MB, {packed / 1e3:.0f} kB gzipped")


if __name__ == "__main__":
    main()

"""Optional requirements of tests, from tests/needs.toml.

A test names it, `@pytest.mark.needs("iperf3", "namespaces")`, and is skipped with the reason where
something is missing; `a|b` is met by either.
"""

import os
import shutil
import socket
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from airtcp._core import AirtcpError
from airtcp.core.net import find_program
from airtcp.kernel.guests import Kernel, known

ROOT = Path(__file__).resolve().parents[2]
TABLE: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    (ROOT / "tests/needs.toml").read_text("utf-8")
)
WASM_TARGET = "wasm32-unknown-unknown"
KERNEL = "airtcp kernels add debian:6.1"


def program(name: str) -> str | None:
    """The path of a program, or of one that does as well; None where there is neither."""
    names = (name, *TABLE["aliases"].get(name, ()))
    return next(filter(None, map(shutil.which, names)), None)


def missing(need: str) -> str:
    """Why a test that needs this is skipped; empty where all is there.

    Raises:
        KeyError: it is not in tests/needs.toml.
    """
    reasons = [_missing(name) for name in need.split("|")]
    return "" if "" in reasons else "; ".join(reasons)


@cache
def kernels_with_bpf() -> list[Kernel]:
    """The kernels of the cache that have all that a distribution's has.

    Not 5.10: it has BPF, and refuses these programs (docs/measurements/kernels.md).
    """
    found = (one for one in known() if one.can.bpf and (one.folder / "modules/tun.ko").is_file())
    return [one for one in found if not one.release.startswith("5.10.")]


def kernel() -> Kernel | None:
    """The first of them."""
    return next(iter(kernels_with_bpf()), None)


@cache
def _missing(name: str) -> str:
    if name in TABLE["programs"]:
        package = TABLE["programs"][name]
        return "" if program(name) else f"{name} is not installed: apt install {package}"
    TABLE["features"][name]
    return _FEATURES[name]()


def _bpf() -> str:
    try:
        command = [find_program(), "deploy", "newzag", "--all", "--dry-run"]
    except AirtcpError as error:
        return str(error)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    sentence = "airtcp-net was built without BPF"
    return sentence if sentence in done.stdout + done.stderr else ""


def browser_core() -> Path:
    """The lab as a module, as `make site` builds it."""
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    made = built / WASM_TARGET / "browser/airtcp_browser.wasm"
    return Path(os.environ.get("AIRTCP_BROWSER_CORE", made))


def _browser_core() -> str:
    module = browser_core()
    if not module.is_file():
        return "the lab's module for browsers is not built: make site"
    sources = [*(ROOT / "crates").glob("*/src/**/*.rs"), ROOT / "Cargo.lock"]
    newest = max(source.stat().st_mtime for source in sources)
    if module.stat().st_mtime < newest:
        return "the lab's module for browsers is older than its sources: make site"
    return ""


def _wasm() -> str:
    target = os.environ.get("AIRTCP_WASM_TARGET", WASM_TARGET)
    command = ["rustc", "--print", "target-libdir", "--target", target]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode == 0 and list(Path(found.stdout.strip()).glob("libcore-*")):
        return ""
    return f"nothing is built for browsers: rustup target add {WASM_TARGET}"


def _kernels() -> str:
    return "" if kernel() else f"no kernel to run in virtual time: {KERNEL}"


def linux_source() -> Path:
    """The kernel tree that the user gives; its files are never part of the repository."""
    return Path(os.environ.get("AIRTCP_LINUX_SOURCE", ""))


def _linux_source() -> str:
    if (linux_source() / "net/ipv4/tcp_cubic.c").is_file():
        return ""
    return "no kernel tree: set AIRTCP_LINUX_SOURCE to one, such as that of apt's linux-source"


def _namespaces() -> str:
    if sys.platform != "linux":
        return "namespaces are Linux's"
    asked = [["unshare", *words, "--net", "true"] for words in ((), ("--map-root-user",))]
    tried = [subprocess.run(words, capture_output=True, text=True, check=False) for words in asked]
    return "" if any(not one.returncode for one in tried) else f"namespaces: {tried[-1].stderr}"


def _root() -> str:
    if sys.platform != "linux" or os.geteuid() != 0:
        return "needs root"
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    except PermissionError:
        return "needs root, and its right to capture"
    return ""


def _tikz() -> str:
    remedy = "apt install texlive-latex-base texlive-pictures"
    if not (shutil.which("pdflatex") and shutil.which("kpsewhich")):
        return f"pdflatex is not installed: {remedy}"
    found = subprocess.run(["kpsewhich", "tikz.sty"], capture_output=True, check=False)
    return "" if found.returncode == 0 else f"pdflatex has no TikZ: {remedy}"


def _tun() -> str:
    try:
        os.close(os.open("/dev/net/tun", os.O_RDWR))
    except OSError as error:
        return f"no TUN devices: {error}"
    return ""


_FEATURES: Mapping[str, Callable[[], str]] = {
    "bpf": _bpf,
    "browser-core": _browser_core,
    "kernels": _kernels,
    "linux-source": _linux_source,
    "namespaces": _namespaces,
    "root": _root,
    "tikz": _tikz,
    "tun": _tun,
    "wasm": _wasm,
}

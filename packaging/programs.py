"""Builds programs of the workspace with cargo, for this machine or, with zig, for a target."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import libelf
from targets import Target

ROOT = Path(__file__).resolve().parent.parent


def environment() -> dict[str, str]:
    """With the programs of this Python's environment first, zig's among them."""
    programs = Path(sys.executable).parent
    return {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"}


def metadata(*options: str) -> dict[str, Any]:
    """The workspace's metadata from cargo."""
    command = ["cargo", "metadata", "--format-version", "1", *options]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, env=environment())
    return cast("dict[str, Any]", json.loads(told.stdout))


def libbpf_sys() -> tuple[Path, str]:
    """The folder and the version of the crate that airtcp-net's BPF is built with."""
    packages = metadata("--features", "airtcp-net/bpf")["packages"]
    (found,) = (one for one in packages if one["name"] == "libbpf-sys")
    return Path(found["manifest_path"]).parent, found["version"]


def build(name: str, profile: str, target: Target | None = None, *, bpf: bool = False) -> Path:
    """Builds a program, stripped, and returns its path.

    Args:
        name: of the program and its package.
        profile: cargo's.
        target: None links for this machine's system.
        bpf: with the kernel's BPF; for a target, libelf and zlib are linked in.
    """
    built = Path(metadata("--no-deps")["target_directory"])
    is_static = target is not None and target.libc == "musl"
    command = ["cargo"] if target is None or is_static else ["cargo-zigbuild"]
    command += ["rustc", "--quiet", "--package", name, "--bin", name, "--profile", profile]
    variables = environment()
    folder = built / profile
    if target is not None:
        command += ["--target", target.triple if is_static else target.zigbuild]
        folder = built / target.triple / profile
    if target is not None and bpf:
        sources, _ = libbpf_sys()
        variables |= libelf.build(sources, built / "libelf" / target.triple, target.zig)
        command += ["--features", "bpf-static"]
    elif bpf:
        command += ["--features", "bpf"]
    # Only of the last crate: the others are built once, stripped or not.
    command += ["--", "-C", "strip=symbols"]
    # Rust has musl for static programs with it, and a linker for every processor.
    command += ["-C", "linker=rust-lld", "-C", "link-self-contained=yes"] if is_static else []
    subprocess.run(command, cwd=ROOT, check=True, env=variables)
    return folder / name

#!/usr/bin/env python3
"""Calls rustc for cargo (RUSTC_WRAPPER), so that symbols have the same names for every target.

Cargo distinguishes crates of one name by a number (`-C metadata`) that changes with the target, the
profile and the features. The number is part of every symbol, and a profile finds functions by their
symbols. The package's version takes its place; if two crates then had the same name, rustc would
refuse them (E0519).
"""

import os
import sys
from collections.abc import Sequence


def by_name(arguments: Sequence[str], version: str) -> list[str]:
    """The arguments of rustc with the package's version as the crate's metadata."""
    return [f"metadata={version}" if one.startswith("metadata=") else one for one in arguments]


def main() -> None:
    """Becomes rustc, which cargo names first."""
    program, *arguments = sys.argv[1:]
    version = os.environ.get("CARGO_PKG_VERSION", "")
    os.execvp(program, [program, *by_name(arguments, version)])


if __name__ == "__main__":
    main()

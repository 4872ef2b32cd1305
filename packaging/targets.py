"""The systems that are built for: Rust's target, and the platform tag of its wheels."""

import platform
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """A processor and a C library of Linux."""

    machine: str
    """As `uname -m` prints it."""
    libc: str
    """"glibc" or "musl"."""

    @property
    def triple(self) -> str:
        """Rust's name."""
        return f"{self.machine}-unknown-linux-{_ABI[self.libc]}"

    @property
    def compatibility(self) -> str:
        """The tag of a wheel without the processor (PEP 600, PEP 656)."""
        return _COMPATIBILITY[self.libc]

    @property
    def tag(self) -> str:
        """The platform tag of a wheel."""
        return f"{self.compatibility}_{self.machine}"

    @property
    def zigbuild(self) -> str:
        """cargo-zigbuild's name: Rust's, with the oldest glibc."""
        return f"{self.triple}{_OLDEST[self.libc]}"

    @property
    def zig(self) -> str:
        """Zig's name, with the oldest glibc."""
        return f"{self.machine}-linux-{_ABI[self.libc]}{_OLDEST[self.libc]}"

    @property
    def has_bpf(self) -> bool:
        """Whether libelf compiles for it: its sources include headers that only glibc has."""
        return self.libc == "glibc"


_ABI = {"glibc": "gnu", "musl": "musl"}
_OLDEST = {"glibc": ".2.28", "musl": ""}
"""glibc of RHEL 8 and Debian 10."""
_COMPATIBILITY = {"glibc": "manylinux_2_28", "musl": "musllinux_1_2"}
TARGETS = tuple(
    Target(machine, libc) for libc in ("glibc", "musl") for machine in ("x86_64", "aarch64")
)
"""The targets of a release."""


def target(triple: str) -> Target:
    """The target of this name.

    Raises:
        ValueError: there is no such target.
    """
    for one in TARGETS:
        if one.triple == triple:
            return one
    known = ", ".join(one.triple for one in TARGETS)
    raise ValueError(f"target {triple!r}: expected one of {known}")


def here() -> str:
    """Rust's name of this machine's target."""
    return f"{platform.machine()}-unknown-linux-gnu"

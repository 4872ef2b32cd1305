"""Capabilities of a kernel, by its configuration and its modules."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_NO_CONTROLS = {"diag", "sigpool"}
"""Modules called tcp_* that are not congestion controls."""

# Always available in a kernel with TCP.
_ALWAYS_CONTROLS = {"reno"}
_ALWAYS_DISCIPLINES = {"pfifo", "bfifo", "pfifo_fast"}


@dataclass(frozen=True)
class Capabilities:
    """Capabilities of a kernel."""

    congestion_controls: tuple[str, ...]
    disciplines: tuple[str, ...]
    bpf: bool
    """Whether it loads congestion controls in BPF (which also need its types, BTF)."""
    mptcp: bool


def capabilities(
    modules: Iterable[str], built_in: Iterable[str], configuration: str
) -> Capabilities:
    """Determines the capabilities of a kernel.

    Args:
        modules: names of its modules.
        built_in: names of the modules that are part of the image.
        configuration: its configuration, as in /boot/config-*; empty if unknown.
    """
    names = {*modules, *built_in, *_chosen(configuration)}
    settings = set(configuration.splitlines())
    return Capabilities(
        tuple(sorted(_ALWAYS_CONTROLS | (_after("tcp_", names) - _NO_CONTROLS))),
        tuple(
            sorted(
                _ALWAYS_DISCIPLINES
                | {name for name in _after("sch_", names) if not name.endswith("_lib")}
            )
        ),
        {"CONFIG_BPF_SYSCALL=y", "CONFIG_BPF_JIT=y", "CONFIG_DEBUG_INFO_BTF=y"} <= settings,
        "CONFIG_MPTCP=y" in settings,
    )


def _after(prefix: str, names: Iterable[str]) -> set[str]:
    return {name.removeprefix(prefix) for name in names if name.startswith(prefix)}


def _chosen(configuration: str) -> set[str]:
    """Built-in congestion controls and disciplines of a configuration, by module name."""
    found = re.findall(r"^CONFIG_(TCP_CONG|NET_SCH)_(\w+)=y$", configuration, re.MULTILINE)
    prefixes = {"TCP_CONG": "tcp_", "NET_SCH": "sch_"}
    others = {"ADVANCED", "FIFO", "DEFAULT"}
    return {prefixes[kind] + name.lower() for kind, name in found if name not in others}

"""Output of `airtcp measure`: the table, what is wrong, the link, and what would help."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from airtcp.cli.console import print_lines
from airtcp.cli.errors import say
from airtcp.core.quantities import format_bit_rate, format_bytes, format_percent
from airtcp.measure.measurement import Measurement
from airtcp.measure.phase import Phase, Times
from airtcp.pages.columns import numbers


@dataclass(frozen=True)
class MeasuredLink:
    """A measurement and what follows from it."""

    found: Measurement
    scenario: str | None
    """The link; None if no direction was loaded."""
    wrong: list[str]
    """Findings on the idle link."""

    def as_json(self, helps: list[str]) -> dict[str, object]:
        """The output of `--json`, with the sentences of the comparison if one was made."""
        return {
            "idle": self.found.idle.as_json(),
            "loaded": [phase.as_json() for phase in self.found.loaded],
            "spent_bytes": self.found.spent_bytes,
            "cut": self.found.is_cut,
            "scenario": self.scenario,
            "compare": helps,
            "what_is_wrong": self.wrong,
        }

    def print(self, written: Path | None) -> None:
        """Prints the measurement, before any remedy is tried.

        Args:
            written: the file of the scenario; None prints it.
        """
        _print_phases(self.found)
        if self.wrong:
            print_lines(["The idle link, by its pings:", *self.wrong])
        if self.scenario is None:
            say("nothing was loaded, so that there is no link to write down")
        elif written:
            say(f"wrote {written}")
        else:
            print(f"\n{self.scenario}")
        sys.stdout.flush()


def print_helps(helps: list[str], note: str) -> None:
    """Prints the answer of the comparison.

    Args:
        helps: its sentences; none if the link is too fast for one.
        note: a message after them.
    """
    if not helps:
        say("every remedy on so fast a link takes minutes: ask `airtcp compare` of --out")
        return
    print_lines(["What helps on such a link, simulated:", *helps])
    if note:
        say(note)


def _print_phases(found: Measurement) -> None:
    phases = (found.idle, *found.loaded)
    head = ("", *(phase.way for phase in phases))
    rows = [
        (name, *(show(phase) for phase in phases))
        for name, show in _ROWS
        if any(show(phase) for phase in phases)
    ]
    print(numbers(head, rows))
    print(f"{format_bytes(found.spent_bytes)} sent and received in all")
    if found.is_cut:
        say("ended by --at-most before the time was over: give more bytes to be surer")


def _three(found: Times | None) -> str:
    if found is None or found.p50_ms is None:
        return ""
    known = (found.p50_ms, found.p95_ms, found.p99_ms)
    return " / ".join(f"{one:.1f}" for one in known if one is not None) + " ms"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"


def _lost(phase: Phase) -> str:
    return "" if phase.ping_lost is None else format_percent(100 * phase.ping_lost)


_ROWS: tuple[tuple[str, Callable[[Phase], str]], ...] = (
    ("goodput", lambda one: "" if one.goodput_bps is None else format_bit_rate(one.goodput_bps)),
    ("connections", lambda one: str(one.connections or "")),
    ("echo, p50 / p95 / p99", lambda one: _three(one.ping)),
    ("echoes lost", _lost),
    ("handshake", lambda one: _three(one.handshake)),
    ("request and answer", lambda one: _three(one.exchange)),
    ("the load's own", lambda one: _three(one.own)),
    ("responsiveness, RPM", lambda one: _number(one.rpm)),
    ("of other connections", lambda one: _number(one.rpm_foreign)),
    ("of its own", lambda one: _number(one.rpm_own)),
    ("confidence", lambda one: one.confidence or ""),
)

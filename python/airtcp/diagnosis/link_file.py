"""The diagnosis of a file with a link's rate: its facts, and the helpful remedies."""

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from airtcp._core import ScenarioError
from airtcp.comparison.ranking.askers import parse_askers
from airtcp.core.quantities import parse_bit_rate, parse_seconds
from airtcp.core.recordings.choices import Choices
from airtcp.core.recordings.imported import ImportedLink, import_link
from airtcp.core.recordings.recording import Recording, read_recording
from airtcp.diagnosis.bloat import Bloat, bloats, shaper_advice
from airtcp.diagnosis.idle_jitter import idle_jitters

if TYPE_CHECKING:
    from airtcp.comparison.compared import Comparison
    from airtcp.comparison.sequential import Rounds

BITS_PER_CPU_S = 75e6
"""Bits of a run for each second of the answer's processor time: several seeds of every remedy then
fit into it.
"""
MIN_DURATION_S = 2.0
_BOUNDS = {
    "target": "the sender's target rate bounds it, and the link may carry more",
    "window": "a window or a buffer bounds it, and the link may carry more",
    "shaper": "a shaper bounds it, and the link may carry more",
    "transfer": "nothing shows that the link was full, and it may carry more",
}


def with_bound(described: str, recordings: Sequence[Recording]) -> list[str]:
    """The description of a file, with the bound of a rate that is not the link's own."""
    bounds = [rates.bound for one in recordings for rates in one.rates]
    bounded = next((_BOUNDS[bound] for bound in bounds if bound in _BOUNDS), None)
    if bounded is None:
        return [described]
    return [
        f"{described.removesuffix('.')}: {bounded}.",
        "The remedies were tried over a link of just that rate.",
    ]


def described_link(imported: ImportedLink, *, rate_is_given: bool) -> list[str]:
    """The file in words, with the bound of a rate that the asker does not know."""
    described = imported.said[0]
    return [described] if rate_is_given else with_bound(described, imported.recordings)


def facts(imported: ImportedLink, queues: Sequence[Bloat], *, rate_is_given: bool) -> list[str]:
    """The first sentences of the answer, which no trial changes: the queues, or the file."""
    if queues:
        # A shaper's effect, which comes next, is a trial.
        return [one.sentence for one in queues]
    jitters = idle_jitters(imported.recordings)
    return [*jitters, *described_link(imported, rate_is_given=rate_is_given)]


@dataclass(frozen=True)
class DiagnosedLink:
    """A link out of a file, and the remedies over it."""

    imported: ImportedLink
    comparison: "Comparison"
    shortened_s: float | None = None
    """Duration of the runs, where the processor time does not suffice for the scenario's."""
    rate_is_given: bool = False
    """The asker knows the link's rate."""
    bloats: tuple[Bloat, ...] = ()
    """The queues that are too long, by decreasing wait: the first decides the comparison."""
    advice: str | None = None
    """A shaper before the longest queue, and its effect there."""

    @property
    def headline(self) -> str:
        """The longest queue, if one is too long; else the file, with the bound of its rate."""
        return self.sentences[0]

    @cached_property
    def sentences(self) -> list[str]:
        """Queues that are too long, the file, the remedies that help, known and unknown facts."""
        from airtcp.comparison.answer import answer

        queues = [one.sentence for one in self.bloats]
        if self.advice is not None:
            queues.append(self.advice)
        queues += idle_jitters(self.imported.recordings)
        described = described_link(self.imported, rate_is_given=self.rate_is_given)
        others = self.imported.said[1:]
        shortened = (
            []
            if self.shortened_s is None
            else [
                f"Each run is of {self.shortened_s:.3g} s, for an answer in little time: --max-cpu "
                "allows longer ones."
            ]
        )
        return [*queues, *described, *answer(self.comparison), *shortened, *others]

    @property
    def deployment(self) -> list[str]:
        """The winner's deployment on a real system; empty without a winner."""
        from airtcp.comparison.deployment import deployment

        return deployment(self.comparison)


def has_rate(path: Path) -> bool:
    """Whether a file that is no capture has a link's rate, such as iperf3's."""
    try:
        return read_recording(path).is_link
    except ScenarioError:
        # Its fault is said by the reading of a ping log.
        return False


def diagnosed_link(
    path: Path,
    can: str = "all",
    progress: Callable[[float, str], object] | None = None,
    *,
    rate: str | None = None,
    rounds: "Rounds | None" = None,
    before_trials: Callable[[list[str]], object] | None = None,
) -> DiagnosedLink:
    """Imports a file and tries every remedy on its link.

    Args:
        path: the file.
        can: the changes open to the asker, as in `--can`.
        progress: called with the share that is done, and the current step.
        rate: the link's rate, where the asker knows it.
        rounds: seeds and processor time of the comparison.
        before_trials: called with the first sentences of the answer before remedies are tried.

    Raises:
        ScenarioError: the file makes no link, or the asker is unknown.
        RunError: a simulation could not be finished.
    """
    parse_askers(can)
    imported = import_link([path], Choices(rate=rate))
    queues = bloats(imported.recordings)
    worst = queues[0] if queues else None
    if worst is not None and worst.direction is not None:
        imported = import_link([path], Choices(rate=rate, direction=worst.direction))
    if before_trials is not None:
        before_trials(facts(imported, queues, rate_is_given=rate is not None))
    # Imported late: the facts do not need the study engine.
    from airtcp.comparison.calmest import LATENCY
    from airtcp.comparison.compare import run_comparison
    from airtcp.diagnosis.ping_answer import ROUNDS

    def told(done: int, cells: int) -> None:
        if progress is not None:
            progress(done / max(cells, 1), "trying remedies")

    bounds = rounds or ROUNDS
    shortened_s = shortened(imported.link.toml, bounds.most_cpu_s)
    settings = None if shortened_s is None else {"duration": f"{shortened_s:.3g} s"}
    with TemporaryDirectory(prefix="airtcp-") as held:
        written = imported.link.write(Path(held))
        compared = run_comparison(
            written,
            metric="goodput" if worst is None else LATENCY,
            settings=settings,
            can=can,
            rounds=bounds,
            harm=True,
            progress=told,
        )
        advice = None if worst is None else shaper_advice(worst, written, settings)
    return DiagnosedLink(
        imported,
        compared,
        shortened_s,
        rate_is_given=rate is not None,
        bloats=tuple(queues),
        advice=advice,
    )


def shortened(toml: str, most_cpu_s: float) -> float | None:
    """The duration of a fast link's runs, in seconds; None if the scenario's is short enough."""
    scenario = tomllib.loads(toml)
    rate = scenario.get("link", {}).get("rate")
    bps = parse_bit_rate(rate) if isinstance(rate, str) else None
    whole_s = parse_seconds(str(scenario.get("duration")))
    if not bps or whole_s is None:
        return None
    affordable_s = max(MIN_DURATION_S, BITS_PER_CPU_S * most_cpu_s / bps)
    return affordable_s if affordable_s < whole_s else None

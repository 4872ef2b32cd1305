"""`airtcp.tune`: the search, then the best on fresh seeds with the harm to others."""

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from airtcp._core import RunError, Scenario, ScenarioError
from airtcp.comparison.budget import Budget
from airtcp.comparison.compare import UnstoredWarning, run_comparison
from airtcp.comparison.compared import Comparison
from airtcp.comparison.competing import competing_plan
from airtcp.comparison.perturbation import perturbed
from airtcp.comparison.ranking import SMALLEST_PERCENT
from airtcp.comparison.ranking.askers import parse_askers
from airtcp.comparison.sequential import MAX_SEEDS, Rounds
from airtcp.core.bpf import Own, with_own
from airtcp.core.catalogue import remedies
from airtcp.core.loading import load_scenario
from airtcp.core.quantities import format_percent
from airtcp.core.registered import refuse_elsewhere
from airtcp.core.registered import remedies as control_remedies
from airtcp.tuning.search import Search, text_of

if TYPE_CHECKING:
    from airtcp.core.control import Factory

MAX_CPU_S = 300.0
"""Bound on the processor time of search and final comparison, in seconds."""
SHARE = 0.6
"""Share of the processor time for the search; the rest is for the final comparison."""

Progress = Callable[[float, str], object]
"""Called with the share of the processor time spent, and the current round in words."""


@dataclass(frozen=True)
class Tuned:
    """The outcome of tuning."""

    comparison: Comparison
    """The finalists on fresh seeds; their intervals hold jointly."""
    tried: int
    """How many settings and combinations ran."""
    rounds: tuple[str, ...]
    """The tries of each round of the search."""
    left_out: tuple[str, float, float] | None
    """The best of all, if it takes much from a competing flow: its name, gain and harm on the
    seeds of the search, in per cent.
    """
    failed: Mapping[str, str]
    """Settings of a user-written control with which a run ended early, and why."""
    stopped: str
    """Why the search ended early; empty if it did not."""
    unstored: OSError | None = None
    """Why finished runs of the search or of the comparison could not be stored."""

    @property
    def best(self) -> str | None:
        """The best setting that the asker can deploy, as `--remedy` takes it."""
        return self.comparison.winner

    @property
    def notes(self) -> list[str]:
        """How the setting was found, in sentences."""
        lines = []
        if self.left_out is not None:
            name, gain, harm = self.left_out
            lines.append(
                f"Left out: {name} brings {format_percent(gain)} on the seeds of the search, but "
                f"takes {format_percent(-harm)} of the goodput of a competing flow without it "
                "(--harmful allows it)."
            )
        finalists, seeds = len(self.comparison.remedies) - 1, len(self.comparison.seeds)
        lines.append(
            f"{self.tried} settings and combinations were searched; the best {finalists} ran again "
            f"on {seeds} fresh seeds, and every figure is of these."
        )
        if self.failed:
            first, why = next(iter(self.failed.items()))
            others = f" and {len(self.failed) - 1} more" if len(self.failed) > 1 else ""
            lines.append(f"Left out: {first}{others}, with which a run ends early: {why}.")
        if self.stopped:
            lines.append(f"The search ended early: {self.stopped}.")
        return lines


def tune(
    scenario: Scenario | str | os.PathLike[str],
    names: Sequence[str] = (),
    settings: dict[str, object] | None = None,
    *,
    metric: str = "goodput",
    can: str = "all",
    smallest: float = SMALLEST_PERCENT,
    max_cpu_s: float = MAX_CPU_S,
    max_seeds: int = MAX_SEEDS,
    harmful: bool = False,
    bpf: Own = None,
    control: "Factory | Sequence[Factory] | None" = None,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Tuned:
    """Searches parameters and combinations of two or three remedies for one link.

    Args:
        scenario: a path, TOML text, or a `Scenario` (see `load_scenario`).
        names: remedies of the catalogue to search among; empty takes all that apply to the link.
        settings: dotted key to value, applied to every run.
        metric: the metric that decides, one of `airtcp.comparison.metrics.METRICS`.
        can: what you may change, as in `airtcp.compare`.
        smallest: the smallest effect worth having, in per cent.
        max_cpu_s: bound on the processor time, in seconds.
        max_seeds: maximum number of fresh seeds.
        harmful: whether settings may take over a tenth of a competing flow's goodput.
        bpf: a congestion control for the kernel's BPF, `my.bpf.o` or `my.bpf.c`, to search among
            too, with its constants as parameters.
        control: congestion controls in Python, one class or several, to search among too: with the
            numbers of `__init__` that have defaults as parameters. Values for which `__init__`
            raises an exception are not tried. Their runs are not stored.
        out: a folder for finished runs, from which an interrupted search goes on.
        jobs: number of parallel runs; None takes the processors this process may use.
        progress: called after each round.

    Raises:
        ScenarioError: the scenario, a setting or a remedy is wrong; before anything runs.
        RunError: nothing can be tuned here, or a run could not be finished.
        OSError: `out` cannot be created or written. If it is full later, the result has the error
            as `unstored`, with a warning.
    """
    known = {entry["name"] for entry in remedies()}
    for name in names:
        if name not in known:
            raise ScenarioError(f'remedy "{name}": unknown; `airtcp list remedies` lists them')
    own = with_own((), bpf)
    if control is not None:
        refuse_elsewhere(out=out)
        own += tuple(control_remedies(control))
    parse_askers(can)
    budget = Budget(SHARE * max_cpu_s)
    written = load_scenario(scenario, settings)
    link = written if "perturb" in (settings or {}) else perturbed(written)
    refused: list[OSError] = []

    def stored(compared: Comparison) -> Comparison:
        if compared.unstored is not None:
            refused.append(compared.unstored)
        return compared

    def run(texts: Sequence[str], seeds: Sequence[int]) -> Comparison:
        def told(finished: int, cells: int) -> None:
            budget.check()
            if progress:
                share = min(1.0, budget.spent_s / max_cpu_s)
                progress(share, f"searching: {finished} of {cells} runs of this round")

        return stored(
            run_comparison(
                link, texts, list(seeds), metric=metric, can=can, out=out, jobs=jobs, progress=told
            )
        )

    def harm(texts: Sequence[str], seeds: Sequence[int]) -> Mapping[str, float]:
        competing = competing_plan(link, texts, seeds)
        if not competing.plan:
            return {}
        runs = stored(
            run_comparison(link, texts, list(seeds), metric="harm", can=can, out=out, jobs=jobs)
        )
        return {name: one.mean_percent or 0.0 for name, one in runs.compared("harm").items()}

    search = Search(
        link,
        run,
        budget,
        can,
        smallest,
        None if harmful else harm,
        tuple(names),
        own,
    )
    finalists = [text_of(one) for one in search.run()]
    if not finalists and search.stopped:
        raise RunError(
            f"the first round takes more than {SHARE:.0%} of {max_cpu_s:g} s of processor time: "
            "allow more (--max-cpu), name fewer remedies (--with), or shorten the runs (--set "
            '"duration=10 s")'
        )
    if not finalists:
        raise RunError(
            "no remedy that you can deploy applies to this link: widen --can, or name others with "
            "--with"
        )
    left = max(1.0, max_cpu_s - budget.spent_s)

    def last(finished: int, cells: int) -> None:
        if progress:
            share = min(1.0, (max_cpu_s - left + (budget.spent_s - begun)) / max_cpu_s)
            progress(share, f"on fresh seeds: {finished} of {cells} runs")

    begun = budget.spent_s
    compared = stored(
        run_comparison(
            link,
            finalists,
            metric=metric,
            can=can,
            smallest=smallest,
            rounds=Rounds(max_seeds, left),
            harm=True,
            horizon=True,
            chosen_from=len(search.scores),
            out=out,
            jobs=jobs,
            progress=last,
        )
    )
    if refused:
        warnings.warn(f"{refused[0]}", UnstoredWarning, stacklevel=2)
    return Tuned(
        compared,
        len(search.scores),
        tuple(search.rounds),
        search.left_out,
        search.failed,
        search.stopped,
        refused[0] if refused else None,
    )

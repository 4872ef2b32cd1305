"""The runs of the demonstration."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory

from airtcp._core import RunError, ScenarioError
from airtcp.comparison.compare import compare
from airtcp.comparison.compared import Comparison
from airtcp.comparison.everything import ALL
from airtcp.comparison.sequential import Rounds
from airtcp.core import shipped
from airtcp.core.loading import load_scenario
from airtcp.core.runs import Run, run
from airtcp.pages.demonstration.kernel import Trial, try_on_kernel
from airtcp.pages.demonstration.wrong import capacity_bps, what_is_wrong
from airtcp.pages.plot import TIMELINE_PROBES

_LINK, _OTHER = "satellite-upload", "far-laptop"
_PICTURE = {"duration": "30 s"}
"""Short enough to distinguish each spike of the link and each timeout."""
_SEED = 1
"""Seed of the run in the picture and its sentence; the first of the comparison."""
_ROUNDS = Rounds(most_seeds=20, most_cpu_s=60.0)
"""Effects not decided in a minute on two cores are reported as undecided."""
_SHIPPED_ROUNDS = Rounds(first=20, most_seeds=20)
"""Losses vary much from seed to seed: the first round is large enough for narrow intervals."""

Report = Callable[[float, str], object]
"""Takes the finished share, 0 to 1, and the current step."""


@dataclass(frozen=True)
class Observed:
    """Today's sender on a link for some seconds, observed."""

    run: Run
    capacity_bps: float | None
    """Capacity of the link, in bits a second; None for recorded round trips, without a rate."""

    @property
    def wrong(self) -> str:
        """The link's problem, in a sentence about this run."""
        return what_is_wrong(self.run, self.capacity_bps)


@dataclass(frozen=True)
class Story:
    """Findings of the demonstration."""

    log: Path | None
    """The user's ping log of the story; None for a link that comes with airtcp."""
    observed: Observed
    """The link's picture and its problem."""
    link: Comparison
    """Every remedy tried on the link."""
    kernel: Trial | None
    """The link's best remedy on a kernel; None if not tried."""
    other: Comparison | None
    """Every remedy on a second link; None if the story is about a log."""
    other_observed: Observed | None
    """The problem of the second link."""
    said: tuple[str, ...] = ()
    """The diagnosis of a ping log, the headline first; empty for another link."""


def tell(
    folder: Path,
    report: Report,
    *,
    log: Path | None = None,
    can: str = "all",
    seeds: int | None = None,
    rate_bps: float | None = None,
    kernel: bool = True,
) -> Story:
    """Runs the demonstration; runs found in `folder` are not repeated.

    Args:
        folder: a folder for finished runs.
        report: called with the progress.
        log: a ping log as the subject; None takes a link that comes with airtcp.
        can: changes that the reader can make, as in `--can`.
        seeds: seeds of each remedy; None runs rounds until the answer is decided.
        rate_bps: the rate of the log's link; None tries a range.
        kernel: whether the best remedy is tried on a kernel, too, if one is there.

    Raises:
        AirtcpError: the log cannot be read, or a run could not be finished.
        OSError: the folder cannot be written.
    """
    if log is not None:
        return _of_log(log, report, can, seeds, rate_bps)

    def searched(
        name: str,
        settings: Mapping[str, object],
        kept: Path,
        begin: float,
        end: float,
        rounds: Rounds = _ROUNDS,
    ) -> Comparison:
        return compare(
            name,
            [ALL],
            seeds,
            settings,
            can=can,
            rounds=None if seeds else rounds,
            harm=True,
            horizon=True,
            out=kept,
            progress=lambda done, cells: report(
                begin + (end - begin) * done / cells, f"every remedy on {name}"
            ),
        )

    report(0.0, "a link, as today's sender lives it")
    observed = _observed(_LINK, {})
    link = searched(_LINK, {}, folder / "link", 0.02, 0.4, _SHIPPED_ROUNDS)
    report(0.4, "its best remedy on a kernel")
    tried = try_on_kernel(shipped.shipped("scenarios")[_LINK], link.ranking) if kernel else None
    other_observed = _observed(_OTHER, {})
    other = searched(_OTHER, {}, folder / "other", 0.6, 1.0, _SHIPPED_ROUNDS)
    return Story(None, observed, link, tried, other, other_observed)


def _observed(name: str, settings: Mapping[str, object]) -> Observed:
    """Observes today's sender over the whole run that the sentences describe."""
    observed = run(load_scenario(name, settings), _SEED, probes=TIMELINE_PROBES, rtts=True)
    return Observed(observed, capacity_bps(name, settings, _SEED))


def _of_log(
    log: Path, report: Report, can: str, seeds: int | None, rate_bps: float | None
) -> Story:
    """The story of a ping log: its diagnosis, and a picture of its link."""
    from airtcp.diagnosis.ping_result import diagnose_ping

    rounds = Rounds(first=seeds, most_seeds=seeds) if seeds else None
    with _named_log(log):
        found = diagnose_ping(
            log,
            can,
            lambda share, words: report(0.95 * share, words),
            rate_bps=rate_bps,
            rounds=rounds,
        )
        if found.comparison is None:
            raise ScenarioError(found.log.refusal or f"no remedy was tried: {found.untried}")
        report(0.95, "its link, as today's sender lives it")
        with TemporaryDirectory(prefix="airtcp-") as held:
            scenario = load_scenario(found.link.write(Path(held)), _PICTURE)
        picture = run(scenario, probes=TIMELINE_PROBES, rtts=True)
    compared = found.comparison
    link = Comparison(**{one.name: getattr(compared, one.name) for one in fields(compared)})
    report(1.0, "done")
    return Story(log, Observed(picture, None), link, None, None, None, tuple(found.sentences))


@contextmanager
def _named_log(log: Path | None) -> Iterator[None]:
    """Makes errors name the option of the log."""
    try:
        yield
    except (ScenarioError, RunError) as error:
        if log is None:
            raise
        reason = str(error).removeprefix(f"{log}: ")
        raise type(error)(f"--link {log}: {reason}") from error

"""How the answer to a ping log turns with what a ping does not show: losses, and the rate."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from airtcp.study.answer import answer
from airtcp.study.compare import ComparedRuns
from airtcp.study.comparison_plan import comparison_plan
from airtcp.study.execute import execute

LOSS = 0.01
"""The loss that a log without any is tried with."""
WINDOW = 64
"""The window in segments that stands for a faster link than the scenario's."""
_SEEDS = 10


@dataclass(frozen=True)
class Sensitivity:
    """The answer under another assumption."""

    assumption: str
    """As a sentence begins: "With 1 % of the packets lost"."""
    comparison: ComparedRuns

    @property
    def sentence(self) -> str:
        """The answer in a sentence."""
        said = answer(self.comparison)[0]
        return f"{self.assumption}: {said}"


def sensitivities(
    comparison: ComparedRuns, scenario: str, settings: Mapping[str, object], lost: int
) -> Iterator[Sensitivity]:
    """The remedies within the asker's reach under other assumptions, on ten seeds each.

    Args:
        comparison: every remedy over the log.
        scenario: the scenario that plays it back.
        settings: its settings.
        lost: the probes of the log that got no answer: they are its loss, and no other is tried.

    Raises:
        RunError: a simulation could not be finished.
    """
    names = [one.remedy for one in comparison.ranking.deployable]
    if not names:
        return
    assumptions: list[tuple[str, str, float]] = [
        (f"With a window of {WINDOW} segments", "tcp.max_window", WINDOW)
    ]
    if lost == 0:
        lossy = (f"With {100 * LOSS:g} % of the packets lost", "link.loss.rate", LOSS)
        assumptions.insert(0, lossy)
    for words, key, value in assumptions:
        planned = comparison_plan(scenario, names, _SEEDS, {**settings, key: value})
        compared = planned.result(execute(planned.plan))
        # All that the asker can deploy is tried: the intervals hold for all of them at once.
        yield Sensitivity(
            words,
            replace(compared, is_search=True, can=comparison.can, smallest=comparison.smallest),
        )

"""The same two sides over many seeds: a point for each, and their combined result."""

import time

from airtcp import _core
from airtcp.comparison.execute import processors
from airtcp.comparison.ranking import SMALLEST_PERCENT, State
from airtcp.comparison.seeds_needed import seeds_needed
from airtcp.comparison.state_of import state_of
from airtcp.comparison.statistics import PairedDifference, paired_difference
from airtcp.comparison.words import remedy_sentence
from airtcp.core.summary import parse_summary
from airtcp.lab.play import MAX_WALL_S, Send
from airtcp.lab.requests import Cloud
from airtcp.lab.sources import Sources


def cloud(sources: Sources, request: Cloud, send: Send) -> None:
    """Runs every seed for every side; sends a `seed` message when both of its runs are finished.

    The last message, `verdict`, has the paired difference of the second side against the first.

    Raises:
        ScenarioError: the link, a setting or a remedy is wrong.
        RunError: a run could not be finished.
    """
    scenarios = [
        sources.scenario(request.source, request.settings, remedy).scenario
        for remedy in request.sides
    ]
    seeds = range(1, request.seeds + 1)
    cells = [(scenario, seed) for seed in seeds for scenario in scenarios]
    begun = time.monotonic()
    goodput: list[float | None] = [None] * len(cells)
    timeouts: list[int] = [0] * len(cells)

    def on_done(index: int, result: _core.RunResult) -> None:
        if time.monotonic() - begun > MAX_WALL_S:
            raise _core.RunError(
                f"these seeds take longer than {MAX_WALL_S:g} s: choose fewer, or a shorter "
                "duration"
            )
        summary = parse_summary(result.summary())
        goodput[index] = summary["goodput_bps"]
        timeouts[index] = sum(flow["timeouts"] for flow in summary["flows"])
        first = index - index % len(scenarios)
        own = slice(first, first + len(scenarios))
        if all(one is not None for one in goodput[own]):
            send(
                {
                    "kind": "seed",
                    "seed": seeds[index // len(scenarios)],
                    "goodput_bps": goodput[own],
                    "timeouts": timeouts[own],
                }
            )

    for result in _core.run_many(cells, processors(), on_done):
        if isinstance(result, _core.RunError):
            raise result
    if len(scenarios) == 2:
        found = [one for one in goodput if one is not None]
        difference = paired_difference(found[::2], found[1::2], is_ratio=True)
        refusal = sources.drops.refusal(request.source)
        sentence = f"Not judged. {refusal}" if refusal else sentence_of(difference)
        send({"kind": "verdict", "sentence": sentence})


def sentence_of(difference: PairedDifference) -> str:
    """The effect of the second side by these seeds, and whether it is decided."""
    sentence = remedy_sentence("B", difference)
    known = state_of(difference)
    if known is State.EXCLUDED and difference.mean:
        return f"{sentence.removesuffix('.')}: less than {SMALLEST_PERCENT:g} %, not worth having."
    if known is State.UNDECIDED and (seeds := seeds_needed(difference, SMALLEST_PERCENT)):
        return f"{sentence.removesuffix('.')}: about {seeds} seeds would decide."
    return sentence

"""The same two sides over many seeds: a point for each, and their combined result."""

import time

from airtcp import _core
from airtcp.comparison.execute import processors
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
        refusal = sources.drops.refusal(request.source)
        judged = _core.lab_verdict(found[::2], found[1::2])
        sentence = f"Not judged. {refusal}" if refusal else judged
        send({"kind": "verdict", "sentence": sentence})

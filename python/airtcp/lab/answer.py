"""Remedies that help on a link, for an asker and an aim: every remedy, ranked as by `compare`."""

import json
import time

from airtcp._core import RunError
from airtcp.comparison.compare import run_comparison
from airtcp.comparison.compared import Comparison
from airtcp.comparison.metrics import METRICS
from airtcp.comparison.ranking import Candidate, State
from airtcp.comparison.ranking.aims import COMPANIONS, Aim
from airtcp.comparison.ranking.places import places_of
from airtcp.comparison.sequential import Rounds
from airtcp.comparison.verdict import verdict
from airtcp.comparison.words import amount, state_words
from airtcp.core.quantities import format_percent
from airtcp.lab.play import MAX_WALL_S, Send
from airtcp.lab.requests import Ask
from airtcp.lab.sources import Sources

ROUNDS = Rounds(most_seeds=20, most_cpu_s=30.0)
"""The user waits: effects not decided by then are reported as undecided."""
_MAX_ROWS = 10


def answer(sources: Sources, request: Ask, send: Send) -> None:
    """Tries every remedy that applies to the link, in rounds.

    Messages: `progress`; then `answer` with the sentences of `airtcp compare` and a row for each
    remedy worth one, or `refusal` if no remedy can be judged on the link.

    Raises:
        ScenarioError: the link, a setting or an asker is wrong.
        RunError: a run could not be finished, or they take too long.
    """
    if refusal := sources.drops.refusal(request.source):
        send({"kind": "refusal", "sentence": refusal})
        return
    settings = dict(request.settings)
    if request.aim is not Aim.BULK:
        # Probes under load decide.
        settings.setdefault("flows.under_load", json.dumps(COMPANIONS))
    chosen = sources.scenario(request.source, settings)
    begun = time.monotonic()

    def progress(done: int, runs: int) -> None:
        if time.monotonic() - begun > MAX_WALL_S:
            raise RunError(
                f"trying every remedy takes longer than {MAX_WALL_S:g} s here: choose a "
                "shorter duration, or ask `airtcp compare`"
            )
        send({"kind": "progress", "done": done, "runs": runs})

    found = run_comparison(
        chosen.scenario,
        metric=request.aim.metric,
        can=request.can,
        rounds=ROUNDS,
        harm=True,
        horizon=True,
        progress=progress,
    )
    lines = verdict(found)
    send(
        {
            "kind": "answer",
            "headline": lines[0],
            "sentences": lines[1:],
            "seeds": len(found.seeds),
            "metric": METRICS[request.aim.metric].label,
            "rows": _rows(found),
        }
    )


def _rows(found: Comparison) -> list[dict[str, object]]:
    """Remedies that help or may help, best first, one row for remedies with identical runs."""
    ranking = found.ranking
    rows: list[dict[str, object]] = []
    seen: set[tuple[str, ...]] = set()
    for one in ranking.candidates:
        alike = found.alike[one.remedy]
        if alike in seen or not (one.helps or one.state is State.UNDECIDED):
            continue
        seen.add(alike)
        rows.append(
            {
                "remedy": one.remedy,
                "name": found.row_name(one.remedy),
                "gain": amount(found.decisive[one.remedy], sign=True),
                "state": state_words(one.state, one.seeds_to_decide),
                "place": places_of(one.remedy),
                "is_yours": one.is_deployable(ranking.reach.spots),
                "harm": _harm(one),
            }
        )
    shown = rows[:_MAX_ROWS]
    # The headline names the asker's best, which other senders may have pushed out.
    if not any(row["is_yours"] for row in shown):
        shown += [row for row in rows if row["is_yours"]][:1]
    return shown


def _harm(one: Candidate) -> str:
    if one.floods:
        return "floods the link"
    if one.harm is None or not one.harms_others_much:
        return ""
    return f"{format_percent(one.harm, decimals=0)} for an unchanged competing flow"

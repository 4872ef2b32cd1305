"""Options of a diagnosis of a ping log, and options that only captures have."""

from dataclasses import replace
from typing import TYPE_CHECKING

from airtcp._core import ScenarioError
from airtcp.comparison.ranking.aims import Aim

if TYPE_CHECKING:
    from airtcp.comparison.sequential import Rounds


def refuse_options_of_captures(
    sender: str | None,
    worth_percent: float | None,
    aim: Aim = Aim.BULK,
    flow: int | None = None,
    view: str | None = None,
) -> None:
    """Refuses options without effect on the diagnosis of a ping log.

    Raises:
        ScenarioError: such an option was given.
    """
    if sender is not None:
        raise ScenarioError(
            "--sender is for captures; a ping log shows no sender, and a current Linux one is "
            "taken: leave it out"
        )
    if flow is not None or view is not None:
        name = "--flow" if flow is not None else "--view"
        raise ScenarioError(f"{name} is for captures; a ping log holds no flows: leave it out")
    if worth_percent is not None:
        raise ScenarioError(
            "--worth is for captures; a ping log's remedies are judged as `airtcp compare` does: "
            "leave it out"
        )
    if aim is not Aim.BULK:
        raise ScenarioError(
            f"--for {aim} is for captures; a ping log's remedies are judged by their goodput: "
            "leave it out"
        )


def ping_rounds(seeds: int | None, max_cpu_s: float | None) -> "Rounds | None":
    """The rounds over a ping log with `seeds` and `max_cpu_s`; None for the default.

    Raises:
        ScenarioError: a single seed, which gives no interval.
    """
    if seeds is None and max_cpu_s is None:
        return None
    if seeds is not None and seeds < 2:
        raise ScenarioError(f"--seeds {seeds}: expected 2 or more for a ping log")
    # Imported late: refusals do not need the study engine.
    from airtcp.diagnosis.ping_answer import ROUNDS

    return replace(
        ROUNDS,
        most_seeds=ROUNDS.most_seeds if seeds is None else seeds,
        most_cpu_s=ROUNDS.most_cpu_s if max_cpu_s is None else max_cpu_s,
    )

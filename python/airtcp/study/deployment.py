"""The last step after a comparison: how its best remedy is had on a real system."""

from shlex import quote

from airtcp.catalogue import deployments
from airtcp.study.compare import ComparedRuns
from airtcp.study.statistics import Outcome


def deployment(comparison: ComparedRuns) -> list[str]:
    """Sentences on each part of the best remedy, and the command that does it.

    Empty where none is shown to raise the goodput.
    """
    best = comparison.best
    goodput = comparison.differences[best]["goodput_bps"]
    # Where nothing is drawn at random there is no interval, and the difference is what it is.
    is_drawn = len(comparison.seeds) == 1 or goodput.outcome is not Outcome.NO_INTERVAL
    if goodput.outcome is not Outcome.HIGHER and (is_drawn or goodput.mean <= 0):
        return []
    parts = deployments(best)
    lines = [f"Deploying {part['name']}: {part['text']}" for part in parts]
    if all(part["on_a_host"] for part in parts):
        lines.append(
            "`airtcp verify` tries it on this machine's kernel; "
            f"`airtcp deploy {quote(best)} --all --dry-run` prints what it changes here, and "
            "without --dry-run does it until `airtcp undeploy`."
        )
    return lines

"""The last step after a comparison: how its best remedy is had on a real system."""

from shlex import quote

from airtcp.catalogue import deployments
from airtcp.study.compare import ComparedRuns
from airtcp.study.metrics import METRICS
from airtcp.study.statistics import Outcome
from airtcp.study.verdict import amount


def deployment(comparison: ComparedRuns) -> list[str]:
    """Sentences on each part of the best remedy, and the command that does it.

    Empty where none is shown to help.
    """
    best = comparison.best
    gain = comparison.decisive[best]
    # Where nothing is drawn at random there is no interval, and the difference is what it is.
    is_drawn = len(comparison.seeds) == 1 or gain.outcome is not Outcome.NO_INTERVAL
    better = gain.mean if METRICS[comparison.metric].is_better_higher else -gain.mean
    if not comparison.is_better(best) and (is_drawn or better <= 0):
        return []
    parts = deployments(best)
    lines = [f"Deploying {part['name']}: {part['text']}" for part in parts]
    chosen: str | None = best
    if not all(part["on_a_host"] for part in parts):
        chosen = best_on_a_host(comparison)
        if chosen is not None:
            size = amount(comparison.decisive[chosen], sign=True)
            lines += [
                f"The best that an end of the connections can have is {chosen} ({size}): "
                f"{part['text']}"
                for part in deployments(chosen)
            ]
    if chosen is not None:
        lines.append(
            "`airtcp verify` tries it on this machine's kernel; "
            f"`airtcp deploy {quote(chosen)} --all --dry-run` prints what it changes here, and "
            "without --dry-run does it until `airtcp undeploy`."
        )
    return lines


def best_on_a_host(comparison: ComparedRuns) -> str | None:
    """The best remedy shown to help that `airtcp deploy` can have; None where there is none."""
    for remedy in comparison.ranked:
        if comparison.is_better(remedy) and all(part["on_a_host"] for part in deployments(remedy)):
            return remedy
    return None

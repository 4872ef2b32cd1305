"""The last step after a comparison: how its best remedy is had on a real system."""

from shlex import quote

from airtcp.catalogue import deployments
from airtcp.study.compare import ComparedRuns


def deployment(comparison: ComparedRuns) -> list[str]:
    """Sentences on each part of the best remedy, and the command that does it.

    Empty where no remedy raises the goodput.
    """
    best = comparison.best
    if comparison.differences[best]["goodput_bps"].mean <= 0:
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

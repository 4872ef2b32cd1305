"""The last step after a comparison: how to deploy the named remedies on a real system."""

from airtcp.comparison.compared import Comparison
from airtcp.comparison.ranking import Candidate, Ranking
from airtcp.comparison.words import amount
from airtcp.core.bpf import as_words
from airtcp.core.catalogue import deployments


def deployment(comparison: Comparison) -> list[str]:
    """Sentences on each part of the remedies named by the verdict, and the command for the best.

    Empty if it names no remedy.
    """
    best = comparison.winner
    chosen: str | None = best
    named = comparison.named if comparison.is_search else (best,) if best else ()
    lines = []
    for name in named:
        lines += deployed(name) + size_of(comparison, name)
        if name == best and not is_on_a_host(name):
            other = best_on_a_host(comparison.ranking)
            chosen = None if other is None else other.remedy
            if chosen is not None and chosen not in named:
                size = amount(comparison.decisive[chosen], sign=True)
                lines += [
                    f"The best remedy for an end host is {chosen} ({size}): {part['text']}"
                    for part in deployments(chosen)
                ]
                lines += size_of(comparison, chosen)
    if chosen is not None:
        lines.append(
            "`airtcp verify` tries it on this machine's kernel; "
            f"`airtcp deploy {as_words(chosen)} --all --dry-run` prints what it changes here, and "
            "without --dry-run does it until `airtcp deploy --undo`."
        )
    return lines


def deployed(remedy: str) -> list[str]:
    """Sentences on each part of a combination."""
    return [f"Deploying {part['name']}: {part['text']}" for part in deployments(remedy)]


def size_of(comparison: Comparison, remedy: str) -> list[str]:
    """The origin of a remedy's size, in one line; empty if it has no size."""
    reason = comparison.sized.get(remedy)
    return [] if reason is None else [f"Its size, {remedy.partition(':')[2]}: {reason}."]


def is_on_a_host(remedy: str) -> bool:
    """Whether `airtcp deploy` can apply a combination at an end of the connections."""
    return all(part["on_a_host"] for part in deployments(remedy))


def best_on_a_host(ranking: Ranking) -> Candidate | None:
    """The first remedy of a ranking that helps and that `airtcp deploy` can apply, or None."""
    return next((one for one in ranking.candidates if one.helps and is_on_a_host(one.remedy)), None)

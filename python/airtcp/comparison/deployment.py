"""The last step after a comparison: how to deploy the named remedies on a real system."""

from dataclasses import dataclass

from airtcp.comparison.compared import Comparison
from airtcp.comparison.ranking import Candidate, Ranking
from airtcp.comparison.ranking.deployable import ways_of
from airtcp.comparison.words import amount
from airtcp.core.bpf import as_words
from airtcp.core.catalogue import Way, deployments

_MACHINES = {
    "sender": "on the sender",
    "receiver": "on the receiver",
    "both-ends": "at both ends",
    "before-link": "on the machine that transmits onto the link, by its DEVICE,",
}
"""Where `airtcp deploy` deploys a way, by its place on the path."""
_OF_A_DEVICE = {"qdisc", "radio-file"}
"""Steps that change a device rather than connections."""
_BY_HAND = {"retry-limit"}
"""Steps that `airtcp deploy` leaves to the reader."""
_PACING = "SO_MAX_PACING_RATE"
"""The option of a socket that `airtcp deploy` sets; programs set all others themselves."""


@dataclass(frozen=True)
class Command:
    """A command that deploys part of a combination."""

    where: str
    """The machine, in words."""
    words: str
    """The command line, without --dry-run."""


def deployment(comparison: Comparison) -> list[str]:
    """Sentences on each part of the remedies named by the verdict, and the command for the best.

    Empty if it names no remedy.
    """
    best = comparison.winner
    named = comparison.named if comparison.is_search else (best,) if best else ()
    lines = []
    with_commands = [best] if best is not None and commands(best) else []
    for name in named:
        lines += deployed(name) + size_of(comparison, name)
        if name == best and not is_on_a_host(name):
            other = best_on_a_host(comparison.ranking)
            if other is None:
                continue
            if commands(other.remedy):
                with_commands.append(other.remedy)
            if other.remedy not in named:
                size = amount(comparison.decisive[other.remedy], sign=True)
                lines += [
                    f"The best remedy for an end host is {other.remedy} ({size}): {part['text']}"
                    for part in deployments(other.remedy)
                ]
                lines += size_of(comparison, other.remedy)
    offers = [by_command(name) for name in with_commands]
    if offers:
        first = offers[0] if offers[0].startswith("`") else offers[0][0].lower() + offers[0][1:]
        if is_verifiable(with_commands[0]):
            offers[0] = f"`airtcp verify` tries it on this machine's kernel; {first}"
    return [*lines, *offers]


def by_command(remedy: str) -> str:
    """A sentence with the commands that deploy a combination, one for each machine."""
    each = commands(remedy)
    undo = "without --dry-run does it until `airtcp deploy --undo`"
    if [one.words.endswith("--all") for one in each] == [True]:
        return f"`{each[0].words} --dry-run` prints what it changes here, and {undo}."
    listed = " and ".join(f"{one.where} `{one.words} --dry-run`" for one in each)
    verb = "prints what it changes" if len(each) == 1 else "print what they change"
    return f"{listed[0].upper()}{listed[1:]} {verb}; {undo}."


def commands(remedy: str) -> list[Command]:
    """The commands that deploy a combination, one a machine; empty if a part has no deployment."""
    by: dict[tuple[str, str], list[str]] = {}
    for part in remedy.split("+"):
        ways = [way for way in ways_of(part) if not _BY_HAND & _kinds(way) and not _is_left(way)]
        if not ways:
            return []
        # A change of connections needs no device's name.
        way = min(ways, key=lambda way: bool(_OF_A_DEVICE & _kinds(way)))
        if way["steps"]:
            target = "--device DEVICE" if _OF_A_DEVICE & _kinds(way) else "--all"
            by.setdefault((_MACHINES.get(way["at"], way["at"]), target), []).append(part)
    return [
        Command(where, f"airtcp deploy {as_words('+'.join(parts))} {target}")
        for (where, target), parts in by.items()
    ]


def is_verifiable(remedy: str) -> bool:
    """Whether `airtcp verify` can try a combination: its programs set no options but pacing."""
    return all(any(not any(_programs(way)) for way in ways_of(part)) for part in remedy.split("+"))


def _programs(way: Way) -> list[bool]:
    """For each step, whether the program with the socket has to take it."""
    return [step["kind"] == "socket-option" and step["name"] != _PACING for step in way["steps"]]


def _is_left(way: Way) -> bool:
    """Whether all steps of a way are left to programs."""
    left = _programs(way)
    return bool(left) and all(left)


def _kinds(way: Way) -> set[str]:
    return {str(step["kind"]) for step in way["steps"]}


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

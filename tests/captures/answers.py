"""First sentences judged: what the truth of a case has them name, and what it forbids.

A sentence is wrong where it names what the link does not have, or promises that nothing is worth it
where something is. A refusal is due where the capture does not hold what a ranking would need.
"""

from dataclasses import dataclass

from cases import Case

WORDS = {
    "loss": "loses",
    "stops": "stands still",
    "policer": "policer",
    "managed": "keeps its delay short",
    "queue": "shorter than a round trip",
    "rate": "the link's rate",
    "shared": "thers use",
    "receiver": "receiver's window",
    "application": "application",
    "late": "late, behind others",
    "waits": "data waits",
    "wifi": "Wi-Fi link",
    "full": "already gets",
    "sender's clock": "timestamps",
    "hole": "never arrive",
    "writes": "Small writes",
    "buffer": "buffer holds the flow",
    "other way": "Traffic the other way",
    "path": "the path changes",
}
"""What a first sentence names, and words by which it does."""
REFUSED = "No remedy is recommended"


@dataclass(frozen=True)
class Right:
    """What a right first sentence is."""

    names: tuple[str, ...]
    """Of these it names one at least."""
    may: tuple[str, ...] = ()
    """Of all others it names none."""
    is_refusal_due: bool | None = False
    """None where either is right."""


LOSSES = Right(("loss", "full", "waits"), ("rate", "queue"))
QUEUE = Right(("full", "waits", "queue"), ("rate",))
STOPS = Right(("stops",), ("full", "waits", "rate", "queue"))
RATE = Right(("rate",), ("full", "waits", "loss", "queue"))
SHARED = Right(("shared",), ("full", "waits", "rate", "queue"))
MANAGED = Right(("full", "managed"), ("waits", "rate"))
RADIO = Right(("loss", "full", "waits"), ("rate", "queue", "managed"))

KINDS = {
    "iid": LOSSES,
    "iid elsewhere": LOSSES,
    "bursts": LOSSES,
    "tail drop": QUEUE,
    "both losses": Right(("loss", "full", "waits", "queue"), ("rate",)),
    "periodic stops": STOPS,
    "random stops": STOPS,
    "stops and losses": Right(("stops",), ("loss", "full", "waits", "rate", "queue")),
    "varying rate": RATE,
    # No link of airtcp delays every packet by another time: the fit may be refused.
    "jitter": Right(("loss", "late", "rate"), ("full", "waits"), None),
    "reordering": Right(("loss", "late"), ("full", "waits", "rate")),
    "old timestamps": Right(("late",), ("full", "waits", "rate")),
    "application": Right(("application",), ("loss", "rate"), None),
    "receiver": Right(("receiver", "application"), ("loss", "rate", "full", "waits"), None),
    "no timestamps": LOSSES,
    "no sack": LOSSES,
    "no options": LOSSES,
    "802.11": RADIO,
    "arq": RADIO,
    "policer": Right(("policer",), ("full", "rate")),
    "AQM": MANAGED,
    "AQM with ECN": MANAGED,
    "shared, seen": SHARED,
    "shared, hidden": SHARED,
    "offload": LOSSES,
    "unordered": LOSSES,
    "rate step": RATE,
    "long queue": Right(("waits",), ("full", "loss", "rate")),
    "802.11n and ax": Right(("wifi", "full", "waits"), ("loss", "rate", "queue", "managed")),
    "send buffer": Right(("buffer",), ()),
    "small writes": Right(("writes",), ()),
    "other way": Right(("other way",), ()),
    "path change": Right(("path",), ("loss", "full", "waits")),
}
"""By the kind of a case; some cases have another below."""
SLOW_READER = Right(("receiver",), ("application", "loss", "rate", "full", "waits"), None)
SHORT_QUEUE = Right(("waits", "full"), ("rate",))
"""BBR keeps the queue short, however long it may be."""
AT_RECEIVER = Right(("sender's clock",), ("application",), None)
"""A receiver's capture without timestamps shows what came, and not when it was sent."""


def right(case: Case) -> Right:
    """What a right first sentence of a case is."""
    if case.kind in ("no timestamps", "no options") and "stops" in case.name:
        return STOPS
    if case.kind == "long queue" and case.sender.control == "bbr":
        return SHORT_QUEUE
    return SLOW_READER if case.sender.read_bps else KINDS[case.kind]


@dataclass(frozen=True)
class Judged:
    """A first sentence beside the truth."""

    names_it: bool
    """It names what limits the flow, or refuses where that is due."""
    is_wrong: bool
    """It names what the link does not have, or answers where a refusal is due."""
    is_refusal: bool
    was_due: bool
    """A refusal was due, or would have been right."""
    said: str = ""
    """What is wrong with it; nothing where it is right."""


def judged(sentence: str, truth: Right) -> Judged:
    """A first sentence beside what a right one is."""
    named = {what for what, words in WORDS.items() if words in sentence}
    is_refusal = sentence.startswith(REFUSED)
    was_due = truth.is_refusal_due is not False
    if is_refusal:
        said = "" if was_due else "refused without need"
        return Judged(was_due, is_wrong=False, is_refusal=True, was_due=was_due, said=said)
    is_missing = truth.is_refusal_due is True
    forbidden = sorted(named - set(truth.names) - set(truth.may))
    names_it = bool(named & set(truth.names))
    said = "" if names_it else f"names none of {', '.join(truth.names)}"
    said = f"names {', '.join(forbidden)}" if forbidden else said
    said = "not refused" if is_missing else said
    is_wrong = bool(forbidden) or is_missing
    return Judged(names_it, is_wrong, is_refusal=False, was_due=was_due, said=said)

"""Judges first sentences: the findings that the truth of a case requires, and those it forbids.

A sentence is wrong if it names a limit that the link does not have, or denies a worthwhile remedy
that exists. A refusal is due if the capture lacks data that a ranking needs.
"""

from dataclasses import dataclass

from cases import Case

WORDS = {
    "loss": "loses",
    "stops": "link stalls",
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
    "gone": "peer is gone",
    "jitter": "overtake each other",
    "bursts": "delivers in bursts",
    "varies": "delay varies from packet to packet",
    "way back": "slow way back",
    "shaper": "leaves evenly",
}
"""Findings in a first sentence, and the words that name them."""
REFUSED = "No remedy is recommended"


@dataclass(frozen=True)
class Right:
    """A correct first sentence."""

    names: tuple[str, ...]
    """Of these it names one at least."""
    may: tuple[str, ...] = ()
    """It names no others than these."""
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
    "jitter": Right(
        ("loss", "late", "rate", "jitter", "bursts", "varies"), ("full", "waits", "wifi"), None
    ),
    # Nothing is lost there.
    "jitter alone": Right(
        ("late", "rate", "jitter", "bursts", "varies"), ("full", "waits", "wifi"), None
    ),
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
    "802.11n and ax": Right(
        ("wifi", "full", "waits"), ("loss", "rate", "queue", "managed", "bursts")
    ),
    "send buffer": Right(("buffer",), ()),
    "pacing": Right(("shaper",), ()),
    "small writes": Right(("writes",), ()),
    "other way": Right(("other way",), ()),
    "path change": Right(("path",), ("loss", "full", "waits")),
    "MTU hole": Right(("hole",), ()),
    "receive window": Right(("receiver",), ()),
    "scans": Right(("stops",), ("full", "waits", "rate", "queue")),
    "contention": Right(("stops", "loss"), ("full", "waits", "rate", "queue"), None),
    "peer gone": Right(("gone",), ()),
}
"""By the kind of a case; some cases have another below."""
SLOW_READER = Right(("receiver",), ("application", "loss", "rate", "full", "waits"), None)
SHORT_QUEUE = Right(("waits", "full"), ("rate",))
"""BBR keeps the queue short, however long it may be."""
AT_RECEIVER = Right(("sender's clock",), ("application",), None)
"""A receiver's capture without timestamps shows arrivals, and not when they were sent."""


def right(case: Case) -> Right:
    """The correct first sentence of a case."""
    if case.kind in ("no timestamps", "no options") and "stops" in case.name:
        return STOPS
    if case.kind == "long queue" and case.sender.control == "bbr":
        return SHORT_QUEUE
    return SLOW_READER if case.sender.read_bps else KINDS[case.kind]


@dataclass(frozen=True)
class Judged:
    """A first sentence compared with the truth."""

    names_it: bool
    """It names the flow's limit, or refuses if that is due."""
    is_wrong: bool
    """It names a limit that the link does not have, or answers although a refusal is due."""
    is_refusal: bool
    was_due: bool
    """A refusal was due, or would have been right."""
    said: str = ""
    """Its error; empty if it is right."""


def judged(sentence: str, truth: Right) -> Judged:
    """A first sentence compared with the correct one."""
    cause, refusing, _ = sentence.partition(REFUSED)
    is_refusal, was_due = bool(refusing), truth.is_refusal_due is not False
    named = {what for what, words in WORDS.items() if words.lower() in cause.lower()}
    forbidden = sorted(named - set(truth.names) - set(truth.may))
    names_it = bool(named & set(truth.names))
    if forbidden:
        said = f"names {', '.join(forbidden)}"
    elif is_refusal:
        # What is seen is named, whether a remedy is ranked or not.
        names_it = names_it or was_due
        said = "" if was_due else "refused without need"
    elif truth.is_refusal_due is True:
        return Judged(names_it, True, is_refusal=False, was_due=True, said="not refused")
    else:
        said = "" if names_it else f"names none of {', '.join(truth.names)}"
    return Judged(names_it, bool(forbidden), is_refusal, was_due, said)

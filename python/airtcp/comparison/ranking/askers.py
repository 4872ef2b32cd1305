"""The question "what may you change?", and the spots on the path that the answer reaches."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from airtcp._core import ScenarioError
from airtcp.comparison.ranking.deployable import Spot
from airtcp.comparison.ranking.direction import Direction


class Asker(StrEnum):
    """The asker, by the part of the path that they may change."""

    MY_MACHINE = "my-machine"
    """The mobile: the machine at the wireless end."""
    SERVER = "server"
    """The machine at the other end."""
    ACCESS_POINT = "access-point"
    """The access point, the base station, or an adjacent router."""
    SENDER = "sender"
    """The end that sends the data, either one."""
    RECEIVER = "receiver"
    """The end that receives the data, either one."""
    ALL = "all"
    """All of the path."""

    @property
    def words(self) -> str:
        """The place in words, after "at"."""
        return _WORDS[self]


_WORDS = {
    Asker.MY_MACHINE: "your machine",
    Asker.SERVER: "the server",
    Asker.ACCESS_POINT: "the access point",
    Asker.SENDER: "the sender",
    Asker.RECEIVER: "the receiver",
    Asker.ALL: "any place",
}

_ENDS = {Asker.MY_MACHINE, Asker.SERVER, Asker.SENDER, Asker.RECEIVER}
_BETWEEN = frozenset({Spot.AGENT, Spot.PROXY})
# Earlier versions of `--can` took the catalogue's places.
_EARLIER_NAMES = {"ap": Asker.ACCESS_POINT, "link": Asker.ACCESS_POINT, "proxy": Asker.ACCESS_POINT}


@dataclass(frozen=True)
class Reach:
    """The spots of the path that the asker may change, for a link of a given direction."""

    askers: tuple[Asker, ...]
    direction: Direction
    spots: frozenset[Spot]
    machines: int = 1
    """Machines in the asker's position; a remedy is tried on all of them at once."""

    @property
    def words(self) -> str:
        """The places in words, after "at"."""
        return " and ".join(self._place(asker) for asker in self.askers)

    def _place(self, asker: Asker) -> str:
        if not self.is_of_many or asker not in _ENDS:
            return asker.words
        if asker is Asker.MY_MACHINE:
            return f"your machine and the {self.machines - 1} others like it, all at once,"
        return f"every {asker.value} at once"

    @property
    def is_of_many(self) -> bool:
        """Whether other machines are in the asker's position, and were changed with it."""
        return self.machines > 1 and not self.is_all and bool(_ENDS & set(self.askers))

    @property
    def is_all(self) -> bool:
        """Whether nothing is out of reach."""
        return Asker.ALL in self.askers

    @property
    def assumes_sender(self) -> bool:
        """Whether the asker's end is unknown, and assumed to be the sender's."""
        ends = {Asker.MY_MACHINE, Asker.SERVER}
        return self.direction is Direction.UNKNOWN and len(ends & set(self.askers)) == 1


def parse_askers(text: str) -> tuple[Asker, ...]:
    """The askers of `--can`, separated by commas.

    Raises:
        ScenarioError: one is unknown.
    """
    found = []
    for word in text.split(","):
        name = word.strip().replace("_", "-")
        asker = _EARLIER_NAMES.get(name)
        if asker is None:
            if name not in set(Asker):
                raise ScenarioError(
                    f"--can {name}: expected one of {', '.join(Asker)}, or several with commas"
                )
            asker = Asker(name)
        found.append(asker)
    return tuple(dict.fromkeys(found))


def reach(can: str | Iterable[str], direction: Direction, machines: int = 1) -> Reach:
    """The spots that `can` reaches on a link of this direction.

    Args:
        can: askers, as in `--can`.
        direction: the direction of the data. If it is unknown the asker's end is assumed to be the
            sender's, which most remedies change.
        machines: number of machines in the asker's position. If several lead onto a link of unknown
            direction, its queue is not at any of them.

    Raises:
        ScenarioError: an asker is unknown.
    """
    askers = parse_askers(can if isinstance(can, str) else ",".join(can))
    spots = frozenset[Spot]().union(*(_spots(asker, direction) for asker in askers))
    is_shared = direction is Direction.UNKNOWN and machines > 1
    if is_shared and not {Asker.ALL, Asker.ACCESS_POINT} & set(askers):
        spots -= {Spot.BEFORE_LINK}
    return Reach(askers, direction, spots, machines)


def _spots(asker: Asker, direction: Direction) -> frozenset[Spot]:
    sends = frozenset({Spot.SENDER})
    receives = frozenset({Spot.RECEIVER})
    mobile_sends = direction in {Direction.UP, Direction.BOTH, Direction.UNKNOWN}
    # If the mobile sends, its device is before the link; otherwise the access point's is.
    before = frozenset({Spot.BEFORE_LINK})
    radio = frozenset({Spot.RADIO})
    match asker:
        case Asker.ALL:
            return frozenset(Spot)
        case Asker.ACCESS_POINT:
            return _BETWEEN | (frozenset() if direction is Direction.UP else before)
        case Asker.SENDER:
            return sends | (before | radio if mobile_sends else frozenset())
        case Asker.RECEIVER:
            return receives | (frozenset() if mobile_sends else radio)
        case Asker.MY_MACHINE:
            match direction:
                case Direction.UP | Direction.UNKNOWN:
                    return sends | before | radio
                case Direction.DOWN:
                    return receives | radio
                case Direction.BOTH:
                    return sends | receives | before | radio
        case Asker.SERVER:
            match direction:
                case Direction.UP:
                    return receives
                case Direction.DOWN | Direction.UNKNOWN:
                    return sends
                case Direction.BOTH:
                    return sends | receives

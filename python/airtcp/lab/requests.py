"""Requests of the page, validated."""

from typing import Annotated, TypeVar

import msgspec

from airtcp._core import ScenarioError
from airtcp.comparison.ranking.aims import Aim

MAX_SEEDS = 50
"""Maximum number of seeds of a cloud."""

_Text = Annotated[str, msgspec.Meta(max_length=2000)]
_Seed = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]
"""An integer that a page represents exactly."""


class Link(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A link: a source, and its settings."""

    source: _Text
    settings: dict[_Text, _Text] = {}


class Play(Link, frozen=True):
    """Two sides on the same channel, or one."""

    sides: Annotated[list[_Text], msgspec.Meta(min_length=1, max_length=2)] = msgspec.field(
        default_factory=lambda: [""]
    )
    """Remedies of each; "" is the scenario as written."""
    seed: _Seed = 1
    flow: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 0
    """The flow to draw."""


class Cloud(Play, frozen=True):
    """The same over many seeds, 1 to `seeds`."""

    seeds: Annotated[int, msgspec.Meta(ge=2, le=MAX_SEEDS)] = 20


class Ask(Link, frozen=True):
    """Remedies that help on a link, for an asker who may change the places of `can`."""

    can: _Text = "all"
    aim: Aim = Aim.BULK
    """Intended use of the link."""


class OneSide(Link, frozen=True):
    """A link with the remedies of one side."""

    remedy: _Text = ""


class Explain(OneSide, frozen=True):
    """One timeout of one run."""

    seed: _Seed = 1
    flow: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 0
    time_s: Annotated[float, msgspec.Meta(ge=0, le=1e6)] = 0.0


_Request = TypeVar("_Request", bound=msgspec.Struct)


def read(body: bytes, kind: type[_Request]) -> _Request:
    """A request of that kind.

    Raises:
        ScenarioError: the body is not a scenario.
    """
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.DecodeError as error:
        raise ScenarioError(f"request: {error}") from None
    except RecursionError:
        raise ScenarioError("request: nested too deeply") from None

"""Claims of a paper, as data: the comparison, and the number the paper gives."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Literal

from msgspec import Struct, field

from airtcp.papers.experiment import Datum, Experiment, Value

Kind = Literal["gain", "level", "trend", "peak", "larger-gain"]
"""Subject of a part of a claim:

- gain: `treated` over `baseline`, in per cent; with `paper` the number, with `sign` only the
  direction: more, less, no difference, not less, not more; with `between` the range the paper gives
- level: a measurement itself, compared with the paper's number
- trend: a measurement rises or falls along an axis
- peak: a measurement is highest somewhere along an axis, within `between`
- larger-gain: the gain at `at` is larger than that at `than`; with `sign` "0" as large
"""


class Part(Struct, frozen=True, forbid_unknown_fields=True):
    """One comparison. With `along` it represents one at each of `places`, with a number each.

    A part that follows from the calibration is shown but does not count (`counts = false`).
    """

    kind: Kind
    experiment: str
    measure: str = "goodput_bps"
    at: dict[str, Value] = field(default_factory=dict)
    baseline: dict[str, Value] = field(default_factory=dict)
    treated: dict[str, Value] = field(default_factory=dict)
    than: dict[str, Value] = field(default_factory=dict)
    along: str = ""
    places: list[Value] = field(default_factory=list)
    paper: list[float] = field(default_factory=list)
    sign: Literal["", "+", "-", "0", "+0", "-0"] = ""
    direction: Literal["", "rises", "falls"] = ""
    between: list[Value] = field(default_factory=list)
    label: str = ""
    counts: bool = True

    def data(self, experiment: Experiment) -> Iterator[Datum]:
        """Every measurement that it compares."""
        places = self.places or (experiment.axis(self.along).places if self.along else [])
        sides = [self.baseline, self.treated] if self.baseline or self.treated else [{}]
        for move in [{self.along: place} for place in places] or [{}]:
            starts = [{**self.at, **move}]
            if self.kind == "larger-gain":
                starts.append({**move, **self.than})
            for start, side in product(starts, sides):
                yield Datum(self.measure, {**start, **side})

    def comparisons(self) -> list[tuple[dict[str, Value], float | None]]:
        """The points that it represents, each with the paper's number."""
        numbers: Sequence[float | None] = self.paper or [None] * max(1, len(self.places))
        if not self.along:
            return [(dict(self.at), numbers[0])]
        return [
            ({**self.at, self.along: place}, number)
            for place, number in zip(self.places, numbers, strict=True)
        ]

    def label_at(self, at: Mapping[str, Value]) -> str:
        """Name of one of its points: its label, and the place on its axis."""
        where = f"{self.along} {at[self.along]}" if self.along else ""
        return ", ".join(text for text in (self.label, where) if text)


class Claim(Struct, frozen=True, forbid_unknown_fields=True):
    """A claim: the paper's statement, how it is judged, and an explanation if it fails.

    `why` is shown with a claim that is not reproduced, `explained_by` is the figure for it.
    """

    id: str
    what: str
    paper: str
    parts: list[Part] = field(name="part", default_factory=list)
    why: str = ""
    explained_by: str = ""


class ClaimsFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A `claims.toml`."""

    claims: list[Claim] = field(name="claim", default_factory=list)

"""Numbers from runs in texts: `{name}` in a `why` or `today` refers to a `[[number]]`.

A number from a run is never typed into a text: it would outlive the run. Nor is a sentence about
one: `{if NAME more: this|that}` is `this` if the gain NAME is shown to be positive, and `that`
otherwise; the same with `less`, with `same` (no difference shown) and with `near 29` (reproduced,
or within a factor of two of it).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from msgspec import Struct, field

from airtcp.core.quantities import bit_rate_scale
from airtcp.papers.estimates import Estimate, gain_text
from airtcp.papers.experiment import Datum, Experiment, Value
from airtcp.papers.files import PaperError
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.rules import Verdict, judge_number, sign_of

_PLACEHOLDER = re.compile(r"\{([a-z0-9-]+)\}")
_BRANCH = r"(?:[^{}|]|\{[a-z0-9-]+\})*"
_CONDITION = re.compile(
    rf"\{{if ([a-z0-9-]+) (more|less|same|near -?\d+(?:\.\d+)?): ({_BRANCH})\|({_BRANCH})\}}"
)
_NUMBER = re.compile(r"(?<![\w.§-])\d[\d.,]*(?<![.,])")
_NAMES = re.compile(
    r"802\.\d+\w*|ns-\d|RFC \d+(?: §[\d.]+)?|§[\w.-]+|Tables? [\dIVX]+|Figs?\. \d+\w?|[Ee]q\. \d+"
    r"|Trace \d|paper \d|Linux \d[\d.]*|\b\d[a-z]\b|TCP \d"
)


class NumberSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """A number for texts: a measurement at a point, or the gain of `treated` over `baseline` there.

    as: "gain" (per cent, signed, with its interval), "percent" (the bare gain, unsigned), "level"
    (the mean in its unit), "whole" (the mean, rounded).
    """

    name: str
    experiment: str
    measure: str = "goodput_bps"
    at: dict[str, Value] = field(default_factory=dict)
    baseline: dict[str, Value] = field(default_factory=dict)
    treated: dict[str, Value] = field(default_factory=dict)
    shown: Literal["", "gain", "percent", "level", "whole"] = field(name="as", default="")

    def gain(self, experiment: Experiment, outcomes: Outcomes) -> Estimate | None:
        """The gain of `treated` over `baseline`; None if nothing was measured."""
        return outcomes.gain(experiment, self.measure, self.at, self.baseline, self.treated)

    def data(self, _experiment: Experiment) -> Iterator[Datum]:
        """The measurements that it is made of."""
        for side in (self.baseline, self.treated):
            yield Datum(self.measure, {**self.at, **side})


def check_text(where: str, text: str, numbers: Iterable[NumberSpec], known: str) -> None:
    """Checks that a text contains no typed number from a run.

    Typed numbers must be the paper's, or places of an experiment, which `known` lists.

    Raises:
        PaperError: it contains another number, or a placeholder without a definition.
    """
    kinds = {number.name: number.shown for number in numbers}
    for name, test, _, _ in _CONDITION.findall(text):
        if kinds.get(name) not in {"gain", "percent"}:
            raise PaperError(
                f"{where}: {{if {name} {test}: …}}: expected the name of a gain among [[number]]"
            )
    text = _CONDITION.sub(lambda match: f"{match[3]} {match[4]}", text)
    if "{if" in text or "|" in text:
        raise PaperError(
            f"{where}: {text[text.find('{if') :][:60]}: expected {{if NAME more: this|that}}, with "
            "more, less, same or near and a number, and no condition within"
        )
    names = set(kinds)
    for name in _PLACEHOLDER.findall(text):
        if name not in names:
            raise PaperError(f"{where}: {{{name}}}: no [[number]] of that name")
    typed = _NUMBER.findall(_NAMES.sub(" ", _PLACEHOLDER.sub(" ", text)))
    listed = set(re.findall(r"\d[\d.,]*(?<![.,])", known))
    for number in typed:
        if number not in listed:
            raise PaperError(
                f"{where}: {number}: neither the paper's nor a place of an experiment: a number "
                "that a run gave is filled in, by a [[number]] and its {name}"
            )


def filled(
    text: str,
    numbers: Iterable[NumberSpec],
    experiments: Mapping[str, Experiment],
    outcomes: Outcomes,
) -> str:
    """The text with its numbers filled in."""
    by_name = {number.name: number for number in numbers}

    def fill(match: re.Match[str]) -> str:
        number = by_name[match.group(1)]
        return number_as_text(number, experiments[number.experiment], outcomes)

    def choose(match: re.Match[str]) -> str:
        number = by_name[match[1]]
        is_so = _holds(number, match[2], experiments[number.experiment], outcomes)
        return match[3] if is_so else match[4]

    return _PLACEHOLDER.sub(fill, _CONDITION.sub(choose, text))


def _holds(number: NumberSpec, test: str, experiment: Experiment, outcomes: Outcomes) -> bool:
    """Whether the runs show a gain as the sentence claims; False if nothing was measured."""
    gain = number.gain(experiment, outcomes)
    if gain is None:
        return False
    word, _, published = test.partition(" ")
    if word == "near":
        return judge_number(gain, float(published)) in {Verdict.REPRODUCED, Verdict.DIRECTION}
    return sign_of(gain) == {"more": 1, "less": -1, "same": 0}[word]


def number_as_text(number: NumberSpec, experiment: Experiment, outcomes: Outcomes) -> str:
    """One number in words: "+12.1 ± 3.0 %", "86"; "(not measured)" if its point was refused."""
    if number.treated:
        gain = number.gain(experiment, outcomes)
        if gain is None:
            return "(not measured)"
        if number.shown == "percent":
            return f"{abs(gain.value):.0f} %"
        return gain_text(gain)
    values = outcomes.values(experiment, number.measure, number.at)
    if not values:
        return "(not measured)"
    mean = sum(values) / len(values)
    if number.shown == "whole":
        return f"{mean:.0f}"
    if number.measure.endswith("_bps"):
        divisor, unit = bit_rate_scale(mean)
        return f"{mean / divisor:.3g} {unit}"
    return f"{mean:.3g} %" if number.measure.endswith("_percent") else f"{mean:.3g}"

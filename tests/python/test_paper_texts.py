"""No sentence about results is typed: it is computed from runs, or bound to a check."""

import csv
import re
from itertools import pairwise
from pathlib import Path

import pytest

from airtcp.papers import load_papers
from airtcp.papers.experiment import Axis, Choice, Experiment
from airtcp.papers.files import PaperError
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.texts import NumberSpec, check_text, filled

ROOT = Path(__file__).resolve().parents[2]
PAPERS = load_papers(ROOT / "papers")

_OUTCOME = re.compile(
    r"\b(?:helps?|gains?|adds?|removes?|raises?|lowers?|harms?|worth|changes? goodput|ahead|delays|"
    r"waits longer|come out|comes out|no longer)\b"
)
"""Words by which a sentence reports the outcome of a comparison."""
_CONDITIONAL = re.compile(r"\{if [^{}|]*(?:\{[a-z0-9-]+\}[^{}|]*)*\|(?:[^{}]|\{[a-z0-9-]+\})*\}")


def typed_outcomes(text: str) -> list[str]:
    """The sentences of a text that report an outcome without a condition or a computed number."""
    plain = _CONDITIONAL.sub("{condition}", " ".join(text.split()))
    sentences = re.split(r"(?<=[.:;]) (?=[A-Z{])", plain)
    return [one for one in sentences if _OUTCOME.search(one) and "{" not in one]


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("Round robin helps as much.", 1),
        ("The gain is {x}. Rates differ.", 0),
        ("{if x more: It helps|It does not} ({x}). A queue that is short helps all.", 1),
        ("{if x same: Nothing gains 1.5|It gains}.", 0),
    ],
)
def test_typed_outcomes_are_found(text: str, typed: int) -> None:
    assert len(typed_outcomes(text)) == typed


@pytest.mark.parametrize("paper", PAPERS[:5], ids=lambda paper: paper.name)
def test_headlines_are_bound_to_runs(paper) -> None:
    assert not typed_outcomes(paper.about.today)
    assert "{if " in paper.about.today, "a headline says what its runs have to show"


EXPERIMENT = Experiment(
    id="e",
    title="",
    scenario="",
    seeds=4,
    quick=1,
    axes=[Axis(name="who", choices=[Choice(name="a"), Choice(name="b"), Choice(name="c")])],
)
GAIN = NumberSpec("g", "e", baseline={"who": "a"}, treated={"who": "b"}, shown="gain")
TEXT = "{if g more: It helps: {g}|It is not shown to help ({g})}{if g near 50: , as printed|}."


@pytest.mark.parametrize(
    ("factors", "said"),
    [
        ((1.50, 1.51, 1.49, 1.50), "It helps: +50.0"),
        ((1.10, 0.90, 1.05, 0.95), "It is not shown to help (-0"),
        ((0.50, 0.51, 0.49, 0.50), "It is not shown to help (-50"),
    ],
)
def test_a_sentence_is_said_only_where_the_runs_show_it(factors, said) -> None:
    outcomes = _Fixed({"a": [1e6] * 4, "b": [1e6 * factor for factor in factors]})
    text = filled(TEXT, [GAIN], {"e": EXPERIMENT}, outcomes)
    assert text.startswith(said)
    assert text.endswith(", as printed.") is (factors[0] == 1.50)


def test_a_condition_that_names_no_gain_is_refused() -> None:
    level = NumberSpec("g", "e", at={"who": "a"}, shown="level")
    with pytest.raises(PaperError, match="expected the name of a gain"):
        check_text("x", TEXT, [level], "")
    with pytest.raises(PaperError, match="with more, less, same or near"):
        check_text("x", "{if g better: It helps|}", [GAIN], "")


class _Fixed(Outcomes):
    """Goodputs by sender that no run gave."""

    def __init__(self, by_sender: dict[str, list[float]]) -> None:
        self._by_sender = by_sender

    def values(self, _experiment, _measure, *points):
        return self._by_sender[next(point["who"] for point in points if "who" in point)]


def test_the_correlations_of_trace_2_are_those_of_the_files() -> None:
    text = (ROOT / "papers" / "rto-factor" / "README.md").read_text(encoding="utf-8")
    names = {"walking": "walking", "driving": "driving", "crowd": "among twenty"}
    for name, words in names.items():
        (file,) = (ROOT / "papers" / "rto-factor" / "traces").glob(f"*{name}*.csv")
        with file.open(encoding="utf-8") as lines:
            rtts = [float(row[-1]) for row in csv.reader(lines) if re.match(r"[\d.]+$", row[-1])]
        mean = sum(rtts) / len(rtts)
        apart = [rtt - mean for rtt in rtts]
        lagged = sum(a * b for a, b in pairwise(apart))
        assert f"{lagged / sum(a * a for a in apart):+.2f} ({words})" in text

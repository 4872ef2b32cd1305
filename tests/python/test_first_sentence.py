"""A first sentence is decided before it is said: harm, trades, horizon, and a row for each name."""

import json
import re
from collections.abc import Callable
from dataclasses import fields, replace

import numpy as np
import pytest

import airtcp
from airtcp.comparison.budget import Budget
from airtcp.comparison.calmest import LATENCY, calmest, may_be_calmest
from airtcp.comparison.cells import Cell
from airtcp.comparison.compared import Comparison
from airtcp.comparison.comparison_plan import ComparisonPlan, comparison_plan
from airtcp.comparison.deployment import deployed
from airtcp.comparison.execute import Results, execute
from airtcp.comparison.harm_rounds import HarmRounds
from airtcp.comparison.horizon import Horizon, horizon
from airtcp.comparison.plan import Plan
from airtcp.comparison.ranking import Candidate, Direction, State, rank, reach
from airtcp.comparison.ranking.harm import harm_state
from airtcp.comparison.recommend import recommendations
from airtcp.comparison.rounds import in_rounds
from airtcp.comparison.sequential import Rounds
from airtcp.comparison.statistics import paired_difference
from airtcp.comparison.verdict import verdict
from airtcp.core.catalogue import BASELINE

ASKERS = ("my-machine", "server", "access-point", "all")
LOSSY = {"link.loss.rate": 0.01, "duration": "10 s"}


def test_harm_is_shown_excluded_or_undecided() -> None:
    assert harm_state(-38.0, (-80.0, 4.0)) is State.UNDECIDED
    assert harm_state(-32.9, (-36.4, -29.4)) is State.SHOWN
    assert harm_state(-2.0, (-7.0, 3.0)) is State.EXCLUDED
    assert harm_state(-2.0, (-3.0, -1.0)) is State.SHOWN
    assert harm_state(0.0, None, is_exact=True) is State.EXCLUDED
    assert harm_state(-20.0, None) is State.UNDECIDED


def competing(compared: Comparison, of: Callable[[str, int], float]) -> Callable[[Plan], Results]:
    """A runner whose competing flows get the goodput of `of(remedy, seed)`, in bit/s."""
    summary = json.loads(compared.finished[0].summary_json)

    def run(plan: Plan) -> Results:
        found = {}
        for cell in plan:
            goodput = of(cell.key.remedy or BASELINE, cell.key.seed)
            flow = summary["flows"][0] | {"goodput_bps": goodput}
            text = json.dumps(summary | {"flows": [summary["flows"][0], flow]})
            found[cell.key] = Cell(cell.key, text)
        return found

    return run


@pytest.fixture(scope="module")
def lossy_search() -> Comparison:
    """A search on a lossy link, of five seeds."""
    return airtcp.compare("lossy-pipe", seeds=5, settings=LOSSY, can="sender")


@pytest.mark.parametrize(("loss", "spread"), [(0.33, 0.5), (0.0, 0.12)])
def test_the_harm_of_the_best_is_run_until_it_is_decided(
    lossy_search: Comparison, loss: float, spread: float
) -> None:
    """A third less with a spread of a half: five seeds do not show it, forty do."""
    draws = np.random.default_rng(3).normal(0.0, spread, 200)

    def goodput(remedy: str, seed: int) -> float:
        return 5e6 if remedy == BASELINE else 5e6 * (1.0 - loss + draws[seed])

    run = competing(lossy_search, goodput)
    one_look = HarmRounds(run, None, Budget()).measured(lossy_search)
    best = one_look.ranking.best
    assert best is not None
    assert best.is_harm_open
    assert "whether it harms a competing flow is undecided" in verdict(one_look)[0]
    found = HarmRounds(run, Rounds(100), Budget()).measured(lossy_search)
    best = found.ranking.best
    assert best is not None
    assert not best.is_harm_open
    assert best.harms_others_much is (loss > 0)
    runs = len(found.competing[best.remedy])
    assert 5 < runs <= 100
    assert len(found.competing[BASELINE]) == runs
    # Only the remedies that a first sentence may name are run on.
    assert min(len(kept) for kept in found.competing.values()) == 5


def test_harm_that_stays_undecided_says_so(lossy_search: Comparison) -> None:
    def goodput(remedy: str, seed: int) -> float:
        return 5e6 if remedy == BASELINE else 5e6 * (0.9 + (-1) ** seed * 0.5)

    found = HarmRounds(competing(lossy_search, goodput), Rounds(10), Budget()).measured(
        lossy_search
    )
    assert "10 seeds were run for the harm of " in found.stopped
    assert found.stopped.endswith(", the most (--max-seeds)")
    fixed = HarmRounds(competing(lossy_search, goodput), None, Budget()).measured(lossy_search)
    assert "5 seeds were run for the harm of " in fixed.stopped
    assert "--max-seeds" not in fixed.stopped
    assert any(line.startswith("Not everything is decided") for line in verdict(found))


def test_what_may_harm_others_is_not_first_where_another_does_as_well() -> None:
    asked = reach("sender", Direction.UNKNOWN)
    open_one = Candidate("bbr", 100.0, (99.0, 101.0), State.SHOWN, harm=-38.0)
    open_one = Candidate(**vars(open_one) | {"harm_state": State.UNDECIDED})
    near = Candidate("westwood", 85.0, (84.0, 86.0), State.SHOWN, harm_state=State.EXCLUDED)
    far = Candidate("westwood", 70.0, (69.0, 71.0), State.SHOWN, harm_state=State.EXCLUDED)
    assert rank([open_one, near], asked).best is near
    assert rank([open_one, near], asked).larger_with_harm is open_one
    assert rank([open_one, far], asked).best is open_one
    assert not rank([open_one, far], asked).is_harm_decided


def latency(change: float) -> dict[str, object]:
    before = [100.0, 101.0, 99.0, 100.0, 100.5]
    jitter = [0.0, 0.2, -0.1, 0.1, 0.3]
    after = [b * (1 + change) + j for b, j in zip(before, jitter, strict=True)]
    return {"by": paired_difference(before, after, is_ratio=True)}


def test_latency_is_not_praised_where_goodput_is_undecided_or_destroyed() -> None:
    """An ACK filter: 64 % less latency, with goodput of -63 % ± 85 %, is no recommendation."""
    undecided = Candidate("ack-filter", -63.0, (-148.0, 22.0), State.UNDECIDED)
    destroyed = Candidate("cake", -69.0, (-76.0, -62.0), State.SHOWN)
    kept = Candidate("codel", 0.1, (-0.4, 0.6), State.EXCLUDED)
    dearer = Candidate("pie", -3.0, (-4.0, -2.0), State.SHOWN)
    by = {name: latency(-0.64)["by"] for name in ("ack-filter", "cake")}
    by |= {"codel": latency(-0.3)["by"], "pie": latency(-0.4)["by"]}
    assert calmest([undecided, destroyed], by) is None  # type: ignore[arg-type]
    assert calmest([undecided, destroyed, kept], by) is kept  # type: ignore[arg-type]
    assert calmest([kept, dearer], by) is dearer  # type: ignore[arg-type]
    # More seeds go only to the undecided one.
    assert may_be_calmest([undecided, destroyed, kept], by) == (undecided,)  # type: ignore[arg-type]


def test_a_shorter_round_trip_bought_with_goodput_is_no_help() -> None:
    """A window of two segments empties the queue, and most of the link with it."""
    compared = airtcp.compare(
        "lossy-pipe", ["max-window:segments=2"], 3, {"duration": "5 s"}, metric=LATENCY
    )
    assert compared.winner is None
    assert not compared.is_better("max-window:segments=2")
    assert re.search(
        r"lowers the 95th percentile of the RTT by .*, with goodput .\d", one(compared)
    )


def one(compared: Comparison) -> str:
    return compared.verdict[0]


DEEP = {"link.queue.packets": 1000, "duration": "8 s", "flows.start_spread": "10 ms"}


@pytest.mark.parametrize(
    ("scenario", "settings"),
    [
        ("lossy-pipe", LOSSY),
        ("lossy-pipe", DEEP),
        ("wlan-upload", {"duration": "5 s"}),
        ("cellular", {"duration": "5 s", "flows.under_load": '["ping", "exchange", "call"]'}),
    ],
)
def test_every_remedy_that_is_named_has_a_row_and_a_deployment(
    scenario: str, settings: dict[str, object]
) -> None:
    """Also advice on latency, on other places, and each aim's."""
    whole = airtcp.compare(scenario, seeds=4, settings=settings)
    every = {entry["name"] for entry in airtcp.remedies()}
    for can in ASKERS:
        compared = Comparison(**vars_of(whole) | {"can": can})
        rows = {name for row in compared.shown for name in compared.alike[row]}
        said = [*compared.verdict, *(one.sentence for one in recommendations(compared))]
        words = {word for line in said for word in re.findall(r"[a-z][a-z0-9.-]*", line)}
        names = (words & every) - ORDINARY
        assert set(compared.named) <= rows
        named = {name for one in compared.named for name in compared.alike[one]}
        known = {name.partition(":")[0] for name in named | rows}
        assert names <= known, names - known
        for name in compared.named:
            texts = deployed(name)
            assert texts
            assert all(len(text.partition(": ")[2]) > 10 for text in texts)
            assert set(texts) <= set(compared.deployment), name
            # A number: the deciding figure is in its row.
            assert compared.table.filter(remedy=name)["difference_percent"][0] is not None


ORDINARY = {"queue", "pacing", "reno", "cubic", "sack", "cake"}
"""Names that are words of the sentences, too."""


def vars_of(compared: Comparison) -> dict[str, object]:
    return {field.name: getattr(compared, field.name) for field in fields(compared)}


def test_a_gain_of_slow_start_carries_its_horizon() -> None:
    """Over 600 ms and a queue of a tenth of the path, pacing gains until CUBIC has grown."""
    settings = {
        "link.delay": "300 ms",
        "link.queue.packets": 50,
        "duration": "20 s",
        "flows.start_spread": "1 ms",
    }
    compared = airtcp.compare("lossy-pipe", ["pacing"], 3, settings, horizon=True)
    assert re.match(
        r"pacing raises goodput by [56]\d.*\) in the first 20 s, and changes", one(compared)
    )
    found = horizon(compared, "pacing")
    assert found is not None
    # The part after 20 s of a run of 80 s, against the same from both digests.
    runs = compared.longer["pacing"][0], compared.summaries["pacing"][0]
    whole, part = (8 * sum(flow["arrived_bytes"] for flow in run["flows"]) for run in runs)
    assert found.later.treated_mean == pytest.approx((whole - part) / 60.0, rel=1e-3)


def test_a_gain_that_lasts_needs_no_horizon() -> None:
    compared = airtcp.compare("lossy-pipe", ["bbr"], 3, LOSSY, horizon=True)
    assert compared.longer
    assert "in the first" not in one(compared)


def test_words_of_a_horizon() -> None:
    def words(gain: float, *later: float) -> str:
        before = [100.0 + 0.01 * at for at in range(len(later))]
        after = [b * (1 + share) for b, share in zip(before, later, strict=True)]
        return Horizon(20.0, 60.0, paired_difference(before, after, is_ratio=True)).words(gain, 1.0)

    assert words(50.0, 0.48, 0.5, 0.52) == ""
    assert "by 20" in words(50.0, 0.2, 0.2, 0.2002)
    assert "changes nothing after" in words(50.0, 0.001, 0.002, 0.001)
    assert "changes nothing after" in words(16.6, -0.0023, -0.0022, -0.0023)
    assert "lowers it by 5" in words(50.0, -0.05, -0.05, -0.0501)
    assert "long transfers gain more" in words(50.0, 1.5, 1.5, 1.501)


def test_the_sender_is_named_where_it_is_not_todays_linux() -> None:
    settings = LOSSY | {"tcp.profile": "newreno"}
    compared = airtcp.compare("lossy-pipe", ["bbr"], 3, settings)
    assert "newreno senders, not current Linux)" in one(compared)
    today = airtcp.compare("lossy-pipe", ["bbr"], 3, LOSSY)
    assert "senders" not in one(today)
    reno = airtcp.compare("lossy-pipe", ["bbr"], 3, LOSSY | {"tcp.congestion_control": "reno"})
    assert "linux senders on reno)" in one(reno)


def test_the_first_round_keeps_the_bound_of_processor_time() -> None:
    with pytest.raises(
        airtcp.RunError, match=r"one seed of \d\d remedies takes more than .*--max-cpu"
    ):
        airtcp.compare("lossy-pipe", settings=LOSSY, rounds=Rounds(40, 1e-9))


def test_the_first_round_has_the_seeds_that_the_bound_allows() -> None:
    """Of 40 s three quarters are the rounds': three seeds of 10 s each."""
    clock = [0.0]
    ran: list[int] = []

    def planned_for(seeds: int) -> ComparisonPlan:
        return comparison_plan("lossy-pipe", ["veno"], seeds, {"duration": "1 s"})

    def outcome(planned: ComparisonPlan, error: float) -> Comparison:
        clock[0] += 10.0 * (len(planned.seeds) - (ran[-1] if ran else 0))
        ran.append(len(planned.seeds))
        compared = planned.result(execute(planned.plan))
        return replace(compared, error=error, is_search=True, smallest=1e-9)

    found = in_rounds(planned_for, outcome, Rounds(40), Budget(40.0, lambda: clock[0]))
    assert ran == [1, 3]
    assert len(found.seeds) == 3
    assert found.is_decided or "5 seeds would take more than 40 s" in found.stopped


def test_finished_cells_are_not_run_again() -> None:
    compared = airtcp.compare("lossy-pipe", ["bbr"], seeds=2, settings=LOSSY)
    known = {cell.key: cell for cell in compared.finished}

    def never(cells: object, finished: object) -> list[object]:
        assert not cells
        return []

    plan = comparison_plan("lossy-pipe", ["bbr"], 2, LOSSY).plan
    assert execute(plan, known=known, executor=never) == known  # type: ignore[arg-type]

"""`airtcp tune`: the best parameters and combinations on links where the best is known."""

import json
import subprocess
import sys
from functools import partial

import pytest

import airtcp
from airtcp import RunError, ScenarioError
from airtcp.tuning.search import SEEDS
from airtcp.tuning.settings import WIDE, Setting, knobs

DEEP = {
    "duration": "8 s",
    "link.queue.packets": 1000,
    "link.loss.rate": 0,
    "flows.under_load": ["ping", "exchange", "call"],
}


def test_a_window_that_bounds_the_flow_is_raised() -> None:
    bound = {"duration": "8 s", "link.delay": "100 ms", "tcp.send_buffer": "64 kB"}
    tuned = airtcp.tune("lossy-pipe", settings=bound, can="sender", max_cpu_s=60)
    # A flow that keeps the bound waits in the queue that the other then fills.
    assert tuned.left_out is not None
    assert "send-buffer" in tuned.left_out[0]
    tuned = airtcp.tune("lossy-pipe", settings=bound, can="sender", max_cpu_s=60, harmful=True)
    assert tuned.best is not None
    assert "send-buffer" in tuned.best
    gain = tuned.comparison.decisive[tuned.best].mean_percent
    assert gain is not None
    assert gain > 100


def test_a_full_link_has_nothing_to_tune() -> None:
    full = {"duration": "8 s", "link.loss.rate": 0}
    tuned = airtcp.tune("lossy-pipe", settings=full, max_cpu_s=60)
    assert tuned.best is None
    assert f"({tuned.tried} settings tried)" in tuned.comparison.verdict[0]
    assert "link is full" in tuned.comparison.verdict[0]


def test_a_discipline_is_found_for_a_deep_queue() -> None:
    tuned = airtcp.tune(
        "lossy-pipe", ["cake"], DEEP, metric="power", can="access-point", max_cpu_s=60
    )
    assert tuned.best is not None
    assert tuned.best.startswith("cake")
    gain = tuned.comparison.decisive[tuned.best].mean_percent
    assert gain is not None
    assert gain > 200


def test_what_takes_from_others_is_left_out_unless_it_is_allowed() -> None:
    lossy = {"duration": "8 s", "link.loss.rate": 0.01}
    gentle = airtcp.tune("lossy-pipe", ["bbr", "westwood"], lossy, can="server", max_cpu_s=60)
    assert gentle.best == "westwood"
    assert gentle.left_out is not None
    assert gentle.left_out[0] == "bbr"
    assert any("Left out: bbr" in note for note in gentle.notes)
    free = airtcp.tune(
        "lossy-pipe", ["bbr", "westwood"], lossy, can="server", max_cpu_s=60, harmful=True
    )
    assert free.left_out is None
    assert "bbr" in free.comparison.remedies


def test_the_best_is_at_least_as_good_as_that_of_compare_and_on_fresh_seeds() -> None:
    lossy = {"duration": "8 s", "link.loss.rate": 0.01}
    tuned = airtcp.tune("lossy-pipe", ["westwood", "veno", "initial-window"], lossy, max_cpu_s=60)
    assert not set(tuned.comparison.seeds) & set(SEEDS)
    plain = airtcp.compare("lossy-pipe", "westwood", tuned.comparison.seeds, lossy)
    best = tuned.comparison.decisive[tuned.comparison.best].mean
    assert best >= plain.decisive["westwood"].mean


@pytest.mark.long
def test_a_small_budget_ends_the_search_with_an_answer_or_a_remedy() -> None:
    slow = {"duration": "60 s", "link.loss.rate": 0.01}
    with pytest.raises(RunError, match="allow more \\(--max-cpu\\)"):
        airtcp.tune("lossy-pipe", settings=slow, max_cpu_s=0.1)
    tuned = airtcp.tune("lossy-pipe", settings=slow, max_cpu_s=20)
    assert tuned.stopped == "" or any("ended early" in note for note in tuned.notes)


def test_a_combination_sets_each_knob_once() -> None:
    assert knobs("fq-codel") & knobs("queue")
    assert knobs("bbr") & knobs("veno")
    assert not knobs("bbr") & knobs("fq-codel")


@pytest.mark.parametrize(
    ("text", "parameter", "expected"),
    [
        ("codel", "target", ["1 ms", "2 ms", "10 ms", "20 ms", "40 ms"]),
        ("timestamps", "on", ["0"]),
        ("cake", "rate", ["7000", "8000", "9000", "9500", "10000"]),
        ("inf-retry", "attempts", ["1", "2", "4", "8", "16"]),
        ("initial-window:segments=64", "segments", ["8", "16", "32"]),
    ],
)
def test_values_are_within_bounds(text: str, parameter: str, expected: list[str]) -> None:
    near = Setting.parse(text).neighbours(WIDE, 10e6)
    values = [dict(one.values)[parameter] for one in near if parameter in dict(one.values)]
    changed = [
        value for value in values if value != dict(Setting.parse(text).values).get(parameter)
    ]
    assert [value for value in expected if value not in changed] == []


def test_every_neighbour_of_every_remedy_is_a_remedy() -> None:
    link = airtcp.load_scenario("lossy-pipe")
    refused = set()
    for entry in airtcp.remedies():
        for near in Setting(entry["name"]).neighbours(WIDE, 10e6):
            try:
                link.with_remedies(near.text)
            except ScenarioError as error:
                # A place on the link may be missing; a value is never out of bounds.
                refused.add(str(error))
    assert not [text for text in refused if "expected a number" in text or "out of" in text]


class Keeps(airtcp.Control):
    """Keeps a share of the window at a loss: on a lossy link, the more the better."""

    def __init__(self, share: float = 0.4, least: int = 2) -> None:
        if share >= 1:
            raise ValueError("share: expected less than 1")
        self.share, self.least = share, least

    def on_loss(self, socket: airtcp.Socket) -> float:
        return max(socket.cwnd * self.share, self.least)


def test_the_numbers_of_a_control_in_python_are_searched() -> None:
    lossy = {"duration": "5 s", "link.loss.rate": 0.01}
    tuned = airtcp.tune("lossy-pipe", ["sack"], lossy, max_cpu_s=60, max_seeds=8, control=Keeps)
    assert tuned.best is not None
    values = dict(Setting.parse(tuned.best).values)
    assert Setting.parse(tuned.best).remedy == "python:Keeps"
    # Twice the default is the largest of the first round that is no error.
    assert 0.8 <= float(values["share"]) < 1
    assert any("cannot be deployed" in line for line in tuned.comparison.deployment)
    with pytest.raises(ScenarioError, match="exists in this process only"):
        airtcp.tune("lossy-pipe", control=Keeps, out="elsewhere")


def test_numbers_given_to_a_class_are_searched_from_there() -> None:
    class Needs(airtcp.Control):
        def __init__(self, share: float, name: str = "") -> None:
            self.share, self.name = share, name

        def on_loss(self, socket: airtcp.Socket) -> float:
            return max(socket.cwnd * self.share, 2)

    lossy = {"duration": "3 s", "link.loss.rate": 0.01}
    for control in (partial(Needs, 0.4), partial(Needs, share=0.4, name="other")):
        tuned = airtcp.tune(
            "lossy-pipe", ["sack"], lossy, max_cpu_s=30, max_seeds=3, control=control
        )
        names = [name for name in tuned.comparison.remedies if name.startswith("python:Needs")]
        assert any("share=" in name and "share=0.4" not in name for name in names), names


def test_values_with_which_a_control_cannot_go_on_are_left_out() -> None:
    class Divides(airtcp.Control):
        def __init__(self, parts: int = 8) -> None:
            self.parts = parts

        def on_loss(self, socket: airtcp.Socket) -> float:
            return max(socket.cwnd - socket.cwnd / (self.parts - 1), 2)

    lossy = {"duration": "5 s", "link.loss.rate": 0.01}
    tuned = airtcp.tune("lossy-pipe", ["sack"], lossy, max_cpu_s=60, max_seeds=4, control=Divides)
    (name,) = tuned.failed
    assert name == "python:Divides(parts=1)"
    assert any("ZeroDivisionError" in note and name in note for note in tuned.notes)


def test_an_unknown_remedy_is_named() -> None:
    with pytest.raises(ScenarioError, match='remedy "bbrr": unknown'):
        airtcp.tune("lossy-pipe", ["bbrr"])


def test_the_command_prints_one_json_object() -> None:
    command = [sys.executable, "-m", "airtcp", "tune", "lossy-pipe", "--json", "--can", "sender"]
    command += ["--with", "westwood,veno", "--set", "duration=5 s", "--max-cpu", "20"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    assert told["settings_tried"] > 2
    assert told["best"] in {*told["sized"], *[one["remedy"] for one in told["remedies"]], None}

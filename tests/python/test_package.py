"""The package as a library: its examples, its names, and what can be copied and sent elsewhere."""

import copy
import doctest
import pickle
from datetime import timedelta
from importlib import import_module
from pathlib import Path

import pytest

import airtcp

MODULES = ["airtcp", "airtcp.catalogue", "airtcp.study", "airtcp.sweeps"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_are_true(name: str) -> None:
    failed, tried = doctest.testmod(import_module(name))
    assert tried > 0
    assert failed == 0


def test_every_name_is_there() -> None:
    for name in airtcp.__all__:
        assert getattr(airtcp, name) is not None
    assert set(airtcp.__all__) <= set(dir(airtcp))
    with pytest.raises(AttributeError, match="nonsense"):
        _ = airtcp.nonsense


@pytest.mark.parametrize(
    "settings",
    [
        {"link": {"loss": {"rate": 0.01}}, "duration": timedelta(seconds=2)},
        {"link.loss": {"rate": 0.01}, "duration": "2 s"},
    ],
    ids=["nested", "half dotted"],
)
def test_settings_as_python_has_them(lossy_file: Path, settings: dict[str, object]) -> None:
    expected = airtcp.load_scenario(lossy_file, {"link.loss.rate": 0.01, "duration": "2 s"})
    assert airtcp.load_scenario(lossy_file, settings).hash() == expected.hash()


@pytest.mark.parametrize(("value", "words"), [(None, "None"), ({1, 2}, "a list or a table")])
def test_settings_that_are_none(lossy_file: Path, value: object, words: str) -> None:
    with pytest.raises(airtcp.ScenarioError, match=words):
        airtcp.load_scenario(lossy_file, {"duration": value})


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_out_of_range(lossy_file: Path, seed: int) -> None:
    with pytest.raises(airtcp.ScenarioError, match="from 0 to 2"):
        airtcp.run(lossy_file, seed)


def test_the_catalogue_is_a_table() -> None:
    frame = airtcp.remedies_frame()
    assert frame["name"].to_list() == [entry["name"] for entry in airtcp.remedies()]
    assert set(airtcp.probes()) >= {"cwnd", "srtt", "rto"}
    assert copy.copy(frame).height == frame.height
    assert pickle.loads(pickle.dumps(frame)).equals(frame)

"""Sliders: derived from the schema, for every ready scenario, and accepted by the core."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import airtcp
from airtcp import _core
from airtcp.lab import assets
from airtcp.lab.filenames import FILE_KEYS, named_files
from airtcp.lab.times import seconds_of
from test_style import contrast

READY = sorted(Path("scenarios").glob("*.toml"))


Described = dict[str, Any]


def _described(path: str | Path, settings: dict[str, str]) -> Described:
    """The settings of a scenario on the page."""
    text = Path(path).read_text(encoding="utf-8")
    source = _core.LabSource(text, Path(path).name, Path(path).parent)
    found: Described = json.loads(source.describe(settings))
    return found


def _text(control: dict[str, Any], value: float) -> str:
    """A value as a scenario reads it, in the smallest unit."""
    match control["kind"]:
        case "rate":
            return f"{max(1, round(value))} bit/s"
        case "time":
            return f"{round(value * 1e9)} ns"
        case "bytes":
            return f"{max(1, round(value))} B"
        case "count":
            return str(round(value))
        case _:
            return f"{value:.12f}"


UNITS = {
    "rate": {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9},
    "time": {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0},
    "bytes": {"B": 1.0, "kB": 1e3, "MB": 1e6, "KiB": 1024.0, "MiB": 1024.0**2},
}


def _number(text: str) -> tuple[str, float] | None:
    """The kind and value of a quantity, read without the core."""
    for kind, units in UNITS.items():
        for unit, size in units.items():
            if found := re.fullmatch(rf"([0-9.]+) {re.escape(unit)}", text):
                return kind, float(found[1]) * size
    return None


@pytest.mark.parametrize("path", READY, ids=lambda path: path.stem)
def test_the_ends_of_every_slider_are_values_of_its_key(path: Path) -> None:
    """The core is asked: an end outside the schema's range is an error of the key's range."""
    scenario = airtcp.load_scenario(path)

    def why_not(key: str, text: str) -> str | None:
        try:
            _core.Scenario.load(path, [(key, text)])
        except airtcp.ScenarioError as error:
            return str(error)
        return None

    document = tomllib.loads(scenario.to_toml())
    found = _described(path, {})["controls"]
    keys = [control["key"] for control in found]
    assert "duration" in keys
    assert len(keys) == len(set(keys))
    assert any(control["main"] and control["key"] != "duration" for control in found)
    for control in found:
        own: Any = document
        for part in control["key"].split("."):
            own = own[part]
        if control["value"] is None:
            assert own == "unlimited"
        elif isinstance(own, str) and (quantity := _number(own)):
            assert quantity == (control["kind"], pytest.approx(control["value"]))
        else:
            assert float(own) == control["value"]
        assert control["low"] < control["high"], control["key"]
        assert control["meaning"]
        for end in control["choices"] or (control["low"], control["high"]):
            said = why_not(control["key"], _text(control, end)) or ""
            # It may contradict another key, but never leaves its range.
            assert not re.search(r"expected (from|a (whole )?number|a probability)", said), said


def test_rates_of_a_standard_are_choices() -> None:
    found = {one["key"]: one for one in _described("scenarios/wlan-upload.toml", {})["controls"]}
    # IEEE 802.11-2020 table 16-3: the rates of 802.11b.
    assert found["wlan.rate"]["choices"] == [1e6, 2e6, 5.5e6, 11e6]


@pytest.mark.parametrize(
    ("standard", "mcs", "widths", "guards"),
    [
        # IEEE 802.11-2020 tables 19-27 and 21-29, 802.11ax-2021 table 27-54; at 20 MHz VHT has no
        # MCS 9 with one, two or four streams.
        ("802.11n", 7, {"20 MHz", "40 MHz"}, {"400 ns", "800 ns"}),
        ("802.11ac", 8, {"20 MHz", "40 MHz", "80 MHz", "160 MHz"}, {"400 ns", "800 ns"}),
        (
            "802.11ax",
            11,
            {"20 MHz", "40 MHz", "80 MHz", "160 MHz"},
            {"800 ns", "1600 ns", "3200 ns"},
        ),
    ],
)
def test_modes_of_a_standard_are_choices(
    standard: str, mcs: int, widths: set[str], guards: set[str]
) -> None:
    found = _described("scenarios/laptop-upload.toml", {"wlan.standard": standard})
    choices = {one["key"]: one["choices"] for one in found["controls"] if one["main"]}
    assert choices["wlan.mcs"] == list(range(mcs + 1))
    assert choices["wlan.spatial_streams"] == [1, 2, 3, 4]
    fit = {
        one["key"]: {word["text"] for word in one["words"] if word["fits"]}
        for one in found["picks"]
    }
    assert fit["wlan.channel_width"] == widths
    assert fit["wlan.guard_interval"] == guards
    assert fit["wlan.standard"] == {"802.11n", "802.11ac", "802.11ax"}
    assert {one["key"]: one["value"] for one in found["picks"]}["wlan.standard"] == standard


def test_only_links_that_have_modes_have_words_to_pick() -> None:
    assert _described("scenarios/wlan-upload.toml", {})["picks"] == []
    assert _described("scenarios/lossy-pipe.toml", {})["picks"] == []


@pytest.mark.parametrize("path", READY, ids=lambda path: path.stem)
def test_what_can_be_switched_on_is_accepted(path: Path) -> None:
    for switch in _described(path, {})["switches"]:
        settings = [(one["key"], _text(one, one["value"] or 0.0)) for one in switch["controls"]]
        assert len(settings) >= 1
        _core.Scenario.load(path, settings)


def test_every_key_that_names_a_file_is_known() -> None:
    """A page may not name files: the schema is asked which keys do."""

    def leaves(node: dict[str, Any], path: str) -> list[tuple[str, str]]:
        found = []
        for name, child in node.get("properties", {}).items():
            tables = [one for one in [child, *child.get("anyOf", [])] if "properties" in one]
            for table in tables:
                found += leaves(table, f"{path}{name}.")
            if not tables:
                found.append((f"{path}{name}", str(child.get("description", ""))))
        return found

    files = [
        key
        for key, meaning in leaves(airtcp.schema(), "")
        if re.search(r"beside the scenario|^File |ping`, with|CSV", meaning)
    ]
    assert len(files) >= 5
    for key in files:
        assert key.rpartition(".")[2] in FILE_KEYS, key


def test_files_are_found_wherever_they_are_named() -> None:
    document = {
        "link": {"rtt_log": {"path": "a"}, "trace": {"down": "b"}},
        "flows": {"direction": "down", "some": [{"path": "c"}]},
        "path": "d",
    }
    assert sorted(name for _, name in named_files(document)) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("kind", UNITS)
def test_values_are_in_the_base_unit(kind: str) -> None:
    """Each unit is tried on a key of its kind."""
    key = {"rate": "link.rate", "time": "link.delay", "bytes": "link.queue.bytes"}[kind]
    for unit, size in UNITS[kind].items():
        amount = 3 if size < 60 or kind != "time" else 1
        settings = {key: f"{amount} {unit}"}
        if unit.startswith("G"):
            settings["link.queue.packets"] = "1000"
        found = {
            one["key"]: one for one in _described("scenarios/lossy-pipe.toml", settings)["controls"]
        }
        assert found[key]["kind"] == kind
        assert found[key]["value"] == pytest.approx(amount * size), unit


def test_times_of_the_core_are_read() -> None:
    for text, expected in (("200 ms", 0.2), ("1.5 s", 1.5), ("3 us", 3e-6), ("2 min", 120.0)):
        assert seconds_of(text) == pytest.approx(expected)
        settings = {"duration": text} if expected > 1 else {"link.delay": text}
        document = tomllib.loads(airtcp.load_scenario("name = 'x'\n", settings).to_toml())
        written = document["duration"] if expected > 1 else document["link"]["delay"]
        assert seconds_of(written) == pytest.approx(expected)
    assert seconds_of("1 parsec") is None


@pytest.mark.parametrize("place", [0, 1], ids=["light", "dark"])
def test_words_on_the_page_are_legible(place: int) -> None:
    style = assets.assets()["/style.css"][0].decode()
    found: dict[str, list[str]] = {}
    for name, colour in re.findall(r"--([a-z]+): (#[0-9a-f]{6})", style):
        found.setdefault(name, []).append(colour)
    for ground in ("background", "stripe"):
        for text in ("foreground", "soft", "accent", "a", "b", "alarm"):
            ratio = contrast(found[text][place], found[ground][place])
            assert ratio >= 4.5, (text, ground, ratio)

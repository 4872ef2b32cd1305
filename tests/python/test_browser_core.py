"""The core as a WebAssembly module: the same runs as native, and errors in place of traps."""

import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import airtcp
from airtcp import _core
from airtcp.core.recordings.events import find_events
from airtcp.core.recordings.link import played_link
from airtcp.core.recordings.log import read_ping
from airtcp.lab.filenames import named_files
from needs import browser_core, program
from ping_kinds import PingedLink

ROOT = Path(__file__).resolve().parents[2]
WORKER = ROOT / "python/airtcp/lab/static/js/worker.js"
READY = sorted((ROOT / "scenarios").glob("*.toml"))
SHORT = {"duration": "3 s", "flows.start_spread": "1 s"}


@pytest.mark.long
@pytest.mark.needs("wasm")
@pytest.mark.timeout(1200)
def test_the_crate_compiles_for_browsers() -> None:
    command = ["cargo", "check", "--quiet", "--profile", "local", "--package", "airtcp-browser"]
    done = subprocess.run(
        [*command, "--target", "wasm32-unknown-unknown"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def asked(requests: list[dict[str, Any]], module: Path | None = None) -> list[dict[str, Any]]:
    """The answers of a module, by default the lab's, under Node."""
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    driver = str(Path(__file__).with_name("browser_core.mjs"))
    done = subprocess.run(
        [str(program("node")), driver, str(WORKER), str(module or browser_core())],
        input=lines,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(requests)
    return answers


def link(path: Path, settings: dict[str, str], **request: Any) -> dict[str, Any]:
    """A request about a ready scenario, with the files that it names."""
    text = path.read_text()
    files = {name: str(path.parent / name) for _, name in named_files(tomllib.loads(text))}
    return {"text": text, "name": path.name, "settings": settings, "files": files, **request}


@pytest.mark.needs("node", "browser-core")
def test_runs_are_those_of_the_native_core() -> None:
    """Every ready scenario, with and without a remedy: digests cover every delivery."""
    sides = ["", "sack"]
    requests = [link(path, SHORT, ask="seed", sides=sides, seed=7) for path in READY]
    for path, answer in zip(READY, asked(requests), strict=True):
        expected = [
            airtcp.run(path, 7, SHORT, [side] if side else []).summary["digest"] for side in sides
        ]
        assert answer["value"]["digests"] == expected, path.stem


@pytest.mark.needs("node", "browser-core")
def test_a_play_ends_as_the_run_does() -> None:
    path = ROOT / "scenarios/lossy-pipe.toml"
    settings = {"duration": "20 s", "link.loss.rate": "0.02"}
    request = link(path, settings, ask="play", sides=["", "bbr"], seed=3, flow=0)
    (answer,) = asked([request])
    kinds = [message["kind"] for message in answer["messages"]]
    assert kinds[0] == "begin"
    results = [one for one in answer["messages"] if one["kind"] == "result"]
    for result, remedies in zip(results, ([], ["bbr"]), strict=True):
        summary = airtcp.run(path, 3, settings, remedies).summary
        assert result["digest"] == summary["digest"]
        assert result["timeouts"] == summary["flows"][0]["timeouts"]
    for side in (0, 1):
        rows = [one for one in answer["messages"] if one["kind"] == "rows" and one["side"] == side]
        times = [time for one in rows for time in one["columns"]["time_s"]]
        assert len(times) == 300
        assert times == sorted(times)


@pytest.mark.needs("node", "browser-core")
def test_a_link_is_described_as_by_the_native_core() -> None:
    requests = [link(path, {}, ask="link") for path in READY]
    for path, answer in zip(READY, asked(requests), strict=True):
        source = _core.LabSource(path.read_text(), path.name, path.parent)
        assert answer["value"] == json.loads(source.describe({})), path.stem


@pytest.mark.needs("node", "browser-core")
def test_verdicts_are_those_of_the_native_core() -> None:
    a_bps, b_bps = [5e6, 5.2e6, 4.9e6, 5.1e6], [6e6, 6.1e6, 5.8e6, 6.4e6]
    (answer,) = asked([{"ask": "verdict", "a_bps": a_bps, "b_bps": b_bps}])
    assert answer["value"] == _core.lab_verdict(a_bps, b_bps)
    assert "95 %, n=4" in answer["value"]


@pytest.mark.needs("node", "browser-core")
def test_a_ping_log_is_a_link(tmp_path: Path) -> None:
    name = 'my "wifi".ping'
    log = str(ROOT / "recordings/wifi-spikes.ping")
    (dropped,) = asked([{"ask": "drop", "files": {name: log}}])
    value = dropped["value"]
    assert value["name"] == name
    files = {}
    for file, content in value["files"].items():
        (tmp_path / file).write_text(content)
        files[file] = str(tmp_path / file)
    request = {"text": value["text"], "name": name, "settings": {"duration": "10 s"}}
    run = {**request, "ask": "seed", "sides": ["", "min-rto"], "seed": 1, "files": files}
    (answer,) = asked([run])
    (tmp_path / "link.toml").write_text(value["text"])
    native = airtcp.run(tmp_path / "link.toml", 1, {"duration": "10 s"}).summary
    assert answer["value"]["digests"][0] == native["digest"]


def pinged(folder: Path) -> list[Path]:
    """The shipped logs, and logs of links with a known fault each."""
    links = {
        "stops": PingedLink(stops=((20.0, 1.5), (50.3, 2.2))),
        "gaps": PingedLink(gaps=((30.0, 3.0),), loss=0.02),
        "steps": PingedLink(lambda at, random: 0.03 + 0.05 * (at > 40) + 0.004 * random.random()),
        "asleep": PingedLink(lambda at, random: 0.01 + 0.1024 * random.random()),
        "unsteady": PingedLink(lambda at, random: 0.05 + random.expovariate(20)),
    }
    made = [link.write(folder / f"{name}.ping", 90.0) for name, link in links.items()]
    unstamped = folder / "unstamped.ping"
    lines = made[0].read_text().splitlines(keepends=True)
    unstamped.write_text("".join(line.partition("] ")[2] or line for line in lines[:-1]))
    return [*sorted((ROOT / "recordings").glob("*.ping")), *made, unstamped]


@pytest.mark.needs("node", "browser-core")
def test_a_ping_log_is_played_by_time_as_natively(tmp_path: Path) -> None:
    """`airtcp import`, written in Python, makes the same link: files agree to two microseconds."""
    logs = pinged(tmp_path)
    answers = asked([{"ask": "drop", "files": {log.name: str(log)}} for log in logs])
    with_stops = 0
    for path, answer in zip(logs, answers, strict=True):
        log = read_ping(path)
        expected = played_link(log, find_events(log), "12 Mbit/s")
        value = answer["value"]
        assert value["text"] == expected.toml, path.name
        assert set(value["files"]) == set(expected.files), path.name
        with_stops += "stops.csv" in value["files"]
        for name, content in value["files"].items():
            theirs = expected.files[name]
            assert isinstance(theirs, str)
            ours, native = (
                np.loadtxt(text.splitlines(), delimiter=",", skiprows=1, ndmin=2)
                for text in (content, theirs)
            )
            assert ours.shape == native.shape, path.name
            assert ours == pytest.approx(native, abs=2e-3), path.name
    assert with_stops >= 1


@pytest.mark.needs("node", "browser-core")
def test_bad_input_is_an_error_and_the_next_request_is_answered(tmp_path: Path) -> None:
    capture = tmp_path / "phone.pcapng"
    capture.write_bytes(b"\x0a\x0d\x0d\x0a" + bytes(40))
    notes = tmp_path / "notes.txt"
    notes.write_text("hello")
    stops = "link.stops = { process = 'recorded', path = 'stops.csv' }"
    pipe = ROOT / "scenarios/lossy-pipe.toml"
    sides = {"sides": [""], "seed": 1}
    bad: list[tuple[dict[str, Any], str]] = [
        ({"ask": "drop", "files": {"phone.pcapng": str(capture)}}, "airtcp diagnose phone.pcapng"),
        ({"ask": "drop", "files": {"notes.txt": str(notes)}}, "notes.txt"),
        ({"ask": "drop"}, "expected a file"),
        ({"ask": "advance"}, "nothing is being played"),
        ({"ask": "weather"}, "weather"),
        ({**link(pipe, {}, ask="seed", **sides), "text": stops}, "came without this file"),
        ({**link(pipe, {"link.rate": "fast"}, ask="seed", **sides)}, "link.rate"),
        (link(pipe, {"duration": "10 h"}, ask="seed", **sides), "at most 30 min"),
        (link(pipe, {"link.rtt_log.path": "/etc/passwd"}, ask="seed", **sides), "drop the file"),
        (link(pipe, {}, ask="seed", sides=["sock"], seed=1), 'did you mean "sack"'),
        (link(pipe, {}, ask="play", flow=1, **sides), "flow = 1"),
        (link(pipe, {}, ask="play", flow=0, sides=[], seed=1), "sides"),
    ]
    answers = asked([request for request, _ in bad] + [{"ask": "overview"}])
    for (request, words), answer in zip(bad, answers, strict=False):
        assert words in answer["error"], request
    names = [remedy["name"] for remedy in answers[-1]["value"]["remedies"]]
    assert names == [remedy["name"] for remedy in airtcp.remedies()]


def _section(number: int, items: list[bytes]) -> bytes:
    content = bytes([len(items)]) + b"".join(items)
    return bytes([number, len(content)]) + content


def _sized(content: bytes) -> bytes:
    return bytes([len(content)]) + content


@pytest.mark.needs("node")
def test_a_trap_is_an_error_with_its_message_and_the_next_instance_answers(tmp_path: Path) -> None:
    """A module that leaves a message and traps, in place of a panic of the core."""
    exports = [b"allocate", b"answer", b"output", b"output_length"]
    trapping = b"\0asm\1\0\0\0" + b"".join(
        [
            _section(1, [b"\x60\x01\x7f\x01\x7f", b"\x60\x00\x01\x7f"]),
            _section(3, [b"\0", b"\1", b"\1", b"\1"]),
            _section(5, [b"\0\1"]),
            _section(
                7,
                [_sized(name) + bytes([0, at]) for at, name in enumerate(exports)]
                + [_sized(b"memory") + b"\2\0"],
            ),
            # i32.const 1024; unreachable; i32.const 8; i32.const 7.
            _section(
                10,
                [
                    _sized(body)
                    for body in (
                        b"\0\x41\x80\x08\x0b",
                        b"\0\0\x0b",
                        b"\0\x41\x08\x0b",
                        b"\0\x41\x07\x0b",
                    )
                ],
            ),
            _section(11, [b"\0\x41\x08\x0b" + _sized(b"at 3: x")]),
        ]
    )
    module = tmp_path / "trapping.wasm"
    module.write_bytes(trapping)
    answers = asked([{"ask": "overview"}, {"ask": "overview"}], module)
    assert [one["error"] for one in answers] == ["a fault of the core: at 3: x"] * 2

"""Files that are dropped on the lab: which become links, and which are refused."""

import json
from http import HTTPStatus
from pathlib import Path
from urllib.parse import quote

import pytest

import airtcp
from airtcp.lab.server import Lab
from lab_requests import ask, drop, messages, post


def test_a_ping_log_is_a_link(lab: Lab) -> None:
    log = Path("recordings/wifi-spikes.ping").read_bytes()
    status, answer = drop(lab, {"my wifi.ping": log})
    assert status == HTTPStatus.OK, answer
    request = {"source": answer["id"], "settings": {"duration": "10 s"}}
    heard = messages(lab, "/api/play", {**request, "sides": ["", "min-rto"]})
    assert [one["side"] for one in heard if one["kind"] == "result"] == [0, 1]
    status, link = post(lab, "/api/link", {"source": answer["id"]})
    assert status == HTTPStatus.OK
    assert link["profile"] == "linux"


def test_a_capture_is_the_link_that_is_fitted_to_it(lab: Lab, tmp_path: Path) -> None:
    """The capture of a run: its link is known."""
    capture = tmp_path / "phone.pcapng"
    settings = {"duration": "30 s", "link.loss.rate": 0.005, "link.rate": "5 Mbit/s"}
    airtcp.run("lossy-pipe", 1, settings, pcap=capture)
    status, answer = drop(lab, {"phone.pcapng": capture.read_bytes()})
    assert status == HTTPStatus.OK, answer
    status, link = post(lab, "/api/link", {"source": answer["id"]})
    assert status == HTTPStatus.OK
    values = {control["key"]: control["value"] for control in link["controls"]}
    assert values["link.rate"] == pytest.approx(5e6, rel=0.05)
    assert any("retransmi" in sentence for sentence in link["found"]), link["found"]
    heard = messages(lab, "/api/play", {"source": answer["id"], "settings": {"duration": "10 s"}})
    assert heard[-1]["kind"] == "result"


def test_a_scenario_is_dropped_with_its_files(lab: Lab) -> None:
    scenario = (
        b"duration = '5 s'\ntcp.profile = 'newreno'\n"
        b"link.stops = { process = 'recorded', path = 'stops.csv' }\n"
    )
    stops = b"start_ms,length_ms\n1000,400\n"
    status, answer = drop(lab, {"link.toml": scenario})
    assert status == HTTPStatus.BAD_REQUEST
    assert "stops.csv" in answer["error"]
    status, answer = drop(lab, {"link.toml": scenario, "stops.csv": stops})
    assert status == HTTPStatus.OK, answer
    heard = messages(lab, "/api/play", {"source": answer["id"]})
    assert heard[-1]["timeouts"] >= 1


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"a.toml": b"link.rtt_log.path = '/etc/passwd'"}, "dropped with it"),
        ({"a.toml": b"link.rtt_log.path = '../secret'"}, "dropped with it"),
        ({"a.toml": b"colour = 'red'"}, "colour"),
        ({"a.toml": b"x = ["}, "a.toml"),
        ({"a.toml": b"\xff\xfe"}, "UTF-8"),
        ({"a.toml": b"x = " + b"[" * 20_000}, "a.toml"),
        ({"a.toml": b"", "b.toml": b""}, "one scenario at a time"),
        ({"a.csv": b"x", "b.csv": b"y"}, "no scenario among them"),
        ({"notes.txt": b"hello"}, "notes.txt"),
        ({"a.pcapng": b"\x0a\x0d\x0d\x0a" + bytes(100)}, "a.pcapng"),
        ({"a.pcap": b"\xd4\xc3\xb2\xa1" + bytes(100)}, "a.pcap"),
        ({"a.pcap": b"\xd4\xc3\xb2\xa1", "b.toml": b""}, "drop it alone"),
        ({}, "at least one"),
    ],
)
def test_a_file_that_is_no_link_is_one_clear_error(
    lab: Lab, files: dict[str, bytes], words: str
) -> None:
    status, answer = drop(lab, files)
    assert status == HTTPStatus.BAD_REQUEST
    assert words in answer["error"]
    # Where it was kept is nobody's business.
    assert "/tmp" not in answer["error"]


def test_names_of_dropped_files_stay_in_their_folder(lab: Lab) -> None:
    for name in ("../../evil.toml", "..\\evil.toml", "/etc/evil.toml", ".evil.toml"):
        status, answer = drop(lab, {name: f"name = '{len(name)}'".encode()})
        assert status == HTTPStatus.OK, answer
        path = lab.drops.scenario(answer["id"])
        assert path.name == "evil.toml"
        assert path.is_relative_to(lab.drops.files(answer["id"])[0].parent)


def test_lengths_that_do_not_fit_are_refused(lab: Lab) -> None:
    wrong = ('[["a.toml", 5]]', '[["a.toml", -3]]', '[["a.toml"]]', "{", '[["a", 1], ["a", 1]]')
    for named in wrong:
        status, _, body = ask(lab, "POST", f"/api/drop?files={quote(named)}", b"ab")
        assert status == HTTPStatus.BAD_REQUEST, named
        assert json.loads(body)["error"]


def test_what_was_dropped_goes_with_the_server(tmp_path: Path) -> None:
    server = Lab(0, tmp_path, tmp_path)
    folder = server.drops.add({"a.toml": b""}).folder
    assert folder.is_dir()
    server.server_close()
    assert not folder.exists()

"""The lab over HTTP: its answers, refusals and bounds."""

import base64
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import zipfile
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

import airtcp
from airtcp.comparison.compare import run_comparison
from airtcp.comparison.metrics import METRICS
from airtcp.comparison.verdict import verdict
from airtcp.lab.answer import ROUNDS
from airtcp.lab.describe import overview
from airtcp.lab.guard import MAX_REQUEST_BYTES
from airtcp.lab.server import Lab
from lab_requests import LOSSY, ask, messages, post


def test_the_page_and_all_that_it_names_come_from_the_package(lab: Lab) -> None:
    status, headers, page = ask(lab, "GET", "/")
    assert status == HTTPStatus.OK
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    text = page.decode()
    # Relative, so that the page works in any folder of a server.
    named = re.findall(r'(?:src|href)="([^"#]+)"', text)
    assert len(named) >= 4
    for path in (f"/{name}" for name in named):
        assert ask(lab, "GET", path)[0] == HTTPStatus.OK, path
    # It works without a network: nothing is asked of another host.
    for path, (content, _) in lab.assets.items():
        if not path.startswith("/vendor/"):
            assert b"https://" not in content, path
            assert b"http://" not in content.replace(b"http://www.w3.org/2000/svg", b""), path


def test_the_licence_stands_beside_what_is_vendored(lab: Lab) -> None:
    assert b"MIT License" in lab.assets["/vendor/uPlot.LICENSE"][0]


def test_links_are_listed_with_remedies(lab: Lab) -> None:
    status, _, body = ask(lab, "GET", "/api/links")
    overview = json.loads(body)
    assert status == HTTPStatus.OK
    assert "ready/wlan-upload" in {link["id"] for link in overview["links"]}
    names = [remedy["name"] for remedy in overview["remedies"]]
    assert names == [remedy["name"] for remedy in airtcp.remedies()]


def test_a_run_streams_in_and_is_the_run_of_the_core(lab: Lab) -> None:
    heard = messages(lab, "/api/play", {**LOSSY, "sides": ["", "sack"], "seed": 7})
    assert heard[0]["kind"] == "begin"
    assert heard[0]["duration_s"] == 30
    results = {one["side"]: one for one in heard if one["kind"] == "result"}
    for side, remedies in enumerate(([], ["sack"])):
        rows = [one for one in heard if one["kind"] == "rows" and one["side"] == side]
        assert len(rows) >= 3, "it comes in parts"
        times = [time for one in rows for time in one["columns"]["time_s"]]
        assert len(times) == 300
        assert times == sorted(times)
        run = airtcp.run("scenarios/lossy-pipe.toml", 7, LOSSY["settings"], remedies)  # type: ignore[arg-type]
        flow = run.summary["flows"][0]
        assert results[side]["digest"] == run.summary["digest"]
        assert results[side]["timeouts"] == flow["timeouts"]
        timeouts = [event for one in rows for event in one["events"] if event[1] == "timeout"]
        assert len(timeouts) == flow["timeouts"]
        again = [count for one in rows for count in one["columns"]["retransmitted_segments"]]
        assert again[-1] == flow["segments_retransmitted"]
    assert results[1]["deployment"]


def test_what_others_get_is_the_runs_own(lab: Lab) -> None:
    probes = {"flows.under_load": '["ping", "exchange"]'}
    settings = {**LOSSY["settings"], **probes}  # type: ignore[dict-item]
    heard = messages(lab, "/api/play", {**LOSSY, "settings": settings, "sides": [""], "seed": 3})
    result = next(one for one in heard if one["kind"] == "result")
    run = airtcp.run("scenarios/lossy-pipe.toml", 3, settings)
    assert result["under_load"] == run.summary["under_load"]
    assert result["flows"] == 1
    assert result["digest"] == run.summary["digest"]
    plain = messages(lab, "/api/play", {**LOSSY, "sides": [""], "seed": 3})
    assert next(one for one in plain if one["kind"] == "result")["under_load"] is None


def test_a_link_for_calls_is_answered_by_calls(lab: Lab) -> None:
    settings = {"link.rate": "2 Mbit/s", "duration": "4 s"}
    asked = {"source": "ready/lossy-pipe", "settings": settings, "can": "all", "aim": "calls"}
    told = messages(lab, "/api/answer", asked)[-1]
    assert told["metric"] == METRICS["call"].label
    compared = run_comparison(
        "lossy-pipe",
        settings=settings | {"flows.under_load": ["ping", "exchange", "call"]},
        metric="call",
        rounds=ROUNDS,
        harm=True,
    )
    assert [told["headline"], *told["sentences"]] == verdict(compared)


def test_a_cloud_has_every_seed_and_their_verdict(lab: Lab) -> None:
    request = {**LOSSY, "sides": ["", "sack"], "seeds": 5}
    heard = messages(lab, "/api/cloud", request)
    seeds = [one for one in heard if one["kind"] == "seed"]
    assert sorted(one["seed"] for one in seeds) == [1, 2, 3, 4, 5]
    comparison = airtcp.compare("scenarios/lossy-pipe.toml", ["sack"], 5, LOSSY["settings"])  # type: ignore[arg-type]
    expected = dict(zip(comparison.seeds, comparison.values("sack", "goodput_bps"), strict=True))
    assert {one["seed"]: one["goodput_bps"][1] for one in seeds} == expected
    (verdict,) = (one["sentence"] for one in heard if one["kind"] == "verdict")
    same = comparison.verdict[0].replace("sack", "B").partition("; newreno senders")[0]
    # An undecided remedy comes with the number of seeds that would decide it.
    assert verdict.startswith(same)


def test_what_helps_is_what_compare_says(lab: Lab) -> None:
    settings = {"link.loss.rate": "0.02", "duration": "5 s"}
    asked = {"source": "ready/lossy-pipe", "settings": settings, "can": "access-point"}
    told = messages(lab, "/api/answer", asked)
    assert {one["kind"] for one in told[:-1]} == {"progress"}
    assert told[-1]["kind"] == "answer"
    seeds = told[-1]["seeds"]
    compared = run_comparison(
        "lossy-pipe", settings=settings, can="access-point", rounds=ROUNDS, harm=True
    )
    assert len(compared.seeds) == seeds
    assert [told[-1]["headline"], *told[-1]["sentences"]] == verdict(compared)
    best = compared.ranking.best
    assert best is not None
    rows = told[-1]["rows"]
    # The best of all comes first, wherever it is deployed; the headline's is the asker's best.
    assert rows[0]["remedy"] == compared.ranking.candidates[0].remedy
    assert next(row["remedy"] for row in rows if row["is_yours"]) == best.remedy


def test_the_page_begins_with_what_its_user_may_change(tmp_path: Path) -> None:
    with Lab(0, tmp_path, tmp_path, can="server") as server:
        assert overview(server.sources, server.can)["can"] == "server"


def test_a_link_on_which_nothing_is_to_be_judged_is_not_ranked(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab.drops, "refusal", lambda _source: "Another sender filled the link.")
    (refusal,) = messages(lab, "/api/answer", LOSSY)
    assert refusal == {"kind": "refusal", "sentence": "Another sender filled the link."}
    assert post(lab, "/api/link", LOSSY)[1]["refusal"] == "Another sender filled the link."


def test_a_spurious_timeout_is_explained_by_its_packets(lab: Lab) -> None:
    """A link that stops for 300 ms loses nothing: every timeout of it is spurious."""
    settings = {"duration": "20 s", "tcp.profile": "newreno"}
    link = {"source": "ready/wifi-suspension", "settings": settings}
    heard = messages(lab, "/api/play", {**link, "sides": [""]})
    events = [event for one in heard if one["kind"] == "rows" for event in one["events"]]
    spurious = [time for time, event, _ in events if event == "spurious-timeout" and time > 5]
    assert spurious
    time_s = spurious[0]
    status, explained = post(lab, "/api/explain", {**link, "remedy": "", "time_s": time_s})
    assert status == HTTPStatus.OK, explained
    assert explained["spurious"] is True
    assert abs(explained["time_s"] - time_s) < 1e-5
    assert "an ACK of a copy sent before the timer expired was to come" in " ".join(
        explained["sentences"]
    )
    packets = explained["packets"]
    assert not any("lost" in packet[4] for packet in packets)
    # The stop begins at 5 s: nothing arrives from then to the timeout.
    arrived = [time for time, kind, *_ in packets if kind.endswith("ACK")]
    assert not [time for time in arrived if 5.05 < time < time_s]
    assert [time for time in arrived if time > time_s]
    again = [time for time, kind, *_ in packets if kind == "retransmission" and time > 5]
    assert again
    assert again[0] == pytest.approx(time_s, abs=1e-5)


def test_a_timeout_of_a_loss_names_the_loss(lab: Lab) -> None:
    settings = {"link.loss.rate": "0.1", "duration": "20 s", "tcp.profile": "newreno"}
    link = {"source": "ready/lossy-pipe", "settings": settings}
    heard = messages(lab, "/api/play", {**link, "sides": ["sack"]})
    events = [event for one in heard if one["kind"] == "rows" for event in one["events"]]
    spurious = {event[0] for event in events if event[1] == "spurious-timeout"}
    times = [event[0] for event in events if event[1] == "timeout" and event[0] not in spurious]
    assert len(times) > 3
    for time_s in times[:4]:
        request = {**link, "remedy": "sack", "time_s": time_s}
        _, explained = post(lab, "/api/explain", request)
        assert explained["spurious"] is False
        assert "the link lost it" in " ".join(explained["sentences"]), explained["sentences"]
        lost = [packet for packet in explained["packets"] if packet[4] == "lost by the link"]
        assert explained["offset"] in {packet[2] for packet in lost}


def test_no_timeout_is_invented(lab: Lab) -> None:
    status, answer = post(lab, "/api/explain", {**LOSSY, "time_s": 0.001})
    assert status == HTTPStatus.BAD_REQUEST
    assert "no timeout" in answer["error"]


def test_a_link_is_shared_as_a_file_that_gives_the_same_run(lab: Lab, tmp_path: Path) -> None:
    status, answer = post(lab, "/api/scenario", {**LOSSY, "remedy": "sack"})
    assert status == HTTPStatus.OK
    assert answer["name"] == "lossy-pipe.toml"
    path = tmp_path / answer["name"]
    path.write_bytes(base64.b64decode(answer["content"]))
    own = airtcp.run(path, 3).summary["digest"]
    settings: Any = LOSSY["settings"]
    assert own == airtcp.run("scenarios/lossy-pipe.toml", 3, settings, ["sack"]).summary["digest"]


def test_a_link_with_recordings_is_shared_with_them(lab: Lab, tmp_path: Path) -> None:
    _, answer = post(lab, "/api/scenario", {"source": "ready/ping"})
    assert answer["name"] == "ping.zip"
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(answer["content"]))) as archive:
        archive.extractall(tmp_path)
    own = airtcp.run(tmp_path / "ping.toml", 3).summary["digest"]
    assert own == airtcp.run("scenarios/ping.toml", 3).summary["digest"]


def test_reports_are_listed_and_shown(lab: Lab) -> None:
    _, _, body = ask(lab, "GET", "/api/reports")
    (report,) = json.loads(body)
    assert report["title"] == "An upload & more"
    status, headers, page = ask(lab, "GET", f"/reports/{report['path']}")
    assert status == HTTPStatus.OK
    assert b"An upload" in page
    assert "script-src" not in headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    "path",
    [
        "../outside.html",
        "..%2Foutside.html",
        "%2e%2e/outside.html",
        "upload/../../outside.html",
        "/etc/passwd",
        "%2Fetc%2Fpasswd",
        "upload",
        "upload/secret.key",
        "upload/index.html%00",
        "no-such.html",
        "%ff%fe",
        "",
    ],
)
def test_nothing_outside_the_folder_of_reports_is_shown(lab: Lab, path: str) -> None:
    status, _, body = ask(lab, "GET", f"/reports/{path}")
    assert status == HTTPStatus.NOT_FOUND
    assert json.loads(body)["error"].endswith((": no report", ": there is no such page"))


def test_a_link_out_of_the_folder_is_not_followed(lab: Lab) -> None:
    sly = lab.reports.folder / "sly"
    sly.mkdir()
    (sly / "index.html").symlink_to(lab.reports.folder.parent / "outside.html")
    try:
        assert ask(lab, "GET", "/reports/sly/index.html")[0] == HTTPStatus.NOT_FOUND
        assert b"sly" not in ask(lab, "GET", "/api/reports")[2]
    finally:
        (sly / "index.html").unlink()
        sly.rmdir()


def test_it_listens_on_this_machine_alone(lab: Lab) -> None:
    assert lab.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, HTTPStatus.MISDIRECTED_REQUEST),
        ({"Host": "localhost.evil.example:{port}"}, HTTPStatus.MISDIRECTED_REQUEST),
        ({"Host": "127.0.0.1:1"}, HTTPStatus.MISDIRECTED_REQUEST),
        ({"Host": ""}, HTTPStatus.MISDIRECTED_REQUEST),
        ({"Origin": "http://evil.example"}, HTTPStatus.FORBIDDEN),
        ({"Origin": "null"}, HTTPStatus.FORBIDDEN),
        ({"Origin": "http://127.0.0.1:1"}, HTTPStatus.FORBIDDEN),
        ({"Origin": "https://127.0.0.1:{port}"}, HTTPStatus.FORBIDDEN),
        ({"Sec-Fetch-Site": "cross-site"}, HTTPStatus.FORBIDDEN),
        ({"Sec-Fetch-Site": "same-site"}, HTTPStatus.FORBIDDEN),
        ({"Origin": "http://127.0.0.1:{port}", "Sec-Fetch-Site": "same-origin"}, HTTPStatus.OK),
        ({"Host": "LOCALHOST:{port}"}, HTTPStatus.OK),
    ],
)
def test_only_its_own_page_is_answered(
    lab: Lab, headers: dict[str, str], status: HTTPStatus
) -> None:
    filled = {name: value.format(port=lab.port) for name, value in headers.items()}
    body = json.dumps({"source": "ready/lossy-pipe"}).encode()
    assert ask(lab, "POST", "/api/link", body, filled)[0] == status
    if "Sec-Fetch-Site" not in headers:
        assert ask(lab, "GET", "/api/links", headers=filled)[0] == status
    else:
        # A link elsewhere may show the page itself.
        assert ask(lab, "GET", "/", headers=filled)[0] == HTTPStatus.OK


def _raw(lab: Lab, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", lab.port), timeout=60) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("Content-Length: 999999999999\r\n", b"413"),
        (f"Content-Length: {MAX_REQUEST_BYTES + 1}\r\n", b"413"),
        ("Content-Length: -1\r\n", b"411"),
        ("Content-Length: 1e3\r\n", b"411"),
        ("", b"411"),
        ("Transfer-Encoding: chunked\r\n", b"411"),
        ("Content-Length: 30\r\n", b"400"),
    ],
)
def test_sizes_are_bounded_before_anything_is_read(lab: Lab, head: str, status: bytes) -> None:
    request = f"POST /api/link HTTP/1.1\r\nHost: 127.0.0.1:{lab.port}\r\n{head}\r\n{{}}"
    answer = _raw(lab, request.encode())
    assert answer.split()[1] == status
    assert b'"error"' in answer


def test_a_body_is_no_second_request(lab: Lab) -> None:
    inner = f"POST /api/link HTTP/1.1\r\nHost: 127.0.0.1:{lab.port}\r\n\r\n"
    head = f"GET /icon.svg HTTP/1.1\r\nHost: 127.0.0.1:{lab.port}\r\n"
    answer = _raw(lab, f"{head}Content-Length: {len(inner)}\r\n\r\n{inner}".encode())
    assert answer.count(b"HTTP/1.1 ") == 1


def test_two_hosts_are_none(lab: Lab) -> None:
    host = f"Host: 127.0.0.1:{lab.port}\r\n"
    answer = _raw(lab, f"GET / HTTP/1.1\r\n{host}Host: evil.example\r\n\r\n".encode())
    assert answer.split()[1] == b"400"


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("/api/play", [], "request"),
        ("/api/play", {"source": "ready/lossy-pipe", "colour": "red"}, "colour"),
        ("/api/play", {"source": "ready/lossy-pipe", "seed": -1}, "seed"),
        ("/api/play", {"source": "ready/lossy-pipe", "sides": ["", "", ""]}, "sides"),
        ("/api/play", {"source": "ready/nothing"}, "unknown"),
        ("/api/play", {"source": "../../etc/passwd"}, "unknown"),
        ("/api/play", {"source": "drop/0123456789abcdef"}, "no longer here"),
        ("/api/play", {**LOSSY, "settings": {"link.rate": "fast"}}, "link.rate"),
        ("/api/play", {**LOSSY, "sides": ["sock"]}, "sack"),
        ("/api/play", {**LOSSY, "settings": {"duration": "10 h"}}, "at most 30 min"),
        ("/api/play", {**LOSSY, "settings": {"flows.count": "100000"}}, "at most 500"),
        ("/api/play", {**LOSSY, "flow": 1}, "flow = 1"),
        ("/api/cloud", {**LOSSY, "seeds": 100000}, "seeds"),
        ("/api/explain", {**LOSSY, "time_s": -1}, "time_s"),
        ("/api/link", {"source": "x" * 5000}, "source"),
    ],
)
def test_bad_input_is_one_clear_error(lab: Lab, path: str, value: object, words: str) -> None:
    status, answer = post(lab, path, value)
    assert status == HTTPStatus.BAD_REQUEST
    assert list(answer) == ["error"]
    assert words in answer["error"]
    assert "Traceback" not in answer["error"]


def test_what_is_no_json_is_one_clear_error(lab: Lab) -> None:
    for body in (b"", b"{", b"\xff", b"[" * 100_000):
        status, _, answer = ask(lab, "POST", "/api/play", body)
        assert status == HTTPStatus.BAD_REQUEST, body[:10]
        assert json.loads(answer)["error"]


@pytest.mark.parametrize(
    "settings",
    [
        {"link.rtt_log.path": "/etc/passwd"},
        {"link.rtt_log": "{ path = '/etc/passwd' }"},
        {"link.stops": "{ process = 'recorded', path = '/etc/passwd' }"},
        {"link": "{ trace = { down = '../x' } }"},
    ],
)
def test_a_page_cannot_have_files_read_by_name(lab: Lab, settings: dict[str, str]) -> None:
    status, answer = post(lab, "/api/play", {"source": "ready/lossy-pipe", "settings": settings})
    assert status == HTTPStatus.BAD_REQUEST
    assert "drop the file" in answer["error"]


def test_a_page_that_goes_away_ends_its_run(lab: Lab) -> None:
    """Without that, ten of these would use up the places, and the last would wait in vain."""
    request = json.dumps(
        {
            "source": "ready/wlan-clients",
            "settings": {"duration": "30 min", "flows.count": "60"},
            "sides": ["", "snoop"],
        }
    ).encode()
    head = f"POST /api/play HTTP/1.1\r\nHost: 127.0.0.1:{lab.port}\r\n"
    for _ in range(10):
        with socket.create_connection(("127.0.0.1", lab.port), timeout=60) as connection:
            connection.sendall(f"{head}Content-Length: {len(request)}\r\n\r\n".encode() + request)
            assert connection.recv(100)
    assert messages(lab, "/api/play", LOSSY)[-1]["kind"] == "result"


def test_every_ready_scenario_plays(lab: Lab) -> None:
    _, _, body = ask(lab, "GET", "/api/links")
    ready = [link["id"] for link in json.loads(body)["links"] if link["kind"] == "ready"]
    assert len(ready) >= 10
    for source in ready:
        settings = {"duration": "2 s", "flows.start_spread": "1 s"}
        heard = messages(lab, "/api/play", {"source": source, "settings": settings})
        assert heard[-1]["kind"] == "result", source


def test_the_command_says_where_it_is_and_ends_cleanly(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-m", "airtcp", "lab", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        request.addfinalizer(process.kill)
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
        port = address.rstrip("/").rpartition(":")[2]
        taken = subprocess.run(
            [sys.executable, "-m", "airtcp", "lab", "--port", port],
            capture_output=True,
            text=True,
            check=False,
        )
        assert taken.returncode == 2
        assert f"--port {port}" in taken.stderr
        assert "Traceback" not in taken.stderr
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate()
        assert process.returncode == 0
        assert errors == "the lab is closed\n"
    assert not list(tmp_path.glob("airtcp-lab-*"))

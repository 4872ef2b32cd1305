"""Reports of a route: which hop loses traffic, and which only answers seldom."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from airtcp.cli.commands import app
from airtcp.diagnosis.route import Route, route_of

HOSTS = ("192.168.1.1", "100.64.0.1", "62.155.243.98", "80.150.170.22", "192.0.2.9")
HEADINGS = {
    "report": "HOST: desktop                     Loss%   Snt   Last   Avg  Best  Wrst StDev",
    "screen": " Host                             Loss%   Snt   Last   Avg  Best  Wrst StDev",
}


def text(losses: list[float], form: str = "report", worst: float = 9.0) -> str:
    rows = [
        f" {at}.{'|-- ' if form == 'report' else ' '}{host:25s} {loss:.1f}%   100    8.1   8.4   "
        f"{7.4 if at > 1 else 0.4}  {worst}   0.9"
        for at, (host, loss) in enumerate(zip(HOSTS, losses, strict=True), 1)
    ]
    return "\n".join(["Start: 2024-03-12T19:04:11+0100", HEADINGS[form], *rows, ""])


def route(folder: Path, *args: object) -> Route:
    path = folder / "mtr.txt"
    path.write_text(text(*args))  # type: ignore[arg-type]
    found = route_of(path)
    assert found is not None
    return found


@pytest.mark.parametrize("form", HEADINGS)
def test_losses_of_hops_in_between_are_none(form: str, tmp_path: Path) -> None:
    found = route(tmp_path, [0, 0, 78, 35, 0], form)
    assert found.headline == (
        "Nothing is lost on the way: 192.0.2.9 answers all 100 probes, and hops 3 and 4 (up to "
        "78 % loss) are routers that answer probes seldom."
    )
    assert route(tmp_path, [0, 0, 100, 0, 0], form).headline.endswith("answers all 100 probes.")


@pytest.mark.parametrize(
    ("losses", "words"),
    [
        ([6, 7, 5, 6, 6], "(6 of 100), already on the way to hop 1: your own network"),
        ([0, 0, 5, 8, 6], "(6 of 100), from hop 3 (62.155.243.98) on"),
        ([0, 60, 5, 8, 6], "(6 of 100), between hop 1 and hop 3 (62.155.243.98)."),
        ([0, 0, 0, 0, 6], "(6 of 100), at the last hop only"),
        ([0, 0, 100, 100, 6], "(6 of 100), between hop 2 and hop 5 (192.0.2.9)."),
    ],
)
def test_losses_begin_where_all_later_hops_have_them(
    losses: list[float], words: str, tmp_path: Path
) -> None:
    assert words in route(tmp_path, losses).headline


def test_a_radio_shows_at_the_first_hop(tmp_path: Path) -> None:
    words = "The round trip to hop 1 (192.168.1.1) is"
    assert words in " ".join(route(tmp_path, [6, 6, 6, 6, 6], "report", 112.0).sentences)
    assert words not in " ".join(route(tmp_path, [0, 0, 0, 0, 0], "report", 9.0).sentences)


def test_every_form_has_the_hops(tmp_path: Path) -> None:
    hubs = [
        {"count": at, "host": host, "Loss%": loss, "Snt": 100, "Avg": 8.4, "Best": 7.4}
        for at, (host, loss) in enumerate(zip(HOSTS, [0, 0, 78, 35, 0], strict=True), 1)
    ]
    report = {"report": {"mtr": {"dst": HOSTS[-1]}, "hubs": hubs}}
    rows = [f"MTR.0.95,17,OK,{HOSTS[-1]},{one['count']},{one['host']},{one['Loss%']:.2f},100, ,8.1,"
            f"8.4,7.4,9.0,0.9," for one in hubs]  # fmt: skip
    heading = "Mtr_Version,Start_Time,Status,Host,Hop,Ip,Loss%,Snt, ,Last,Avg,Best,Wrst,StDev,"
    elements = "".join(
        f'<HUB COUNT="{one["count"]}" HOST="{one["host"]}">\n<Loss>{one["Loss%"]}%</Loss>\n'
        "<Snt>100</Snt>\n<Last>8.1</Last>\n<Avg>8.4</Avg>\n<Best>7.4</Best>\n<Wrst>9.0</Wrst>\n"
        "<StDev>0.9</StDev>\n</HUB>\n"
        for one in hubs
    )
    forms = {
        "json": json.dumps(report),
        "csv": "\n".join([heading, *rows, ""]),
        "xml": f'<?xml version="1.0"?>\n<MTR SRC="desktop" DST="{HOSTS[-1]}">\n{elements}</MTR>\n',
    }
    for name, content in forms.items():
        path = tmp_path / f"mtr.{name}"
        path.write_text(content)
        found = route_of(path)
        assert found is not None, name
        assert [one.host for one in found.hops] == list(HOSTS), name
        assert [round(100 * one.loss) for one in found.hops] == [0, 0, 78, 35, 0], name
        assert "hops 3 and 4" in found.headline, name


def test_the_command_answers_with_the_route(tmp_path: Path) -> None:
    path = tmp_path / "mtr.txt"
    path.write_text(text([0, 0, 78, 35, 0]))
    shown = CliRunner().invoke(app, ["diagnose", str(path)])
    assert shown.exit_code == 0
    assert shown.output.startswith("Nothing is lost on the way")
    answer = json.loads(CliRunner().invoke(app, ["diagnose", str(path), "--json"]).output)
    assert answer["headline"].startswith("Nothing is lost on the way")
    assert len(answer["hops"]) == len(HOSTS)
    refused = CliRunner().invoke(app, ["diagnose", str(path), "--out", str(tmp_path / "report")])
    assert refused.exit_code != 0
    assert not (tmp_path / "report").exists()

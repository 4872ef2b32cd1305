"""Without the extras' libraries: answers come as with them, and the rest names the command."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest

import airtcp
from airtcp.core.extras import EXTRAS, required

ROOT = Path(__file__).resolve().parents[2]
PING = str(ROOT / "recordings" / "wifi-spikes.ping")
CAPTURE = str(ROOT / "fuzz" / "seeds" / "capture" / "ethernet.pcap")
MONITORED = str(ROOT / "fuzz" / "seeds" / "capture" / "wlan.pcap")
SHORT = ("--set", "duration=2 s")
FEW = ("--rate", "2 Mbit/s", "--seeds", "2")
"""Trials of a ping in a tenth of the packets."""
_WITHOUT = """
import sys
for library in {libraries}:
    sys.modules[library] = None
"""
_COMMAND = """
sys.argv[1:] = {arguments}
from airtcp.cli import main
main()
"""
_ANSWER = """
import json, sys
from airtcp.diagnosis.as_json import of_capture
from airtcp.diagnosis.capture_answer import diagnosed
from airtcp.diagnosis.read import read_capture
print(json.dumps(of_capture(diagnosed(read_capture({path!r}, None, None), None))))
"""


def _without(
    *arguments: str, cwd: Path, libraries: Iterable[str] = EXTRAS
) -> subprocess.CompletedProcess[str]:
    """A command in a Python that lacks the extras' libraries."""
    program = _WITHOUT.format(libraries=list(libraries)) + _COMMAND.format(
        arguments=list(arguments)
    )
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "lossy-pipe", *SHORT),
        ("compare", "lossy-pipe", "--remedy", "sack", "--seeds", "2", *SHORT),
        ("compare", "lossy-pipe", "--remedy", "sack", "--seeds", "2", *SHORT, "--json"),
        ("diagnose", PING, *FEW),
        ("diagnose", PING, *FEW, "--json"),
        ("diagnose", CAPTURE),
        ("diagnose", CAPTURE, "--json"),
        ("diagnose", MONITORED, "--json"),
        ("diagnose", CAPTURE, CAPTURE, "--json"),
        ("diagnose", CAPTURE, "--advise"),
        ("import", PING, "--rate", "20 Mbit/s"),
        ("check", str(ROOT / "scenarios" / "lossy-pipe.toml")),
        ("list", "remedies", "bbr"),
        ("new", "my.toml"),
        ("run", "lossy-pipe", *SHORT, "--plot", "a.tex", "--figure-width", "85mm"),
        ("run", "lossy-pipe", *SHORT, "--probe", "cwnd", "--samples", "a.csv"),
        ("run", "lossy-pipe", *SHORT, "--probe", "cwnd", "--json"),
        ("run", "wlan-clients", *SHORT, "--frames", "a.csv", "--agents", "b.csv"),
        ("run", "lossy-pipe", *SHORT, "--events", "a.csv", "--rtt-log", "b.csv"),
        ("run", "lossy-pipe", *SHORT, "--flent", "a.flent.gz", "--qlog", "a.qlog"),
        ("run", "lossy-pipe", *SHORT, "--under-load", "ping", "--irtt", "a.json"),
        ("run", "lossy-pipe", *SHORT, "--under-load", "ping", "--irtt", "a.csv"),
    ],
    ids=lambda words: " ".join(words[:1] + words[-1:]).replace(str(ROOT), ""),
)
def test_the_core_answers_without_extras(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = _without(*arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    if arguments[-1] == "--json":
        assert json.loads(done.stdout)


@pytest.mark.parametrize(
    "settings",
    [
        {"link.loss.rate": "0.01", "link.stops.every": "4 s", "link.stops.length": "300 ms"},
        {"link.jitter.mean": "8 ms"},
        {"link.rate": "20 Mbit/s", "link.queue.packets": "8"},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_a_capture_has_the_same_answer_without_extras(
    settings: dict[str, str], tmp_path: Path
) -> None:
    """Its link is fitted and played back, too."""
    path = tmp_path / "a.pcapng"
    airtcp.run("lossy-pipe", settings={"duration": "12 s", **settings}, pcap=path)
    answer = _ANSWER.format(path=str(path))
    given, missing = (
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        ).stdout
        for program in (answer, _WITHOUT.format(libraries=list(EXTRAS)) + answer)
    )
    assert json.loads(missing)["replay"] is not None
    assert missing == given


_LIBRARY = """
import pickle
from pathlib import Path
import airtcp
from airtcp.lab.drops import Drops
from airtcp.lab.explain import explain
from airtcp.lab.requests import Explain
from airtcp.lab.sources import Sources
from airtcp.papers.sampled import peak_summary, watched

settings = {{"duration": "6 s", "link.stops.every": "2 s", "link.stops.length": "1 s"}}
run = airtcp.run("lossy-pipe", settings=settings, probes=["cwnd"], air=True, packets=True)
other = pickle.loads(pickle.dumps(run))
assert other == run
for table in ("samples", "events", "frames", "agents", "rtts", "packets", "pings"):
    assert other.arrow(table).rows() == run.arrow(table).rows()
(first, *_) = [row for row in run.arrow("events").rows() if row["event"] == "timeout"]
request = Explain("ready/lossy-pipe", settings, "", time_s=first["time_s"])
drops = Drops()
print(explain(Sources(Path({folder!r}), drops), request)["sentences"][0])
drops.close()
watched(run.scenario, 1)
peak_summary(run.scenario, 1)
"""


def test_timeouts_are_explained_and_runs_pickled_without_extras() -> None:
    folder = str(ROOT / "scenarios")
    program = _WITHOUT.format(libraries=list(EXTRAS)) + _LIBRARY.format(folder=folder)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "the retransmission timer expired" in done.stdout


def test_the_folder_of_a_comparison_takes_no_matplotlib(tmp_path: Path) -> None:
    words = ("compare", "lossy-pipe", "--remedy", "sack", "--seeds", "2", *SHORT, "--out", "out")
    done = _without(*words, cwd=tmp_path, libraries=["matplotlib"])
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "index.html").is_file()


_REPORT = """
import airtcp
found = airtcp.compare("lossy-pipe", ["sack"], 2, {{"duration": "2 s"}})
found.report({folder!r})
study = airtcp.study.run({study!r}, 1)
print(study.rows.csv())
run = airtcp.run("lossy-pipe", settings={{"duration": "2 s"}}, probes=["cwnd"])
print(run.csv("samples"), run.csv("events"))
"""
_STUDY = """
remedies = ["sack"]
[[link]]
name = "lossy"
scenario = "lossy-pipe"
settings = {duration = "2 s"}
[[stack]]
name = "reno"
settings = {"tcp.profile" = "newreno"}
"""


def test_a_comparison_is_reported_and_a_study_is_csv_without_extras(tmp_path: Path) -> None:
    """The same bytes as with them."""
    study = tmp_path / "study.toml"
    study.write_text(_STUDY)
    printed = []
    for name, without in (("with", ""), ("without", _WITHOUT.format(libraries=list(EXTRAS)))):
        program = without + _REPORT.format(folder=str(tmp_path / name), study=str(study))
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    assert printed[0] == printed[1]
    names = {path.name for path in (tmp_path / "with").iterdir()}
    assert {"comparison.csv", "comparison.svg", "timeline.svg"} <= names
    for name in names:
        assert (tmp_path / "with" / name).read_bytes() == (tmp_path / "without" / name).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (("run", "lossy-pipe", "--plot", "a.svg"), "plot"),
        (("run", "lossy-pipe", "--picture", "timeline=a.svg"), "plot"),
        (("run", "lossy-pipe", "--picture", "fading=a.tex"), "plot"),
        (("run", "lossy-pipe", "--probe", "cwnd", "--samples", "a.parquet"), "frames"),
        (("run", "lossy-pipe", "--events", "a.parquet"), "frames"),
        (("compare", "lossy-pipe", "--out", "out"), "frames"),
        (("compare", "lossy-pipe", "--out", "out", "--png"), "plot"),
        (("compare", "lossy-pipe", "--out", "out", "--figure-width", "column"), "plot"),
        (("compare", "lossy-pipe", "--remedy", "sack", "--dask", "127.0.0.1:9"), "dask"),
        (("study", "classifiers", "--out", "out"), "plot"),
        (("papers", "--out", "out"), "plot"),
        (("diagnose", CAPTURE, "--out", "out"), "plot"),
        (("diagnose", PING, "--out", "out"), "plot"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, tuple) else words,
)
def test_what_needs_an_extra_names_the_command(
    arguments: tuple[str, ...], extra: str, tmp_path: Path
) -> None:
    done = _without(*arguments, cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    told = rf"airtcp: \w+ is not installed: pip install 'airtcp\[{extra}\]'\n"
    assert re.fullmatch(told, done.stderr), done.stderr
    assert not done.stdout


@pytest.mark.parametrize("library", EXTRAS)
def test_a_missing_library_is_told_to_programs_too(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ModuleNotFoundError, match=re.escape(f"'airtcp[{EXTRAS[library]}]'")):
        required(library)
    if library == "polars":
        with pytest.raises(ModuleNotFoundError, match=r"airtcp\[frames\]"):
            airtcp.run("lossy-pipe", settings={"duration": "1 s"}).events  # noqa: B018
        with pytest.raises(ModuleNotFoundError, match=r"airtcp\[frames\]"):
            airtcp.diagnose(CAPTURE).labels  # noqa: B018


def test_each_extra_is_that_of_the_manifest() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for library, extra in EXTRAS.items():
        assert any(re.match(rf"{library}\W", one) for one in extras[extra]), library
    core = {re.split(r"\W", one)[0] for one in project["dependencies"]}
    assert core == {"h2", "jinja2", "msgspec", "numpy", "rich", "typer"}

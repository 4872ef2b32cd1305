"""docs/start/how-do-i.md: the command of every question runs, and answers with its words.

Long commands are run for seconds of simulated time and two seeds.
"""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "start" / "how-do-i.md"
INSTALL = ROOT / "docs" / "start" / "install.md"
SEEDS = ROOT / "fuzz" / "seeds"
SHORT = "--set 'duration=2 s' --seeds 2"

FILES = {
    "my.ping": ROOT / "recordings" / "wifi-spikes.ping",
    "loaded.ping": ROOT / "recordings" / "cellular-slow.ping",
    "test.json": SEEDS / "recording" / "iperf3-json",
    "speedtest.json": SEEDS / "recording" / "speedtest",
    "throughput.csv": SEEDS / "recording" / "throughput",
    "cake-autorate.log": SEEDS / "recording" / "cake-autorate",
    "my.bpf.o": SEEDS / "bpf" / "veno.bpf.o",
}
"""A reader's files, and files of the repository in their place."""

RUNS = {
    "slow.pcap": "airtcp run lossy-pipe --set link.loss.rate=0.01 --set 'duration=12 s' --pcap",
    "before.pcap": "airtcp run lossy-pipe --set link.loss.rate=0.01 --set 'duration=12 s' --pcap",
    "after.pcap": "airtcp run lossy-pipe --set 'duration=12 s' --pcap",
    "link.toml": "airtcp new",
    "results": "airtcp compare link.toml --remedy cake --metric rtt-p95 --seeds 10 "
    "--set 'duration=2 s' --out",
    "flow.qlog": "airtcp run lossy-pipe --set link.loss.rate=0.01 --set 'duration=5 s' --qlog",
}
"""Files that a command writes, in this order."""


class Answer(NamedTuple):
    """What a command has to print or write, and how it is run here."""

    prints: str
    """A regular expression."""
    writes: str = ""
    """A file."""
    shortened: str = ""
    """Further arguments that make it short."""
    needs: tuple[str, ...] = ()
    """Names of tests/needs.toml."""


RUN = "--set 'duration=2 s'"
FACTS = "--max-cpu 1"
"""The facts of a diagnosis, and few trials."""

ANSWERS = {
    "find out whether I have bufferbloat": Answer(r"round trip", "", FACTS),
    "why is my Wi-Fi slow, or why does it stall": Answer(r"round trip|stops", "", FACTS),
    "why is one download or upload slow": Answer(r"Mbit/s.*possible|can carry|loses", "", FACTS),
    "which capture should I take, and where": Answer(r"tcpdump"),
    "read an rrul result of flent": Answer(r"round trip", "", FACTS),
    "compare two captures, before and after a change": Answer(r"before"),
    "see cwnd and RTT of a captured flow as a picture": Answer(
        r"report", "report/index.html", FACTS
    ),
    "see the congestion window in a simulation": Answer(r"goodput", "flow.svg", RUN),
    "use an iperf3 result as a link": Answer(r"lower bound", "link.toml"),
    "use a speed test as a link": Answer(r"the link's own", "link.toml"),
    "use my throughput log as a link": Answer(r"throughputs", "link.toml"),
    "describe an asymmetric link": Answer(r"goodput +4\d\.\d Mbit/s", "", "--set 'duration=5 s'"),
    "add jitter to a link": Answer(r"goodput", "", RUN),
    "simulate 700 Mbit/s and more": Answer(
        r"goodput +[789]\d\d Mbit/s", "", "--set 'duration=4 s'"
    ),
    "explore a link in my browser": Answer(r"Serve a page", "", "--help"),
    "write a new scenario": Answer(r"wrote my-link.toml", "my-link.toml"),
    "make Starlink faster": Answer(r"Link: satellite-upload", "", SHORT),
    "make LTE faster": Answer(r"Link: lte-upload", "", SHORT),
    "make 5G faster": Answer(r"fq-codel[^$]*cake|cake[^$]*fq-codel", "", SHORT),
    "lower latency under load": Answer(r"responsiveness|RPM", "", SHORT),
    "keep video calls working during a download": Answer(r"call", "", SHORT),
    "which rates do I set in cake-autorate": Answer(r"The rate down.*\n.*rate up", "link.toml"),
    "is BBR better than CUBIC here": Answer(r"bbr", "", SHORT),
    "does a remedy harm other users": Answer(r"bbr", "", SHORT),
    "does it help QUIC": Answer(r"QUIC.*remedies are for TCP"),
    "does it help through a VPN": Answer(r"Link: lossy-pipe", "", SHORT),
    "try my own congestion control": Answer(r"my", "", SHORT),
    "get a figure for a paper": Answer(r"goodput", "figure.pdf", RUN),
    "get a figure as LaTeX, in the font of my paper": Answer(r"goodput", "figure.tex", RUN),
    "get the data of a figure": Answer(r"goodput", "figure.csv", RUN),
    "fail my CI when p95 grows": Answer(r"Not worse than results", "", RUN),
    "check a file before I run it": Answer(r"valid scenario"),
    "get the latency of each packet as irtt writes it": Answer(r"goodput", "pings.json", RUN),
    "plot a simulated flow with flent": Answer(r"goodput", "flow.flent.gz", RUN),
    "open a simulated flow in Wireshark": Answer(r"goodput", "flow.pcapng", RUN),
    "use a link in netem, mahimahi or ns-3": Answer(r"cell", "cell"),
    "does it hold on my kernel": Answer(
        r"bbr: |did not keep up", "", "--set 'duration=2 s'", ("namespaces", "tun")
    ),
    "run my program over such a link": Answer(
        r"ping statistics", "", "", ("namespaces", "tun", "ping")
    ),
    "preview the changes of a deployment": Answer(r"airtcp deploy bbr|sysctl|undeploy"),
    "run a remedy on a router": Answer(r""),
    "undo everything": Answer(r"nothing is deployed"),
}
CLUSTER = "run a study on a cluster"


def questions(page: str) -> dict[str, str]:
    """The command of each question, without "How do I" and the question mark."""
    found = {}
    for section in page.split("\n### ")[1:]:
        heading, _, body = section.partition("\n")
        commands = re.findall(r"^    (.+)$", body, re.MULTILINE)
        assert len(commands) == 1, f"{heading}: one command, not {len(commands)}"
        assert commands[0].startswith("airtcp "), heading
        plain = heading.removesuffix("?").removeprefix("How do I ")
        found[_lowered(plain)] = commands[0]
    return found


def _lowered(text: str) -> str:
    return text[0].lower() + text[1:] if text[1:2].islower() else text


QUESTIONS = questions(PAGE.read_text("utf-8"))


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command as a reader would, who is asked nothing and has kept nothing."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    own = {"PATH": programs, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config")}
    return subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=os.environ | own,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every file that the page names."""
    folder = tmp_path_factory.mktemp("reader")
    for name, source in FILES.items():
        shutil.copy(source, folder / name)
    for name, command in RUNS.items():
        done = run(f"{command} {name}", folder)
        assert done.returncode == 0, done.stderr
    times = [0.2 * step for step in range(300)]
    pings = [25.0 if time < 5 or time > 55 else 180.0 for time in times]
    rrul = {"version": 4, "x_values": times, "results": {"Ping (ms) ICMP": pings}}
    (folder / "rrul.flent.gz").write_bytes(gzip.compress(json.dumps(rrul).encode()))
    return folder


def test_every_question_has_an_expected_answer() -> None:
    assert len(QUESTIONS) >= 30
    assert set(QUESTIONS) == {*ANSWERS, CLUSTER}


def _marked(question: str) -> object:
    needs = ANSWERS[question].needs
    marks = [pytest.mark.needs(*needs)] if needs else []
    return pytest.param(question, marks=marks, id=question)


@pytest.mark.parametrize("question", [_marked(one) for one in ANSWERS])
def test_the_command_answers(question: str, reader: Path) -> None:
    answer = ANSWERS[question]
    done = run(f"{QUESTIONS[question]} {answer.shortened}".strip(), reader)
    said = done.stdout + done.stderr
    # A busy machine may refuse a measurement in real time, or be too late for a ping.
    assert done.returncode == 0 or answer.needs, said
    assert re.search(answer.prints, said, re.DOTALL), said
    if answer.writes:
        written = reader / answer.writes
        assert written.is_dir() or written.stat().st_size > 0


@pytest.mark.filterwarnings("ignore")
def test_the_study_runs_on_a_cluster(reader: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="pip install 'airtcp[dask]'")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        command = QUESTIONS[CLUSTER].replace("tcp://10.0.0.1:8786", cluster.scheduler_address)
        done = run(f"{command} --seeds 1", reader)
    assert done.returncode == 0, done.stderr
    assert (reader / "study" / "index.html").is_file()


def test_what_the_install_page_names_exists() -> None:
    page = INSTALL.read_text("utf-8")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = re.findall(r"^    make ([\w-]+)$", page, re.MULTILINE)
    assert targets == ["build", "wheel", "release"]
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for path in re.findall(r"`(packaging/[\w./-]+)`", page):
        assert (ROOT / path).exists(), path
    extras = (ROOT / "pyproject.toml").read_text("utf-8").split("optional-dependencies]")[1]
    for extra in re.findall(r"\[(\w+)\][`\"]", page):
        assert re.search(rf"^{extra} = \[", extras, re.MULTILINE), extra


def test_the_first_pages_have_the_words_of_readers() -> None:
    """The site's search finds words, in the spelling of its readers."""
    text = f"{PAGE.read_text('utf-8')} {INSTALL.read_text('utf-8')}".casefold()
    asked = ("wifi", "hotspot", "voip", "packet loss", "mobile data", "speed test", "bufferbloat")
    of_install = ("uninstall", "license", "licence", "macos", "windows", "dockerfile")
    missing = [one for one in (*asked, *of_install) if not re.search(rf"\b{one}\b", text)]
    assert missing == []


def test_the_search_puts_users_first() -> None:
    sys.path.insert(0, str(ROOT / "pages"))
    try:
        from search_order import BOOSTS, boost
    finally:
        sys.path.pop(0)
    docs = ROOT / "docs"
    assert all((docs / start).exists() for start in BOOSTS)
    for page in (docs / "contributing").glob("*.md"):
        assert boost(str(page.relative_to(docs))) < boost("reference/scenarios.md") == 1
    assert boost("start/how-do-i.md") > boost("start/tutorial.md") > 1

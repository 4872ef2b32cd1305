"""Scenarios small enough to run hundreds of times."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from needs import missing

if TYPE_CHECKING:
    from airtcp.lab.server import Lab

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"

# A busy machine is slow, and nothing is wrong with it. The same cases in every run: a change is
# refused for a fault of its own, and `make check-long` looks for new ones.
_patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same cases", _patient, derandomize=True, database=None)
settings.register_profile("new cases", _patient)
settings.load_profile("new cases" if "AIRTCP_NEW_CASES" in os.environ else "same cases")

GUEST_SECONDS = 600

WLAN = """
duration = "2 s"
topology = "wlan"
[wlan]
loss.rate = 0.1
outage = { every = "500 ms", length = "100 ms" }
"""

LOSSY = """\
name = "lossy"
duration = "10 s"

[link]
rate = "10 Mbit/s"
delay = "25 ms"

[link.queue]
packets = 100

[link.loss]
rate = 0.01
"""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips a test that needs something missing, before its fixtures are made."""
    for mark in item.iter_markers("needs"):
        if reason := next(filter(None, map(missing, mark.args)), ""):
            pytest.skip(reason)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Gives tests in guests time: several boots on a busy machine outlast the usual limit."""
    for item in items:
        needed = {name for mark in item.iter_markers("needs") for name in mark.args}
        if "kernels" in needed and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(GUEST_SECONDS))


@pytest.fixture
def lossy() -> str:
    """Ten seconds over a pipe that loses one segment in a hundred at random."""
    return LOSSY


@pytest.fixture
def lossy_file(tmp_path: Path) -> Path:
    """The same as a file."""
    path = tmp_path / "lossy.toml"
    path.write_text(LOSSY)
    return path


@pytest.fixture
def wlan_file(tmp_path: Path) -> Path:
    """A radio that damages frames and goes away now and then: every remedy has something to do."""
    path = tmp_path / "wlan.toml"
    path.write_text(WLAN)
    return path


@pytest.fixture
def steady_file(tmp_path: Path) -> Path:
    """A pipe without losses, on which nothing is random."""
    path = tmp_path / "steady.toml"
    path.write_text(LOSSY.replace("rate = 0.01", "rate = 0").replace('"lossy"', '"steady"'))
    return path


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Lab"]:
    """A lab on a free port with the ready scenarios, and one report of a past run."""
    from airtcp.lab.server import Lab

    reports = tmp_path_factory.mktemp("reports")
    (reports / "upload").mkdir()
    (reports / "upload" / "index.html").write_text("<title>An upload &amp; more</title>")
    (reports / "upload" / "secret.key").write_text("no report")
    (reports.parent / "outside.html").write_text("outside")
    with Lab(0, SCENARIOS, reports) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()

"""The synthetic Starlink downlink that ships: its program makes it, with the figures told."""

import gzip
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

import airtcp

ROOT = Path(__file__).parents[2]
TRACES = ROOT / "scenarios" / "traces"


@pytest.fixture(scope="module")
def program() -> ModuleType:
    spec = importlib.util.spec_from_file_location("starlink", ROOT / "recordings" / "starlink.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_files_are_the_programs(program: ModuleType) -> None:
    files = program.synthetic()
    assert gzip.decompress((TRACES / "starlink.down.gz").read_bytes()) == files["starlink.down"]
    assert (TRACES / "starlink.csv").read_bytes() == files["starlink.csv"]


def test_its_figures_are_told(program: ModuleType) -> None:
    found = program.of_synthetic()
    text = (TRACES / "README.md").read_text("utf-8").split("# A synthetic Starlink downlink")[1]
    told = [float(number) for number in re.findall(r"[\d.]*\d", text.split("Against LeoCC")[1])]
    mean, low, high, stop = told[1], told[3], told[4], told[8]
    assert (mean, low, high, stop) == (
        pytest.approx(found["mean rate, Mbit/s"], abs=0.05),
        pytest.approx(found["rate of 100 ms, 5 %"], abs=0.5),
        pytest.approx(found["rate of 100 ms, 95 %"], abs=0.5),
        pytest.approx(found["mean stop, ms"], abs=0.5),
    )
    assert found["stops of 50 ms and more, a minute"] == pytest.approx(4, abs=0.1)


def test_a_compressed_trace_is_the_plain_one(tmp_path: Path) -> None:
    plain = tmp_path / "starlink.down"
    plain.write_bytes(gzip.decompress((TRACES / "starlink.down.gz").read_bytes()))
    settings = {"duration": "5 s"}
    packed = airtcp.run("starlink", settings=settings)
    again = airtcp.run("starlink", settings=settings | {"link.trace.down": str(plain)})
    assert packed.summary["digest"] == again.summary["digest"]

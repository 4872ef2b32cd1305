"""Damaged and mutated files through the command line: an answer or one line, never a traceback.

In this process, since starting a new one costs more than most of the inputs.
"""

import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner

import airtcp
from airtcp.cli.commands import app
from airtcp.comparison.grid import load_grid
from airtcp.core.files import FileError

ROOT = Path(__file__).resolve().parents[2]
SEEDS = sorted((ROOT / "fuzz" / "seeds" / "capture").iterdir())
LOGS = sorted((ROOT / "fuzz" / "seeds" / "rtt_log").iterdir())
EACH = 12
"""Mutants of each file."""
EXTREMES = (b"\0" * 4, b"\xff" * 4, b"\x7f\xff\xff\xff")


def mutants(content: bytes, seed: int) -> Iterator[bytes]:
    """Bits flipped, bytes replaced by extremes, parts cut, doubled and moved."""
    draw = random.Random(seed)
    for _ in range(EACH):
        damaged = bytearray(content)
        for _ in range(draw.choice((1, 2, 8, 40))):
            at = draw.randrange(len(damaged))
            match draw.randrange(5):
                case 0:
                    damaged[at] ^= 1 << draw.randrange(8)
                case 1:
                    damaged[at : at + 4] = draw.choice(
                        (b"\0" * 4, b"\xff" * 4, b"\x7f\xff\xff\xff")
                    )
                case 2:
                    del damaged[at : at + draw.choice((1, 4, 100))]
                case 3:
                    damaged[at:at] = damaged[at : at + 60]
                case 4:
                    other = draw.randrange(len(damaged))
                    damaged[at : at + 16] = damaged[other : other + 16]
            if not damaged:
                break
        yield bytes(damaged)


def assert_answers(*arguments: str | Path) -> None:
    """The command answers, or explains the error in one line."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if done.exit_code == 0:
        return
    assert isinstance(done.exception, SystemExit), (arguments, done.exception)
    assert done.exit_code in {1, 2}
    assert done.stderr.startswith("airtcp: ") or arguments[0] == "script", done.stderr
    assert len(done.stderr.splitlines()) <= 1


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A capture of a flow that is long enough for a link to be fitted to it."""
    path = tmp_path_factory.mktemp("capture") / "run.pcapng"
    settings = {"duration": "6 s", "link.rate": "1 Mbit/s", "link.loss.rate": 0.02}
    airtcp.run("lossy-pipe", settings=settings, pcap=path)
    return path.read_bytes()


@pytest.mark.parametrize("seed", range(2))
def test_a_mutated_capture(capture: bytes, tmp_path: Path, seed: int) -> None:
    for number, content in enumerate(mutants(capture, seed)):
        (tmp_path / f"{number}.pcapng").write_bytes(content)
        assert_answers("diagnose", tmp_path / f"{number}.pcapng", "--can", "link")


@pytest.mark.parametrize("file", [*SEEDS, *LOGS], ids=lambda path: path.name)
def test_a_mutated_seed_of_the_fuzzers(file: Path, tmp_path: Path) -> None:
    for number, content in enumerate(mutants(file.read_bytes(), number_of(file))):
        (tmp_path / f"{number}").write_bytes(content)
        assert_answers("diagnose", tmp_path / f"{number}", "--can", "link")


SCENARIOS = ("lossy-pipe", "wlan-upload", "cell", "wifi-suspension")


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_mutated_scenario(name: str, tmp_path: Path) -> None:
    path = airtcp.core.shipped.find(name, "scenarios")
    # The mutated duration is not simulated: only the reading of the file is tested.
    for number, content in enumerate(mutants(path.read_bytes(), number_of(path))):
        (tmp_path / f"{number}.toml").write_bytes(content)
        assert_answers("run", tmp_path / f"{number}.toml", "--set", "duration=10 ms")


@pytest.mark.parametrize("name", ["classifiers", "then-and-now"])
def test_a_mutated_study(name: str, tmp_path: Path) -> None:
    path = airtcp.core.shipped.find(name, "studies")
    for number, content in enumerate(mutants(path.read_bytes(), number_of(path))):
        (tmp_path / f"{number}.toml").write_bytes(content[: len(content) // 2])
        with suppress(airtcp.ScenarioError, FileError):
            load_grid(tmp_path / f"{number}.toml")


@pytest.mark.parametrize("folder", ["rack", "handshake"])
def test_a_mutated_script(folder: str, tmp_path: Path) -> None:
    for path in sorted((ROOT / "tests" / "scripts" / folder).iterdir()):
        for number, content in enumerate(mutants(path.read_bytes(), number_of(path))):
            (tmp_path / f"{path.stem}-{number}.pkt").write_bytes(content)
    assert_answers("script", "--quiet", tmp_path)


def number_of(path: Path) -> int:
    """A seed for each file, the same on every machine."""
    return sum(path.name.encode())

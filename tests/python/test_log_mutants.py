"""Mutated logs of every form are read or refused: no traceback, and an error that helps.

Bytes are damaged elsewhere (test_hostile_files.py); these mutants remain logs: numbers are zero,
negative, huge or no numbers, lines are cut, doubled, moved and lost. With
`AIRTCP_LOG_MUTANTS=100000` in the environment more are tried, from number `AIRTCP_FIRST`.
"""

import gzip
import os
import random
import re
from pathlib import Path

import pytest

from airtcp import Scenario, ScenarioError
from airtcp.core.recordings.choices import Choices
from airtcp.core.recordings.events import find_events
from airtcp.core.recordings.imported import import_link
from airtcp.core.recordings.log import read_ping
from airtcp.diagnosis.ping_findings import find, said

ROOT = Path(__file__).resolve().parents[2]
SEEDS = sorted((ROOT / "fuzz" / "seeds" / "recording").iterdir())
EACH = max(1, int(os.environ.get("AIRTCP_LOG_MUTANTS", "480")) // len(SEEDS))
FIRST = int(os.environ.get("AIRTCP_FIRST", "0"))
NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")
NUMBERS = ("0", "-1", "1e308", "NaN", "inf", "", "0.0000001", "99999999999999999999", "4294967296")
NO_NUMBER = re.compile(r"\b(nan|inf|-inf|None)\b")
INNER = re.compile(r"(link\.toml|stops\.csv|lost\.csv|path\.csv|rate\.opportunities):")
GZIP = b"\x1f\x8b"
MIN_LINES = 40
"""A short seed is lengthened to as many lines, so that it has round trips enough."""


def content_of(path: Path) -> str:
    """The text of a seed."""
    content = path.read_bytes()
    # Windows writes a code page: every byte remains one.
    return (gzip.decompress(content) if content.startswith(GZIP) else content).decode("latin-1")


def mutant(text: str, draw: random.Random) -> str:
    """One to four mutations of a log."""
    for _ in range(draw.choice((1, 1, 2, 4))):
        text = draw.choice(MUTATIONS)(text, draw)
    return text


def _number(text: str, draw: random.Random) -> str:
    """One number becomes another."""
    found = list(NUMBER.finditer(text))
    if not found:
        return text
    one = draw.choice(found)
    return text[: one.start()] + draw.choice(NUMBERS) + text[one.end() :]


def _column(text: str, draw: random.Random) -> str:
    """The n-th number of every line becomes the same."""
    place, value = draw.randrange(6), draw.choice(NUMBERS)

    def changed(line: str) -> str:
        found = list(NUMBER.finditer(line))
        if len(found) <= place:
            return line
        return line[: found[place].start()] + value + line[found[place].end() :]

    return "\n".join(changed(line) for line in text.split("\n"))


def _lines(text: str, draw: random.Random) -> str:
    """Lines are lost, doubled, reversed, shuffled, or cut."""
    lines = text.split("\n")
    match draw.randrange(6):
        case 0:
            lines = [line for line in lines if draw.random() < 0.5]
        case 1:
            lines = [line for line in lines for _ in range(draw.choice((1, 2)))]
        case 2:
            lines.reverse()
        case 3:
            draw.shuffle(lines)
        case 4:
            lines = [line[: draw.randrange(len(line) + 1)] for line in lines]
        case _:
            lines = lines[: draw.randrange(len(lines) + 1)]
    return "\n".join(lines)


def _longer(text: str, draw: random.Random) -> str:
    """The lines are repeated, as a log of several runs has them."""
    times = -(-MIN_LINES // (text.count("\n") + 1)) * draw.choice((1, 3))
    return "\n".join([text] * min(times, 60))


def _signs(text: str, draw: random.Random) -> str:
    """One sign becomes another, in all of the text."""
    if not text:
        return text
    return text.replace(draw.choice(text), draw.choice((",", ".", " ", "", "\t", ";", ":", "é")))


def _cut(text: str, draw: random.Random) -> str:
    return text[: draw.randrange(len(text) + 1)]


MUTATIONS = (_number, _number, _column, _lines, _longer, _signs, _cut)


def assert_read(path: Path, name: str) -> None:
    """The log is read and answered, or refused with a sentence that names it."""
    try:
        log = read_ping(path)
        events = None if log.refusal else find_events(log)
        if events is not None:
            for line in (*said(log, find(log, events)), *(one.advice for one in find(log, events))):
                assert not NO_NUMBER.search(line), f"{name}: {line}"
    except ScenarioError as error:
        assert_helps(str(error), path, name)
    try:
        found = import_link([path], Choices(rate="12 Mbit/s"))
        written = found.link.write(path.with_name(f"{path.name}-link"))
        Scenario.load(written)
    except ScenarioError as error:
        assert_helps(str(error), path, name)


def assert_helps(error: str, path: Path, name: str) -> None:
    """The error names the file, and what was expected or what to do; no file of the tool's own."""
    assert path.name in error, f"{name}: {error}"
    assert not INNER.search(error), f"{name}: {error}"
    assert re.search(r"expected|choose|; |airtcp|needed: ", error), f"{name}: {error}"


@pytest.mark.timeout(0 if EACH > 100 else 600)
@pytest.mark.parametrize("seed", SEEDS, ids=lambda path: path.name)
def test_a_mutated_log_is_read_or_refused(seed: Path, tmp_path: Path) -> None:
    text = content_of(seed)
    for number in range(FIRST, FIRST + EACH):
        path = tmp_path / f"mutant-{number % 10}"
        changed = mutant(text, random.Random(1000 * number + sum(seed.name.encode())))
        path.write_text(changed, encoding="latin-1", errors="replace")
        try:
            assert_read(path, f"{seed.name}, {number}")
        except (AssertionError, ScenarioError):
            raise
        except Exception as error:
            pytest.fail(f"{seed.name}, {number}: {type(error).__name__}: {error}")

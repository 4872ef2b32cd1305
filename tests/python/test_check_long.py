"""`make check-long`: a missing program fails its check with a remedy, and later ones run."""

import importlib
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
try:
    long = importlib.import_module("long")
finally:
    sys.path.remove(str(TESTS))


@pytest.mark.parametrize("program", long.INSTALLED_BY)
def test_a_missing_program_is_named_with_its_remedy(
    program: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    check = long.Check("one", "a check", ((program, "--version"),), program=program)
    assert not long.run(check, 1, 1)
    remedy = long.INSTALLED_BY[program]
    assert capsys.readouterr().out == f"one: FAILED: {program} is missing: {remedy}\n"


def test_every_check_names_the_programs_that_it_starts() -> None:
    """Besides Python, pytest and cargo, without which there is no `make test`."""
    found = list(long.checks(1, 1))
    for check in found:
        started = {command[0] for command in check.commands}
        assert started <= {long.PYTHON, long.PYTEST, "cargo", check.program}, check.name
    assert {check.program for check in found} - {""} == set(long.INSTALLED_BY)

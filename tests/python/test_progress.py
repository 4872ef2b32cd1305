"""Progress of long work: where it goes to a log."""

import time

import pytest

from airtcp.cli.progress import LinesOfProgress


def test_a_log_has_a_line_a_minute_with_an_estimate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A quarter after two minutes: six are left."""
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    report = LinesOfProgress("compares")
    for second in range(0, 125, 5):
        now = 1000.0 + second
        report(second / 480, "round 2")
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "airtcp: compares: 12 %, round 2, about 7 min left",
        "airtcp: compares: 25 %, round 2, about 6 min left",
    ]


def test_short_work_says_nothing_in_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    report = LinesOfProgress("runs")
    for share in (0.0, 0.5, 1.0):
        report(share)
    assert capsys.readouterr() == ("", "")

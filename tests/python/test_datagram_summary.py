"""The table of a run with datagrams and TCP."""

import pytest

import airtcp
from airtcp.cli.run_summary import print_summary


def test_only_what_retransmits_has_a_timeout(capsys: pytest.CaptureFixture[str]) -> None:
    scenario = airtcp.Scenario.parse(
        'topology = "wlan"\nduration = "1 s"\n[wlan]\nstandard = "802.11n"\n'
        '[flows]\ncount = 3\nkind = ["udp", "ping", "tcp"]\n'
    )
    print_summary(airtcp.run(scenario).summary)
    rows = capsys.readouterr().out.splitlines()
    (row,) = (row for row in rows if row.startswith("RTO at the end"))
    assert row.split()[4:6] == ["none", "none"]
    assert row.endswith("ms")

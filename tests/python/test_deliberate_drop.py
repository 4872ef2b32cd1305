"""Duplicate acknowledgments provoked on purpose (Miyim §V), on a link that stops."""

from pathlib import Path

import airtcp

STOPS = """
topology = "pipe"
duration = "60 s"
link.rate = "8 Mbit/s"
link.delay = "20 ms"
link.stops = { process = "periodic", every = "3 s", length = "900 ms", packets = "held" }
"""


def test_drops_bring_fast_retransmissions_and_save_no_timeout(tmp_path: Path) -> None:
    """A stop holds all packets alike, so that no later one comes first to provoke a duplicate."""
    file = tmp_path / "stops.toml"
    file.write_text(STOPS, encoding="utf-8")

    def flow(*remedies: str) -> tuple[float, int, int]:
        run = airtcp.run(file, remedies=list(remedies)).summary
        one = run["flows"][0]
        return run["goodput_bps"], one["timeouts"], one["fast_retransmits"]

    before = flow()
    for share in (1, 5):
        after = flow(f"deliberate-drop:share={share}")
        assert after[2] > 2 * before[2]
        assert after[1] >= before[1]
        assert after[0] < before[0] / 2

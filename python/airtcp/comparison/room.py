"""Room for a remedy: the link's capacity relative to today's sender.

An unresponsive sender with packets of the same length keeps the first queue full at all times. No
change at an end of a connection or in a queue delivers more. If that delivers hardly more than the
sender, no remedy has anything to gain, which two or three seeds show.
"""

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace

from airtcp._core import AirtcpError, Scenario
from airtcp.comparison.compared import Comparison
from airtcp.comparison.execute import Results
from airtcp.comparison.perturbation import perturbed
from airtcp.comparison.plan import Plan, seeded_cells
from airtcp.core.catalogue import BASELINE
from airtcp.core.loading import load_scenario

_HEADERS_BYTES = 52
"""IPv4 and TCP with timestamps; UDP's are 28, so its payload is longer by the difference."""
_UDP_HEADERS_BYTES = 28
_MSS_BYTES = 1448


def with_room(
    compared: Comparison,
    source: Scenario | str | os.PathLike[str],
    settings: Mapping[str, object] | None,
    run: Callable[[Plan], Results],
) -> Comparison:
    """A search for goodput with the capacity of its link, where that is known.

    Args:
        compared: the search.
        source: its scenario as given.
        settings: the settings applied to it.
        run: runs a plan.
    """
    document = tomllib.loads(compared.scenario.to_toml())
    if compared.metric != "goodput" or not compared.is_search or not _has_capacity(document):
        return compared
    mss = int(document.get("tcp", {}).get("mss", _MSS_BYTES))
    payload = mss + _HEADERS_BYTES - _UDP_HEADERS_BYTES
    flood = {
        "flows.kind": "udp",
        "flows.udp.rate": "unlimited",
        "flows.udp.size": f"{payload} B",
    }
    try:
        flooded = load_scenario(source, {**(settings or {}), **flood})
        if "perturb" not in (settings or {}):
            flooded = perturbed(flooded)
    except AirtcpError:
        return compared
    cells = seeded_cells(
        flooded.hash(), flooded, BASELINE, compared.seeds, "packets that never slow down"
    )
    results = run(Plan(cells))
    carried = [results[cell.key].summary["goodput_bps"] * mss / payload for cell in cells]
    return replace(compared, carried=tuple(carried))


def _has_capacity(document: Mapping[str, object]) -> bool:
    """Whether the link's capacity is independent of the senders: a pipe at a rate or by a trace."""
    link = document.get("link")
    return (
        document.get("topology", "pipe") == "pipe"
        and isinstance(link, Mapping)
        and "rtt_log" not in link
        and ("rate" in link or "trace" in link)
        and "flows.tcp" not in document
    )

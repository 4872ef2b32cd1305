"""Writes the Grafana dashboard of the gateway's and the proxy's Prometheus metrics.

    python packaging/grafana/write.py

Import airtcp.json in Grafana (Dashboards, New, Import), and choose the Prometheus source.
"""

import json
import re
from pathlib import Path

PAGE = Path(__file__).resolve().with_name("airtcp.json")
GATEWAY, PROXY = "airtcp_gateway_", "airtcp_proxy_"
BY_DEVICE = "{{instance}} {{mobile}}"

ROWS = {
    "Gateway: treated and control": [
        ("Goodput per connection", "bps", "{g}treated_goodput_bps", "{g}control_goodput_bps"),
        ("Goodput weighted by bytes", "bps", "{g}treated_goodput_by_bytes_bps",
         "{g}control_goodput_by_bytes_bps"),
        ("Round trip", "ms", "{g}treated_round_trip_ms", "{g}control_round_trip_ms"),
        ("Retransmitted segments", "percentunit",
         "{g}treated_retransmissions / {g}treated_segments",
         "{g}control_retransmissions / {g}control_segments"),
        ("Stations", "short", "{g}treated_stations", "{g}control_stations"),
        ("Share of connections treated", "percentunit", "{g}treated_share"),
    ],
    "Gateway: packets": [
        ("Packets", "pps", "rate({g}packets_total[5m])", "rate({g}unseen_total[5m])",
         "rate({g}unread_total[5m])"),
        ("Traffic", "Bps", "rate({g}bytes_total[5m])"),
        ("Actions of agents", "pps", "rate({g}delayed_total[5m])", "rate({g}dropped_total[5m])",
         "rate({g}repeated_total[5m])", "rate({g}spikes_total[5m])"),
        ("Mean time that a delayed packet is held", "s",
         "rate({g}held_seconds_total[5m]) / rate({g}delayed_total[5m])"),
        ("Holds that ended early", "short", "rate({g}cut_by_limit_total[5m])",
         "rate({g}cut_by_budget_total[5m])"),
        ("Connections and held packets", "short", "{g}connections", "{g}holding"),
    ],
    "Proxy": [
        ("Connections", "short", "{p}open", "{p}connecting", "{p}pipes"),
        ("New connections", "cps", "rate({p}accepted_total[5m])"),
        ("Ends of connections", "cps", "rate({p}closed_total[5m])", "rate({p}failed_total[5m])",
         "rate({p}connect_failed_total[5m])"),
        ("Traffic", "Bps", "rate({p}up_bytes_total[5m])", "rate({p}down_bytes_total[5m])"),
        ("Memory that the kernel may hold", "bytes", "{p}granted_bytes"),
    ],
}  # fmt: skip
"""By row, the panels: title, unit, and the expressions of the series."""


def dashboard() -> dict[str, object]:
    """The dashboard: a heading per row, and two panels side by side."""
    panels: list[dict[str, object]] = []
    line = 0
    for row, described in ROWS.items():
        place = {"h": 1, "w": 24, "x": 0, "y": line}
        panels.append({"id": len(panels) + 1, "type": "row", "title": row, "gridPos": place})
        line += 1
        for number, (title, unit, *series) in enumerate(described):
            right = number % 2
            panels.append(
                {
                    "id": len(panels) + 1,
                    "type": "timeseries",
                    "title": title,
                    "datasource": {"type": "prometheus", "uid": "${source}"},
                    "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
                    "gridPos": {"h": 8, "w": 12, "x": 12 * right, "y": line},
                    "targets": [_target(one, place) for place, one in enumerate(series)],
                }
            )
            line += 8 * (right or number == len(described) - 1)
    source = {"name": "source", "type": "datasource", "query": "prometheus", "label": "Source"}
    return {
        "title": "airtcp: gateway and proxy",
        "uid": "airtcp",
        "schemaVersion": 39,
        "editable": True,
        "refresh": "30s",
        "tags": ["airtcp"],
        "templating": {"list": [source]},
        "time": {"from": "now-6h", "to": "now"},
        "panels": panels,
    }


def _target(series: str, place: int) -> dict[str, str]:
    expression = series.replace("{g}", GATEWAY).replace("{p}", PROXY)
    first = series.split("{", 1)[1][2:]
    name = first.split("[")[0].split(" ")[0]
    name = re.sub(r"_(total|bps|ms|bytes)$", "", name).replace("_", " ")
    legend = f"{name} {BY_DEVICE}" if "{g}" in series else f"{name} {{{{instance}}}}"
    return {"refId": chr(ord("A") + place), "expr": expression, "legendFormat": legend}


def text() -> str:
    """The content of `PAGE`."""
    return json.dumps(dashboard(), indent=1) + "\n"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")

"""packaging/grafana/airtcp.json: every metric in it is one that the gateway or the proxy serves."""

import importlib.util
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_SPEC = importlib.util.spec_from_file_location("write", ROOT / "packaging" / "grafana" / "write.py")
assert _SPEC is not None
assert _SPEC.loader is not None
grafana = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(grafana)
GATEWAY = (ROOT / "crates/gateway/src/control/report.rs").read_text("utf-8")
PROXY = (ROOT / "crates/proxy/src/status.rs").read_text("utf-8")


def of_the_proxy(source: str) -> set[str]:
    """Names that the proxy serves: its table has the name, and whether it is a gauge."""
    rows = re.findall(r'\(\s*"(\w+)",\s*(true|false),', source)
    return {f"airtcp_proxy_{name}{'' if gauge == 'true' else '_total'}" for name, gauge in rows}


def of_the_gateway(source: str) -> set[str]:
    """Names that the gateway serves."""
    source = source.split("fn prometheus")[1].split("page.into_text()")[0]
    counters = re.findall(r'page\.counter\(\s*"(\w+)"', source)
    table = source.split("let counters = [")[1].split("];")[0]
    counters += re.findall(r'\(\s*"(\w+)",\s*"', table)
    gauges = re.findall(r'page\.gauge\(\s*"(\w+)"', source)
    groups, numbers = source.split("for (group, numbers) in [")[1].split("for (name, value) in [")
    for group in re.findall(r'\("(\w+)",', groups):
        gauges += [f"{group}_{name}" for name in re.findall(r'\(\s*"(\w+)",', numbers)]
    return {f"airtcp_gateway_{name}" for name in [*gauges, *(f"{one}_total" for one in counters)]}


def named(dashboard: str) -> set[str]:
    """Names in the expressions of a dashboard."""
    panels = json.loads(dashboard)["panels"]
    expressions = [one["expr"] for panel in panels for one in panel.get("targets", ())]
    assert expressions
    return set(re.findall(r"airtcp_\w+", " ".join(expressions)))


def test_every_metric_of_the_dashboard_is_served() -> None:
    served = of_the_proxy(PROXY) | of_the_gateway(GATEWAY)
    assert len(served) > 35
    assert named(grafana.PAGE.read_text("utf-8")) <= served


def test_the_dashboard_leaves_out_only_housekeeping() -> None:
    served = of_the_proxy(PROXY) | of_the_gateway(GATEWAY)
    left_out = served - named(grafana.PAGE.read_text("utf-8"))
    housekeeping = r"uptime|rules_rewritten|reloads|reports|(treated|control)_(bytes|dsacks)$"
    assert {name for name in left_out if not re.search(housekeeping, name)} == set()


def test_a_metric_that_nobody_serves_is_found() -> None:
    page = grafana.text().replace("airtcp_proxy_open", "airtcp_proxy_opened")
    assert named(page) - of_the_proxy(PROXY) - of_the_gateway(GATEWAY) == {"airtcp_proxy_opened"}


def test_the_file_is_what_the_program_writes() -> None:
    assert grafana.PAGE.read_text("utf-8") == grafana.text(), "python packaging/grafana/write.py"


def test_no_two_panels_overlap() -> None:
    taken = set()
    for panel in grafana.dashboard()["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert place["x"] + place["w"] <= 24
        taken |= cells
